package rule

import (
	"math"
	"time"
)

// track is what a series of a subject has shown lately.
type track struct {
	at   []int64 // ns, ascending
	v    []float64
	keep int64   // ns that are kept
	step float64 // ns between two points, in the mean of the newest
}

// mostPoints bounds a track: a day of one point a second would be more than any rule asks for
// at once, and then the oldest go first.
const mostPoints = 100_000

// addPoint adds a point, unless it is not later than the last one.
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
	if drop > 64 && drop > len(k.at)/2 { // a copy now and then, not each time
		k.at = append(k.at[:0], k.at[drop:]...)
		k.v = append(k.v[:0], k.v[drop:]...)
	}
}

// patience is how old the newest point may be before nothing is known any more: three of its
// steps, and no less than this.
const patience = 5 * time.Second

// isFresh says whether the newest point is recent enough at a time for anything to be known.
func (k *track) isFresh(now int64) bool {
	n := len(k.at)
	return n > 0 && float64(now-k.at[n-1]) <= max(float64(patience), 3*k.step)
}

// firstIndex returns the index of the first point within over (ns) before now; of the newest point
// if none lies within.
func (k *track) firstIndex(now, over int64) int {
	i := len(k.at) - 1
	for i > 0 && k.at[i-1] > now-over {
		i--
	}
	return i
}

// takeValue returns what a condition takes of a track; NaN unknown.
func (k *track) takeValue(how Take, now, over int64) float64 {
	if k == nil || !k.isFresh(now) {
		return math.NaN()
	}
	from := k.firstIndex(now, over)
	v := k.v[from:]
	// Of a time that was watched for less than half nothing is known: what a process does in its
	// first moment, it does not do all the time.
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

// most is the part of the way between the lowest and the highest value that what climbs has come: a
// saw's teeth have not.
const most = .6

// growthRate returns the growth per second over a time, 0 where more than a fifth of the steps
// went down: a value that swings does not climb.
func (k *track) growthRate(from int, now, over int64) float64 {
	n := len(k.at)
	if from > 0 {
		from-- // what it was when the time began
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
	if falls*5 > n-1-from || rises < 2 || k.v[n-1]-k.v[from] < most*(high-low) { // one jump is no climb
		return 0
	}
	return (k.v[n-1] - k.v[from]) / (float64(k.at[n-1]-k.at[from]) / 1e9)
}
