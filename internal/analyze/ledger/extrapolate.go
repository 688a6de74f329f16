package ledger

import (
	"strings"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// similarRequests is what requests awaited while the recording told of all awaits. These requests stand for those that
// were under way at other times: slow ones for slow ones and others for others, because a wait that all of them have
// makes no request slower. The result is a share.
type similarRequests struct {
	told map[int]bool // rows whose awaits are known
	slow map[int]bool
	each [2]likeness // of other requests, and of slow ones
	long int64       // ns: longest time in one piece that all awaits were told of; longer requests are not among them
}

// likeness is how requests of a kind spent the time of which nothing else is known.
type likeness struct {
	parts []share                     // what was awaited, as parts of it; nil: too few requests were seen
	calls map[evidence.NameID][]share // by name of a call: the part that was a wait for a connection
}

// leastAlike is how many requests of a kind must have been seen to stand for others.
const leastAlike = 5

func (a *similarRequests) likenessOf(row int) *likeness {
	if a.slow[row] {
		return &a.each[1]
	}
	return &a.each[0]
}

// buildSimilarRequests returns nil where no request's awaits are known.
func (l *Ledger) buildSimilarRequests(read func() *threads.Threads) *similarRequests {
	windows := l.b.Covered(l.Subject, evidence.CoverAwaits)
	if len(windows) == 0 {
		return nil
	}
	awaits := l.awaitRows(read)
	a := &similarRequests{told: make(map[int]bool), slow: make(map[int]bool, len(l.Slow))}
	for _, row := range l.Slow {
		a.slow[row] = true
	}
	for _, w := range windows {
		a.long = max(a.long, w.Until-w.From)
	}
	var sums [2]likely
	r := &l.b.Requests
	for _, row := range l.Rows {
		for _, w := range windows {
			if w.Clock == r.Clock.At(row) && r.Start.At(row) >= w.From && r.End.At(row) <= w.Until {
				a.told[row] = true
			}
		}
		if a.told[row] {
			k := 0
			if a.slow[row] {
				k = 1
			}
			sums[k].addRequest(l, row, awaits)
		}
	}
	for k := range sums {
		a.each[k] = sums[k].meanLikeness(l)
	}
	return a
}

// awaitState is an await as a state.
type awaitState struct {
	kind  evidence.Kind
	cause evidence.NameID
	stack evidence.StackID
}

// awaitRows returns the states that awaits gave to requests.
func (l *Ledger) awaitRows(read func() *threads.Threads) map[awaitState]bool {
	t := read()
	out := make(map[awaitState]bool)
	v := &l.b.Intervals
	for _, kind := range evidence.AwaitKinds {
		for _, i := range v.Select(kind, l.Subject) {
			if v.Request.At(i) != evidence.NoRequest && v.Stack.At(i) != 0 && v.Lane.At(i) == 0 {
				out[awaitState{kind, t.Awaited(l.Subject, kind, v.Cause.At(i), v.Stack.At(i)), v.Stack.At(i)}] = true
			}
		}
	}
	return out
}

// likely sums up how requests of a kind spent their time.
type likely struct {
	requests int
	rest     float64 // ns of which nothing is known
	parts    []share // ns
	queues   []share // ns that calls waited for connections
	calls    map[evidence.NameID]float64
}

func (s *likely) addRequest(l *Ledger, row int, awaits map[awaitState]bool) {
	s.requests++
	if s.calls == nil {
		s.calls = make(map[evidence.NameID]float64)
	}
	for x := range l.b.Requests.Path(row).All {
		d := float64(x.Dur)
		switch {
		case awaits[awaitState{x.Kind, x.Cause, x.Stack}]:
			of := share{mechanism: states[x.Kind], Segment: evidence.Segment{Kind: x.Kind, Cause: x.Cause, Stack: x.Stack}, part: d}
			if x.Kind == evidence.PoolWait {
				of.mechanism = Pool
			}
			if strings.HasPrefix(l.b.Names.Text(x.Cause), evidence.ConnectionsFor) {
				s.queues = addShare(s.queues, of)
			} else {
				s.parts = addShare(s.parts, of)
			}
		case x.Kind == evidence.NetWait && x.Stack == 0:
			s.calls[x.Cause] += d
		case x.Kind == evidence.Awaiting, x.Kind == evidence.Unobserved:
			s.rest += d
		}
	}
}

func (s *likely) meanLikeness(l *Ledger) (x likeness) {
	if s.requests < leastAlike {
		return x
	}
	sum := s.rest
	for _, p := range s.parts {
		sum += p.part
	}
	x.parts = make([]share, 0, len(s.parts))
	for _, p := range s.parts {
		p.part /= sum
		x.parts = append(x.parts, p)
	}
	inOrder(x.parts)
	x.calls = make(map[evidence.NameID][]share)
	for _, p := range s.queues {
		call := l.b.Names.Lookup(strings.TrimPrefix(l.b.Names.Text(p.Cause), evidence.ConnectionsFor))
		p.part /= p.part + s.calls[call]
		x.calls[call] = append(x.calls[call], p)
	}
	return x
}

// chargeConnectionWaits charges the part of a call that was a wait for a connection before the call, as in similar
// requests.
func (w *walker) chargeConnectionWaits(f *freeTime) {
	a, s := w.l.alike, f.s
	if a == nil || s.Kind != evidence.NetWait || s.Stack != 0 || a.told[w.row] {
		return
	}
	whole := float64(s.Dur)
	for _, x := range a.likenessOf(w.row).calls[s.Cause] {
		w.chargeBeginning(f, x.Segment, int64(x.part*whole), x.mechanism)
	}
}

// chargeSimilarAwaits charges a time of which nothing is known, and of which the world was stopped for some, by what
// similar requests awaited in such times.
func (w *walker) chargeSimilarAwaits(f *freeTime) {
	whole := float64(f.s.Dur - f.stopped)
	if whole <= 0 {
		return
	}
	for _, x := range w.requestAwaits(f.s.Kind) {
		w.chargeBeginning(f, x.Segment, int64(x.part*whole), x.mechanism)
	}
}
