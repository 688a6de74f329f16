package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Arrivals is the rate at which requests came to a service, and how long they took, over time. It counts requests that
// came, not those that were served: an overloaded service finishes fewer.
type Arrivals struct {
	Source  evidence.ArtifactID
	Rows    []int // its requests, by when they came
	Rate    Value // 1/s, of all
	From    int64
	Width   int64     // ns, of each stretch
	Rates   []float64 // 1/s, of each stretch; none where the window has too few
	Medians []float64 // ns: median latency of each stretch; of a stretch without requests, that of the previous one
	Took    [][]int64 // ns: latencies of each stretch, sorted
}

// Number of stretches that a recording is split into: enough to show a change, and few enough that each has requests.
const (
	stretches      = 60
	stretch        = int64(1e9)
	leastStretches = 8
)

// ArrivalsOf reads the requests of a subject from a source. Where the source says that tracing kept a part of the requests,
// the rates are extrapolated to all.
func ArrivalsOf(b *evidence.Bundle, subject evidence.SubjectID, source evidence.ArtifactID, w Window) *Arrivals {
	a := &Arrivals{Source: source, Rate: Unknown, From: w.From, Width: max(stretch, (w.Until-w.From)/stretches)}
	kept := sampledShare(b, subject, source)
	r := &b.Requests
	came := func(row int) int64 { return r.End.At(row) - r.Latency(row) }
	for i := range r.Len() {
		if of, _ := r.Origin.At(i).Artifact(); of == source && r.Subject.At(i) == subject && r.Timed(i) {
			a.Rows = append(a.Rows, i)
		}
	}
	slices.SortFunc(a.Rows, func(i, j int) int { return cmp.Or(cmp.Compare(came(i), came(j)), cmp.Compare(i, j)) })
	if n := len(a.Rows); n > 1 {
		if d := came(a.Rows[n-1]) - came(a.Rows[0]); d > 0 {
			a.Rate = Value{Number: float64(n) / (float64(d) / 1e9) / kept, Origin: evidence.NewOrigin(source, 0), Watched: 1}
		}
	}
	n := (w.Until - w.From) / a.Width
	if n < leastStretches {
		return a
	}
	a.Took = make([][]int64, n)
	for _, i := range a.Rows {
		if k := (came(i) - a.From) / a.Width; k >= 0 && k < n {
			a.Took[k] = append(a.Took[k], r.Latency(i))
		}
	}
	last := 0.
	for _, took := range a.Took {
		slices.Sort(took)
		if len(took) > 0 {
			last = float64(stats.Quantile(took, .5))
		}
		a.Rates = append(a.Rates, float64(len(took))/kept/(float64(a.Width)/1e9))
		a.Medians = append(a.Medians, last)
	}
	return a
}

// sampledShare returns the share of requests that tracing kept, 1 where the source does not say that it dropped any.
func sampledShare(b *evidence.Bundle, subject evidence.SubjectID, source evidence.ArtifactID) float64 {
	if f, ok := b.FactFrom(source, subject, evidence.FactSpansSampled); ok && f.Number > 0 {
		if of, _ := f.Origin.Artifact(); of == source {
			return f.Number
		}
	}
	return 1
}

// ExpectedRate returns the rate agreed on with callers, else the usual rate (1/s), and the flag that set it.
func ExpectedRate(b *evidence.Bundle, subject evidence.SubjectID) (rate Value, by string) {
	for _, x := range []struct{ fact, by string }{{evidence.FactExpectedRate, "--expect-rate"}, {evidence.FactBaselineRate, "--baseline"}} {
		if f, ok := b.Fact(subject, x.fact); ok && f.Number > 0 {
			return Value{Number: f.Number, Origin: f.Origin, Watched: 1}, x.by
		}
	}
	return Unknown, ""
}

// Clients returns the largest number of requests in flight at once: as counted by the connections of load generators, or by
// the requests of other clients.
func Clients(b *evidence.Bundle, subject evidence.SubjectID) Value {
	most := Unknown
	put := func(n float64, o evidence.Origin) {
		if n > 0 && !(n <= most.Number) {
			most = Value{Number: n, Origin: o, Watched: 1}
		}
	}
	generator := make(map[evidence.ArtifactID]bool)
	for _, l := range b.Loads {
		put(float64(l.Connection), l.Origin)
		if a, ok := l.Origin.Artifact(); ok {
			generator[a] = true
		}
	}
	type turn struct {
		at int64
		by float64
	}
	r := &b.Requests
	turns := make(map[evidence.ArtifactID][]turn)
	for i := range r.Len() {
		if a, ok := r.Origin.At(i).Artifact(); ok && r.Subject.At(i) == subject && (generator[a] || r.Intended.At(i) != 0) && r.Timed(i) {
			turns[a] = append(turns[a], turn{r.End.At(i) - r.Latency(i), 1}, turn{r.End.At(i), -1})
		}
	}
	for _, a := range slices.Sorted(maps.Keys(turns)) {
		slices.SortStableFunc(turns[a], func(x, y turn) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.by, y.by)) })
		n := 0.
		for _, t := range turns[a] {
			n += t.by
			put(n, evidence.NewOrigin(a, 0))
		}
	}
	return most
}
