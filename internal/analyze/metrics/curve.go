package metrics

import (
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Curve is a figure over time; each value holds until the next one's time.
type Curve struct {
	T      []int64 // ns, ascending
	V      []float64
	Origin evidence.Origin
}

// CurveOf returns a subject's series of a name, nil if none has a value. Of several it is the one that covers most of a
// window, else the first.
func CurveOf(b *evidence.Bundle, subject evidence.SubjectID, name string, w Window) *Curve {
	return toCurve(pickSeries(b, w, func(s *evidence.Series) bool { return s.Subject == subject && s.Name == name }))
}

// pickSeries returns the series that covers most of a window, of equals the first.
func pickSeries(b *evidence.Bundle, w Window, match func(*evidence.Series) bool) (best *evidence.Series) {
	var most int64
	for i := range b.Series {
		s := &b.Series[i]
		if len(s.T) == 0 || !match(s) {
			continue
		}
		if d := min(w.Until, s.T[len(s.T)-1]) - max(w.From, s.T[0]); best == nil || d > most {
			best, most = s, max(d, 0)
		}
	}
	return best
}

// toCurve makes a curve of a series; nil for nil.
func toCurve(s *evidence.Series) *Curve {
	if s == nil {
		return nil
	}
	return &Curve{T: s.T, V: s.V, Origin: s.Origin}
}

// Known reports whether the curve has a value.
func (k *Curve) Known() bool { return k != nil && len(k.T) > 0 }

// Span returns how long the curve was watched, s.
func (k *Curve) Span() float64 {
	if !k.Known() {
		return 0
	}
	return float64(k.T[len(k.T)-1]-k.T[0]) / 1e9
}

// Window returns the time from the curve's first value to its last.
func (k *Curve) Window() Window {
	if !k.Known() {
		return Window{}
	}
	return Window{k.T[0], k.T[len(k.T)-1]}
}

// Last returns the last value, NaN without any.
func (k *Curve) Last() float64 {
	if !k.Known() {
		return math.NaN()
	}
	return k.V[len(k.V)-1]
}

// At returns the value at a time; before the first value it returns that; NaN without any.
func (k *Curve) At(t int64) float64 {
	if !k.Known() {
		return math.NaN()
	}
	i, is := slices.BinarySearch(k.T, t)
	if !is {
		i = max(0, i-1)
	}
	return k.V[i]
}

// Mean returns the mean of the values weighted by how long each held; NaN without any.
func (k *Curve) Mean() float64 {
	switch {
	case !k.Known():
		return math.NaN()
	case k.Span() == 0:
		return k.Last()
	}
	var sum float64
	for i := range len(k.T) - 1 {
		sum += k.V[i] * float64(k.T[i+1]-k.T[i])
	}
	return sum / float64(k.T[len(k.T)-1]-k.T[0])
}

// Growth returns how much a counter grew from a time to its last value; one that fell began again at 0. NaN without any.
func (k *Curve) Growth(from int64) float64 {
	if !k.Known() {
		return math.NaN()
	}
	sum, before := 0., k.At(from)
	for i, t := range k.T {
		if t > from {
			sum += counterGrowth(before, k.V[i])
			before = k.V[i]
		}
	}
	return sum
}

// Over returns the mean over the watched part of a window.
func (k *Curve) Over(w Window) Value {
	if !k.Known() {
		return Unknown
	}
	if w == Whole {
		w = k.Window()
	}
	s := evidence.Series{T: k.T, V: k.V}
	mean, watched := s.Mean(w.From, w.Until)
	if watched <= 0 {
		return Unknown
	}
	return Value{Number: mean, Origin: k.Origin, Watched: float64(watched) / float64(w.Until-w.From)}
}

// Outside returns the mean over the watched time before and after a window.
func (k *Curve) Outside(w Window) Value {
	all, in := k.Over(Whole), k.Over(w)
	if !all.Known() {
		return Unknown
	}
	whole := k.Window()
	watched := max(0, min(w.Until, whole.Until)-max(w.From, whole.From))
	rest := whole.Until - whole.From - watched
	if rest <= 0 {
		return Unknown
	}
	sum := all.Number * float64(whole.Until-whole.From)
	if watched > 0 {
		sum -= in.Number * float64(watched)
	}
	return Value{Number: max(0, sum/float64(rest)), Origin: k.Origin, Watched: float64(rest) / float64(whole.Until-whole.From)}
}

// Climb is the growth of a curve from its lowest value to the highest after it.
type Climb struct {
	From, To float64
	Rate     float64 // per second, without the jump at the beginning
	Steps    int     // intervals between values; with a single one, the course is unknown
	Still    bool    // the growth had not ended
}

// The end of a climb is seen where the curve continues for longer than this part of the climb's time: a shorter rest may
// only be the distance between two changes.
const lastPart = .2

// Climb returns how the curve grew, all zero where it is not known.
func (k *Curve) Climb() (g Climb) {
	if !k.Known() {
		return g
	}
	low, high, lowest := 0, 0, 0
	for i, v := range k.V {
		if v < k.V[lowest] {
			lowest = i
		}
		if v-k.V[lowest] > k.V[high]-k.V[low] {
			low, high = lowest, i
		}
	}
	g.From, g.To = k.V[low], k.V[high]
	if high > low+2 { // the pool's minimum is filled at once
		low++
	}
	if d := float64(k.T[high]-k.T[low]) / 1e9; d > 0 {
		g.Rate = (k.V[high] - k.V[low]) / d
	}
	g.Steps = high - low
	g.Still = k.T[high] >= k.T[len(k.T)-1]-int64(lastPart*1e9*k.Span())
	return g
}
