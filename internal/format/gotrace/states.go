package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// A goroutine's change of state: what it did until now is charged, and what that means for the
// request it serves is left to request.go. The five events that are most of a trace have functions of their own.

// goStart is a goroutine that was runnable and gets a processor.
func (w *world) goStart(ev *wire.Event, t int64) {
	g := w.ensureGoroutine(ev.On, t)
	w.held.advanceTo(t)
	w.wasRunnable(g, t)
	g.ranFrom = t
	if ev.Proc != wire.None {
		w.occupyProcessor(w.ensureProcessor(ev.Proc), g, false, t)
	}
	g.state, g.since = wire.GoRunning, t
}

// goStop is a goroutine that blocks, or gives its processor to others.
func (w *world) goStop(ev *wire.Event, t int64) {
	g := w.ensureGoroutine(ev.On, t)
	if s := w.stacks.stackAt(ev.Stack); s != nil {
		w.noteStack(g, s, t)
	}
	w.chargeRun(g, t)
	w.freeProcessor(g, t)
	if ev.To == wire.GoWaiting {
		g.reason = w.reasons.reasonAt(w, ev.Text)
		w.noteBlocked(g, t)
	} else {
		w.noteHolders(g, t)
	}
	g.state, g.since = ev.To, t
}

// goUnblock is a goroutine that waited and is runnable.
func (w *world) goUnblock(ev *wire.Event, t int64) {
	g := w.ensureGoroutine(ev.On, t)
	var by *goroutine
	if ev.Goroutine != wire.None && ev.Goroutine != ev.On {
		by = w.ensureGoroutine(ev.Goroutine, t)
	}
	w.chargeWait(g, by, ev.By, t)
	w.freeProcessor(g, t)
	w.noteHolders(g, t)
	g.state, g.since = wire.GoRunnable, t
}

func (w *world) goSyscallBegin(ev *wire.Event, t int64) {
	g := w.ensureGoroutine(ev.On, t)
	if s := w.stacks.stackAt(ev.Stack); s != nil {
		w.noteStack(g, s, t)
	}
	w.chargeRun(g, t)
	w.syscallBegins(g, t)
	g.state, g.since = wire.GoSyscall, t
}

// goSyscallEnd is a goroutine whose system call is over and that goes on running.
func (w *world) goSyscallEnd(ev *wire.Event, t int64) {
	g := w.ensureGoroutine(ev.On, t)
	w.chargeSyscall(g, t)
	g.ranFrom = t
	if g.proc == nil && ev.Proc != wire.None {
		w.occupyProcessor(w.ensureProcessor(ev.Proc), g, false, t)
	}
	g.state, g.since = wire.GoRunning, t
}

// goChange is any change of state.
func (w *world) goChange(ev *wire.Event, t int64) {
	g := w.ensureGoroutine(ev.On, t)
	from, to := ev.From, ev.To
	if s := w.stacks.stackAt(ev.Stack); s != nil {
		w.noteStack(g, s, t)
	}
	if from == to {
		return
	}
	var by *goroutine
	if ev.Goroutine != wire.None && ev.Goroutine != ev.On {
		by = w.ensureGoroutine(ev.Goroutine, t)
	}
	if from == wire.GoUndetermined {
		g.since = w.first // it was in this state when the trace began
	}

	w.chargeEnded(g, from, by, ev.By, t)
	switch to {
	case wire.GoRunning:
		g.ranFrom = t
		if from == wire.GoSyscall && g.proc != nil {
			break // kept its processor
		}
		if ev.Proc != wire.None {
			w.occupyProcessor(w.ensureProcessor(ev.Proc), g, from == wire.GoUndetermined, t)
		}
	case wire.GoRunnable:
		w.freeProcessor(g, t)
		w.noteHolders(g, t)
		if from == wire.GoNotExist {
			g.born = t
			w.noteCreated(g, by, ev, t)
		}
	case wire.GoWaiting:
		w.freeProcessor(g, t)
		g.reason = w.reasons.reasonAt(w, ev.Text)
		w.noteBlocked(g, t)
	case wire.GoSyscall:
		w.syscallBegins(g, t)
	case wire.GoNotExist:
		w.freeProcessor(g, t)
		w.noteEnded(g, t)
		w.forgetGoroutine(g)
		return
	}
	g.state = to
	g.since = t
}

// chargeEnded charges the state that ends now.
func (w *world) chargeEnded(g *goroutine, from wire.GoState, by *goroutine, doer uint32, t int64) {
	switch from {
	case wire.GoRunning:
		w.chargeRun(g, t)
	case wire.GoRunnable:
		w.held.advanceTo(t)
		w.wasRunnable(g, t)
	case wire.GoSyscall:
		w.chargeSyscall(g, t)
	case wire.GoWaiting:
		w.chargeWait(g, by, doer, t)
	}
}

// chargeRun charges what g ran for.
func (w *world) chargeRun(g *goroutine, t int64) {
	w.host.noteRun(t - g.ranFrom)
	w.chargePlain(g, g.runningKind(), 0, 0, t)
}

// chargeSyscall charges a system call.
func (w *world) chargeSyscall(g *goroutine, t int64) {
	w.host.noteSyscall(g, t-g.since)
	w.chargePlain(g, evidence.Syscall, g.where.stackID(), g.where.syscallName(), t)
	w.syscallEnds(g, t)
	if g.proc != nil && g.proc.g != g {
		g.proc = nil
	}
}

// chargeWait charges a wait that by ended.
func (w *world) chargeWait(g, by *goroutine, doer uint32, t int64) {
	w.chargeWoken(g, by, doer, t)
	if r := g.request; r != nil && g.where != nil && g.where.flushes {
		r.noteWrite(t)
	}
}

// noteHolders notes who holds the processors when g begins to wait for one.
func (w *world) noteHolders(g *goroutine, t int64) {
	w.held.advanceTo(t)
	if g.isRemembered() {
		for i, v := range &w.held.sum { // piece by piece, as it was just written: a copy as a whole stalls the CPU
			g.heldAt[i] = v
		}
		g.heldAll = w.held.all
	}
}

// wasRunnable charges the time that g waited for a processor to the holders of the processors.
func (w *world) wasRunnable(g *goroutine, t int64) {
	if g.request == nil && !g.isRemembered() {
		g.since = t
		return
	}
	at, dur := g.since, t-g.since
	known := at >= w.first && g.heldAll != 0
	if dur > 0 && known && w.held.all-g.heldAll == dur { // as they are, nothing else is to be told of it
		g.since = t
		var h *half
		if g.isRemembered() {
			h = w.prepareMemory(g, at, t)
		}
		var held []int64
		if h != nil {
			x := h.addState()
			x.at, x.kind, x.rest = at, evidence.Runnable, uint16(len(h.rest))
			held = h.addHeld(x, &w.held.sum, &g.heldAt)
		}
		switch r := g.request; {
		case r == nil:
		case at == r.upto && len(r.path) < maxPath:
			if h == nil {
				var room [1 + evidence.NumHolders]int64
				held = room[:writeDifference(&room, &w.held.sum, &g.heldAt)]
			}
			r.path = r.path.Runnable(dur, held)
			r.upto = t
		default:
			r.addState(&evidence.Segment{Kind: evidence.Runnable, Dur: dur, Held: w.held.sharesSince(&g.heldAt)}, at)
		}
		return
	}
	s := evidence.Segment{Kind: evidence.Runnable}
	if known {
		s.Held = w.held.sharesSince(&g.heldAt)
		fitShares(&s.Held, dur)
	}
	w.chargeSegment(g, &s, t)
}

// isRemembered says whether what a goroutine does is to be remembered: no goroutine waits for
// those of the runtime.
func (g *goroutine) isRemembered() bool { return g.role != roleWorker && g.role != roleRuntime }

// fitShares makes shares sum to the duration exactly; they can miss it where the trace's clock
// stood still for a few ns.
func fitShares(s *evidence.Shares, dur int64) {
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

// chargeSegment ends the present state of g at t, a wait, and begins the next.
func (w *world) chargeSegment(g *goroutine, s *evidence.Segment, t int64) {
	s.Dur = t - g.since
	if s.Dur <= 0 {
		g.since = t
		return
	}
	w.noteSegment(g, s, g.since)
	g.since = t
}

// chargePlain is chargeSegment for states of which only kind, stack and cause are known: most of
// all.
func (w *world) chargePlain(g *goroutine, kind evidence.Kind, stack evidence.StackID, cause evidence.NameID, t int64) {
	at, dur := g.since, t-g.since
	g.since = t
	if dur <= 0 {
		return
	}
	if g.isRemembered() {
		if h := w.prepareMemory(g, at, t); h != nil {
			x := h.addState()
			x.at, x.stack, x.cause, x.kind = at, stack, cause, kind
		}
	}
	if r := g.request; r != nil {
		if at == r.upto && len(r.path) < maxPath {
			r.path = r.path.Plain(kind, dur, stack, cause)
			r.upto = t
		} else {
			r.addState(&evidence.Segment{Kind: kind, Dur: dur, Stack: stack, Cause: cause}, at)
		}
	}
	switch kind {
	case evidence.GCAssist:
		w.gc.addAssist(dur)
	case evidence.Running:
		if g.role == roleWorker {
			w.gc.addWork(g.worker, dur)
		}
	}
}

// noteSegment notes a segment that begins at `at` in the goroutine's memory and in its request.
func (w *world) noteSegment(g *goroutine, s *evidence.Segment, at int64) {
	if g.isRemembered() {
		if h := w.prepareMemory(g, at, at+s.Dur); h != nil {
			h.addSegment(s, at)
		}
	}
	if r := g.request; r != nil {
		r.addState(s, at)
	}
}

// noteStack is called with every stack of g.
func (w *world) noteStack(g *goroutine, s *stack, t int64) {
	g.where = s
	g.io |= 1 << s.io
	if g.name == 0 && s.name != 0 {
		g.name = s.name
		w.learnName(g)
	}
	if s.runtime && g.role == roleUnknown {
		w.revealRole(g, roleRuntime, t)
	}
	if g.conn.server == nil {
		switch {
		case s.server != nil:
			w.noteServing(g, s, t)
		case w.custom != nil:
			if c := w.customOf(s); c != nil {
				w.joinCustomServer(g, c, t)
			}
		}
	}
	if s.probe {
		w.dropProbe(g)
	}
	r := g.request
	if r != nil && r.unsure && g.conn.server == nil {
		w.dropRequest(g) // it shows a stack, and that serves nothing: a ticker's, not a connection's
		r = nil
	}
	if r != nil {
		r.pprof = r.pprof || s.pprof
		if at := g.serverStage(); at == stageHandler || at == stageWrite {
			w.noteHandling(r, s)
		}
	} else if g.owner.started && strings.HasPrefix(s.root, "net/http.(*timeoutHandler)") && g.servedLane() != g.id {
		w.noteHandling(g.helps.whom.request, s) // the handler itself, on a goroutine of its own
	}
}

// rangeOwner returns the goroutine a range is of: its own, or the one on its processor.
func (w *world) rangeOwner(ev *wire.Event, t int64) *goroutine {
	if ev.On != wire.None {
		return w.ensureGoroutine(ev.On, t)
	}
	return w.ranOn(ev.Proc)
}

// ranOn is the goroutine that has a processor, nil if none is known.
func (w *world) ranOn(proc int32) *goroutine {
	if proc == wire.None {
		return nil
	}
	return w.ensureProcessor(proc).g
}

// splitRun ends what g ran as until now, and begins the next.
func (w *world) splitRun(g *goroutine, t int64) {
	if g.state == wire.GoRunning {
		w.chargePlain(g, g.runningKind(), 0, 0, t)
	}
}

// followAssist follows the ranges in which a goroutine marks to pay for what it allocates.
func (w *world) followAssist(ev *wire.Event, t int64) {
	begins := ev.Type != wire.EvGCMarkAssistEnd
	g := w.rangeOwner(ev, t)
	if g == nil {
		return
	}
	if begins && ev.Goroutine == int64(g.id) {
		if s := w.stacks.stackAt(ev.Stack); s != nil {
			w.noteStack(g, s, t)
		}
	}
	w.splitRun(g, t)
	w.beforeChange(g, t)
	g.assist = begins
	w.afterChange(g)
	if begins {
		w.gc.assists++
	}
}

// followSweep follows the ranges in which a processor sweeps, for the goroutine it runs at the
// time.
func (w *world) followSweep(ev *wire.Event, t int64) {
	var g *goroutine
	switch on := int32(ev.On); {
	case ev.Goroutine != wire.None:
		g = w.ensureGoroutine(ev.Goroutine, t)
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
		if s := w.stacks.stackAt(ev.Stack); s != nil {
			w.noteStack(g, s, t)
		}
	}
	w.splitRun(g, t)
	g.sweep = begins
}

// followStop follows the ranges in which the world is stopped.
func (w *world) followStop(ev *wire.Event, t int64) {
	begins := ev.Type == wire.EvSTWBegin
	w.held.advanceTo(t)
	if begins {
		w.held.stop++
	} else {
		w.held.stop = max(0, w.held.stop-1)
	}
	w.stopChanged(t)
	if g := w.rangeOwner(ev, t); g != nil {
		if begins && ev.Goroutine == int64(g.id) { // such as reading MemStats for a profile
			if s := w.stacks.stackAt(ev.Stack); s != nil {
				w.noteStack(g, s, t)
			}
		}
		w.splitRun(g, t)
		w.beforeChange(g, t)
		g.stopping = begins
		w.afterChange(g)
	}
	if begins {
		w.gc.stopBegins(t)
	} else {
		w.gc.stopEnds(w, t, strings.Trim(w.batch.Text(ev.Text), " ()"))
	}
}
