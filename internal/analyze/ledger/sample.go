package ledger

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// tracedSample is what traced requests did. It speaks for requests of the population that were not traced. Requests are
// alike if they have the same route, took about as long (or half as long where too few did) and are both slow or both not.
// Where enough of its like are traced, a request spent its time on average as they did. Traces come at moments that do not
// depend on the requests, so that the traced ones are a fair sample; with too few, the time stays unobserved. The result
// is a share.
type tracedSample struct {
	traced evidence.Rows
	slow   evidence.Rows
	of     map[likeKey]*like
}

// likeKey identifies alike requests: the power of two of their latency, and their route, 0: any.
type likeKey struct {
	slow   bool
	octave int
	route  evidence.NameID
}

// like is how alike requests spent their time without the pauses, which are known for each request.
type like struct {
	requests int
	time     float64 // ns of these requests that parts split
	by       map[likePart]*likeSum
	parts    []likeSum // the longest first
}

// likePart identifies states that are summed up as one.
type likePart struct {
	kind, holderKind evidence.Kind
	cause, via       evidence.NameID
	holderCause      evidence.NameID
	stack            evidence.StackID
	holderStack      evidence.StackID
}

type likeSum struct {
	evidence.Segment // the first of the states
	charges          [NumMechanisms]float64
	held             [evidence.NumHolders]float64
	ns               float64
}

// mostParts is how many states are kept apart; the others are merged by what was waited for.
const mostParts = 16

// sampleTraced returns nil where all requests are traced, or none is. Requests that were found in the records of the
// kernel, a proxy or the service's log count as traced, too: these records cover stretches of the time.
func (l *Ledger) sampleTraced() *tracedSample {
	r := &l.b.Requests
	told := func(row int) bool { return r.Path(row).Followed() }
	if l.Joined == nil {
		if told = func(row int) bool { return outsideKnown(r.Path(row)) }; l.byKernel || !slices.ContainsFunc(l.Rows, told) {
			return nil
		}
	}
	t := &tracedSample{traced: evidence.NewRows(r.Len()), slow: evidence.NewRows(r.Len()), of: make(map[likeKey]*like)}
	for _, rows := range [][]int{l.Slow, l.Apart} {
		for _, row := range rows {
			t.slow.Add(row)
		}
	}
	all := true
	for _, row := range l.Rows {
		if !told(row) {
			all = false
			continue
		}
		t.traced.Add(row)
		if t.slow.Has(row) {
			for _, k := range t.keysOf(r, row) {
				t.addRequest(l, row, k)
			}
		}
	}
	if all {
		return nil
	}
	for _, x := range t.of {
		x.sortParts()
	}
	return t
}

// keysOf returns the keys of a request, the closest first.
func (t *tracedSample) keysOf(r *evidence.Requests, row int) [2]likeKey {
	k := likeKey{t.slow.Has(row), bits.Len64(uint64(r.Latency(row))), r.Route.At(row)}
	any := k
	any.route = 0
	return [2]likeKey{k, any}
}

func (t *tracedSample) addRequest(l *Ledger, row int, k likeKey) {
	x := t.of[k]
	if x == nil {
		x = &like{by: make(map[likePart]*likeSum)}
		t.of[k] = x
	}
	x.requests++
	l.walkStates(row, func(_ int64, s *evidence.Segment, c *Charges, _ derivation) {
		left := s.Dur - c[StopTheWorld]
		if left <= 0 {
			return
		}
		p := likePart{s.Kind, s.HolderKind, s.Cause, s.Via, s.HolderCause, s.Stack, s.HolderStack}
		y := x.by[p]
		if y == nil {
			y = &likeSum{Segment: *s}
			x.by[p] = y
		}
		y.ns += float64(left)
		x.time += float64(left)
		for m, v := range c {
			if Mechanism(m) != StopTheWorld {
				y.charges[m] += float64(v)
			}
		}
		for h, v := range s.Held {
			if evidence.Holder(h) != evidence.HeldByStop {
				y.held[h] += float64(v)
			}
		}
	})
}

// sortParts sorts what was added and merges small parts.
func (x *like) sortParts() {
	for _, y := range x.by {
		x.parts = append(x.parts, *y)
	}
	x.by = nil
	slices.SortFunc(x.parts, func(a, b likeSum) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.HolderStack, b.HolderStack), cmp.Compare(a.HolderCause, b.HolderCause), cmp.Compare(a.Via, b.Via), cmp.Compare(a.HolderKind, b.HolderKind))
	})
	if len(x.parts) <= mostParts {
		return
	}
	type named struct {
		kind  evidence.Kind
		cause evidence.NameID
	}
	rest := make(map[named]*likeSum)
	var order []named
	for i := range x.parts[mostParts:] {
		p := &x.parts[mostParts+i]
		k := named{p.Kind, p.Cause}
		y := rest[k]
		if y == nil {
			y = &likeSum{Segment: evidence.Segment{Kind: p.Kind, Cause: p.Cause}}
			rest[k], order = y, append(order, k)
		}
		y.ns += p.ns
		for m, v := range p.charges {
			y.charges[m] += v
		}
		for h, v := range p.held {
			y.held[h] += v
		}
	}
	x.parts = slices.Clone(x.parts[:mostParts])
	for _, k := range order {
		x.parts = append(x.parts, *rest[k])
	}
}

// findLike returns the requests that are like a request; nil where it is traced itself, or too few are.
func (t *tracedSample) findLike(r *evidence.Requests, row int) *like {
	if t == nil || t.traced.Has(row) || !t.slow.Has(row) {
		return nil
	}
	if k, ok := t.findNearest(r, row); ok && t.of[k].time > 0 {
		return t.of[k]
	}
	return nil
}

// findNearest returns the closest key with enough traced requests: route and latency, latency, or route and half of the
// latency; false where too few are traced.
func (t *tracedSample) findNearest(r *evidence.Requests, row int) (likeKey, bool) {
	keys := t.keysOf(r, row)
	half := keys[0]
	half.octave--
	for _, k := range append(keys[:], half) {
		if x := t.of[k]; x != nil && x.requests >= leastAlike {
			return k, true
		}
	}
	return likeKey{}, false
}

// Known reports whether the states of a request itself are known, where others' states speak for it.
func (l *Ledger) Known(row int) bool { return l.sample == nil || l.sample.traced.Has(row) }

// StatesFrom returns the artifacts that tell of the states of requests, or of the requests where they have no states.
func (l *Ledger) StatesFrom() evidence.ArtifactID {
	if l.Traced && len(l.traces) > 0 {
		return l.traces[0]
	}
	return l.Source
}

// TracedBy reports whether an artifact tells of the states of requests.
func (l *Ledger) TracedBy(a evidence.ArtifactID) bool {
	return l.Traced && slices.Contains(l.traces, a)
}

// TracedSlow counts the slow requests with known states, and the slow requests that these speak for.
func (l *Ledger) TracedSlow() (traced, alike int) {
	if !l.Traced {
		return 0, 0
	}
	for _, row := range l.Slow {
		switch {
		case l.Known(row):
			traced++
		case l.sample.findLike(&l.b.Requests, row) != nil:
			alike++
		}
	}
	return traced, alike
}

// KnownRows returns the requests with known states, where these speak for the rest: what requests do is compared among them.
func (l *Ledger) KnownRows() []int {
	if l.sample == nil {
		return l.Rows
	}
	return slices.DeleteFunc(slices.Clone(l.Rows), func(row int) bool { return !l.sample.traced.Has(row) })
}

// UsualRows returns the requests that tell what is usual: their states are known, and the recording covers them, so that
// it is known whether they are slow.
func (l *Ledger) UsualRows() []int {
	if len(l.Apart) == 0 {
		return l.KnownRows()
	}
	apart := evidence.NewRows(l.b.Requests.Len())
	for _, row := range l.Apart {
		apart.Add(row)
	}
	return slices.DeleteFunc(slices.Clone(l.KnownRows()), apart.Has)
}

// Likely returns a figure (ns) of any slow request: its own, where its states are known, else that of its like in proportion to latency.
func (l *Ledger) Likely(known func(row int) int64) func(row int) int64 {
	t := l.sample
	if t == nil {
		return known
	}
	r := &l.b.Requests
	sums := make(map[likeKey][2]float64)
	for _, row := range l.Slow {
		if t.traced.Has(row) {
			for _, k := range t.keysOf(r, row) {
				x := sums[k]
				sums[k] = [2]float64{x[0] + float64(known(row)), x[1] + float64(r.Latency(row))}
			}
		}
	}
	return func(row int) int64 {
		if t.traced.Has(row) {
			return known(row)
		}
		if !t.slow.Has(row) {
			return 0
		}
		k, ok := t.findNearest(r, row)
		if !ok {
			return 0
		}
		return int64(sums[k][0] / max(1, sums[k][1]) * float64(r.Latency(row)))
	}
}

// chargeTracedSample charges a time of which nothing is known, and of which the world was stopped for some, by what
// similar traced requests did.
func (w *walker) chargeTracedSample(f *freeTime) {
	x := w.l.sample.findLike(&w.l.b.Requests, w.row)
	if x == nil {
		return
	}
	whole := f.s.Dur - f.stopped
	for i := range x.parts {
		p := &x.parts[i]
		part := p.Segment
		part.Dur = min(f.s.Dur-f.stopped, int64(p.ns/x.time*float64(whole)))
		if part.Dur <= 0 {
			continue
		}
		shareOut(part.Dur, p.held[:], part.Held[:])
		w.c = Charges{}
		shareOut(part.Dur, p.charges[:], w.c[:])
		w.yieldState(f.at, part, fromSample)
		f.markCharged(part.Dur)
	}
}

// shareOut splits a time in proportion; the largest part takes the rounding error.
func shareOut(dur int64, in []float64, out []int64) {
	var sum float64
	most := 0
	for i, v := range in {
		out[i] = 0
		sum += v
		if v > in[most] {
			most = i
		}
	}
	if sum <= 0 {
		return
	}
	left := dur
	for i, v := range in {
		out[i] = int64(v / sum * float64(dur))
		left -= out[i]
	}
	out[most] += left
}
