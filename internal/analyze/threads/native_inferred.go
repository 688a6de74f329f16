package threads

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// nobodyRuns is the part of the threads seen in native code that the CPU time of all the process
// allows to run, up to which they are all taken for waiting; leastStill is how many of them there
// are in the mean.
const (
	nobodyRuns = .2
	leastStill = 1.
)

// Still is what a thread does that is in native code, where the process uses, and waits for, so little CPU time
// that it can hardly run.
const Still = "a wait in native code"

// inferNativeWaits makes looks at threads in native code look like waits, where the kernel's account of
// the process says that next to none of them can have run: of a wait whose managed frames the
// compiler put into their caller, such as Monitor.Wait, nothing else tells.
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
	if mean := float64(hidden) / float64(len(bursts)); mean < leastStill || computing > nobodyRuns*mean {
		return
	}
	for i := range t.looks[s] {
		if v := &t.looks[s][i].View; v.Hidden() && v.Owner != "" {
			v.State, v.Pattern = evidence.SyncWait, Still
		}
	}
}
