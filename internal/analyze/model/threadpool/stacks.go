package threadpool

import (
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Native says whether a thread is in native code of which its stack does not say that it
// waits: up to .NET 5 not even Thread.Sleep leaves a frame.
func Native(v threadstack.View) bool {
	return v.State == evidence.KindUnknown || v.Pattern == threadstack.HiddenSleep
}

// asMany is the part of the threads that seem to run which must have run, or been ready to:
// of fewer, most stand still.
const asMany = .5

// nativeStands judges the threads that are in native code, of which nothing says that they
// wait: if fewer ran, or were ready to, than [asMany] of those that seem to, they stand still.
// The kernel counts how many were ready; if that was not recorded, the process must use far less of the processors than these threads
// would, and still less if other processes use up the host.
func (p *Process) nativeStands() bool {
	if p.wasCollecting() {
		return false
	}
	called := Count(p.groupsWhere(Native))
	seem := float64(called + Count(p.groupsWhere(func(v threadstack.View) bool { return v.State == evidence.Running })))
	used, most := p.CPU*p.Cores, asMany*min(seem, p.Cores)
	switch near := metrics.ProcessOf(p.Bundle, p.Subject, p.aroundWorst()); {
	case near.RunDelay.Known():
		if near.CPU.Known() {
			used = near.CPU.Number
		}
		used += near.RunDelay.Number
		most = asMany * seem
	case p.isHostFull():
		most /= 2 // others may have taken the processors that they were to have
	}
	return float64(called) > p.Cores && used < most // as many may be in a short call each
}

// aroundWorst is the second around the look at which most threads stood still, where it is known and the kernel's figures cover it: what ran in bursts
// says nothing about a look between them, nor the mean over bursts and pauses about a look at a burst.
func (p *Process) aroundWorst() metrics.Window {
	if p.Worst == nil || p.Worst.At == 0 {
		return metrics.Whole
	}
	near := metrics.Window{From: p.Worst.At - 5e8, Until: p.Worst.At + 5e8}
	if !metrics.RunDelay(p.Bundle, p.Subject, near).Over(near).MostlyKnown() {
		return metrics.Whole
	}
	return near
}

// wasCollecting says whether the look at its threads was while a collection stopped them, or one
// of gen 2 ran beside them, or as soon after it as that had lasted: what is in native code then
// may wait for memory, or to be let run again, and so may what came meanwhile.
func (p *Process) wasCollecting() bool {
	if p.Worst == nil || p.Worst.At == 0 {
		return false
	}
	v := &p.Bundle.Intervals
	for _, kind := range []evidence.Kind{evidence.StopTheWorld, evidence.GCCycle} {
		for _, i := range v.Select(kind, p.Subject) {
			if v.Start[i] <= p.Worst.At && p.Worst.At <= v.End[i]+min(v.End[i]-v.Start[i], longestAfter) {
				return true
			}
		}
	}
	return false
}

// longestAfter (ns) is how long after a collection what came meanwhile is taken to be worked off.
const longestAfter = 1e9

// standsStill says whether a thread stands still with work on its hands.
func (p *Process) standsStill(v threadstack.View) bool {
	if Native(v) {
		return p.still
	}
	return v.Waiting() && v.State != evidence.AllocStall // that is the collector's doing, not the code's
}

// Standing is how many threads of the pool stood still with work on their hands when most
// did.
func (p *Process) Standing() int { return Count(p.Waiting()) }

// Waiting are the groups of threads of the pool that stand still, the largest first.
func (p *Process) Waiting() []threads.Group { return p.groupsWhere(p.standsStill) }

func (p *Process) groupsWhere(match func(threadstack.View) bool) (out []threads.Group) {
	if p.Worst == nil {
		return nil
	}
	for _, g := range p.Worst.Groups {
		if g.Pool > 0 && match(g.View) {
			out = append(out, g)
		}
	}
	return out
}

// Count is how many threads of the pool groups hold together.
func Count(groups []threads.Group) (n int) {
	for _, g := range groups {
		n += g.Pool
	}
	return n
}

// Method names a group's code for a title: "DiagScenarioController.TaskWait"; where the
// stack does not hold it, what it does is all that is known.
func Method(v threadstack.View) string {
	if v.Owner == "" {
		return threads.Nameless
	}
	return threadstack.Bare(v.Owner)
}

// On says what a group waits on: "on .Result", "for a lock".
func On(v threadstack.View) string {
	switch {
	case v.State == evidence.LockWait && v.Pattern == "lock":
		return "on a lock"
	case v.State == evidence.KindUnknown:
		return "in native code"
	case v.Pattern == "":
		return "for an unknown reason"
	}
	return "on " + strings.TrimPrefix(v.Pattern, "sync I/O: ")
}

// Work is what the threads of the pool did, in the mean of all looks at them.
type Work struct {
	Pool, Busy, Blocked float64 // threads; blocked ones have work, too
	Locked              float64 // of the blocked, for a lock
	Parked              float64 // of the blocked, those that wait for something to do as long as they are looked at
	Serving             float64 // of the blocked, those that work on a request
}

// Work reads all looks at the pool's threads; zero of none.
func (p *Process) Work() (w Work) {
	bursts := p.Stacks.Moments(p.Subject)
	parked := p.findParked(bursts)
	for _, moments := range bursts {
		each := 1 / float64(len(moments)*len(bursts))
		for _, looks := range moments {
			for i := range looks {
				v := looks[i].View
				if v.Role != threadstack.Worker {
					continue
				}
				w.Pool += each
				if v.State == evidence.Idle {
					continue
				}
				w.Busy += each
				if p.standsStill(v) {
					w.Blocked += each
					if v.State == evidence.LockWait {
						w.Locked += each
					}
					switch {
					case parked[looks[i].Lane]:
						w.Parked += each
					case v.Request:
						w.Serving += each
					}
				}
			}
		}
	}
	return w
}

// leastBursts are so many looks apart that a thread met each time at one place stays there.
const leastBursts = 3

// findParked returns the threads of the pool that stand at one place of the program's own whenever
// they are looked at, for no request, until another thread hands them something: consumers of a
// queue that wait for work. Where the server's requests are not told apart, as of a server of the
// program's own, a thread that waits there may be at a request.
func (p *Process) findParked(bursts [][][]threads.Sample) map[evidence.LaneID]bool {
	if len(bursts) < leastBursts || !p.hasServerRequests() {
		return nil
	}
	at, seen := make(map[evidence.LaneID]string), make(map[evidence.LaneID]int)
	for _, moments := range bursts {
		met := make(map[evidence.LaneID]bool)
		for _, looks := range moments {
			for i := range looks {
				v, lane := looks[i].View, looks[i].Lane
				if v.Role != threadstack.Worker {
					continue
				}
				place := v.Reason()
				if v.Request || v.Owner == "" || v.State != evidence.SyncWait && v.State != evidence.PoolWait {
					place = ""
				}
				if first, known := at[lane]; known && first != place {
					place = ""
				}
				at[lane], met[lane] = place, true
			}
		}
		for lane := range met {
			seen[lane]++
		}
	}
	stay := make(map[evidence.LaneID]bool)
	for lane, place := range at {
		if place != "" && seen[lane] == len(bursts) {
			stay[lane] = true
		}
	}
	return stay
}

// hasServerRequests says whether the service's requests are known by its own server.
func (p *Process) hasServerRequests() bool { return p.meanServed() > 0 }

// meanServed returns how many requests the service had begun and not ended, in the mean over the
// time from the first that its server tells of to the last: more than a few looks at threads can
// say, as it counts all of the time. 0 unknown.
func (p *Process) meanServed() float64 {
	r := &p.Bundle.Requests
	var sum int64
	from, until := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range r.Len() {
		if r.Subject.At(i) == p.Subject && r.Lane.At(i) != 0 {
			sum += r.Latency(i)
			from, until = min(from, r.End.At(i)-r.Latency(i)), max(until, r.End.At(i))
		}
	}
	if until <= from {
		return 0
	}
	return float64(sum) / float64(until-from)
}

// Held is how many threads of the pool were blocked with work at a time, in the mean, without those
// that are parked: as many at requests as there were of these.
func (p *Process) Held(w Work) float64 {
	held := w.Blocked - w.Parked
	if n := p.meanServed(); n > 0 {
		held -= max(0, w.Serving-n)
	}
	return held
}
