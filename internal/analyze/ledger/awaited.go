package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// awaitShares returns what requests without a thread await, as shares of the time, from samples that list all awaits of
// one moment. The shares say nothing of a single request. It returns nil without samples.
func (l *Ledger) awaitShares(read func() *threads.Threads) (parts []share) {
	x := &l.b.Samples
	kinds := l.awaitKinds()
	if len(kinds) == 0 {
		return nil
	}
	var of *threads.Threads
	var sum float64
	for i := range x.Len() {
		kind, ok := kinds[x.Type[i]]
		if !ok || x.Subject[i] != l.Subject || x.Value[i] <= 0 {
			continue
		}
		if of == nil {
			of = read()
		}
		what := of.Awaited(l.Subject, kind, x.Class[i], x.Stack[i])
		s := share{mechanism: states[kind], Segment: evidence.Segment{Kind: kind, Cause: what, Stack: x.Stack[i]}, part: float64(x.Value[i])}
		if kind == evidence.PoolWait {
			s.mechanism = Pool
		}
		parts = addShare(parts, s)
		sum += s.part
	}
	for i := range parts {
		parts[i].part /= sum
	}
	slices.SortStableFunc(parts, func(a, b share) int { return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(a.Cause, b.Cause)) })
	return parts
}

// awaitKinds returns the types of the samples of awaits, by name.
func (l *Ledger) awaitKinds() map[evidence.NameID]evidence.Kind {
	kinds := make(map[evidence.NameID]evidence.Kind)
	for text, kind := range evidence.AwaitKinds {
		if id := l.b.Names.Lookup(text); id != 0 {
			kinds[id] = kind
		}
	}
	return kinds
}

// requestAwaits returns what a request awaited, as parts of a time in which it held no thread or of which nothing is
// known.
func (w *walker) requestAwaits(known evidence.Kind) []share {
	if a := w.l.alike; a != nil {
		if a.told[w.row] {
			return nil // its states tell what it awaited
		}
		longer := w.l.awaiteds != nil && w.l.b.Requests.Latency(w.row) > a.long
		if x := a.likenessOf(w.row); x.parts != nil && !longer {
			return x.parts
		}
	}
	if known != evidence.Awaiting {
		return nil
	}
	return w.l.awaiteds
}

// chargeAwaited charges a time in which a request held no thread, split into its wait for a thread and what it awaited.
func (w *walker) chargeAwaited(at int64, s evidence.Segment) {
	left := s.Dur
	charge := func(m Mechanism, part evidence.Segment) {
		if part.Dur <= 0 {
			return
		}
		w.c = Charges{}
		w.c[m] = part.Dur
		w.yieldState(at, part, fromStates)
		at += part.Dur
		left -= part.Dur
	}
	if q := w.l.queued; q != nil {
		part := s
		part.Dur = int64(q.meanShare(at, s.Dur) * float64(s.Dur))
		charge(PoolThread, part)
	}
	rest := float64(left)
	for _, x := range w.l.awaitGate.splitShares(w.requestAwaits(s.Kind), w.l.awaiteds, at, at+left) {
		part := x.Segment
		part.Dur = min(left, int64(x.part*rest))
		charge(x.mechanism, part)
	}
	s.Dur = left
	charge(Awaiting, s)
}
