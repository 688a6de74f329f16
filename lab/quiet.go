package lab

import "time"

// others is the share of the host's CPUs from which other programs disturb a measurement:
// a diagnosis finds them, rightly, where the lab demands another cause, and they
// raise the latencies of the storm.
const others = .1

// awaitQuiet waits until other programs use little of the host, or until the patience of the whole
// lab is used up.
func (s *Stand) awaitQuiet() {
	const look = 300 * time.Millisecond
	waited := false
	for s.patience > 0 && s.ctx.Err() == nil {
		before, begin := usageOf(), time.Now()
		time.Sleep(look)
		took := time.Since(begin)
		if usageOf().othersShare(before, took.Seconds()) < others {
			return
		}
		if !waited {
			waited = true
			s.reportProgress("other programs are using this host: waiting until it is quiet")
		}
		s.patience -= took
	}
}
