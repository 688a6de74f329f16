package stats

import (
	"math"
	"slices"
	"testing"
)

func TestPeriod(t *testing.T) {
	for _, c := range []struct {
		name   string
		cycles int
		jitter float64 // of a period, ±
		missed float64 // share
		extra  int     // at any time
		burst  int     // events per cycle
	}{
		{"comb", 20, 0, 0, 0, 1},
		{"seven cycles", 7, .01, 0, 0, 1},
		{"jitter", 30, .1, 0, 0, 1},
		{"missed", 40, .02, .3, 0, 1},
		{"with others", 40, .02, 0, 10, 1},
		{"bursts", 20, .02, 0, 0, 5},
		{"many", 1500, .05, .1, 100, 1},
	} {
		r := random(21)
		const period = 60 * second
		start := int64(1.7e18) + 17*second
		var at []int64
		for k := range int64(c.cycles) {
			if r.float() < c.missed {
				continue
			}
			for i := range int64(c.burst) {
				at = append(at, start+k*period+int64((2*r.float()-1)*c.jitter*float64(period))+i*second/2)
			}
		}
		for range c.extra {
			at = append(at, start+int64(r.float()*float64(c.cycles)*float64(period)))
		}
		slices.Sort(at)
		got, ok := Period(at)
		if !ok || math.Abs(float64(got.Period)/float64(period)-1) > .01 {
			t.Errorf("%s: %+v %v, want 60 s", c.name, got, ok)
			continue
		}
		off := math.Abs(math.Remainder(float64(got.Phase-start)-float64(c.burst-1)/4*1e9, float64(period)))
		if off > .1*float64(period) {
			t.Errorf("%s: phase is off by %.1f s", c.name, off/1e9)
		}
		if got.Strength <= .6 || got.Strength > 1+1e-9 {
			t.Errorf("%s: strength %v", c.name, got.Strength)
		}
	}
}

func TestPeriodFalseAlarms(t *testing.T) {
	r := random(22)
	for name, gap := range map[string]func() float64{
		"random":  func() float64 { return r.exp() },
		"bursts":  func() float64 { return r.exp() * map[bool]float64{true: 10, false: .01}[r.float() < .2] },
		"bounded": func() float64 { return .2 + r.exp() },
	} {
		const runs = 300
		alarms := 0
		for range runs {
			var at []int64
			now := 0.0
			for range 6 + r.below(100) {
				now += gap() * 1e9
				at = append(at, int64(now))
			}
			if _, ok := Period(at); ok {
				alarms++
			}
		}
		if alarms > runs*3/100 {
			t.Errorf("%s: %d of %d recordings without a period have one", name, alarms, runs)
		}
	}
}

func TestPeriodEdges(t *testing.T) {
	for name, at := range map[string][]int64{
		"none": nil, "few": {1, 2, 3, 4, 5}, "all at once": make([]int64, 50),
	} {
		if got, ok := Period(at); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func BenchmarkPeriod(b *testing.B) {
	r := random(1)
	var at []int64
	for i := range int64(maxEvents) {
		at = append(at, i*second+int64(r.float()*1e8))
	}
	for b.Loop() {
		Period(at)
	}
}
