package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// waitCause returns the kind of the present wait of g, and what for.
func (w *world) waitCause(g *goroutine) (evidence.Kind, evidence.NameID) {
	r := g.reason
	if r == nil {
		r = &noReason
	}
	if g.where != nil && g.where.forces && r.kind != isPreempted {
		return evidence.SyncWait, w.b.Wait(evidence.ForcedCycle, "")
	}
	switch r.kind {
	case isNetwork:
		if g.where != nil && (g.where.client || g.conn.custom != nil && g.serverStage() != stageHandler) {
			return evidence.ClientWait, 0
		}
		return evidence.NetWait, g.where.dependencyName()
	case isSleep:
		return evidence.SleepWait, 0
	case isAssist:
		return evidence.GCAssistWait, 0
	case isPreempted:
		return evidence.GCWait, w.b.Name("stack scan")
	case isCollector:
		return evidence.GCWait, r.causeName(w.b)
	}
	if g.where != nil && g.where.wait != evidence.KindUnknown {
		return g.where.wait, g.where.waiting
	}
	if r.text == "" && g.where == nil {
		return evidence.Unobserved, 0
	}
	return evidence.SyncWait, r.causeName(w.b)
}

// presentWait returns what g waits for at present, before it is known which goroutine ends that.
func (w *world) presentWait(g *goroutine) (evidence.Kind, evidence.NameID) {
	kind, cause := w.waitCause(g)
	switch {
	case kind != evidence.SyncWait || g.where == nil || g.where.forces:
	case g.where.getConn:
		return evidence.PoolWait, w.b.Name(clientConns)
	case g.where.answer:
		return evidence.NetWait, g.where.needs
	}
	return kind, cause
}

// clientConns is the pool of connections to one host, which Transport.MaxConnsPerHost limits.
const clientConns = "net/http client connections"

// wait is what is known of a wait before who ended it is asked: what for, and where.
type wait struct {
	kind  evidence.Kind
	cause evidence.NameID
	stack evidence.StackID
}

func (x *wait) toSegment(dur int64) evidence.Segment {
	return evidence.Segment{Kind: x.kind, Dur: dur, Cause: x.cause, Stack: x.stack}
}

// chargeWoken charges a wait to what it was for. Doer is the stack of the goroutine that ended it.
func (w *world) chargeWoken(g *goroutine, by *goroutine, doer uint32, t int64) {
	kind, cause := w.waitCause(g)
	x := wait{kind, cause, g.where.stackID()}
	if kind == evidence.SyncWait {
		switch {
		case g.where != nil && g.where.answer:
			// What the goroutine that reads the answer does explains a part; the rest is the dependency's.
			x.kind, x.cause = evidence.NetWait, g.where.needs
		case g.where != nil && g.where.forces:
		case by != nil:
		case g.where != nil && g.where.handed != 0:
			x.kind, x.cause = evidence.PoolWait, g.where.handed // others hand over at this place, in time for other waits
		case g.reason.isChannelWait():
			x.kind, x.cause = evidence.SleepWait, 0 // only timers wake without a goroutine
		}
	}
	if by == nil && x.kind == evidence.SleepWait && g.reason.textOrEmpty() != "sleep" {
		if h := w.soleHelper(g); h != nil {
			w.chargeHop(g, h, wait{evidence.SyncWait, g.reason.causeName(w.b), x.stack}, h.where, t)
			w.noteAwake(g, t)
			return
		}
	}
	if by == nil || g.conn.idle || kind == evidence.SyncWait && g.where != nil && g.where.forces {
		// The network, a timer or the goroutine that polled the network woke it, or the end of the GC cycle that it began.
		w.chargePlain(g, x.kind, x.stack, x.cause, t)
		w.noteAwake(g, t)
		return
	}
	at := w.stacks.stackAt(doer)
	if r := by.request; r != nil && at != nil && at.stage == stageHandler {
		w.noteHandling(r, at)
	}
	switch kind {
	case evidence.LockWait, evidence.PoolWait,
		evidence.Unobserved: // since before the trace: whatever for, it was what by held
		w.chargeHolder(g, by, x, at, t)
	case evidence.SyncWait:
		w.chargeMeeting(g, by, x, at, t)
	default:
		w.chargePlain(g, x.kind, x.stack, x.cause, t)
	}
}

// chargeMeeting charges a wait for another goroutine, which by ended: at is where.
func (w *world) chargeMeeting(g, by *goroutine, x wait, at *stack, t int64) {
	switch {
	case g.where != nil && g.where.getConn && by.where != nil && strings.Contains(by.where.root, "persistConn).readLoop"):
		x.kind, x.cause = evidence.PoolWait, w.b.Name(clientConns)
		w.chargeHolder(g, by, x, at, t)
		return
	case !g.where.isJoin() && (by.request != nil && by.request != g.request || by.ofAnother(g)):
		// Another request let go of what this one needed.
		x.kind, x.cause = evidence.PoolWait, g.where.handOver(w, g.reason.textOrEmpty())
		w.chargeHolder(g, by, x, at, t)
		return
	}
	if g.request != nil && by.role == roleUnknown {
		w.changeRole(by, roleRequests, t) // for as long as it runs now, and from now on
	}
	w.chargeQueue(g, by, x, at, t)
	if by.role == roleRequests {
		w.noteHelper(by, g)
	}
	w.chargeHop(g, by, x, at, t)
}
