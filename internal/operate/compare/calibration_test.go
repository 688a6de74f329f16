package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// simulated makes n pairs of runs on a noisy host. Both runs of a block share a random factor, each run has
// noise of its own, and one run in twenty meets a neighbour that makes it several times slower. After is
// before times effect.
func simulated(r *rand.Rand, n int, noise, effect float64) (before, after []Run) {
	run := func(mood, f float64, at time.Time) Run {
		own := func() float64 { return math.Exp(noise * r.NormFloat64()) }
		bad := 1.
		if r.IntN(20) == 0 {
			bad = 1 + 8*r.Float64()
		}
		shared := own()
		return Run{Start: at, Load: open(500), Metrics: map[string]float64{
			"p50_ms": 2 * f * mood * shared * own() * math.Sqrt(bad), "p90_ms": 4 * f * mood * shared * own() * bad,
			"p99_ms": 8 * f * mood * shared * own() * bad, "p999_ms": 20 * f * mood * own() * own() * bad,
			"rate": 500 * (1 + .002*r.NormFloat64()), "errors": float64(r.IntN(3)) / 5000}}
	}
	for i := range n {
		mood := math.Exp(.3 * r.NormFloat64())
		at := noon.Add(time.Duration(i) * time.Minute)
		b, a := run(mood, 1, at), run(mood, effect, at.Add(20*time.Second))
		before, after = append(before, b), append(after, a)
	}
	return before, after
}

// Where nothing changed, at most 5 of 100 comparisons report a change of a metric, whatever the noise.
func TestFalseAlarms(t *testing.T) {
	const comparisons = 2000
	for _, c := range []struct {
		n     int
		noise float64
	}{{6, .05}, {6, .2}, {8, .1}, {12, .05}} {
		r := rand.New(rand.NewPCG(uint64(c.n), uint64(1000*c.noise)))
		changed := make(map[string]int)
		failed := 0
		total := comparisons
		if c.n > 8 {
			total /= 10 // all subsets of 12 pairs take a while
		}
		for range total {
			before, after := simulated(r, c.n, c.noise, 1)
			result, err := Compare(before, after, Options{})
			if err != nil || result.Refused() {
				t.Fatal(err, result.Why)
			}
			for _, m := range result.Metrics {
				if m.Result == Improved || m.Result == Regressed {
					changed[m.Name]++
				}
			}
			if len(result.Regressed()) > 0 {
				failed++
			}
		}
		for name, k := range changed {
			if share := float64(k) / float64(total); share > chance(.05, total) {
				t.Errorf("%d pairs, noise %g: %s is told as changed in %.1f %% of the comparisons without a change", c.n, c.noise, name, 100*share)
			}
		}
		if share := float64(failed) / float64(total); share > chance(.05, total) {
			t.Errorf("%d pairs, noise %g: %.1f %% of the comparisons without a change fail", c.n, c.noise, 100*share)
		}
		t.Logf("%d pairs, noise %g: of %d without a change %.1f %% fail; by metric %v", c.n, c.noise, total, 100*float64(failed)/float64(total), changed)
	}
}

// chance is the largest share observed in n draws, except 1 time in 40.
func chance(share float64, n int) float64 { return share + 2*math.Sqrt(share*(1-share)/float64(n)) }

// A real change is found, more often the more pairs there are, and its direction is never reported wrong.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		n      int
		effect float64
		least  float64 // share of comparisons that must find it
	}{{6, .55, .7}, {10, .55, .85}, {10, .8, .6}} {
		r := rand.New(rand.NewPCG(uint64(c.n), 7))
		const total = 300
		found, wrong := 0, 0
		var changes, held float64
		for range total {
			before, after := simulated(r, c.n, .08, c.effect)
			result, err := Compare(before, after, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m, _ := result.Of("p99_ms")
			changes += *m.Change / total
			if *m.Low <= c.effect-1 && c.effect-1 <= *m.High {
				held++
			}
			switch m.Result {
			case Improved:
				found++
			case Regressed:
				wrong++
			}
		}
		if share := float64(found) / total; share < c.least || wrong > 0 {
			t.Errorf("%d pairs, factor %g: found in %.0f %%, told the wrong way round in %d", c.n, c.effect, 100*share, wrong)
		}
		if held/total < .93 {
			t.Errorf("%d pairs, factor %g: the interval holds it in %.1f %%", c.n, c.effect, 100*held/total)
		}
		t.Logf("%d pairs, factor %g: found in %.0f %%, mean change %.3f, held by %.1f %%", c.n, c.effect, 100*float64(found)/total, changes, 100*held/total)
	}
}
