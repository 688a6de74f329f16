package timeline

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// shown are the requests with shown states.
type shown struct {
	slow, typical []int32
	detail        map[int32]int32 // by request: its place among the slow plus one
}

// known says whether a path holds states, not just what an access log knows of
// fewSlow is how many requests are shown if fewer were slow.
const fewSlow = 20

// chooseRequests picks the requests whose states are shown: slow ones, and some from the middle of
// those that were not slow.
func (l *layout) chooseRequests() {
	r := &l.b.Requests
	l.shown.detail = make(map[int32]int32)
	l.slow = evidence.NewRows(r.Len())
	if l.ledger == nil {
		return
	}
	for _, rows := range [][]int{l.ledger.Slow, l.ledger.Apart} {
		for _, row := range rows {
			l.slow.Add(row)
		}
	}
	var traced []int32
	slow := 0
	for i := range r.Len() {
		if r.Subject.At(i) != l.subject || !r.Timed(i) || !r.Path(i).Followed() {
			continue
		}
		if a, ok := r.Origin.At(i).Artifact(); !ok || l.of[a] < 0 || l.isDuplicateOfHead(a) {
			continue
		}
		traced = append(traced, int32(i))
		if l.isSlow(i, r.Latency(i)) {
			slow++
		}
	}
	slices.SortFunc(traced, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.Latency(int(b)), r.Latency(int(a))), cmp.Compare(a, b))
	})
	for _, row := range traced {
		if l.isSlow(int(row), r.Latency(int(row))) {
			l.shown.slow = append(l.shown.slow, row)
		}
	}
	if slow > MaxSlow {
		l.shown.slow = l.sampleSlow(l.shown.slow)
		l.noteOmitted("the states of %s of %s slow requests: those of the %d slowest are shown, and of %d chosen from all routes and times", units.Count(slow-MaxSlow), units.Count(slow), MaxSlow/2, MaxSlow-MaxSlow/2)
	}
	for _, row := range traced {
		if len(l.shown.slow) >= fewSlow {
			break
		}
		if !l.isSlow(int(row), r.Latency(int(row))) {
			l.shown.slow = append(l.shown.slow, row)
		}
	}
	for i, row := range l.shown.slow {
		l.shown.detail[row] = int32(i + 1)
	}
	l.shown.typical = l.chooseTypical(traced)
}

// strata is the number of parts of time from which a route's slow requests are chosen.
const strata = 40

// sampleSlow chooses from slow requests (slowest first): for half of the shown ones the slowest, and for the rest random ones from each route and
// time in turn, so that rare routes and the beginning are shown, too. Its choice is deterministic.
func (l *layout) sampleSlow(slow []int32) []int32 {
	r := &l.b.Requests
	chosen, rest := slices.Clone(slow[:MaxSlow/2]), slow[MaxSlow/2:]
	first, last := r.End.At(int(slow[0])), r.End.At(int(slow[0]))
	for _, row := range slow {
		first, last = min(first, r.End.At(int(row))), max(last, r.End.At(int(row)))
	}
	type stratum struct {
		route evidence.NameID
		time  int64
	}
	of := make(map[stratum][]int32)
	var order []stratum // by their slowest
	for _, row := range rest {
		k := stratum{r.Route.At(int(row)), (r.End.At(int(row)) - first) * strata / (last - first + 1)}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], row)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for _, k := range order {
		random.Shuffle(len(of[k]), func(i, j int) { of[k][i], of[k][j] = of[k][j], of[k][i] })
	}
	for n := 0; len(chosen) < MaxSlow; n++ {
		for _, k := range order {
			if n < len(of[k]) && len(chosen) < MaxSlow {
				chosen = append(chosen, of[k][n])
			}
		}
	}
	slices.SortFunc(chosen, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.Latency(int(b)), r.Latency(int(a))), cmp.Compare(a, b))
	})
	return chosen
}

// chooseTypical picks finished requests around the median, in order of latency.
func (l *layout) chooseTypical(traced []int32) []int32 {
	r := &l.b.Requests
	var usual []int32
	at := 0 // the position of the median among them
	for i, row := range traced {
		if i == len(traced)/2 {
			at = len(usual)
		}
		if l.shown.detail[row] == 0 && r.Outcome.At(int(row)) != evidence.Unfinished && !l.isSlow(int(row), r.Latency(int(row))) {
			usual = append(usual, row)
		}
	}
	from := min(max(0, at-MaxTypical/2), max(0, len(usual)-MaxTypical))
	return usual[from:min(len(usual), from+MaxTypical)]
}

// mostStates is how many states all shown requests have together.
const mostStates = 160_000

// addRequestDetails lays out the states of the requests that were chosen.
func (l *layout) addRequestDetails() {
	left := mostStates
	lay := func(rows []int32) (out []Request) {
		for _, row := range rows {
			q := l.buildRequest(int(row), min(MaxStates, max(100, left/8)), false)
			left -= len(q.States)
			out = append(out, q)
		}
		return out
	}
	l.t.Slow = lay(l.shown.slow)
	l.t.Typical = lay(l.shown.typical)
	if l.ledger != nil && l.ledger.Host.Starved() && len(l.sources) > 0 {
		for _, row := range l.shown.slow {
			if a, _ := l.b.Requests.Origin.At(int(row)).Artifact(); a != l.ledger.Source {
				l.noteOmitted("how long the host kept threads off the CPU in each piece of the trace: all states are corrected by what was measured during %s", l.b.Artifacts[l.ledger.Source].Name)
				break
			}
		}
	}
}

// buildRequest lays out one request with at most the given number of states. If told is set, a state that stands for several names what
// the longest of them waited for.
func (l *layout) buildRequest(row, most int, told bool) Request {
	r := &l.b.Requests
	lat := r.Latency(row)
	a, _ := r.Origin.At(row).Artifact()
	q := Request{
		Source:  l.b.Artifacts[a].Name,
		Origin:  l.b.OriginText(r.Origin.At(row)),
		Route:   l.b.Names.Text(r.Route.At(row)),
		Lane:    int64(r.Lane.At(row)),
		At:      r.End.At(row) - lat,
		Latency: lat,
		Outcome: r.Outcome.At(row).String(),
		Slow:    l.isSlow(row, lat),
		Apart:   !l.placed[r.Clock.At(row)],
	}
	l.lengths = l.lengths[:0]
	l.ledger.Walk(row, func(_ int64, s evidence.Segment, _ *ledger.Charges) { l.lengths = append(l.lengths, s.Dur) })
	c := collector{l: l, short: leastSeparateLength(l.lengths, lat, most), told: told}
	l.ledger.Walk(row, c.addState)
	c.closeState()
	q.States = c.states
	return q
}
