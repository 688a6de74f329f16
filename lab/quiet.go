package lab

import "time"

// others is the share of the host's processors from which others spoil what is
// measured: a diagnosis finds them, rightly, and the lab asks for something else;
// and latencies in the storm are theirs.
const others = .1

// awaitQuiet waits for a moment in which other programs use little of the host, as long as there
// is patience left for the whole of the lab.
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
