// Package younggen models a JVM's young generation: how often it is collected and how long that takes under another size or another load
// ([Generation]), and the rate of requests that a service with such pauses can sustain ([Knee]).
//
// Not modelled: collectors that size their generations by pause goals choose another eden under another load, and pauses change once the
// service does something else. Measured errors: dev/grid/predictions-jvm.md.
package younggen

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/stats"
)

// Generation is a JVM's young generation as its log shows it: when eden is full it is
// collected, with the world stopped.
//
//   - The interval between two collections is eden ÷ allocation rate.
//   - A pause is a + b · bytes copied: what survives in the young generation and what is
//     promoted is copied, what is dead costs nothing. Both are fitted to the log by the
//     medians of slopes and of what they leave (Sen, Journal of the American Statistical
//     Association 63, 1968), which one long pause cannot turn.
//   - What survives a collection grows with eden as eden^γ, 0 ≤ γ ≤ 1: with γ = 0 only
//     what requests hold at that moment lives (their number does not depend on eden), with
//     γ = 1 nothing dies. γ is fitted where the log itself has edens of different size, as
//     of collectors that resize it; else both ends are told as the range. With the rate of
//     allocation it hardly changes: logs whose rate changed sixfold show that. What is
//     promoted falls with the interval T as T^(γ−1), as objects have longer to die.
//
// How large young generations and edens are: the tuning guide's "Factors Affecting Garbage
// Collection Performance" (https://docs.oracle.com/en/java/javase/21/gctuning/).
type Generation struct {
	Collector string    `json:"collector"`     // "ParNew+CMS", "G1"; "" unknown
	Eden      float64   `json:"eden_bytes"`    // allocated from one collection to the next, mean
	Size      float64   `json:"young_bytes"`   // what -Xmn would have to be for it: eden and both survivor spaces; 0 unknown
	Heap      float64   `json:"heap_bytes"`    // it may have; 0 unknown
	OldLive   float64   `json:"old_bytes"`     // what the old generation has to hold; 0 unknown
	Alloc     float64   `json:"alloc_bytes_s"` //
	Copied    float64   `json:"copied_bytes"`  // by a collection, mean
	Promoted  float64   `json:"promoted_bytes"`
	Base      float64   `json:"pause_base_s"`     // a
	PerByte   float64   `json:"pause_s_per_byte"` // b
	Rest      float64   `json:"pause_spread"`     // median of |pause − fit| ÷ pause
	Gamma     *float64  `json:"gamma"`            // null: not to be seen in this log
	Mean      float64   `json:"pause_s"`          // mean pause, measured
	Seconds   float64   `json:"seconds"`
	Count     int       `json:"pauses"`
	edens     []float64 // of each collection, sorted
}

// Pause is one young collection. NaN is not known.
type Pause struct {
	At        float64 // s, when it began
	Took      float64 // s
	Allocated float64 // bytes since the one before
	Survived  float64 // bytes in the young generation after it
	Promoted  float64 // bytes
	Capacity  float64 // bytes of the young generation
}

// MinPauses is the least number of collections for a fit.
const MinPauses = 8

// ErrFew means that a log tells too little of a young generation.
var ErrFew = fmt.Errorf("a prediction needs at least %d young collections with sizes in the log: record for longer under load", MinPauses)

// Fit fits the model to collections in order of time.
func Fit(p []Pause) (*Generation, error) {
	y := &Generation{Count: len(p)}
	var alloc, took, copied, promoted, capacity []float64
	var span, grown float64
	for i, x := range p {
		took = append(took, x.Took)
		if i > 0 && x.Allocated >= 0 && x.At > p[i-1].At {
			alloc = append(alloc, x.Allocated)
			grown += x.Allocated
			span += x.At - p[i-1].At
		}
		c := x.Survived
		if x.Promoted > 0 {
			c += x.Promoted
			promoted = append(promoted, x.Promoted)
		} else if x.Promoted <= 0 {
			promoted = append(promoted, 0)
		}
		copied = append(copied, c)
		if x.Capacity > 0 {
			capacity = append(capacity, x.Capacity)
		}
	}
	if len(alloc) < MinPauses || grown <= 0 || span <= 0 {
		return nil, ErrFew
	}
	y.Seconds, y.Alloc, y.Eden = span, grown/span, grown/float64(len(alloc))
	y.Mean = meanOf(took)
	y.edens = slices.Sorted(slices.Values(alloc))
	if len(capacity) > 0 {
		y.Size = stats.Median(capacity) // until more is known than the log prints
	}
	y.Promoted = meanOf(promoted)
	y.fitPause(copied, took)
	y.fitGamma(p)
	return y, nil
}

func meanOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// fitPause finds a and b. Where sizes do not vary, or more copying did not take longer, the model keeps the recorded pause.
func (y *Generation) fitPause(copied, took []float64) {
	var x, t []float64
	for i, c := range copied {
		if !math.IsNaN(c) {
			x, t = append(x, c), append(t, took[i])
		}
	}
	y.Copied = meanOf(x)
	y.Base = y.Mean
	if len(x) >= MinPauses {
		if b := medianSlope(x, t); b > 0 && y.Copied > 0 {
			y.PerByte = b
			if y.Base = y.Mean - b*y.Copied; y.Base < 0 {
				y.Base, y.PerByte = 0, y.Mean/y.Copied // all of it is copying
			}
		}
	}
	var off []float64
	for i, c := range copied {
		if fit := y.pauseFor(c); took[i] > 0 && !math.IsNaN(fit) {
			off = append(off, math.Abs(took[i]-fit)/took[i])
		}
	}
	if len(off) > 0 {
		y.Rest = stats.Median(off)
	}
}

// pauseFor returns how long copying so many bytes takes, s.
func (y *Generation) pauseFor(copied float64) float64 { return y.Base + y.PerByte*copied }

// mostPoints bounds the points between whose pairs a slope is the median.
const mostPoints = 600

// medianSlope returns the median slope of all pairs of points, of evenly drawn ones where there
// are many; 0 where x does not vary.
func medianSlope(x, t []float64) float64 {
	n := min(len(x), mostPoints)
	at := func(i int) int { return i * len(x) / n }
	var all []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			p, q := at(i), at(j)
			if d := x[q] - x[p]; math.Abs(d) > 1e-3*(math.Abs(x[p])+math.Abs(x[q])) {
				all = append(all, (t[q]-t[p])/d)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	return stats.Median(all)
}

// resized is how much edens must differ for a log to show the effect on survivors.
const resized = 1.5

// fitGamma finds how survivors grow with eden.
func (y *Generation) fitGamma(p []Pause) {
	var x, s []float64
	for _, q := range p {
		if q.Allocated > 0 && q.Survived > 0 {
			x, s = append(x, math.Log(q.Allocated)), append(s, math.Log(q.Survived))
		}
	}
	n := len(y.edens)
	if len(x) < 2*MinPauses || y.edens[n/10] <= 0 || y.edens[n*9/10] < resized*y.edens[n/10] {
		return
	}
	g := min(1, max(0, medianSlope(x, s)))
	y.Gamma = &g
}

// Outcome is young collections after a change.
type Outcome struct {
	Size      float64        `json:"young_bytes"` // as of -Xmn; 0 unknown
	Alloc     model.Estimate `json:"alloc_bytes_s"`
	Interval  model.Estimate `json:"interval_s"`
	Rate      model.Estimate `json:"collections_per_min"`
	Pause     model.Estimate `json:"pause_ms"` // mean
	Stopped   model.Estimate `json:"stopped_share"`
	Promotion model.Estimate `json:"promotion_bytes_s"`
	Knee      model.Estimate `json:"knee_requests_s"` // null: not known
	Cautions  []string       `json:"cautions"`
}

// ErrNoSize means that a log does not tell the young generation's size.
var ErrNoSize = errors.New("the log does not give the size of the young generation: switch on details (-Xlog:gc*, before JDK 9 -XX:+PrintGCDetails)")

// Predict returns the collections after a change: eden in proportion to the young generation, allocation multiplied by factor. With (1, 1)
// it returns what the model says of the present.
func (y *Generation) Predict(eden, alloc float64) Outcome {
	t := eden / alloc // times the interval
	o := Outcome{Size: y.Size * eden, Cautions: []string{}}
	o.Alloc = model.Exactly(y.Alloc * alloc)
	o.Interval = model.Exactly(y.Eden * eden / o.Alloc.Value)
	o.Rate = model.Exactly(60 / o.Interval.Value)
	grows := y.estimateGamma()
	at := func(g float64) (pause, promoted float64) {
		return y.pauseFor(y.Copied * math.Pow(eden, g)), y.Promoted / y.Eden * o.Alloc.Value * math.Pow(t, g-1)
	}
	over := func(of func(g float64) float64) model.Estimate {
		e := model.Between(of(grows.Value), of(grows.Low), of(grows.High))
		e.Low, e.High = min(e.Low, e.High, e.Value), max(e.Low, e.High, e.Value)
		return e
	}
	o.Pause = over(func(g float64) float64 { p, _ := at(g); return 1e3 * p })
	o.Promotion = over(func(g float64) float64 { _, p := at(g); return p })
	o.Stopped = over(func(g float64) float64 { p, _ := at(g); return p / (o.Interval.Value + p) })
	return o
}

// typicalGamma is used where a log does not show how survivors grow: the middle of the possible range, which is about the value of logs that
// do show it (dev/grid/predictions-jvm.md).
const typicalGamma = .5

// estimateGamma returns how survivors grow with the interval, and within which bounds.
func (y *Generation) estimateGamma() model.Estimate {
	if y.Gamma != nil {
		return model.Between(*y.Gamma, max(0, *y.Gamma-.2), min(1, *y.Gamma+.2))
	}
	return model.Between(typicalGamma, 0, 1)
}
