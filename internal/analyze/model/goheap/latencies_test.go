package goheap

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
)

// madeUp is a run of the model itself with known parameters: what calibration must
// find again. There are 1,000 requests per second.
func madeUp(t *testing.T, requests int, slower, beside float64) (Recorded, *Latencies) {
	t.Helper()
	arrive, _ := poisson(requests, 21, 1, 1)
	chance := rand.New(rand.NewPCG(3, 3))
	r := Recorded{Processors: 2, Cycles: 8, MarkWork: 50 * ms}
	for range 400 {
		w := int64(.4 * ms * (.7 + .6*chance.Float64()))
		r.Work, r.Free = append(r.Work, w), append(r.Free, w+int64(beside/2))
	}
	r.Arrive = arrive
	known := &Latencies{r: r, Slower: slower, Beside: beside / 2, Whole: 1, rest: newRest(nil)}
	known.rest.beside = int64(beside / 2)
	known.pairNeeds()
	known.every = known.meanWork() * 1000 / r.Cycles
	var out played
	err := known.playDraw(5, known.markingFor(slower, 1, 1), &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.Latency {
		r.Latency = append(r.Latency, l+int64(beside/2))
	}
	r.Marking = out.Marked / out.Span
	return r, known
}

func outcome(cycles, cores float64) Outcome {
	return Outcome{Cycles: model.Exactly(cycles), Collector: model.Exactly(cores)}
}

func TestLatenciesFindsWhatMadeThem(t *testing.T) {
	for _, slower := range []float64{1.2, 3} {
		r, known := madeUp(t, 8_000, slower, .2*ms)
		l, err := NewLatencies(r)
		if err != nil {
			t.Fatalf("%g times slower: %v", slower, err)
		}
		if math.Abs(l.Slower-slower) > .3 || math.Abs(l.Beside-.1*ms) > .05*ms {
			t.Errorf("found %.2f times slower and %.3f ms beside, made with %.2f and .1", l.Slower, l.Beside/ms, slower)
		}
		for _, times := range []float64{2, .5, .2} { // as many cycles
			now, then := outcome(8, .4), outcome(8*times, .4*times)
			want, got := known.At(now, then).Value, l.At(now, then)
			if !(got.Low <= got.Value && got.Value <= got.High) || math.Abs(got.Value-want) > .2*want {
				t.Errorf("%g times slower, %g times the cycles: p99 %+v, is %.2f", slower, times, got, want)
			}
		}
	}
}

// What a trace shows of the same run: requests begin when the program finds them. The
// model must come to the same.
func TestLatenciesOfWhatATraceShows(t *testing.T) {
	r, known := madeUp(t, 6_000, 2, 0)
	var out played
	err := known.playDraw(5, known.markingFor(2, 1, 1), &out)
	if err != nil {
		t.Fatal(err)
	}
	type seen struct{ at, took int64 }
	var rows []seen
	unseen := 0
	for i, at := range r.Arrive {
		rows = append(rows, seen{at + out.Unseen[i], out.Latency[i] - out.Unseen[i]})
		if out.Unseen[i] > ms/10 {
			unseen++
		}
	}
	if unseen < len(rows)/20 {
		t.Fatalf("%d of %d requests had to wait until they were found: the case says nothing", unseen, len(rows))
	}
	slices.SortStableFunc(rows, func(a, b seen) int { return cmp.Compare(a.at, b.at) })
	r.Arrive, r.Latency, r.Seen = nil, nil, true
	for _, x := range rows {
		r.Arrive, r.Latency = append(r.Arrive, x.at), append(r.Latency, x.took)
	}
	l, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(l.Slower-2) > .3 {
		t.Errorf("found %.2f times slower, made with 2", l.Slower)
	}
}

func TestLatenciesDrawTheWorkOfCycles(t *testing.T) {
	r, _ := madeUp(t, 3_000, 2, .2*ms)
	l, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	same := l.At(outcome(8, .4), outcome(4, .2)).Value
	r.MarkWorks = []float64{10 * ms, 90 * ms} // 50 on average
	l.r, l.kept = r, [draws]drawing{}
	var out played
	if err := l.playDraw(1, l.markingFor(l.Slower, 1, 1), &out); err != nil {
		t.Fatal(err)
	}
	if per := (out.Assist + out.Workers + out.Idle) / float64(out.Cycles); math.Abs(per-50*ms) > 8*ms {
		t.Errorf("a cycle takes %.1f ms, want 50", per/ms)
	}
	if unlike := l.At(outcome(8, .4), outcome(4, .2)).Value; unlike < 1.2*same {
		t.Errorf("p99 %.2f ms with cycles that take 10 and 90 ms, %.2f with cycles of 50", unlike, same)
	}
}

func TestLatenciesSayWhyNot(t *testing.T) {
	r, _ := madeUp(t, 3_000, 2, .2*ms)
	with := func(f func(*Recorded)) Recorded {
		x := r
		f(&x)
		return x
	}
	for _, tt := range []struct {
		r    Recorded
		want string
	}{
		{with(func(r *Recorded) { r.Processors = 0 }), "the number of CPUs is unknown"},
		{with(func(r *Recorded) { r.Arrive, r.Latency = r.Arrive[:50], r.Latency[:50] }), "at least 300 requests, and there are 50"},
		{with(func(r *Recorded) { r.Free = r.Free[:3] }), "3 requests ran without a GC cycle"},
		{with(func(r *Recorded) { r.Cycles = 0 }), "no GC cycles"},
		{with(func(r *Recorded) { r.Marking *= 3 }), "in the replay GC marks for"},
		{with(func(r *Recorded) { // slow by something else than cycles
			r.Latency = slices.Clone(r.Latency)
			for i := range r.Latency {
				if i%50 == 0 {
					r.Latency[i] = 900 * ms
				}
			}
		}), "GC alone does not explain the latency"},
		{with(func(r *Recorded) { r.Unfinished = 40 }), "40 requests never finished"},
		{with(func(r *Recorded) { // a storm
			r.Latency = slices.Clone(r.Latency)
			for i := range r.Latency {
				r.Latency[i] += int64(i) * ms
			}
		}), "requests pile up in the recording"},
	} {
		_, err := NewLatencies(tt.r)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// A host that stops once decides the p99 of the run, not of its seconds.
func TestLatenciesLookAtUsualSeconds(t *testing.T) {
	r, _ := madeUp(t, 3_000, 2, .2*ms)
	before, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Arrive[:300] {
		r.Latency[1200+i] += 400 * ms
	}
	after, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	if d := after.Slower/before.Slower - 1; math.Abs(d) > .1 {
		t.Errorf("%.2f times slower with a hiccup, %.2f without", after.Slower, before.Slower)
	}
}

func TestLatenciesThatPileUpAreNotKnown(t *testing.T) {
	r, _ := madeUp(t, 3_000, 2, .2*ms)
	l, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	if q := l.At(outcome(8, .4), outcome(60, 3)); q.Known() {
		t.Errorf("p99 %+v of a service that cannot keep up", q)
	}
	// Requests need .4 cores, twice that while cycles mark, and there are two.
	full := l.At(outcome(8, .4), outcome(30, 1.5))
	if full.Known() || math.Abs(full.Low-float64(l.Fit.P99.Observed)/ms) > .01 {
		t.Errorf("p99 %+v where next to nothing is left, want only that it is no less than now", full)
	}
	tight := outcome(18, .9)
	if q := l.At(outcome(8, .4), tight); !q.Known() {
		t.Error("no p99 of a service that just keeps up")
	}
	tight.Collector.Low, tight.Collector.High = .7, 1.5
	if q := l.At(outcome(8, .4), tight); !q.Known() {
		t.Error("no p99 under a ratio, that lets the heap grow with what waits")
	}
	tight.Bound = ByLimit
	if q := l.At(outcome(8, .4), tight); q.Known() {
		t.Errorf("p99 %+v under a limit, where a backlog feeds itself", q)
	}
	if q := l.At(outcome(8, .4), Outcome{Cycles: model.Exactly(4), Collector: model.Exactly(.2), Limiter: true}); q.Known() {
		t.Errorf("p99 %+v while the runtime caps the collector", q)
	}
	if q := l.At(outcome(8, .4), Outcome{Cycles: model.Unknown}); q.Known() {
		t.Errorf("%+v of an outcome that is not known", q)
	}
	a, b := l.At(outcome(8, .4), outcome(2, .1)), l.At(outcome(8, .4), outcome(2, .1))
	if a != b {
		t.Errorf("%+v and then %+v", a, b)
	}
}
