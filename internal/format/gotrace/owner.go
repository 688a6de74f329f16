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
	last  int64 // when it last gave somebody what that one waited for
	began int64 // since when it can have worked for the one it serves now: it gave somebody else an answer then

	started bool // a request started it
	helpers int  // that it has started for its request and that have not ended
	newest  *goroutine
}

// burst is how soon after another a goroutine is woken by the same one to be served
// together with it: what closes a channel or ends a batch wakes one each 1–2 µs.
const burst = 10e3

// gives notes that the owner gives somebody what that one waited for.
func (o *owner) gives(t int64) {
	if t-o.last > burst {
		o.began = o.last
	}
	o.last = t
}

// sorts says that a goroutine only hands out what comes in from the network, whose it
// is: the answers of a connection that many share. It serves nobody itself.
func (g *goroutine) sorts() bool { return g.io.has(ioRead) && !g.io.has(ioWrite) }

// chargeQueue charges the part of a wait for another goroutine in which that one worked
// for others: who waits for somebody who serves one after the other waits in a queue
// first. What is left is what the owner did for this one.
func (w *world) chargeQueue(g, by *goroutine, x wait, at *stack, t int64) {
	if by.request != nil || by.sorts() || g.where != nil && g.where.answer || !g.ofRequest() {
		return
	}
	if by.startedFor(g.serves()) {
		if g.reason.why() == "chan send" && at != nil && at.receives && g.owner.helpers > 1 {
			// It waits for one of several that work for it to make room: as many as it lets
			// work for it at a time are at work.
			x.kind, x.cause = evidence.PoolWait, g.where.limit(w)
			w.chargeHolder(g, by, x, at, t)
		}
		return
	}
	if at != nil && at.receives {
		// It took what this one had to give: until then it had not begun with it.
		x.kind, x.cause = evidence.PoolWait, by.queue(w)
		w.chargeHolder(g, by, x, at, t)
		return
	}
	by.owner.gives(t)
	if until := by.owner.began; until > g.since {
		x.kind, x.cause = evidence.PoolWait, by.queue(w)
		w.chargeHolder(g, by, x, at, until)
	}
}

// ofRequest says whether a goroutine serves a request, or was started for one that still is.
func (g *goroutine) ofRequest() bool {
	return g.request != nil || g.owner.started && g.serves() != g.id
}

// startedFor says whether a goroutine was started for the request that lane serves.
func (g *goroutine) startedFor(lane evidence.LaneID) bool {
	return g.owner.started && g.serves() == lane
}

// only is the goroutine that works for the request which g serves, where that is a single one
// and waits for a place in a pool, or a lock, itself: if a timer ends the wait of g, that is what
// it gave up on. What else one may wait for is no reason: it may only watch.
func (w *world) only(g *goroutine) *goroutine {
	h := g.owner.newest
	if g.request == nil || g.owner.helpers != 1 || h == nil || !h.startedFor(g.id) {
		return nil
	}
	if h.state != wire.GoWaiting {
		return nil
	}
	if kind, _ := w.awaits(h); kind != evidence.PoolWait && kind != evidence.LockWait {
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
	lane := g.serves()
	return lane != g.id && lane != whom.serves()
}

// limiters are the libraries that start goroutines and let only so many work at a time:
// the limit is set by who calls them.
var limiters = []string{"golang.org/x/sync/errgroup.", "github.com/sourcegraph/conc/"}

func limits(f string) bool {
	return slices.ContainsFunc(limiters, func(l string) bool { return strings.HasPrefix(f, l) })
}

// limit names how many goroutines a request lets work for it at a time, by where it starts them.
func (k *stack) limit(w *world) evidence.NameID {
	at := k.place
	if k.own != "" {
		at = k.own
	}
	return w.b.Wait(evidence.GoroutineLimit, at)
}

// queue names what those wait in to whom a goroutine has not come yet.
func (g *goroutine) queue(w *world) evidence.NameID {
	if g.where == nil {
		return w.b.Name("queue of another goroutine")
	}
	if g.where.queue == 0 {
		g.where.queue = w.b.Name("queue of " + g.where.root)
	}
	return g.where.queue
}
