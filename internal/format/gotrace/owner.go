package gotrace

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// owner is what is known of a goroutine that others hand work to: one that owns
// something and serves one after the other, or a worker of several that take from
// one queue.
type owner struct {
	last  int64 // when it last woke a goroutine with what that one waited for
	began int64 // when it can first have worked for the goroutine that it serves now: when it answered the one before

	started bool // a request started it
	helpers int  // that it has started for its request and that have not ended
	newest  *goroutine
}

// burst is the time (ns) within which goroutines that one goroutine wakes count as served together: closing a channel or ending a batch
// wakes one each 1–2 µs.
const burst = 10e3

// noteHandover notes that the owner hands another goroutine what that one waited for.
func (o *owner) noteHandover(t int64) {
	if t-o.last > burst {
		o.began = o.last
	}
	o.last = t
}

// isDistributor says whether a goroutine only hands out what comes in from the network, such as
// the answers of a connection that many share. It serves no request itself.
func (g *goroutine) isDistributor() bool { return g.io.has(ioRead) && !g.io.has(ioWrite) }

// chargeQueue charges the part of a wait for an owner in which the owner worked for other goroutines: an owner that serves one after the
// other has a queue. In the rest of the wait the owner works for this goroutine.
func (w *world) chargeQueue(g, by *goroutine, x wait, at *stack, t int64) {
	if by.request != nil || by.isDistributor() || g.where != nil && g.where.answer || !g.ofRequest() {
		return
	}
	if by.startedFor(g.servedLane()) {
		if g.reason.textOrEmpty() == "chan send" && at != nil && at.receives && g.owner.helpers > 1 {
			// It waits until one of the goroutines that work for it takes the next task: it lets only so many work at a time.
			x.kind, x.cause = evidence.PoolWait, g.where.limitName(w)
			w.chargeHolder(g, by, x, at, t)
		}
		return
	}
	if at != nil && at.receives {
		// The owner received what this goroutine had to send, and had not begun with it before.
		x.kind, x.cause = evidence.PoolWait, by.queueName(w)
		w.chargeHolder(g, by, x, at, t)
		return
	}
	by.owner.noteHandover(t)
	if until := by.owner.began; until > g.since {
		x.kind, x.cause = evidence.PoolWait, by.queueName(w)
		w.chargeHolder(g, by, x, at, until)
	}
}

// ofRequest says whether a goroutine serves a request, or was started for one that still is.
func (g *goroutine) ofRequest() bool {
	return g.request != nil || g.owner.started && g.servedLane() != g.id
}

// startedFor says whether a goroutine was started for the request that lane serves.
func (g *goroutine) startedFor(lane evidence.LaneID) bool {
	return g.owner.started && g.servedLane() == lane
}

// soleHelper returns the goroutine that works for the request which g serves, where that is a
// single one and itself waits for a place in a pool, or a lock: if a timer ends the wait of g,
// that is what g gave up on. Other waits do not count: the helper may only watch.
func (w *world) soleHelper(g *goroutine) *goroutine {
	h := g.owner.newest
	if g.request == nil || g.owner.helpers != 1 || h == nil || !h.startedFor(g.id) {
		return nil
	}
	if h.state != wire.GoWaiting {
		return nil
	}
	if kind, _ := w.presentWait(h); kind != evidence.PoolWait && kind != evidence.LockWait {
		return nil
	}
	return h
}

// ofAnother says whether a goroutine was started for a request that is still being served,
// and not the one that whom works for.
func (g *goroutine) ofAnother(whom *goroutine) bool {
	if !g.owner.started || g.request != nil || !whom.ofRequest() || whom.where != nil && whom.where.getConn {
		return false // a connection that one request dials is another's as well
	}
	lane := g.servedLane()
	return lane != g.id && lane != whom.servedLane()
}

// limiters are libraries that start goroutines and let only so many work at a time. Their caller sets the limit.
var limiters = []string{"golang.org/x/sync/errgroup.", "github.com/sourcegraph/conc/"}

func isLimiter(f string) bool {
	return slices.ContainsFunc(limiters, func(l string) bool { return strings.HasPrefix(f, l) })
}

// limitName names the limit of goroutines that work for a request at a time, by where the request
// starts them.
func (k *stack) limitName(w *world) evidence.NameID {
	at := k.place
	if k.own != "" {
		at = k.own
	}
	return w.b.Wait(evidence.GoroutineLimit, at)
}

// queueName names the queue in front of a goroutine that serves one after the other.
func (g *goroutine) queueName(w *world) evidence.NameID {
	if g.where == nil {
		return w.b.Name("queue of another goroutine")
	}
	if g.where.queue == 0 {
		g.where.queue = w.b.Name("queue of " + g.where.root)
	}
	return g.where.queue
}
