package threads

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Limit is a place that admits only so many requests at a time, by any means (wait and notify, a queue of connections, a semaphore, worker threads):
// many threads were seen waiting there, and never more than a few beyond it.
type Limit struct {
	Place    string           // where they wait: "Gate.enter"; for worker threads, the workers' name
	Pattern  string           // how they wait: "Object.wait"; "" for worker threads
	Workers  bool             // the threads beyond it are workers that others hand work to
	Carriers bool             // the threads beyond it keep the OS threads on which virtual threads run
	Pinned   float64          // part of the looks at threads beyond it that cannot return their carrier while they wait
	Pins     string           // the program's own functions of one of them, innermost first; "" none
	Most     int              // most threads beyond it in a look
	Beyond   float64          // mean number beyond it, over looks with a waiting thread
	Waiting  float64          // mean number waiting, over the same looks
	Looks    int              // looks with a waiting thread
	Stack    evidence.StackID // of a waiting thread
	Doing    []Doing          // what the threads beyond it did, most frequent first
	Origin   evidence.Origin
}

// Doing is what threads were seen doing.
type Doing struct {
	State evidence.Kind
	Words string  // "waiting for the network (SocketInputStream.read) in Db.query"
	Share float64 // of the looks at them
}

// Thresholds for a limit. Fewer looks than leastShown say nothing; the number of threads beyond it is constant, except for threads that were just
// admitted and do not run yet.
const (
	leastShown  = 3
	mostlyFull  = .6  // of the most threads beyond it is the least mean
	mostLeaving = .25 // of the looks may show more: a thread has left the limit but not the code
	mostLevels  = 8   // frames outwards from the wait to the common origin of the threads beyond it
	leastAtOnce = 2   // threads that wait at the same time
)

// Limits returns the places that limit the number of requests, most waiting first.
func (t *Threads) Limits(s evidence.SubjectID) []Limit { return t.limits[s] }

// gate is a place at which requests were seen waiting.
type gate struct {
	at      string // the user's function that called the waiting code
	waiting map[*Sample]bool
	stacks  map[evidence.StackID]int // of waiting threads, and the frame of at
	first   *Sample
	passes  func(*Sample) bool // reports whether a thread is beyond it, for threads at requests that do not wait there
	limit   Limit
}

// findGates finds the places where requests wait, and which of them are limits.
func (h *holding) findGates(bursts [][]*Sample) map[string]*gate {
	t := h.t
	all := make(map[string]*gate)
	for _, burst := range bursts {
		for _, l := range burst {
			if !l.View.Request || h.next[l] != nil || !canBeGated(&l.View) {
				continue
			}
			g := all[t.userFunction(l)]
			if g == nil {
				g = &gate{at: t.userFunction(l), waiting: make(map[*Sample]bool), stacks: make(map[evidence.StackID]int), first: l}
				all[g.at] = g
			}
			g.waiting[l] = true
			g.stacks[l.Stack] = l.View.User
		}
	}
	for at, g := range all {
		if at == "" {
			delete(all, at)
			continue
		}
		t.addNotified(g, bursts)
		if !t.isBounded(h.s, g, bursts) {
			delete(all, at)
		}
	}
	return all
}

// canBeGated reports whether a wait may be at a limit.
func canBeGated(v *threadstack.View) bool {
	return v.User >= 0 && (v.State == evidence.SyncWait || v.State == evidence.PoolWait || v.State == evidence.TaskWait)
}

// addNotified adds threads that were admitted but wait to lock the monitor again.
func (t *Threads) addNotified(g *gate, bursts [][]*Sample) {
	for _, burst := range bursts {
		for _, l := range burst {
			if l.View.Request && l.View.State == evidence.LockWait && t.userFunction(l) == g.at {
				g.waiting[l] = true
				g.stacks[l.Stack] = l.View.User
			}
		}
	}
}

// isBounded finds the threads beyond a gate: from the waiting function outwards, the first function that leads to other threads that do not
// wait there, always to about as many.
func (t *Threads) isBounded(s evidence.SubjectID, g *gate, bursts [][]*Sample) bool {
	framework := t.of[t.b.Subjects[s].Runtime].Framework
	for level := range mostLevels {
		ways := make(map[way]bool)
		for stack, user := range g.stacks {
			p := t.pathOf(stack)
			if i := user + level; i < len(p.frames) && threadstack.IsFunction(p.frames[i]) && !framework(p.frames[i]) {
				ways[p.ways[i]] = true
			}
		}
		if len(ways) == 0 {
			return false
		}
		g.passes = func(l *Sample) bool { return t.pathOf(l.Stack).leadsThrough(ways) }
		if g.isFull(bursts) {
			return true
		}
	}
	return false
}

// isFull reports whether as many threads are beyond the gate as a limit admits.
func (g *gate) isFull(bursts [][]*Sample) bool {
	var sum, waiting, looks, crowd int
	counts := make(map[int]int) // looks with a waiting thread, by the number of threads beyond
	var more []int              // beyond, at each look
	for _, burst := range bursts {
		beyond, wait := 0, 0
		for _, l := range burst {
			switch {
			case g.waiting[l]:
				wait++
			case l.View.Request && l.View.State != evidence.Idle && g.passes(l):
				beyond++
			}
		}
		more = append(more, beyond)
		crowd = max(crowd, wait)
		if wait > 0 {
			looks, sum, waiting = looks+1, sum+beyond, waiting+wait
			counts[beyond]++
		}
	}
	most := 0
	for n, looks := range counts {
		if looks > counts[most] || looks == counts[most] && n > most {
			most = n
		}
	}
	leaving := 0
	for _, n := range more {
		if n > most {
			leaving++
		}
	}
	if looks < leastShown || crowd < leastAtOnce || most == 0 || float64(leaving) > mostLeaving*float64(len(more)) || float64(sum) < mostlyFull*float64(most*looks) {
		return false
	}
	v := &g.first.View
	g.limit = Limit{Place: threadstack.Bare(v.Owner), Pattern: v.Pattern, Most: most, Looks: looks, Stack: g.first.Stack, Origin: g.first.Origin,
		Beyond: float64(sum) / float64(looks), Waiting: float64(waiting) / float64(looks)}
	return true
}

// listBeyond returns the threads of a burst that are beyond a gate.
func (g *gate) listBeyond(burst []*Sample) (out []*Sample) {
	for _, l := range burst {
		if !g.waiting[l] && l.View.Request && l.View.State != evidence.Idle && g.passes(l) {
			out = append(out, l)
		}
	}
	return out
}

// Words names the place in the words of its waiting threads' reason.
func (l *Limit) Words() string {
	switch {
	case l.Carriers && l.Most == 1:
		return "the one carrier of virtual threads"
	case l.Carriers:
		return fmt.Sprintf("the %d carriers of virtual threads", l.Most)
	case l.Workers && l.Most == 1:
		return "the one thread of " + l.Place
	case l.Workers:
		return fmt.Sprintf("the %d threads of %s", l.Most, l.Place)
	case l.Pattern == "":
		return fmt.Sprintf("limit of %d at %s", l.Most, l.Place)
	}
	return fmt.Sprintf("limit of %d at %s (%s)", l.Most, l.Place, l.Pattern)
}

// setWait sets what a thread waits for.
func (l *Limit) setWait(v *threadstack.View) {
	v.Limit, v.Waits = l.Words(), evidence.Wait{}
	if l.Workers && l.Most == 1 && !l.Carriers {
		v.Waits.Kind = evidence.OneThread
	}
}

// tally counts what threads did.
type tally map[Doing]int

func (c tally) countDoing(v *threadstack.View) { c[Doing{State: v.State, Words: v.DoingAt()}]++ }

func (c tally) listDoings() (out []Doing) {
	sum := 0
	for _, n := range c {
		sum += n
	}
	for _, d := range slices.SortedFunc(maps.Keys(c), func(a, b Doing) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a.Words, b.Words)) }) {
		d.Share = float64(c[d]) / float64(sum)
		out = append(out, d)
	}
	return out
}
