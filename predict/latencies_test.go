package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// madeUp is a run of the model itself with known parameters: what calibration must
// find again.
func madeUp(t *testing.T, slower, beside, cycles float64) (Recorded, *Latencies) {
	t.Helper()
	arrive, _ := poisson(12_000, 21, 1, 1) // 1,000 per second
	chance := rand.New(rand.NewPCG(3, 3))
	r := Recorded{Processors: 2, Cycles: 8, MarkWork: 50 * ms}
	for range 400 {
		w := int64(.4 * ms * (.7 + .6*chance.Float64()))
		r.Work, r.Free = append(r.Work, w), append(r.Free, w+int64(beside/2))
	}
	known := &Latencies{r: r, Slower: slower}
	known.r.Arrive = arrive
	known.distributions()
	known.every = known.meanWork() * 1000 / r.Cycles
	out, err := known.play(5, known.marking(slower, cycles, 1))
	if err != nil {
		t.Fatal(err)
	}
	r.Arrive = arrive
	for _, l := range out.Latency {
		r.Latency = append(r.Latency, l+int64(beside/2))
	}
	r.Marking = out.Marked / out.Span
	return r, known
}

func outcome(cycles, cores float64) Outcome {
	return Outcome{Cycles: Exactly(cycles), Collector: Exactly(cores)}
}

func TestLatenciesFindsWhatMadeThem(t *testing.T) {
	for _, slower := range []float64{1.2, 2, 3} {
		r, _ := madeUp(t, slower, .2*ms, 1)
		l, err := NewLatencies(r)
		if err != nil {
			t.Fatalf("%g times slower: %v", slower, err)
		}
		if math.Abs(l.Slower-slower) > .15*slower || math.Abs(l.Beside-.1*ms) > .05*ms {
			t.Errorf("found %.2f times slower and %.3f ms beside, made with %.2f and .1", l.Slower, l.Beside/ms, slower)
		}
		for _, times := range []float64{2, .5, .2} { // as many cycles
			truth, _ := madeUp(t, slower, .2*ms, times)
			slices.Sort(truth.Latency)
			want := float64(nearestRank(truth.Latency, .99)) / ms
			got := l.At(outcome(8, .4), outcome(8*times, .4*times)).P99
			if !(got.Low <= got.Value && got.Value <= got.High) || math.Abs(got.Value-want) > .25*want {
				t.Errorf("%g times slower, %g times the cycles: p99 %+v, is %.2f", slower, times, got, want)
			}
		}
	}
}

func TestLatenciesSayWhyNot(t *testing.T) {
	r, _ := madeUp(t, 2, .2*ms, 1)
	with := func(f func(*Recorded)) Recorded {
		x := r
		f(&x)
		return x
	}
	for _, tt := range []struct {
		r    Recorded
		want string
	}{
		{with(func(r *Recorded) { r.Processors = 0 }), "the number of processors is not known"},
		{with(func(r *Recorded) { r.Arrive, r.Latency = r.Arrive[:50], r.Latency[:50] }), "at least 100 requests, there are 50"},
		{with(func(r *Recorded) { r.Free = r.Free[:3] }), "3 requests met no cycle"},
		{with(func(r *Recorded) { r.Cycles = 0 }), "no cycles"},
		{with(func(r *Recorded) { r.Marking *= 3 }), "cycles mark for"},
		{with(func(r *Recorded) { // slow by something else than cycles
			r.Latency = slices.Clone(r.Latency)
			for i := range r.Latency {
				if i%50 == 0 {
					r.Latency[i] = 900 * ms
				}
			}
		}), "the collector alone does not make them that slow"},
	} {
		_, err := NewLatencies(tt.r)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// A host that stops once decides the p99 of the run, not of its seconds.
func TestLatenciesLookAtUsualSeconds(t *testing.T) {
	r, _ := madeUp(t, 2, .2*ms, 1)
	before, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Arrive[:600] {
		r.Latency[4000+i] += 400 * ms
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
	r, _ := madeUp(t, 2, .2*ms, 1)
	l, err := NewLatencies(r)
	if err != nil {
		t.Fatal(err)
	}
	if q := l.At(outcome(8, .4), outcome(60, 3)); q.P99.Known() {
		t.Errorf("p99 %+v of a service that cannot keep up", q.P99)
	}
	if q := l.At(outcome(8, .4), Outcome{Cycles: Unknown}); q.P50.Known() {
		t.Errorf("%+v of an outcome that is not known", q)
	}
	a, b := l.At(outcome(8, .4), outcome(2, .1)), l.At(outcome(8, .4), outcome(2, .1))
	if a != b {
		t.Errorf("%+v and then %+v", a, b)
	}
}
