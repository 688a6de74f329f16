package golang

import (
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// Without requests GC is found by the CPU time it takes, where its cycles are frequent or run back to back.
func TestGCRateEdges(t *testing.T) {
	const second = int64(1e9)
	for _, x := range []struct {
		about   string
		n       int
		period  int64
		marking float64 // share of the time
		workers float64
		want    string
	}{
		{"16 % of the CPUs", 60, second / 9, .32, 1, check.Supported},
		{"14 % of the CPUs", 60, second / 9, .28, 1, check.Inconclusive},
		{"marks 4.5 % of the time", 60, second / 9, .045, 2, check.RuledOut},
		{"marks 5.5 % of the time", 60, second / 9, .055, 2, check.Inconclusive},
		{"once in 1.1 s", 60, second * 11 / 10, .45, 1, check.RuledOut},
		{"once in 0.9 s", 60, second * 9 / 10, .45, 1, check.Supported},
		{"once in 1.1 s, back to back", 60, second * 11 / 10, .55, 1, check.Supported},
		{"four cycles", 4, second / 9, .4, 1, check.Inconclusive},
		{"five cycles", 5, second / 9, .4, 1, check.Supported},
	} {
		c := log{n: x.n, period: x.period, mark: int64(x.marking * float64(x.period)), live: wobble, goal: follows, workers: x.workers}.build()
		v := GCRate.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		holdsDecision(t, x.about, c, &v)
	}
}

// Requested cycles are found by the CPU time that they take, from five of them on.
func TestForcedEdges(t *testing.T) {
	const second = int64(1e9)
	for _, x := range []struct {
		about   string
		n       int
		marking float64
		want    string
	}{
		{"6 % of the CPUs", 60, .12, check.Supported},
		{"4.5 % of the CPUs", 60, .09, check.RuledOut},
		{"marks 4 % of the time", 60, .04, check.RuledOut},
		{"five cycles", 5, .2, check.Supported},
		{"four cycles", 4, .2, check.Inconclusive},
	} {
		c := log{n: x.n, period: second / 2, mark: int64(x.marking * float64(second/2)), live: wobble, goal: follows, workers: 1, forced: 1}.build()
		v := ForcedGC.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		holdsDecision(t, x.about, c, &v)
		if r := GCRate.Judge(c); r.Supported() {
			t.Errorf("%s: the heap is said to be small: %s", x.about, r.Title)
		}
		c.Forget()
	}
}

// A memory limit is tight where the goal that it sets is less than twice the live heap.
func TestLimitEdges(t *testing.T) {
	for _, x := range []struct {
		about string
		goal  func(i int, previous float64) float64
		want  string
	}{
		{"the goal is 1.7 times what is live", func(i int, _ float64) float64 { return mib * (78 - float64(i%3)) }, check.Supported},
		{"the goal is 2.4 times what is live", func(i int, _ float64) float64 { return mib * (110 - float64(i%3)) }, check.RuledOut},
		{"the goal follows what is live", follows, check.RuledOut},
	} {
		c := log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: x.goal, workers: 1}.build()
		v := MemoryLimitThrash.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		holdsDecision(t, x.about, c, &v)
	}
}

// holdsDecision checks that the figures that a verdict keeps are those that decided it.
func holdsDecision(t *testing.T, about string, c *check.Case, v *check.Verdict) {
	t.Helper()
	d := c.Decision(v)
	for _, fault := range checktest.Faults(v.State, &d) {
		t.Errorf("%s: %s (%s)", about, fault, v.Summary)
	}
	c.Forget()
}
