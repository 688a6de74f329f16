package threads

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// clock is where threads of a process ran, by the kernel's clock of CPU time, in functions of its runtime that are resolved by others. The
// runtime's own looks see a running thread where it can be stopped, and a thread that has not run since in native code; the kernel sees a
// thread where it is.
type clock struct {
	runs   map[evidence.LaneID][]ran // by time
	period int64                     // ns
}

type ran struct {
	at    int64
	stack evidence.StackID // only the runtime's functions
}

// CPUClockSamples yields the samples of where a thread ran between two moments, as stacks of its runtime's functions.
func (t *Threads) CPUClockSamples(s evidence.SubjectID, lane evidence.LaneID, from, until int64, yield func(at int64, stack evidence.StackID)) {
	rows := t.clockOf(s).runs[lane]
	n := sort.Search(len(rows), func(n int) bool { return rows[n].at >= from })
	for ; n < len(rows) && rows[n].at < until; n++ {
		yield(rows[n].at, rows[n].stack)
	}
}

// CPUClockLanes returns the threads that were seen running, in order.
func (t *Threads) CPUClockLanes(s evidence.SubjectID) []evidence.LaneID {
	return slices.Sorted(maps.Keys(t.clockOf(s).runs))
}

// CPUClockPeriod returns the CPU time (ns) of each sample.
func (t *Threads) CPUClockPeriod(s evidence.SubjectID) int64 { return t.clockOf(s).period }

func (t *Threads) clockOf(s evidence.SubjectID) *clock {
	if c, known := t.clocks[s]; known {
		return c
	}
	c := &clock{runs: make(map[evidence.LaneID][]ran)}
	t.clocks[s] = c
	on, x := t.b.Names.Lookup(evidence.SampleOnCPU), &t.b.Samples
	if on == 0 || !t.of[t.b.Subjects[s].Runtime].Addressed {
		return c
	}
	managed := make(map[evidence.StackID]evidence.StackID)
	for i := range x.Len() {
		if x.Type[i] != on || x.Subject[i] != s {
			continue
		}
		stack, known := managed[x.Stack[i]]
		if !known {
			stack = t.managedStack(x.Stack[i])
			managed[x.Stack[i]] = stack
		}
		c.period = max(c.period, x.Value[i])
		if stack != 0 {
			c.runs[x.Lane[i]] = append(c.runs[x.Lane[i]], ran{x.Time[i], stack})
		}
	}
	for _, rows := range c.runs {
		slices.SortStableFunc(rows, func(a, b ran) int { return cmp.Compare(a.at, b.at) })
	}
	return c
}

// managedStack returns a stack without the kernel's frames, native ones and those without a name;
// 0 if nothing is left.
func (t *Threads) managedStack(stack evidence.StackID) evidence.StackID {
	var own []evidence.Frame
	made := t.b.Names.Lookup(evidence.MadeCode)
	for _, f := range t.b.Stacks.Frames(stack) {
		if f.File == 0 && f.Func != made {
			own = append(own, f)
		}
	}
	return t.b.Stacks.ID(own)
}

// mostBetween is the longest time (ns) between two moments of running in a function during which a thread counts as waiting only for a processor.
const mostBetween = 1e9

// markRunBetween marks a look at a thread in native code as ready, if the thread ran in the same function before and after: a thread that was stopped
// at a safe point is in the mode of native code until it gets a processor. Rows are when it ran; the n-th is the first after the look.
func (t *Threads) markRunBetween(s evidence.SubjectID, l *Sample, rows []ran, n int) {
	if !l.View.Hidden() || l.View.Owner == "" || n == 0 || n == len(rows) || rows[n].at-rows[n-1].at > mostBetween {
		return
	}
	before, after := t.View(s, rows[n-1].stack), t.View(s, rows[n].stack)
	if before.State == evidence.Running && after.State == evidence.Running && before.Owner == l.View.Owner && after.Owner == l.View.Owner {
		l.View.State, l.View.Pattern = evidence.Running, ""
	}
}

// applyCPUClock marks threads that seem to run, or are in unexplained native code, as running where the kernel saw them run at that time.
func (t *Threads) applyCPUClock(s evidence.SubjectID) {
	c := t.clockOf(s)
	if len(c.runs) == 0 {
		return
	}
	for i := range t.looks[s] {
		l := &t.looks[s][i]
		if l.Time == 0 || l.View.State != evidence.Running && !l.View.Hidden() && l.View.Pattern != threadstack.HiddenSleep {
			continue
		}
		rows := c.runs[l.Lane]
		n := sort.Search(len(rows), func(n int) bool { return rows[n].at >= l.Time })
		best, least := -1, c.period
		for _, m := range []int{n - 1, n} {
			if m >= 0 && m < len(rows) {
				if apart := max(l.Time-rows[m].at, rows[m].at-l.Time); apart <= least {
					best, least = m, apart
				}
			}
		}
		if best < 0 {
			t.markRunBetween(s, l, rows, n)
			continue
		}
		if v := t.View(s, rows[best].stack); v.State == evidence.Running || v.Hidden() {
			v.State, v.Pattern = evidence.Running, ""
			l.Stack, l.View = rows[best].stack, v
		}
	}
}
