package threadpool

import (
	"strings"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/threads"
)

// Native says whether a thread is in native code of which its stack does not say that it
// waits: up to .NET 5 not even Thread.Sleep leaves a frame.
func Native(v threads.View) bool {
	return v.State == evidence.KindUnknown || v.Pattern == threads.HiddenSleep
}

// asMany is the part of the threads that seem to run which must have run, or been ready to:
// of fewer, most stand still.
const asMany = .5

// nativeStands judges the threads that are in native code, of which nothing says that they
// wait: if fewer ran, or were ready to, than [asMany] of those that seem to, they stand still.
// How many were ready is the kernel's count; where nobody asked for it, the process must use
// far less of the processors than they would, and less by more where others use up the host.
func (p *Process) nativeStands() bool {
	called := Count(p.groups(Native))
	seem := float64(called + Count(p.groups(func(v threads.View) bool { return v.State == evidence.Running })))
	used, most := p.CPU*p.Cores, asMany*min(seem, p.Cores)
	switch ready := reading.ProcessOf(p.Bundle, p.Subject, reading.Whole).RunDelay; {
	case ready.Known():
		used += ready.Number
		most = asMany * seem
	case p.full():
		most /= 2 // others may have taken the processors that they were to have
	}
	return float64(called) > p.Cores && used < most // as many may be in a short call each
}

// stands says whether a thread stands still with work on its hands.
func (p *Process) stands(v threads.View) bool {
	if Native(v) {
		return p.still
	}
	return v.Waiting()
}

// Standing is how many threads of the pool stood still with work on their hands when most
// did.
func (p *Process) Standing() int { return Count(p.Waiting()) }

// Waiting are the groups of threads of the pool that stand still, the largest first.
func (p *Process) Waiting() []threads.Group { return p.groups(p.stands) }

func (p *Process) groups(is func(threads.View) bool) (out []threads.Group) {
	if p.Worst == nil {
		return nil
	}
	for _, g := range p.Worst.Groups {
		if g.Pool > 0 && is(g.View) {
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
func Method(v threads.View) string {
	if v.Owner == "" {
		return threads.Nameless
	}
	return threads.Bare(v.Owner)
}

// On says what a group waits on: "on .Result", "for a lock".
func On(v threads.View) string {
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
}

// Work reads all looks at the pool's threads; zero of none.
func (p *Process) Work() (w Work) {
	bursts := p.Stacks.Moments(p.Subject)
	for _, moments := range bursts {
		each := 1 / float64(len(moments)*len(bursts))
		for _, looks := range moments {
			for i := range looks {
				v := looks[i].View
				if v.Role != threads.Worker {
					continue
				}
				w.Pool += each
				if v.State == evidence.Idle {
					continue
				}
				w.Busy += each
				if p.stands(v) {
					w.Blocked += each
					if v.State == evidence.LockWait {
						w.Locked += each
					}
				}
			}
		}
	}
	return w
}
