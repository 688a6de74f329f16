package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Stage is a time in which the rate goes evenly From one To another, requests
// per second.
type Stage struct {
	For      time.Duration // 0, of the last stage only: without end
	From, To float64
}

// Pattern is how the rate changes over time.
type Pattern []Stage

// Ramp goes evenly from one rate to another.
func Ramp(from, to float64, d time.Duration) Pattern { return Pattern{{d, from, to}} }

// Steps gives each rate an equal part of the time.
func Steps(rates []float64, d time.Duration) (p Pattern) {
	for _, r := range rates {
		p = append(p, Stage{d / time.Duration(len(rates)), r, r})
	}
	return p
}

// Spike multiplies a rate by times from at on for as long as lasts.
func Spike(rate, times float64, d, at, lasts time.Duration) (p Pattern) {
	at = min(max(at, 0), d)
	lasts = min(max(lasts, 0), d-at)
	for _, s := range []Stage{{at, rate, rate}, {lasts, rate * times, rate * times}, {d - at - lasts, rate, rate}} {
		if s.For > 0 {
			p = append(p, s)
		}
	}
	return p
}

// Duration is how long the pattern lasts, 0 if it has no end.
func (p Pattern) Duration() (d time.Duration) {
	for _, s := range p {
		if s.For == 0 {
			return 0
		}
		d += s.For
	}
	return d
}

// meanRate returns the rate over the whole time, requests per second.
func (p Pattern) meanRate() float64 {
	var requests, seconds float64
	for _, s := range p {
		if s.For == 0 {
			return s.From
		}
		requests += (s.From + s.To) / 2 * s.For.Seconds()
		seconds += s.For.Seconds()
	}
	if seconds == 0 {
		return 0
	}
	return requests / seconds
}

// Schedule yields the intended times of a plan, ns from its start.
//
// The expected number of requests up to t is the integral of the rate. The next
// request is where that has grown by one (constant arrivals) or by an
// exponentially distributed number (a Poisson process, also where the rate
// changes).
type Schedule struct {
	stages Pattern
	random *rand.Rand // nil: constant
	left   int64      // requests, < 0 no limit
	began  float64    // s: when the stage at hand began
	into   float64    // s: how far into it the last request was
	first  bool
}

// Schedule begins a schedule of at most so many times, 0 no limit. The seed is that of random arrivals.
func (p Pattern) Schedule(a Arrivals, seed uint64, most int64) *Schedule {
	s := &Schedule{stages: p, left: -1, first: true}
	if most > 0 {
		s.left = most
	}
	if a == Poisson {
		s.random = rand.New(rand.NewPCG(seed, 0x6c6f6164))
	}
	return s
}

// Next returns the next intended time; false if there is none.
func (s *Schedule) Next() (int64, bool) {
	if s.left == 0 {
		return 0, false
	}
	grow := 1.0
	if s.random != nil {
		grow = s.random.ExpFloat64()
	} else if s.first { // the first of evenly spaced requests is at once
		grow = 0
	}
	s.first = false
	for len(s.stages) > 0 {
		stage := &s.stages[0]
		length := stage.For.Seconds()
		if stage.For == 0 {
			length = math.Inf(1)
		}
		rest := length - s.into
		var slope float64
		if stage.From != stage.To {
			slope = (stage.To - stage.From) / length
		}
		rate := stage.From + slope*s.into
		if step, ok := solveArrival(rate, slope, grow, rest); ok {
			s.into += step
			if s.left > 0 {
				s.left--
			}
			return int64((s.began + s.into) * 1e9), true
		}
		grow -= rate*rest + slope/2*rest*rest
		s.began += length
		s.into = 0
		s.stages = s.stages[1:]
	}
	return 0, false
}

// solveArrival solves rate·t + slope/2·t² = grow for the smallest t in [0, rest).
func solveArrival(rate, slope, grow, rest float64) (float64, bool) {
	if grow <= 0 {
		return 0, rest > 0 && (rate > 0 || slope > 0)
	}
	root := rate*rate + 2*slope*grow
	if root < 0 {
		return 0, false
	}
	below := rate + math.Sqrt(root)
	if below <= 0 {
		return 0, false
	}
	t := 2 * grow / below // the stable form of (√root − rate) / slope
	// An arrival at the end, except for rounding, belongs to the next stage: 5,000 in half an hour must not become 5,001.
	return t, t < rest && (math.IsInf(rest, 1) || grow < rate*rest+slope/2*rest*rest-1e-6)
}
