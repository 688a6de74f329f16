package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// goroutine follows one goroutine's change of state: what it did until now is
// charged, and what that means for the request it serves is left to server.
func (w *world) goroutine(ev *wire.Event, t int64) {
	g := w.get(ev.On, t)
	from, to := ev.From, ev.To
	if s := w.stacks.get(ev.Stack); s != nil {
		w.seen(g, s, t)
	}
	if from == to {
		return
	}
	var by *goroutine
	if ev.Goroutine != wire.None && ev.Goroutine != ev.On {
		by = w.get(ev.Goroutine, t)
	}
	if from == wire.GoUndetermined {
		g.since = w.first // it was in this state when the trace began
	}

	w.leave(g, from, by, ev.By, t)
	switch to {
	case wire.GoRunning:
		g.ranFrom = t
		if from == wire.GoSyscall && g.proc != nil {
			break // kept its processor
		}
		if ev.Proc != wire.None {
			w.occupy(w.proc(ev.Proc), g, from == wire.GoUndetermined, t)
		}
	case wire.GoRunnable:
		w.free(g, t)
		w.held.advance(t)
		for i, v := range &w.held.sum { // in the pieces that it was written in just now: else the CPU waits for them
			g.heldAt[i] = v
		}
		g.heldAll = w.held.all
		if from == wire.GoNotExist {
			g.born = t
			w.created(g, by, ev, t)
		}
	case wire.GoWaiting:
		w.free(g, t)
		g.reason = w.batch.Text(ev.Text)
		w.waits(g, t)
	case wire.GoSyscall:
		w.syscallBegins(g, t)
	case wire.GoNotExist:
		w.free(g, t)
		w.ended(g, t)
		w.forget(g)
		return
	}
	g.state = to
	g.since = t
}

// leave charges the state that ends now.
func (w *world) leave(g *goroutine, from wire.GoState, by *goroutine, doer uint32, t int64) {
	switch from {
	case wire.GoRunning:
		w.host.ran(t - g.ranFrom)
		w.plain(g, g.runningKind(), 0, 0, t)
	case wire.GoRunnable:
		w.held.advance(t)
		w.wasRunnable(g, t)
	case wire.GoSyscall:
		w.host.syscall(g, t-g.since)
		w.plain(g, evidence.Syscall, g.where.id(), g.where.calls(), t)
		w.syscallEnds(g, t)
		if g.proc != nil && g.proc.g != g {
			g.proc = nil
		}
	case wire.GoWaiting:
		w.woken(g, by, doer, t)
		if r := g.request; r != nil && g.where != nil && g.where.flushes {
			r.wrote(t)
		}
	}
}

// wasRunnable charges the time that g waited for a processor to whoever held them.
func (w *world) wasRunnable(g *goroutine, t int64) {
	dur := t - g.since
	known := g.since >= w.first && g.heldAll != 0
	if g.request == nil && dur > 0 && known && w.held.all-g.heldAll == dur { // as they are, nothing else is to be told of it
		if g.remembered() {
			if h := w.remembers(g, g.since, t); h != nil {
				x := h.next()
				x.at, x.kind, x.rest = g.since, evidence.Runnable, uint16(len(h.rest))
				h.held(x, &w.held.sum, &g.heldAt)
			}
		}
		g.since = t
		return
	}
	s := evidence.Segment{Kind: evidence.Runnable}
	if known {
		s.Held = w.held.since(&g.heldAt)
		fit(&s.Held, dur)
	}
	w.charge(g, &s, t)
}

// remembered says whether what a goroutine does is to be remembered: nobody waits for those of
// the runtime.
func (g *goroutine) remembered() bool { return g.role != roleWorker && g.role != roleRuntime }

// fit makes shares sum to the duration exactly; they can miss it where the
// trace's clock stood still for a few ns.
func fit(s *evidence.Shares, dur int64) {
	if d := dur - s.Sum(); d != 0 {
		top := 0
		for i, v := range s {
			if v > s[top] {
				top = i
			}
		}
		if s[top]+d < 0 {
			*s = evidence.Shares{}
			s[evidence.HeldByNobody] = dur
			return
		}
		s[top] += d
	}
}

func (g *goroutine) runningKind() evidence.Kind {
	switch {
	case g.stopping:
		return evidence.Paused
	case g.assist:
		return evidence.GCAssist
	case g.sweep:
		return evidence.GCSweep
	}
	return evidence.Running
}

// charge ends the present state of g at t, a wait, and begins the next.
func (w *world) charge(g *goroutine, s *evidence.Segment, t int64) {
	s.Dur = t - g.since
	if s.Dur <= 0 {
		g.since = t
		return
	}
	w.append(g, s, g.since)
	g.since = t
}

// plain is charge for states of which no more is known than where, most of all.
func (w *world) plain(g *goroutine, kind evidence.Kind, stack evidence.StackID, cause evidence.NameID, t int64) {
	at, dur := g.since, t-g.since
	g.since = t
	if dur <= 0 {
		return
	}
	if g.remembered() {
		if h := w.remembers(g, at, t); h != nil {
			x := h.next()
			x.at, x.stack, x.cause, x.kind = at, stack, cause, kind
		}
	}
	if r := g.request; r != nil {
		if at == r.upto && len(r.path) < maxPath {
			r.path = r.path.Plain(kind, dur, stack, cause)
			r.upto = t
		} else {
			r.add(&evidence.Segment{Kind: kind, Dur: dur, Stack: stack, Cause: cause}, at)
		}
	}
	switch kind {
	case evidence.GCAssist:
		w.gc.assisted(dur)
	case evidence.Running:
		if g.role == roleWorker {
			w.gc.worked(g.worker, dur)
		}
	}
}

// append notes a segment that begins at `at` in the goroutine's memory and in
// its request.
func (w *world) append(g *goroutine, s *evidence.Segment, at int64) {
	if g.remembered() {
		if h := w.remembers(g, at, at+s.Dur); h != nil {
			h.add(s, at)
		}
	}
	if r := g.request; r != nil {
		r.add(s, at)
	}
}

// waiting gives the kind of the present wait of g, and what for.
func (w *world) waiting(g *goroutine) (evidence.Kind, evidence.NameID) {
	if g.where != nil && g.where.forces && g.reason != "preempted" {
		return evidence.SyncWait, w.b.Wait(evidence.ForcedCycle, "")
	}
	switch g.reason {
	case "network":
		if g.where != nil && (g.where.client || g.conn.custom != nil && g.stage() != stageHandler) {
			return evidence.ClientWait, 0
		}
		return evidence.NetWait, g.where.dependency()
	case "sleep":
		return evidence.SleepWait, 0
	case "GC mark assist wait for work":
		return evidence.GCAssistWait, 0
	case "preempted":
		return evidence.GCWait, w.b.Name("stack scan")
	}
	if strings.HasPrefix(g.reason, "GC ") || g.reason == "wait for GC cycle" {
		return evidence.GCWait, w.reasons.name(w.b, g.reason)
	}
	if g.where != nil && g.where.wait != evidence.KindUnknown {
		return g.where.wait, g.where.waiting
	}
	if g.reason == "" && g.where == nil {
		return evidence.Unobserved, 0
	}
	return evidence.SyncWait, w.reasons.name(w.b, g.reason)
}

// awaits is what g waits for at present, before it is known who ends that.
func (w *world) awaits(g *goroutine) (evidence.Kind, evidence.NameID) {
	kind, cause := w.waiting(g)
	switch {
	case kind != evidence.SyncWait || g.where == nil || g.where.forces:
	case g.where.getConn:
		return evidence.PoolWait, w.b.Name(clientConns)
	case g.where.answer:
		return evidence.NetWait, g.where.needs
	}
	return kind, cause
}

// reasons are the names of reasons, those that came last of each length: they are few, and
// most waits have one.
type reasons [32]struct {
	text string
	name evidence.NameID
}

func (r *reasons) name(b *evidence.Builder, reason string) evidence.NameID {
	k := &r[len(reason)%len(r)]
	if k.text != reason {
		k.name = b.Name(reason)
		k.text = b.Text(k.name)
	}
	return k.name
}

// clientConns is the pool of connections to one host, which Transport.MaxConnsPerHost limits.
const clientConns = "net/http client connections"

// woken charges a wait to what it was for. Doer is the stack of whoever ended it.
func (w *world) woken(g *goroutine, by *goroutine, doer uint32, t int64) {
	kind, cause := w.waiting(g)
	s := evidence.Segment{Kind: kind, Cause: cause, Stack: g.where.id()}
	if kind == evidence.SyncWait {
		switch {
		case g.where != nil && g.where.answer:
			// Whoever reads the answer says more; what that one does not explain is
			// the dependency's.
			s.Kind, s.Cause = evidence.NetWait, g.where.needs
		case g.where != nil && g.where.forces:
		case by == nil && g.where != nil && g.where.handed != 0:
			s.Kind, s.Cause = evidence.PoolWait, g.where.handed // others let go of it here for those who came in time
		case by == nil && (g.reason == "select" || g.reason == "chan receive"):
			s.Kind, s.Cause = evidence.SleepWait, 0 // only timers wake without a goroutine
		}
	}
	if h := w.only(g); by == nil && h != nil && s.Kind == evidence.SleepWait && g.reason != "sleep" {
		w.chargeHop(g, h, evidence.Segment{Kind: evidence.SyncWait, Cause: w.reasons.name(w.b, g.reason), Stack: g.where.id()}, h.where, t)
		w.awake(g, t)
		return
	}
	if by == nil || g.conn.idle || kind == evidence.SyncWait && g.where != nil && g.where.forces {
		// The network, a timer, or whoever polled the network; or whoever ends the cycle
		// that this one began.
		w.charge(g, &s, t)
		w.awake(g, t)
		return
	}
	at := w.stacks.get(doer)
	if r := by.request; r != nil && at != nil && at.stage == stageHandler {
		w.handled(r, at)
	}
	switch kind {
	case evidence.LockWait, evidence.PoolWait,
		evidence.Unobserved: // since before the trace: whatever for, it was what by held
		w.chargeHolder(g, by, s, at, t)
	case evidence.SyncWait:
		w.meets(g, by, s, at, t)
	default:
		w.charge(g, &s, t)
	}
}

// meets charges a wait for another goroutine, which by ended: at is where.
func (w *world) meets(g, by *goroutine, s evidence.Segment, at *stack, t int64) {
	switch {
	case g.where != nil && g.where.getConn && by.where != nil && strings.Contains(by.where.root, "persistConn).readLoop"):
		s.Kind, s.Cause = evidence.PoolWait, w.b.Name(clientConns)
		w.chargeHolder(g, by, s, at, t)
		return
	case !g.where.joins() && (by.request != nil && by.request != g.request || by.ofAnother(g)):
		// Another request let go of what this one needed.
		s.Kind, s.Cause = evidence.PoolWait, g.where.handOver(w, g.reason)
		w.chargeHolder(g, by, s, at, t)
		return
	}
	if g.request != nil && by.role == roleUnknown {
		w.becomes(by, roleRequests, t) // for as long as it runs now, and from now on
	}
	w.chargeQueue(g, by, s, at, t)
	if by.role == roleRequests {
		w.helper(by, g)
	}
	w.chargeHop(g, by, s, at, t)
}

// seen is called with every stack of g.
func (w *world) seen(g *goroutine, s *stack, t int64) {
	g.where = s
	if g.name == 0 && s.name != 0 {
		g.name = s.name
		w.named(g)
	}
	if g.role == roleUnknown && s.runtime {
		w.reveal(g, roleRuntime, t)
	}
	switch s.io {
	case ioAccept:
		g.acceptor = true
	case ioRead:
		g.owner.reads = true
	case ioWrite:
		g.owner.writes = true
	}
	if g.conn.server == nil {
		switch {
		case s.server != nil:
			w.recognised(g, s, t)
		case w.custom != nil:
			if c := w.customOf(s); c != nil {
				w.rejoins(g, c, t)
			}
		}
	}
	if s.probe {
		w.probed(g)
	}
	if r := g.request; r != nil && r.unsure && g.conn.server == nil {
		w.drop(g) // it shows a stack, and that serves nothing: a ticker's, not a connection's
	}
	if r := g.request; r != nil {
		r.pprof = r.pprof || s.pprof
		if at := g.stage(); at == stageHandler || at == stageWrite {
			w.handled(r, s)
		}
	} else if g.owner.started && strings.HasPrefix(s.root, "net/http.(*timeoutHandler)") && g.serves() != g.id {
		w.handled(g.helps.whom.request, s) // the handler itself, on a goroutine of its own
	}
}

// whose is the goroutine a range is of: its own, or the one on its processor.
func (w *world) whose(ev *wire.Event, t int64) *goroutine {
	if ev.On != wire.None {
		return w.get(ev.On, t)
	}
	return w.ranOn(ev.Proc)
}

// ranOn is the goroutine that has a processor, nil if none is known.
func (w *world) ranOn(proc int32) *goroutine {
	if proc == wire.None {
		return nil
	}
	return w.proc(proc).g
}

// turn ends what g ran as until now, and begins the next.
func (w *world) turn(g *goroutine, t int64) {
	if g.state == wire.GoRunning {
		w.plain(g, g.runningKind(), 0, 0, t)
	}
}

// assists follows the ranges in which a goroutine marks to pay for what it allocates.
func (w *world) assists(ev *wire.Event, t int64) {
	begins := ev.Type != wire.EvGCMarkAssistEnd
	g := w.whose(ev, t)
	if g == nil {
		return
	}
	if begins && ev.Goroutine == int64(g.id) {
		if s := w.stacks.get(ev.Stack); s != nil {
			w.seen(g, s, t)
		}
	}
	w.turn(g, t)
	w.changes(g, t)
	g.assist = begins
	w.changed(g)
	if begins {
		w.gc.assists++
	}
}

// sweeps follows the ranges in which a processor sweeps, for whom it runs at the time.
func (w *world) sweeps(ev *wire.Event, t int64) {
	var g *goroutine
	switch on := int32(ev.On); {
	case ev.Goroutine != wire.None:
		g = w.get(ev.Goroutine, t)
	case ev.Type == wire.EvGCSweepActive:
		g = w.ranOn(on)
	default:
		g = w.ranOn(ev.Proc)
	}
	if g == nil {
		return
	}
	begins := ev.Type != wire.EvGCSweepEnd
	if begins && ev.Goroutine == int64(g.id) {
		if s := w.stacks.get(ev.Stack); s != nil {
			w.seen(g, s, t)
		}
	}
	w.turn(g, t)
	g.sweep = begins
}

// stops follows the ranges in which somebody has the world stopped.
func (w *world) stops(ev *wire.Event, t int64) {
	begins := ev.Type == wire.EvSTWBegin
	w.held.advance(t)
	if begins {
		w.held.stop++
	} else {
		w.held.stop = max(0, w.held.stop-1)
	}
	w.stopChanged(t)
	if g := w.whose(ev, t); g != nil {
		if begins && ev.Goroutine == int64(g.id) { // such as reading MemStats for a profile
			if s := w.stacks.get(ev.Stack); s != nil {
				w.seen(g, s, t)
			}
		}
		w.turn(g, t)
		w.changes(g, t)
		g.stopping = begins
		w.changed(g)
	}
	if begins {
		w.gc.stopBegins(t)
	} else {
		w.gc.stopEnds(w, t, strings.Trim(w.batch.Text(ev.Text), " ()"))
	}
}
