package rule

import (
	"math"
	"time"
)

// track holds the recent points of a subject's series.
type track struct {
	at   []int64 // ns, ascending
	v    []float64
	keep int64   // how long points are kept, ns
	step float64 // mean time between the newest points, ns
}

// mostPoints bounds a track: a day of one point a second, which is more than any rule needs. Beyond it the oldest points
// are dropped.
const mostPoints = 100_000

// addPoint adds a point if it is later than the last one.
func (k *track) addPoint(at int64, v float64) {
	n := len(k.at)
	if math.IsNaN(v) || math.IsInf(v, 0) || n > 0 && at <= k.at[n-1] {
		return
	}
	if n > 0 {
		gap := float64(at - k.at[n-1])
		if k.step == 0 {
			k.step = gap
		}
		k.step += (gap - k.step) / 8
	}
	k.at, k.v = append(k.at, at), append(k.v, v)
	drop := 0
	for drop < len(k.at)-2 && (at-k.at[drop+1] > k.keep || len(k.at)-drop > mostPoints) {
		drop++
	}
	if drop > 64 && drop > len(k.at)/2 { // so that points are copied rarely
		k.at = append(k.at[:0], k.at[drop:]...)
		k.v = append(k.v[:0], k.v[drop:]...)
	}
}

// patience is the age of the newest point from which the value is unknown. If three steps of the series are longer, they
// count instead.
const patience = 5 * time.Second

// isFresh says whether the newest point is recent enough for the value to be known.
func (k *track) isFresh(now int64) bool {
	n := len(k.at)
	return n > 0 && float64(now-k.at[n-1]) <= max(float64(patience), 3*k.step)
}

// firstIndex returns the index of the first point within over (ns) before now, or of the newest point if none lies within.
func (k *track) firstIndex(now, over int64) int {
	i := len(k.at) - 1
	for i > 0 && k.at[i-1] > now-over {
		i--
	}
	return i
}

// takeValue returns the value of a condition on a track; NaN unknown.
func (k *track) takeValue(how Take, now, over int64) float64 {
	if k == nil || !k.isFresh(now) {
		return math.NaN()
	}
	from := k.firstIndex(now, over)
	v := k.v[from:]
	// If less than half of the time was watched, the value is unknown: the first moment of a process says nothing
	// about the rest.
	if span := k.at[len(k.at)-1] - k.at[0]; span < over/2 && float64(over) > k.step {
		return math.NaN()
	}
	switch how {
	case Max:
		out := v[0]
		for _, x := range v {
			out = max(out, x)
		}
		return out
	case Min:
		out := v[0]
		for _, x := range v {
			out = min(out, x)
		}
		return out
	case Sum:
		sum := 0.
		for i := from; i < len(k.at); i++ {
			gap := k.step
			if i > 0 {
				gap = float64(k.at[i] - k.at[i-1])
			}
			sum += k.v[i] * min(gap, float64(over)) / 1e9
		}
		return sum
	case Climb:
		return k.growthRate(from, now, over)
	}
	sum := 0.
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// most is how much of the range between its lowest and highest value a climbing series must have risen. It excludes
// sawtooth series.
const most = .6

// growthRate returns the growth per second over a time, 0 if more than a fifth of the steps went down, because such a
// series swings and does not climb.
func (k *track) growthRate(from int, now, over int64) float64 {
	n := len(k.at)
	if from > 0 {
		from-- // the value at the beginning of the time
	}
	if n-from < 3 || k.at[n-1]-k.at[from] < over*3/4 {
		return math.NaN()
	}
	falls, rises := 0, 0
	low, high := k.v[from], k.v[from]
	for i := from + 1; i < n; i++ {
		low, high = min(low, k.v[i]), max(high, k.v[i])
		switch {
		case k.v[i] < k.v[i-1]:
			falls++
		case k.v[i] > k.v[i-1]:
			rises++
		}
	}
	if falls*5 > n-1-from || rises < 2 || k.v[n-1]-k.v[from] < most*(high-low) { // a single jump is no climb
		return 0
	}
	return (k.v[n-1] - k.v[from]) / (float64(k.at[n-1]-k.at[from]) / 1e9)
}
