package stats

import (
	"math"
	"math/cmplx"
	"slices"
)

// Cycle is a period that events keep to.
type Cycle struct {
	Period   int64   // ns
	Phase    int64   // ns: the events come at Phase + k·Period
	Strength float64 // 1: to the instant; 0: at any time. The mean resultant length
	Events   int     // bursts that were counted as one event each
}

// What makes a period: events that keep time to p < 1 % over all frequencies
// looked at, in at least half of the cycles.
const (
	minCycles     = 4
	minEvents     = 6
	maxEvents     = 2048
	maxChance     = 0.01
	minStrength   = 0.6
	minFill       = 0.5
	oversampling  = 8
	sameAsBest    = 0.75 // harmonics of a sharp period are as strong as itself
	burstOfPeriod = 0.25 // events this close together are one
)

// Period finds the period that discrete events (pauses, forks, scheduled jobs;
// ns, ascending) keep to: a schedule they follow, not a mere typical distance.
// It returns false if there is none that chance would not explain, and looks at
// the last 2,048 events only.
//
// The test is Rayleigh's: the events' phases at a frequency, as unit vectors,
// add up to a length n·Strength that random phases do not reach (probability as
// in Wilkie, Rayleigh Test for Randomness of Circular Data, Applied Statistics
// 32, 1983), for which it equals the Lomb–Scargle power of a point process.
// Bursts would pass it at any long period, so it is repeated with each burst
// counted once.
func Period(at []int64) (Cycle, bool) {
	if len(at) > maxEvents {
		at = at[len(at)-maxEvents:]
	}
	n := len(at)
	if n < minEvents {
		return Cycle{}, false
	}
	origin := at[0]
	span := float64(at[n-1] - origin)
	if span <= 0 {
		return Cycle{}, false
	}
	t := make([]float64, n) // in units of the span: frequencies are cycles per span
	for i, x := range at {
		t[i] = float64(x-origin) / span
	}
	f, ok := strongest(t)
	if !ok {
		return Cycle{}, false
	}
	once := bursts(t, burstOfPeriod/f)
	f = refine(once, f)
	v := resultant(once, f)
	events := float64(len(once))
	c := Cycle{
		Period:   int64(math.Round(span / f)),
		Strength: cmplx.Abs(v) / events,
		Events:   len(once),
	}
	turn := cmplx.Phase(v) / (2 * math.Pi)
	if turn < 0 {
		turn++
	}
	c.Phase = origin + int64(math.Round(turn*span/f))
	trials := oversampling * float64(n) // neighbours on the grid are not independent: cautious
	return c, len(once) >= minEvents && events >= minFill*f && c.Strength >= minStrength &&
		trials*rayleigh(cmplx.Abs(v), events) < maxChance
}

// strongest returns the lowest of the frequencies that are about as strong as
// the strongest, between minCycles and the one half of whose cycles the events
// could fill.
func strongest(t []float64) (float64, bool) {
	const step = 1.0 / oversampling
	steps := int((2*float64(len(t)) - minCycles) / step)
	// Turning each vector by a fixed angle per step costs a multiplication where
	// a sine would cost twenty.
	now, turn := make([]complex128, len(t)), make([]complex128, len(t))
	for i, x := range t {
		now[i] = cmplx.Rect(1, 2*math.Pi*minCycles*x)
		turn[i] = cmplx.Rect(1, 2*math.Pi*step*x)
	}
	length := make([]float64, steps)
	for k := range length {
		var v complex128
		for i := range now {
			v += now[i]
			now[i] *= turn[i]
		}
		length[k] = cmplx.Abs(v)
	}
	if steps < 3 {
		return 0, false
	}
	limit := sameAsBest * slices.Max(length)
	for k, l := range length {
		peak := (k == 0 || l >= length[k-1]) && (k == steps-1 || l >= length[k+1])
		if peak && l >= limit {
			return minCycles + float64(k)*step, true
		}
	}
	return 0, false
}

// refine climbs to the top of the peak around f.
func refine(t []float64, f float64) float64 {
	best, top := f, cmplx.Abs(resultant(t, f))
	for step := 0.5 / oversampling; step > 1e-4; step /= 2 {
		for _, g := range []float64{best - step, best + step} {
			if l := cmplx.Abs(resultant(t, g)); l > top {
				best, top = g, l
			}
		}
	}
	return best
}

func resultant(t []float64, f float64) (v complex128) {
	for _, x := range t {
		v += cmplx.Rect(1, 2*math.Pi*f*x)
	}
	return v
}

// bursts replaces events within a width of the first of them by their mean.
func bursts(t []float64, width float64) []float64 {
	var out []float64
	for i := 0; i < len(t); {
		j, sum := i, 0.0
		for j < len(t) && t[j] < t[i]+width {
			sum += t[j]
			j++
		}
		out = append(out, sum/float64(j-i))
		i = j
	}
	return out
}

// rayleigh is the probability that n random unit vectors add up to length r.
func rayleigh(r, n float64) float64 {
	return math.Exp(math.Sqrt(1+4*n+4*(n*n-r*r)) - (1 + 2*n))
}
