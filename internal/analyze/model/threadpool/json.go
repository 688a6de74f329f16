package threadpool

import (
	"encoding/json"
	"math"

	"github.com/unstall/unstall/internal/analyze/model"
)

type askedJSON struct {
	Text    string         `json:"asked"`
	Threads model.Estimate `json:"pool_threads"`
	Rate    model.Estimate `json:"requests_per_s"`
	Latency model.Estimate `json:"latency_ms"`
	P99     model.Estimate `json:"p99_ms"`
	First   Start          `json:"first_10_s"`
	Growth  model.Estimate `json:"threads_per_s"` // while it climbs
	Settles model.Estimate `json:"settles_s"`     // from the start of the load
	Ends    string         `json:"ends"`          // "enough" | "max" | "cpu" | "climbing"
	Curve   []Point        `json:"curve"`         // at most 40 rows, the same time apart
}

// MarshalJSON writes one flat object.
func (a Asked) MarshalJSON() ([]byte, error) {
	o := &a.Outcome
	return json.Marshal(askedJSON{a.Text, o.Threads, o.Rate, o.Latency, o.P99, o.Start, o.Growth, o.Settles, o.Ends, thinCurve(o.Curve)})
}

// thinCurve joins neighbours until so few points are left that a person can read them: the threads
// and queue of the last, the rate and latency of all.
func thinCurve(curve []Point) []Point {
	const rows = 40
	step := (len(curve) + rows - 1) / rows
	if step < 2 {
		return curve
	}
	var out []Point
	for ; len(curve) >= step; curve = curve[step:] {
		last := curve[step-1]
		var answers, ms float64
		for _, p := range curve[:step] {
			if p.Rate > 0 {
				answers, ms = answers+p.Rate, ms+p.Rate*p.Latency
			}
		}
		last.Rate, last.Latency = answers/float64(step), ms/answers
		out = append(out, last)
	}
	return out
}

// MarshalJSON writes null for the latency of a second without an answer.
func (p Point) MarshalJSON() ([]byte, error) {
	type point struct {
		At      float64  `json:"s"`
		Threads int      `json:"pool_threads"`
		Queue   int      `json:"queue"`
		Rate    float64  `json:"requests_per_s"`
		Latency *float64 `json:"latency_ms"`
	}
	j := point{At: p.At, Threads: p.Threads, Queue: p.Queue, Rate: p.Rate}
	if !math.IsNaN(p.Latency) {
		j.Latency = &p.Latency
	}
	return json.Marshal(j)
}
