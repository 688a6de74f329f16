package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
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

// A change of a setting lies between two runs that are known to have had different ones; what only one tells says nothing.
func TestOtherSettings(t *testing.T) {
	was, is, untold := Run{Settings: map[string]string{"GOGC": "20 "}}, Run{Settings: map[string]string{"GOGC": "100 ", "version": "go1.26"}}, Run{}
	if !was.HasOtherSettings(&is) || was.HasOtherSettings(&was) || was.HasOtherSettings(&untold) || untold.HasOtherSettings(&is) {
		t.Error("settings are compared wrongly")
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
		for k := range Quarters {
			run.Parts = append(run.Parts, map[string]float64{"gc_cycles_per_s": v * (1 + .05*float64(k%2))})
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

// A figure that was 0 before regressed only if there is an interval of the difference: quarters that all repeat one figure give none.
func TestNoneBefore(t *testing.T) {
	run := func(of float64, parts ...float64) []Run {
		run := Run{Load: open(500), Metrics: map[string]float64{"gc_cpu_share": of}}
		for _, v := range parts {
			run.Parts = append(run.Parts, map[string]float64{"gc_cpu_share": v})
		}
		return []Run{run}
	}
	for name, c := range map[string]struct {
		after  []Run
		result string
	}{
		"one figure in all quarters":   {run(.042, .042, .042, .042, .042), Unclear},
		"quarters that may be as none": {run(.042, 0, .13, 0, .04), Unclear},
		"quarters that agree":          {run(.042, .04, .043, .041, .044), Regressed},
		"below what counts":            {run(.004, .003, .005, .004, .004), Same},
	} {
		got, err := Compare(run(0, 0, 0, 0, 0), c.after, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := got.Of("gc_cpu_share")
		if m.Result != c.result || m.Low != nil || m.High != nil || (m.Result == Unclear) != (m.Why != "") {
			t.Errorf("%s: %+v", name, m)
		}
		if known := m.DifferenceLow != nil && *m.DifferenceLow > m.Floor && *m.DifferenceLow < .042 && *m.DifferenceHigh > .042; known != (c.result == Regressed) {
			t.Errorf("%s: the difference is %v to %v", name, m.DifferenceLow, m.DifferenceHigh)
		}
	}
}

// An interval within the smallest change that counts is no change, although two runs may differ by more.
func TestWithinTheLeastChange(t *testing.T) {
	run := func(v, half float64) []Run {
		return []Run{{Load: open(500), Metrics: map[string]float64{"p50_ms": v}, Within: map[string]stats.Interval{"p50_ms": {Low: v / half, High: v * half}}}}
	}
	for _, c := range []struct {
		after, half float64
		result      string
	}{{20.1, 1.01, Same}, {20.1, 1.1, Unclear}, {21.5, 1.01, Unclear}} {
		got, err := Compare(run(20, c.half), run(c.after, c.half), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := got.Of("p50_ms"); m.Result != c.result {
			t.Errorf("20 to %g ms, each within a factor of %g: %s (%s)", c.after, c.half, m.Result, m.Why)
		}
	}
}

// Runs that vary by many times are called too noisy.
func TestTooNoisy(t *testing.T) {
	run := func(v float64) []Run {
		run := Run{Load: open(500), Metrics: map[string]float64{"p99_ms": v}, Within: map[string]stats.Interval{"p99_ms": {Low: v / 1.02, High: v * 1.02}}}
		for _, f := range []float64{.01, 100, 1, 30} {
			run.Parts = append(run.Parts, map[string]float64{"p99_ms": v * f})
		}
		return []Run{run}
	}
	got, err := Compare(run(12), run(35), Options{})
	if m, _ := got.Of("p99_ms"); err != nil || m.Result != Unclear || !strings.HasPrefix(m.Why, "too noisy to decide") {
		t.Errorf("%v %+v", err, m)
	}
}

// The metrics of --fail-on fail a comparison instead of those that do by default.
func TestFailOn(t *testing.T) {
	run := func(p99, rss float64) (runs []Run) {
		for i := range 6 {
			f := 1 + .01*float64(i%3)
			runs = append(runs, Run{Load: open(500), Metrics: map[string]float64{"p99_ms": p99 * f, "rss_mib": rss * f}})
		}
		return runs
	}
	for _, c := range []struct{ on, want []string }{
		{nil, []string{"p99_ms"}}, {[]string{"rss_mib"}, []string{"rss_mib"}}, {[]string{"all"}, []string{"p99_ms", "rss_mib"}}, {[]string{"none"}, nil}, {[]string{"rate"}, nil},
	} {
		got, err := Compare(run(10, 100), run(20, 300), Options{FailOn: c.on})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range got.Regressed() {
			names = append(names, m.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("--fail-on %v: %v, want %v", c.on, names, c.want)
		}
	}
}

// A cause that either diagnosis names is listed once, with both verdicts; one that was not asked for has none.
func TestSetCauses(t *testing.T) {
	verdict := func(cause, state string) diagnose.Verdict {
		return diagnose.Verdict{Cause: cause, Subject: "shop pid 7", Verdict: state, Title: cause + " happens", Summary: state + " figure"}
	}
	was := &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{verdict("linux.disk-sync", check.Supported), verdict("go.gc-rate", check.RuledOut), verdict("linux.futex", check.Supported)}}
	is := &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{verdict("linux.disk-sync", check.RuledOut), verdict("go.gc-rate", check.RuledOut), verdict("go.gc-rate", check.Supported)}}
	c := new(Comparison)
	c.SetCauses(was, is)
	var got []string
	for _, x := range c.Causes {
		state := func(s *string) string {
			if s == nil {
				return "none"
			}
			return *s
		}
		got = append(got, x.Cause+" "+state(x.Before)+" "+state(x.After)+" "+x.AfterSummary)
	}
	if want := []string{"linux.disk-sync supported ruled_out ruled_out figure", "linux.futex supported none ", "go.gc-rate ruled_out supported supported figure"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !c.Diagnosed {
		t.Error("both runs were diagnosed")
	}
	c = new(Comparison)
	if c.SetCauses(was, nil); c.Causes != nil || c.Diagnosed {
		t.Errorf("one diagnosis alone: %v", c.Causes)
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
