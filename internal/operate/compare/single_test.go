package compare

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/base/stats"
)

// alone is a run of a service with a p99 of about ms. The run drifts, its quarters show by how much, and its
// requests leave an uncertainty of 8 %.
func alone(r *rand.Rand, p99, mood, drift float64) Run {
	run := Run{Name: "run", Load: open(500), Metrics: make(map[string]float64)}
	p99 *= math.Exp(mood * r.NormFloat64())
	var sum float64
	for range Quarters {
		v := p99 * math.Exp(drift*r.NormFloat64())
		run.Parts = append(run.Parts, map[string]float64{"p99_ms": v, "gc_cpu_share": v / 100, "errors": 0})
		sum += v / Quarters
	}
	run.Metrics["p99_ms"], run.Metrics["gc_cpu_share"], run.Metrics["errors"] = sum, sum/100, 0
	run.Within = map[string]stats.Interval{"p99_ms": {Low: sum / 1.08, High: sum * 1.08}}
	return run
}

// Fewer than 5 of 100 comparisons report a difference between two runs of the same service. Most comparisons
// report a service that became much faster as better.
func TestOneRunEach(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const total = 2000
	for _, c := range []struct {
		mood, drift float64 // standard deviations between runs and within one
		effect      float64
		least, most float64 // share of comparisons that decide
	}{
		{.05, .05, 1, 0, .05}, {.1, .1, 1, 0, .05}, {.15, .15, 1, 0, .05}, {.05, .3, 1, 0, .05},
		{.05, .05, .3, .99, 1}, {.1, .1, .3, .99, 1}, {.1, .1, 2.5, .9, 1},
	} {
		decided := make(map[string]int)
		for range total {
			result, err := Compare([]Run{alone(r, 20, c.mood, c.drift)}, []Run{alone(r, 20*c.effect, c.mood, c.drift)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range result.Metrics {
				switch {
				case m.Result == Improved && c.effect < 1, m.Result == Regressed && c.effect > 1, (m.Result == Improved || m.Result == Regressed) && c.effect == 1:
					decided[m.Name]++
				case m.Result == Improved || m.Result == Regressed:
					t.Fatalf("mood %g: the wrong way round: %+v", c.mood, m)
				case m.Name == "errors" && m.Result != Same:
					t.Fatalf("none before, none after: %+v", m)
				}
			}
		}
		for _, name := range []string{"p99_ms", "gc_cpu_share"} {
			if share := float64(decided[name]) / total; share < c.least || share > c.most {
				t.Errorf("%s: runs vary by %g, within by %g, changed by ×%g: decided in %.1f %%, want %g to %g", name, c.mood, c.drift, c.effect, 100*share, c.least, c.most)
			}
		}
	}
}

// The variation of earlier captures is allowed for: a service that always varies needs a larger change, a steady
// one a smaller.
func TestEarlierRuns(t *testing.T) {
	before, after := Run{Load: open(500), Metrics: map[string]float64{"p99_ms": 20}}, Run{Load: open(500), Metrics: map[string]float64{"p99_ms": 14}}
	before.Within = map[string]stats.Interval{"p99_ms": {Low: 19, High: 21}}
	after.Within = map[string]stats.Interval{"p99_ms": {Low: 13.5, High: 14.5}}
	earlier := func(values ...float64) (runs []Run) {
		for _, v := range values {
			runs = append(runs, Run{Metrics: map[string]float64{"p99_ms": v}})
		}
		return runs
	}
	for name, c := range map[string]struct {
		earlier []Run
		result  string
		least   float64
		most    float64
	}{
		"none":                {nil, Improved, .2, .2},
		"steady ones":         {earlier(20, 20.2, 19.8, 20.1), Improved, steadiest, .1},
		"swinging ones":       {earlier(20, 31, 14, 26), Unclear, .5, 10},
		"too few to trust":    {earlier(20, 20), Improved, .2, .2},
		"too few, but so far": {earlier(20, 40), Unclear, 1, math.Inf(1)},
	} {
		result, err := Compare([]Run{before}, []Run{after}, Options{Earlier: c.earlier})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := result.Of("p99_ms")
		if m.Result != c.result || m.Allowed == nil || *m.Allowed < c.least-1e-9 || *m.Allowed > c.most+1e-9 {
			t.Errorf("%s: %s, allowed %v", name, m.Result, *m.Allowed)
		}
	}
}

// One run decides nothing if its uncertainty or its load is unknown.
func TestOneRunThatSaysNothing(t *testing.T) {
	bare := func(v float64) []Run { return []Run{{Load: open(500), Metrics: map[string]float64{"p99_ms": v}}} }
	c, err := Compare(bare(20), bare(2), Options{})
	if m, _ := c.Of("p99_ms"); err != nil || m.Result != Unclear || m.Allowed != nil {
		t.Errorf("%v %+v", err, m)
	}
	r := rand.New(rand.NewPCG(3, 4))
	before, after := alone(r, 20, 0, .01), alone(r, 2, 0, .01)
	before.Load = Load{}
	c, err = Compare([]Run{before}, []Run{after}, Options{})
	if m, _ := c.Of("p99_ms"); err != nil || m.Result != Unclear || m.Allowed != nil {
		t.Errorf("%v %+v", err, m)
	}
}

// Figures below the floor are equally good: fewer GC cycles.
func TestNoneAfter(t *testing.T) {
	run := func(v float64) Run {
		run := Run{Load: open(500), Metrics: map[string]float64{"gc_cycles_per_s": v}}
		for range Quarters {
			run.Parts = append(run.Parts, maps.Clone(run.Metrics))
		}
		return run
	}
	c, err := Compare([]Run{run(9)}, []Run{run(0)}, Options{})
	if m, _ := c.Of("gc_cycles_per_s"); err != nil || m.Result != Improved {
		t.Errorf("%v %+v", err, m)
	}
	c, err = Compare([]Run{run(0)}, []Run{run(9)}, Options{})
	if m, _ := c.Of("gc_cycles_per_s"); err != nil || m.Result != Regressed {
		t.Errorf("%v %+v", err, m)
	}
}

// The approximation is close to the tabulated values.
func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 6: 2.447, 30: 2.042} {
		if got := studentCriticalValue(.95, freedom); math.Abs(got/want-1) > .02 {
			t.Errorf("%d degrees of freedom: %.3f, want %.3f", freedom, got, want)
		}
	}
}

// Measure measures the quarters of a run, too.
func TestQuarters(t *testing.T) {
	r := Measure(watched(), "x", MeasureOptions{Parts: true})[0]
	if len(r.Parts) != Quarters {
		t.Fatalf("%d parts", len(r.Parts))
	}
	for i, p := range r.Parts {
		if p["p99_ms"] != 12 || math.Abs(p["rate"]-500) > 5 {
			t.Errorf("quarter %d: %v", i, p)
		}
	}
}
