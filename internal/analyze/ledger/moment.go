package ledger

import (
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// sharesOf splits the requests in flight at one moment, at which all threads were looked at.
func (l *Ledger) sharesOf(looks []threads.Sample, serve func(*threadstack.View) bool, m meanwhile) (parts []share) {
	at := looks[0].Time
	inFlight, awaiting := m.inFlight(at), m.awaiting(at)
	free := false
	blocked, workers, serves, unknown := 0, 0, 0, 0
	var held []evidence.Segment // of who waits for a thread: what one of them does
	var sum float64
	size := make(map[string]int) // of the pools
	for i := range looks {
		if v := &looks[i].View; v.Role == threadstack.Worker {
			size[v.Pool]++
		}
	}
	for i := range looks {
		v := &looks[i].View
		if serve(v) {
			workers++
			free = free || v.State == evidence.Idle
			if v.Waiting() {
				blocked++
			}
			if v.State != evidence.Idle {
				held = append(held, looks[i].Holds(l.b, v.Loop && size[v.Pool] == 1))
				if !v.Request {
					unknown++
				}
			}
			if v.Request {
				serves++
			}
		}
		if v.Request && v.State != evidence.Idle {
			s := share{mechanism: states[v.State], Segment: looks[i].Segment(l.b), part: 1}
			s.Holder = 0
			switch {
			case v.State == evidence.LockWait:
				s.mechanism = Lock
			case v.State == evidence.PoolWait:
				s.mechanism = Pool
			case v.Ready:
				s.mechanism = HostCPU // or behind others of its own process, see [walker.chargeThreads]
			}
			if s.Cause == 0 { // of who runs, in which function
				s.Cause = l.b.Names.ID(v.Owner)
			}
			sum++
			parts = addShare(parts, s)
		}
	}
	queue := l.queued.lengthAt(at)
	waits := 0. // for a thread
	if rest := inFlight - sum - awaiting; rest > 0 {
		// None is without work, and most work on requests: the others read one, or answer.
		full := workers > 0 && !free && float64(serves) > usedUp*float64(workers)
		switch {
		case l.queued.isStandingAt(at) && m.clients: // whatever has no thread is behind others
			waits = rest
		case free || !full && float64(blocked) <= usedUp*float64(workers): // then only what is in the pool's queue
			waits = min(rest, queue)
		default:
			waits = rest
		}
		if serves == 0 { // of a server whose frames are not known, each of its threads may have one
			waits = max(0, waits-float64(unknown))
		}
	}
	behind := min(awaiting, max(0, queue-waits)) // what goes on after an await is queued, too
	if n := waits + behind; n > 0 {
		for _, s := range held {
			parts = addShare(parts, share{mechanism: PoolThread, Segment: s, part: n / float64(len(held))})
		}
		if len(held) == 0 {
			parts = addShare(parts, share{mechanism: PoolThread, part: n})
		}
	}
	if awaiting > behind {
		if l.awaiteds == nil {
			parts = addShare(parts, share{mechanism: Awaiting, part: awaiting - behind})
		}
		for _, s := range l.awaiteds {
			s.part *= awaiting - behind
			parts = addShare(parts, s)
		}
	}
	whole := max(inFlight, sum+awaiting)
	for i := range parts {
		parts[i].part /= whole
	}
	inOrder(parts)
	return parts
}
