package predict

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Pool is what settings would do to a .NET process's thread pool.
type Pool struct {
	Calibration PoolCalibration `json:"calibration"`
	Measured    PoolMeasured    `json:"measured"`
	Outcomes    []PoolAsked     `json:"outcomes"` // in the order they were asked for
}

// PoolCalibration is what the simulation of a pool rests on.
type PoolCalibration struct {
	Version     string      `json:"version"`
	Processors  int         `json:"processors"`
	Min         int         `json:"min_threads"`
	MinTold     bool        `json:"min_threads_known"` // else it is what the runtime takes by itself
	Pattern     PoolPattern `json:"pattern"`           // "task" | "sleep" | "call" | "await"
	Waits       string      `json:"waits"`             // where most threads are blocked, and how; "" none is
	Connections int         `json:"connections"`
	Service     float64     `json:"service_time_s"`
	From        string      `json:"service_time_from"`
	CPU         *float64    `json:"cpu_s_per_request"` // null: not known, taken for nothing
	Seconds     float64     `json:"seconds"`           // that were watched
}

// PoolMeasured is a pool as recorded.
type PoolMeasured struct {
	Threads Estimate `json:"pool_threads"`
	Rate    Estimate `json:"requests_per_s"` // finished
	Latency Estimate `json:"latency_ms"`     // mean of those finished
	P99     Estimate `json:"p99_ms"`         // unfinished ones count as long as they were seen
}

// PoolAsked is one situation and what comes of it.
type PoolAsked struct {
	Text    string
	Outcome PoolOutcome
}

// PoolChange is what is asked for of a pool; nil stays as it is.
type PoolChange struct {
	Await                          bool
	Min, Max, Service, Connections *float64
}

// fixes says whether it is a change to the process, and not only to what it is given
// to do.
func (w PoolChange) fixes() bool { return w.Await || w.Min != nil || w.Max != nil }

func (w PoolChange) in(c PoolCase, from string) PoolCase {
	if w.Await {
		c = c.Awaited()
	}
	for to, v := range map[*int]*float64{&c.Min: w.Min, &c.Max: w.Max, &c.Connections: w.Connections} {
		if v != nil {
			*to = int(*v)
		}
	}
	if w.Service != nil {
		c.Service = Service{*w.Service, from}
	}
	return c
}

// AsItIs begins the text of a pool that is not changed.
const AsItIs = "as it is"

// PoolSituation is a pool as recorded: what a prediction starts from.
type PoolSituation struct {
	Case     PoolCase
	Measured PoolMeasured
	Waits    string
	Seconds  float64
}

// Ask predicts settings; without one what becomes of the pool as it is, and the two
// ways to help it. Settings that cannot be are errors, joined; the others are in the
// prediction all the same. What is needed and not known is one error, and no prediction.
func (s PoolSituation) Ask(subject string, wanted []Wanted) (*Prediction, error) {
	if len(wanted) == 0 {
		wanted = []Wanted{{}}
	}
	first := wanted[0].Pool.in(s.Case, toldBy(wanted[0].Pool))
	if err := errors.Join(first.missing()...); err != nil {
		return nil, err
	}
	p := &Prediction{Schema: PredictionSchema, Subject: subject, Model: ModelPool, Settings: []Asked{}, Notes: []string{}}
	p.Pool = &Pool{Measured: s.Measured, Outcomes: []PoolAsked{}, Calibration: PoolCalibration{
		Version: first.Version, Processors: first.Cores, Min: s.Case.Min, MinTold: s.Case.Min > 0, Pattern: s.Case.Pattern, Waits: s.Waits,
		Connections: first.Connections, Service: first.Service.Seconds, From: first.Service.From, Seconds: s.Seconds}}
	if s.Case.Min == 0 {
		p.Pool.Calibration.Min = s.Case.Cores
	}
	if cpu := s.Case.CPU; cpu > 0 {
		p.Pool.Calibration.CPU = &cpu
	}
	var errs []error
	ask := func(text string, c PoolCase) {
		o, err := c.Predict()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", text, err))
			return
		}
		p.Pool.Outcomes = append(p.Pool.Outcomes, PoolAsked{text, o})
	}
	for _, w := range wanted {
		c := w.Pool.in(s.Case, toldBy(w.Pool))
		text := w.Text
		if w.Pool.fixes() {
			ask(text, c)
			continue
		}
		with := func(what string) string {
			if len(wanted) == 1 {
				return what // what the pool has to do is told above
			}
			return strings.TrimSpace(what + " " + text)
		}
		ask(with(AsItIs), c)
		if c.Pattern != PoolAwait {
			ask(with("await"), c.Awaited())
			ask(with(fmt.Sprintf("min-threads=%d", c.EnoughThreads())), c.WithMin(c.EnoughThreads()))
		}
	}
	if s.Case.Pattern == PoolAwait {
		p.note("no thread of the pool was seen blocked: await changes nothing")
	}
	p.note("figures are those in the end, when threads no longer come; before that it is as bad as the first ten seconds say, after each start and each rise of the load")
	p.note("the model is of a closed loop: so many clients, each of which sends its next request when it has its answer")
	return p, errors.Join(errs...)
}

func toldBy(w PoolChange) string {
	if w.Service == nil {
		return ""
	}
	return "--set"
}

// missing are all things that must be given, each in an error of its own.
func (c PoolCase) missing() (all []error) {
	if !(c.Service.Seconds > 0) {
		all = append(all, ErrServiceTime)
	}
	if c.Connections < 1 {
		all = append(all, ErrConnections)
	}
	if len(all) > 0 {
		return all
	}
	if c.Cores < 1 {
		return []error{ErrCores}
	}
	return nil
}

type poolAskedJSON struct {
	Text    string      `json:"asked"`
	Threads Estimate    `json:"pool_threads"`
	Rate    Estimate    `json:"requests_per_s"`
	Latency Estimate    `json:"latency_ms"`
	P99     Estimate    `json:"p99_ms"`
	First   poolStart   `json:"first_10_s"`
	Growth  Estimate    `json:"threads_per_s"` // while it climbs
	Settles Estimate    `json:"settles_s"`     // from the start of the load
	Ends    string      `json:"ends"`          // "enough" | "max" | "cpu" | "climbing"
	Curve   []PoolPoint `json:"curve"`         // at most 40 rows, the same time apart
}

type poolStart struct {
	Threads Estimate `json:"pool_threads"`
	Rate    Estimate `json:"requests_per_s"`
	Latency Estimate `json:"latency_ms"`
}

// MarshalJSON writes one flat object.
func (a PoolAsked) MarshalJSON() ([]byte, error) {
	o := &a.Outcome
	return json.Marshal(poolAskedJSON{a.Text, o.Threads, o.Rate, o.Latency, o.P99, poolStart(o.Start), o.Growth, o.Settles, o.Ends, thinned(o.Curve)})
}

// thinned joins neighbours until so few points are left that a person can read them:
// the threads and queue of the last, the rate and latency of all.
func thinned(curve []PoolPoint) []PoolPoint {
	const rows = 40
	step := (len(curve) + rows - 1) / rows
	if step < 2 {
		return curve
	}
	var out []PoolPoint
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
func (p PoolPoint) MarshalJSON() ([]byte, error) {
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
