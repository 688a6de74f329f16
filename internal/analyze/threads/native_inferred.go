package threads

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// allWaitingShare is the part of the threads seen in native code that can have run by the process's CPU time, up to which all of them count as
// waiting; leastStill is their least mean number.
const (
	allWaitingShare = .2
	leastStill      = 1.
)

// Still is the activity of a thread in native code, if the process uses, and waits for, so little CPU time that the thread can hardly run.
const Still = "a wait in native code"

// inferNativeWaits marks looks at threads in native code as waits, where the kernel's account of the process shows that hardly any of them
// can have run: nothing else shows a wait whose managed frames the compiler inlined, such as Monitor.Wait.
func (t *Threads) inferNativeWaits(s evidence.SubjectID) {
	computing := t.meanComputing(s)
	if math.IsNaN(computing) {
		return
	}
	bursts, hidden := t.Rounds(s), 0
	for _, looks := range bursts {
		for i := range looks {
			if looks[i].Time == 0 {
				return
			}
			if v := &looks[i].View; v.Hidden() && v.Owner != "" {
				hidden++
			}
		}
	}
	if len(bursts) == 0 {
		return
	}
	if mean := float64(hidden) / float64(len(bursts)); mean < leastStill || computing > allWaitingShare*mean {
		return
	}
	for i := range t.looks[s] {
		if v := &t.looks[s][i].View; v.Hidden() && v.Owner != "" {
			v.State, v.Pattern = evidence.SyncWait, Still
		}
	}
}
