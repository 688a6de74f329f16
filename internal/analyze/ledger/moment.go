package ledger

import (
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// sharesOf splits the requests in flight at a moment with a look at all threads.
func (l *Ledger) sharesOf(looks []threads.Sample, serve func(*threadstack.View) bool, m meanwhile) (parts []share) {
	at := looks[0].Time
	inFlight, awaiting := m.inFlight(at), m.awaiting(at)
	free := false
	blocked, workers, serves, unknown := 0, 0, 0, 0
	var held []evidence.Segment // for requests that wait for a thread: what one of the threads does
	var sum float64
	size := make(map[string]int) // of each pool
	hands := false               // a thread that reads requests hands them to others, so that these hold none until it is their turn
	for i := range looks {
		v := &looks[i].View
		if v.Role == threadstack.Worker {
			size[v.Pool]++
		}
		hands = hands || v.Loop || v.Role == threadstack.IO
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
			sum++
			parts = addShare(parts, l.shareOfLook(&looks[i]))
		}
	}
	if len(held) == 0 && l.queued != nil {
		held = l.computingOnCarriers(looks)
	}
	queue := l.queued.lengthAt(at)
	waits := 0. // requests that wait for a thread
	if rest := inFlight - sum - awaiting; rest > 0 {
		// A pool is full if no thread is idle and most work on requests: the others read one, or answer.
		full := workers > 0 && !free && float64(serves) > usedUp*float64(workers)
		switch {
		case l.queued.isStandingAt(at) && m.clients: // every request without a thread is behind others
			waits = rest
		case free || !full && float64(blocked) <= usedUp*float64(workers): // then only requests in the pool's queue wait
			waits = min(rest, queue)
		default:
			waits = rest
		}
		if serves == 0 { // frames of this server are not known: each of its threads may have a request
			waits = max(0, waits-float64(unknown))
		}
	}
	behind := min(awaiting, max(0, queue-waits)) // continuations after an await are queued, too
	if n := waits + behind; n > 0 {
		for _, s := range held {
			parts = addShare(parts, share{mechanism: PoolThread, Segment: s, part: n / float64(len(held))})
		}
		if len(held) == 0 {
			parts = addShare(parts, share{mechanism: PoolThread, part: n})
		}
	}
	if left := inFlight - sum - awaiting - waits; left > 0 && (!l.onThreads || hands) {
		s, blocked := l.allBlocked(looks)
		switch {
		case blocked > 1:
			left = min(left, m.stalled(at))
		case l.onThreads || !m.stalls(at):
			left = 0
		}
		if blocked > 0 && left > 0 {
			parts = addShare(parts, share{mechanism: Goroutine, Segment: s, part: left})
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

// allBlocked returns, as a wait for them, the threads that work on requests, and how many they are, if all are blocked in one call and none runs: while no
// request of a route is answered, all others of it wait for these, as for a lock that is held meanwhile, or for a thread of the pool that these are. It returns 0
// where they wait for several things, or several for an answer, which each may wait for on its own.
func (l *Ledger) allBlocked(looks []threads.Sample) (s evidence.Segment, n int) {
	for i := range looks {
		v := &looks[i].View
		switch {
		case !v.Request && v.State != evidence.Running || v.State == evidence.Idle:
			continue
		case v.State != evidence.Syscall && v.State != evidence.NetWait:
			return s, 0
		}
		cause := v.Cause(l.b.Names)
		if n++; n > 1 && (v.State != evidence.Syscall || s.HolderKind != evidence.Syscall || cause != s.HolderCause) {
			return s, 0
		}
		s = evidence.Segment{Kind: evidence.SyncWait, HolderKind: v.State, HolderStack: looks[i].Stack, HolderCause: cause}
	}
	return s, n
}

// computingOnCarriers returns what the virtual threads on carriers do, for those that wait for a carrier; nil unless all of these compute: one that is
// pinned while it waits keeps its carrier for another reason.
func (l *Ledger) computingOnCarriers(looks []threads.Sample) (held []evidence.Segment) {
	for i := range looks {
		switch v := &looks[i].View; {
		case !v.Virtual || v.State == evidence.ThreadWait: // not on a carrier
		case v.State != evidence.Running:
			return nil
		default:
			held = append(held, looks[i].Holds(l.b, false))
		}
	}
	return held
}
