package linux

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// mechanism is a kind of kernel work or wait, with the ways to recognise it: by kernel stacks (internal/format/kernelstacks), by the call in which a
// thread was seen (internal/format/syscalls), and by the functions of runtimes and libraries that end in that call.
type mechanism struct {
	what      string   // in words, as in "waits for …"
	classes   []string // evidence.Kernel…
	calls     []string // calls that belong to it on any object
	onFiles   []string // calls that belong to it on a path, but not on sockets and pipes
	functions []string // parts of function names
	locks     bool     // waits for locks belong to it, too
}

// matchesWait says whether a wait is of the mechanism: by its class or call, else by the function
// of a runtime or a library in its name.
func (m *mechanism) matchesWait(w evidence.Wait, name string) bool {
	return w.Class != "" && slices.Contains(m.classes, w.Class) || w.Call != "" && slices.Contains(m.calls, w.Call) ||
		w.File && slices.Contains(m.onFiles, w.Call) || m.matchesFunction(name)
}

func (m *mechanism) matchesFunction(name string) bool {
	return slices.ContainsFunc(m.functions, func(f string) bool { return strings.Contains(name, f) })
}

// matchesPlace reports whether slow time at a place belongs to the mechanism.
func (m *mechanism) matchesPlace(c *check.Case, p *ledger.Place) bool {
	switch p.Mechanism {
	case ledger.Lock:
		return m.locks
	case ledger.Kernel, ledger.Dependency, ledger.Own, ledger.Unexplained:
	default:
		return false
	}
	if m.matchesWait(p.Wait, p.What) {
		return true
	}
	return p.Mechanism == ledger.Kernel && len(m.functions) > 0 && slices.ContainsFunc(c.Bundle.Stacks.Frames(p.Stack), func(f evidence.Frame) bool {
		return m.matchesFunction(c.Bundle.Names.Text(f.Func))
	})
}

// charged is the slow time of requests in a mechanism: their own waits, and their waits for holders of locks and pools that were in it.
type charged struct {
	per     []int64 // ns, in the order of Ledger.Slow
	ns      int64
	share   float64 // of slow time
	over    float64 // of slow time, beyond the usual for such requests
	usual   int64   // ns per request
	places  []ledger.Place
	linked  int64 // ns of that behind holders
	queued  int64 // ns of that, in the queue of a pool whose threads or connections are the holders
	per1    func(row int) int64
	waiters int     // slow requests with any
	locked  bool    // most of it is behind a lock with an unseen holder, known by the stacks of threads at work
	work    float64 // the mechanism's part of the requests' own work
}

// chargedOf returns the slow time that the ledger charges to the mechanism.
func (m *mechanism) chargedOf(c *check.Case) *charged {
	l := c.Ledger
	x := &charged{per: make([]int64, len(l.Slow))}
	sites := c.Sites()
	for _, p := range c.Places() {
		if !m.matchesPlace(c, &p) {
			continue
		}
		x.places = append(x.places, p)
		x.ns += p.Ns
		x.linked += p.Linked.Sum()
		x.queued += p.Linked[ledger.PoolThread] + p.Linked[ledger.Pool]
		for n, v := range p.Per {
			x.per[n] += v
		}
	}
	if x.ns == 0 {
		return x
	}
	for _, v := range x.per {
		if v > 0 {
			x.waiters++
		}
	}
	x.share = float64(x.ns) / float64(max(1, l.Total))
	known := make(map[int]int64)
	x.per1 = func(row int) int64 {
		ns, ok := known[row]
		if !ok {
			for i := range x.places {
				ns += l.At(row, &x.places[i], sites)
			}
			known[row] = ns
		}
		return ns
	}
	_, x.usual, x.over = c.Excess(l.UsualRows(), l.Slow, x.per1)
	return x
}

// kernel is what kernel stacks tell of the process, while its requests were seen or, without requests, all the time; nil: not recorded.
type kernel struct {
	*metrics.Kernel
	work *metrics.KernelWork // nil: unknown
	w    metrics.Window
}

func kernelOf(c *check.Case) *kernel {
	return check.Once(c, func(c *check.Case) *kernel {
		w := requestWindow(c)
		k := metrics.KernelOf(c.Bundle, c.Subject, w)
		if k == nil && w != metrics.Whole { // requests and stacks are from different times
			w = metrics.Whole
			k = metrics.KernelOf(c.Bundle, c.Subject, w)
		}
		if k == nil {
			return nil
		}
		x := &kernel{Kernel: k, w: w}
		locks := lockWaits(c)
		x.work = k.Work(func(lane evidence.LaneID) float64 { return locks[lane] })
		return x
	})
}

// requestWindow returns the time in which requests were seen, else all that was recorded.
func requestWindow(c *check.Case) metrics.Window {
	if c.Ledger != nil && c.Ledger.To > c.Ledger.From {
		return metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
	}
	return metrics.Whole
}

// lockWaits returns, for each thread, which part of its futex waits are for a lock, or for another
// thread to go on with its work: a thread that waits for work has the same stack. Samples tell
// them apart by the futex word, and by where else the thread waits (package threads).
func lockWaits(c *check.Case) map[evidence.LaneID]float64 {
	all, busy := make(map[evidence.LaneID]int), make(map[evidence.LaneID]int)
	x, typ, native := &c.Bundle.Samples, c.Bundle.Names.Lookup(evidence.SampleSyscall), c.Bundle.Names.Lookup(evidence.SampleThread)
	mutex := make(map[evidence.LaneID]int)
	for i := range x.Len() {
		if x.Subject[i] != c.Subject || typ == 0 || x.Type[i] != typ && x.Type[i] != native {
			continue
		}
		call := c.Bundle.Stacks.Info(x.Stack[i]).Call
		if n := int(max(1, x.Value[i])); evidence.OnFutex(call) {
			all[x.Lane[i]] += n
			if call == evidence.CallFutexMutex && x.Type[i] == typ {
				mutex[x.Lane[i]] += n
			}
		}
	}
	for _, l := range c.Threads().Samples(c.Subject) {
		switch v := &l.View; {
		case v.Waits.Kind != evidence.FutexWait:
		case v.State == evidence.LockWait:
			mutex[l.Lane] += l.Count
		case v.Request && v.State == evidence.SyncWait && v.Limit == "": // else it is known whom it waits for
			busy[l.Lane] += l.Count
		}
	}
	out := make(map[evidence.LaneID]float64, len(all))
	for lane, n := range all {
		out[lane] = min(1, float64(mutex[lane]+busy[lane])/float64(n))
	}
	return out
}
