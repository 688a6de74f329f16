package top

import (
	"math"
	"time"
)

// kept is how many values of a counter are kept: 4 minutes at one per second.
const kept = 240

// history holds the values that one counter has had.
type history struct {
	at       []time.Time
	value    []float64
	min, max float64 // since the start

	last   float64 // the last reading of a total
	lastAt time.Time
}

// addReading adds a reading. A total that fell, because its process restarted, gives no rate.
func (h *history) addReading(r Reading) {
	v := r.Value
	if r.Kind == Total {
		was, at := h.last, h.lastAt
		h.last, h.lastAt = r.Value, r.At
		d := r.At.Sub(at).Seconds()
		if at.IsZero() || d <= 0 || r.Value < was {
			return
		}
		v = (r.Value - was) / d
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if r.Scale != 0 {
		v *= r.Scale
	}
	if len(h.value) == 0 {
		h.min, h.max = v, v
	}
	h.min, h.max = min(h.min, v), max(h.max, v)
	if len(h.value) == kept {
		copy(h.value, h.value[1:])
		copy(h.at, h.at[1:])
		h.value, h.at = h.value[:kept-1], h.at[:kept-1]
	}
	h.value, h.at = append(h.value, v), append(h.at, r.At)
}

// newestValue returns the newest value, NaN if there is none.
func (h *history) newestValue() float64 {
	if len(h.value) == 0 {
		return math.NaN()
	}
	return h.value[len(h.value)-1]
}

// growthRate returns the growth per second over a time up to the newest value; 0 if less time was seen. It compares
// the newest value with the last one from before that time, so a single jump counts only while it lies within.
func (h *history) growthRate(over time.Duration) float64 {
	n := len(h.value)
	if n < 3 {
		return 0
	}
	until := h.at[n-1]
	for i := n - 2; i >= 0; i-- {
		if d := until.Sub(h.at[i]); d >= over {
			return (h.value[n-1] - h.value[i]) / d.Seconds()
		}
	}
	return 0
}

// holdsFor says whether all values of the newest part of a given length satisfy a condition; false if less time was
// seen.
func (h *history) holdsFor(over time.Duration, holds func(float64) bool) bool {
	n := len(h.value)
	if n < 2 {
		return false
	}
	until := h.at[n-1]
	for i := n - 1; i >= 0; i-- {
		if !holds(h.value[i]) {
			return false
		}
		if until.Sub(h.at[i]) >= over {
			return true
		}
	}
	return false
}

// maxColumns returns the largest value in each of n equal parts of the time up to a moment, NaN for a part without
// values.
func (h *history) maxColumns(n int, over time.Duration, until time.Time) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	for i := len(h.value) - 1; i >= 0; i-- {
		age := until.Sub(h.at[i])
		if age < 0 {
			age = 0
		}
		k := n - 1 - int(int64(n)*int64(age)/int64(over))
		if k < 0 {
			break
		}
		if math.IsNaN(out[k]) || h.value[i] > out[k] {
			out[k] = h.value[i]
		}
	}
	return out
}
