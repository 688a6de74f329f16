package ledger

import "github.com/unstall/unstall/internal/base/evidence"

// What recorded a process held it now and then: all threads for each look at them, some while it told
// the names of its methods. Requests that only this made slow are not the service's, and are not among the
// slow ones, whatever they were seen to wait for; of slow ones it is charged what nothing else
// explains.

// holdsOf are the times the recorder held a subject, whichever of its artifacts tells of them.
func holdsOf(b *evidence.Bundle, subject evidence.SubjectID) (s stops) {
	for _, i := range b.Intervals.Select(evidence.RecorderHold, subject) {
		if from, to := b.Intervals.Start[i], b.Intervals.End[i]; to > from {
			s.pauses = append(s.pauses, pause{from: from, to: to})
		}
	}
	s.mergePauses()
	return s
}

// recorderDelay is how long (ns) the recorder held a request at most.
func (l *Ledger) recorderDelay(row int) int64 {
	r := &l.b.Requests
	return l.holds.stoppedWithin(r.End.At(row)-r.Latency(row), r.End.At(row))
}
