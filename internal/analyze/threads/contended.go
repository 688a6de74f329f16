package threads

import (
	"sort"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// place is the user's code, by View.Owner, of a process.
type place struct {
	subject evidence.SubjectID
	owner   string
}

// leastWaiting is the mean number of threads that must wait for a lock at a place for threads seen there in native code to count as waiting.
const leastWaiting = .1

// findContended finds where threads wait for locks, from the runtime's own events. CoreCLR's Monitor waits in native code, which leaves no frame on
// the stack: https://github.com/dotnet/runtime/blob/v8.0.0/src/coreclr/vm/syncblk.cpp (AwareLock).
func (t *Threads) findContended() {
	watched := make(map[evidence.SubjectID]int64)
	for i := range t.b.Coverage {
		if c := &t.b.Coverage[i]; c.Kind == evidence.CoverWaits {
			watched[c.Subject] += c.Until - c.From
		}
	}
	waited := make(map[place]int64)
	x := &t.b.Intervals
	for i, kind := range x.Kind {
		if kind != evidence.LockWait || x.Stack.At(i) == 0 {
			continue
		}
		if owner := t.View(x.Subject.At(i), x.Stack.At(i)).Owner; owner != "" {
			waited[place{x.Subject.At(i), owner}] += x.End[i] - x.Start[i]
		}
	}
	clear(t.views)
	t.locks = make(map[place]bool)
	for at, ns := range waited {
		if float64(ns) >= leastWaiting*float64(watched[at.subject]) {
			t.locks[at] = true
		}
	}
}

// inferLockWait marks a thread in native code as waiting for a lock, where others were seen waiting for one in the same code.
func (t *Threads) inferLockWait(s evidence.SubjectID, v threadstack.View) threadstack.View {
	if v.Hidden() && t.locks[place{s, v.Owner}] {
		v.State, v.Pattern = evidence.LockWait, "lock"
	}
	return v
}

// unframed are waits that the runtime's events show and its frames do not, with the resulting view of a thread.
var unframed = []struct {
	kind    evidence.Kind
	pattern string
}{
	{evidence.LockWait, "lock"},     // CoreCLR's Monitor
	{evidence.AllocStall, "memory"}, // of CoreCLR for a large object, while generation 2 is collected in the background
}

// byEvents marks looks at threads as waiting where the runtime's own events show a wait: no frame shows CoreCLR's Monitor, and where others
// compute in the same function a thread that waits there seems to run.
//
// A thread in native code of a function in which others waited for memory, and which does not wait itself, allocates: it clears its new memory.
// Allocating leaves no frame either.
func (t *Threads) byEvents(s evidence.SubjectID) {
	v := &t.b.Intervals
	allocates := make(map[string]bool) // functions
	for _, w := range unframed {
		of := make(map[evidence.LaneID][]int)
		for _, i := range v.Select(w.kind, s) {
			if v.Lane.At(i) > 0 && v.Start[i] < v.End[i] {
				of[v.Lane.At(i)] = append(of[v.Lane.At(i)], i)
			}
		}
		for i := range t.looks[s] {
			l := &t.looks[s][i]
			if l.Time == 0 || l.View.State != evidence.Running && !l.View.Hidden() {
				continue
			}
			rows := of[l.Lane]
			n := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] > l.Time }) // a thread has one wait at a time
			if n > 0 && v.End[rows[n-1]] > l.Time {
				if w.kind == evidence.AllocStall && l.View.Hidden() {
					allocates[innermostFunction(t.framesOf(l.Stack))] = true
				}
				l.View.State, l.View.Pattern = w.kind, w.pattern
			}
		}
	}
	delete(allocates, "")
	for i := range t.looks[s] {
		if l := &t.looks[s][i]; len(allocates) > 0 && l.View.Hidden() && allocates[innermostFunction(t.framesOf(l.Stack))] {
			l.View.State, l.View.Pattern = evidence.Running, ""
		}
	}
}

// leastRunning is the part of the looks at threads in a function, or in native code that it called, that must show them running there for all of
// them to count as computing.
const leastRunning = .2

// findComputing finds the functions in which threads compute although some looks find them in native code: CoreCLR reports a thread's mode, and a
// thread that was stopped at a safe point and has not run since is in the mode of native code, too
// (https://github.com/dotnet/runtime/blob/v8.0.0/src/coreclr/vm/threadsuspend.cpp, RareDisablePreemptiveGC).
func (t *Threads) findComputing(typ evidence.NameID) {
	t.works = make(map[place]bool)
	type count struct{ running, hidden int }
	seen := make(map[place]*count)
	x := &t.b.Samples
	for i := range x.Len() {
		if x.Type[i] != typ || !t.of[t.b.Subjects[x.Subject[i]].Runtime].Rounds {
			continue
		}
		v := t.View(x.Subject[i], x.Stack[i])
		if v.State != evidence.Running && !v.Hidden() {
			continue
		}
		at := place{x.Subject[i], innermostFunction(t.framesOf(x.Stack[i]))}
		c := seen[at]
		if c == nil {
			c = &count{}
			seen[at] = c
		}
		if v.State == evidence.Running {
			c.running++
		} else {
			c.hidden++
		}
	}
	clear(t.views)
	for at, c := range seen {
		if at.owner != "" && c.hidden > 0 && float64(c.running) >= leastRunning*float64(c.running+c.hidden) {
			t.works[at] = true
		}
	}
}

// innermostFunction returns the function that a thread is in, or from which it called native code.
func innermostFunction(frames []string) string {
	for _, f := range frames {
		if threadstack.IsFunction(f) {
			return f
		}
	}
	return ""
}

// inferRunning marks a thread in native code as running, where others were seen running in the same function.
func (t *Threads) inferRunning(s evidence.SubjectID, frames []string, v threadstack.View) threadstack.View {
	if v.Hidden() && t.works[place{s, innermostFunction(frames)}] {
		v.State, v.Pattern = evidence.Running, ""
	}
	return v
}
