package threads

import "github.com/unstall/unstall/evidence"

// place is the user's code, as View.Owner calls it, of a process.
type place struct {
	subject evidence.SubjectID
	owner   string
}

// leastWaiting is how many threads must wait for a lock somewhere, in the mean, for
// those seen there in native code to be taken for waiting.
const leastWaiting = .1

// contended finds where threads wait for locks, by the runtime's own events of them.
// CoreCLR's Monitor waits in native code, which leaves no frame on the stack:
// https://github.com/dotnet/runtime/blob/v8.0.0/src/coreclr/vm/syncblk.cpp (AwareLock).
func (t *Threads) contended() {
	watched := make(map[evidence.SubjectID]int64)
	for i := range t.b.Coverage {
		if c := &t.b.Coverage[i]; c.Kind == evidence.CoverWaits {
			watched[c.Subject] += c.Until - c.From
		}
	}
	waited := make(map[place]int64)
	x := &t.b.Intervals
	for i, kind := range x.Kind {
		if kind != evidence.LockWait || x.Stack[i] == 0 {
			continue
		}
		if owner := t.View(x.Subject[i], x.Stack[i]).Owner; owner != "" {
			waited[place{x.Subject[i], owner}] += x.End[i] - x.Start[i]
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

// besideLocks takes a thread in native code for one that waits for a lock, where others
// were seen to wait for one in the same code.
func (t *Threads) besideLocks(s evidence.SubjectID, v View) View {
	hidden := v.State == evidence.KindUnknown || v.Pattern == HiddenSleep
	if hidden && v.Wait < 0 && t.locks[place{s, v.Owner}] {
		v.State, v.Pattern = evidence.LockWait, "lock"
	}
	return v
}
