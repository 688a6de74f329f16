package ledger

import "github.com/unstall/unstall/internal/base/evidence"

// A recorder holds a process at times: all threads for each sample of them, some while it reads the names of methods.
// Requests that are slow only because of this do not count as slow, whatever they were seen to wait for. Of other slow
// requests, the recorder is charged the time that nothing else explains.

// holdsOf returns the times in which the recorder held a subject, from all artifacts of the subject.
func holdsOf(b *evidence.Bundle, subject evidence.SubjectID) (s stops) {
	for _, i := range b.Intervals.Select(evidence.RecorderHold, subject) {
		if from, to := b.Intervals.Start[i], b.Intervals.End[i]; to > from {
			s.pauses = append(s.pauses, pause{from: from, to: to})
		}
	}
	s.mergePauses()
	return s
}

// recorderDelay returns how long (ns) the recorder held a request at most.
func (l *Ledger) recorderDelay(row int) int64 {
	r := &l.b.Requests
	return l.holds.stoppedWithin(r.End.At(row)-r.Latency(row), r.End.At(row))
}
