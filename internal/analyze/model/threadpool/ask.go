package threadpool

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/model"
)

// ID is that of [Model].
const ID = "dotnet.threadpool"

// Knobs of a .NET process's thread pool.
var Knobs = []model.Knob{
	{Name: "await"},
	{Name: "min-threads", Example: "200", Parse: parseCount},
	{Name: "max-threads", Example: "100", Parse: parseCount},
	{Name: "service-time", Example: "500ms", Parse: parseSeconds, Load: true},
	{Name: "connections", Example: "125", Parse: parseCount, Load: true},
}

// mostThreads is the largest number of threads or connections that is taken for one: threads
// are counted in 16 bits by the runtime.
const mostThreads = math.MaxInt16

func parseCount(text string) (float64, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostThreads || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("%q: give a whole number from 1 to %d", text, mostThreads)
	}
	return float64(n), nil
}

func parseSeconds(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return 0, fmt.Errorf("%q: give a time from 1ms to 1h, such as 500ms or 1.5s", text)
	}
	return d.Seconds(), nil
}

// Prediction is the model's own part of an answer.
type Prediction struct {
	Calibration Calibration `json:"calibration"`
	Measured    Measured    `json:"measured"`
	Outcomes    []Asked     `json:"outcomes"` // in the order they were asked for
}

// Calibration is what the simulation of a pool rests on.
type Calibration struct {
	Version     string   `json:"version"`
	Processors  int      `json:"processors"`
	Min         int      `json:"min_threads"`
	MinTold     bool     `json:"min_threads_known"` // else it is what the runtime takes by itself
	Pattern     Pattern  `json:"pattern"`           // "task" | "sleep" | "call" | "await"
	Waits       string   `json:"waits"`             // where most threads are blocked, and how; "" none is
	Connections int      `json:"connections"`
	Service     float64  `json:"service_time_s"`
	From        string   `json:"service_time_from"`
	CPU         *float64 `json:"cpu_s_per_request"` // null: not known, taken for nothing
	Seconds     float64  `json:"seconds"`           // that were watched
}

// Measured is a pool as recorded.
type Measured struct {
	Threads model.Estimate `json:"pool_threads"`
	Rate    model.Estimate `json:"requests_per_s"` // finished
	Latency model.Estimate `json:"latency_ms"`     // mean of those finished
	P99     model.Estimate `json:"p99_ms"`         // unfinished ones count as long as they were seen
}

// Asked is one situation and what comes of it.
type Asked struct {
	Text    string
	Outcome Outcome
}

// changesProcess says whether a setting is a change to the process, and not only to what it is
// given to do.
func changesProcess(w model.Wanted) bool { return w.Has("await", "min-threads", "max-threads") }

// caseOf returns the case with what is asked for.
func caseOf(w model.Wanted, c Case) Case {
	if w.Has("await") {
		c = c.Awaited()
	}
	for knob, to := range map[string]*int{"min-threads": &c.Min, "max-threads": &c.Max, "connections": &c.Connections} {
		*to = int(w.Or(knob, float64(*to)))
	}
	if v, ok := w.Value("service-time"); ok {
		c.Service = Service{v, "--set"}
	}
	return c
}

// AsItIs begins the text of a pool that is not changed.
const AsItIs = "as it is"

// Situation is a pool as recorded: what a prediction starts from.
type Situation struct {
	Case     Case
	Measured Measured
	Waits    string
	Seconds  float64
}

// Ask predicts the wanted situations; if there are none, the pool without a change and the two changes that may help it. The error joins
// one error for each impossible setting; the prediction has the others. If something needed is unknown, there is an error and no
// prediction.
func (s Situation) Ask(subject string, wanted []model.Wanted) (*model.Answer, error) {
	if len(wanted) == 0 {
		wanted = []model.Wanted{{}}
	}
	first := caseOf(wanted[0], s.Case)
	if err := errors.Join(first.listMissing()...); err != nil {
		return nil, err
	}
	p := &Prediction{Measured: s.Measured, Outcomes: []Asked{}, Calibration: Calibration{
		Version: first.Version, Processors: first.Cores, Min: s.Case.Min, MinTold: s.Case.Min > 0, Pattern: s.Case.Pattern, Waits: s.Waits,
		Connections: first.Connections, Service: first.Service.Seconds, From: first.Service.From, Seconds: s.Seconds}}
	if s.Case.Min == 0 {
		p.Calibration.Min = s.Case.Cores
	}
	if cpu := s.Case.CPU; cpu > 0 {
		p.Calibration.CPU = &cpu
	}
	a := &model.Answer{Model: ID, Subject: subject, Key: "pool", Own: p}
	var errs []error
	ask := func(text string, c Case) {
		o, err := c.Predict()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", text, err))
			return
		}
		p.Outcomes = append(p.Outcomes, Asked{text, o})
	}
	for _, w := range wanted {
		c := caseOf(w, s.Case)
		if changesProcess(w) {
			ask(w.Text, c)
			continue
		}
		with := func(what string) string {
			if len(wanted) == 1 {
				return what // what the pool has to do is told above
			}
			return strings.TrimSpace(what + " " + w.Text)
		}
		ask(with(AsItIs), c)
		if c.Pattern != Await {
			ask(with("await"), c.Awaited())
			ask(with(fmt.Sprintf("min-threads=%d", c.EnoughThreads())), c.WithMin(c.EnoughThreads()))
		}
	}
	if s.Case.Pattern == Await {
		a.Note("no pool thread was seen blocked, so await would change nothing")
	}
	a.Note("figures apply after the pool has stopped growing; until then, after each start and each rise in load, expect the figures of the first 10 seconds")
	a.Note("the model is a closed loop: a fixed number of clients, each sending its next request when the last one is answered")
	p.writeAnswer(a)
	return a, errors.Join(errs...)
}

// listMissing returns all things that must be given, each in an error of its own.
func (c Case) listMissing() (all []error) {
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
