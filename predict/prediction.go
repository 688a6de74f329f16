package predict

import (
	"errors"
	"strings"
)

// PredictionSchema is the version of the JSON form of a [Prediction]. Fields are
// added, never renamed; unknown is null, never 0.
const PredictionSchema = "unstall.prediction/v1"

// Prediction is what settings would do to a process: the answer of unstall predict.
//
// What is of one model is null or empty in a prediction of another.
type Prediction struct {
	Schema      string       `json:"schema"`
	ToolVersion string       `json:"tool_version"`
	Subject     string       `json:"subject"`
	Model       string       `json:"model"`       // "go.heap" | "dotnet.threadpool" | "jvm.young-generation"
	Calibration *Calibration `json:"calibration"` // of go.heap, as all that follows before Pool
	Measured    *Outcome     `json:"measured"`    // as recorded
	Now         *Outcome     `json:"now"`         // what the model says of the same
	Settings    []Asked      `json:"settings"`    // in the order they were asked for
	Frontier    *Frontier    `json:"frontier"`
	Ballast     *float64     `json:"ballast_bytes"` // with the headroom of the recommended setting, for Go before 1.19; null: none is recommended, or it is one
	Pool        *Pool        `json:"pool"`          // of dotnet.threadpool
	Young       *Young       `json:"young"`         // of jvm.young-generation
	Notes       []string     `json:"notes"`         // what to know beside the figures
}

// Models of a [Prediction].
const (
	ModelHeap = "go.heap"
	ModelPool = "dotnet.threadpool"
)

// Calibration is what the model rests on.
type Calibration struct {
	Cycles     int     `json:"gc_cycles"`
	Seconds    float64 `json:"seconds"`
	Source     string  `json:"source"` // the artifact
	Go         string  `json:"go"`     // "go1.26.8", "go1.19 or later"
	Processors float64 `json:"processors"`
	Told       bool    `json:"setting_known"` // else it follows from the goals
}

// Asked is one setting, or what else might change, and what comes of it.
type Asked struct {
	Text    string  `json:"asked"`
	Outcome Outcome `json:"outcome"`
	Margin  *Margin `json:"margin"` // how far the live heap may grow under it
}

// Wanted is what settings are asked for.
type Wanted struct {
	Text string
	// What is nil stays as it is.
	GOGC, Limit, Ballast, Live, Alloc *float64
	Pool                              PoolChange
	Young                             YoungChange
	model                             string // that the names are of
}

// Model is the model all of it is of; "" is that of no model, or of several.
func (w Wanted) Model() string { return w.model }

// in fills in from the heap what is not said.
func (w Wanted) in(h *Heap) Scenario {
	s := Scenario{Setting: h.Setting}
	for to, from := range map[*float64]*float64{&s.GOGC: w.GOGC, &s.Limit: w.Limit, &s.Ballast: w.Ballast, &s.Live: w.Live, &s.Alloc: w.Alloc} {
		if from != nil {
			*to = *from
		}
	}
	return s
}

// Ask predicts settings, with the frontier. Settings the process could not run under
// are errors, joined; the others are in the prediction all the same.
func (h *Heap) Ask(subject string, wanted []Wanted, latency Latency) (*Prediction, error) {
	f, err := h.Frontier(subject, latency)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Schema: PredictionSchema, Subject: subject, Model: ModelHeap, Measured: &f.Measured, Now: &f.Now, Frontier: f, Settings: []Asked{}, Notes: []string{},
		Calibration: &Calibration{Cycles: len(h.Cycles), Seconds: h.Span, Processors: h.Procs, Told: h.Told}}
	if at, ok := f.Recommended(); ok && at.Setting.Ballast == 0 && h.Minor < 20 && !h.Exact {
		b := h.BallastFor(at).Ballast
		p.Ballast = &b
	}
	var errs []error
	ask := func(text string, s Scenario) bool {
		o, err := h.Predict(s)
		if err != nil {
			errs = append(errs, err)
			return false
		}
		o.P99 = latency.of(f.Now, o)
		p.Settings = append(p.Settings, Asked{text, o, h.Margin(s)})
		return true
	}
	for _, w := range wanted {
		s := w.in(h)
		text := s.Setting.String()
		if s.Live > 0 {
			text += " live=" + FormatSize(s.Live)
		}
		if s.Alloc > 0 {
			text += " alloc=" + FormatSize(s.Alloc) + "/s"
		}
		ok := ask(text, s)
		if ok && w.Limit != nil && s.Limit > 0 && w.GOGC == nil && s.GOGC >= 0 && p.Settings[len(p.Settings)-1].Outcome.Bound != ByLimit {
			p.note("GOMEMLIMIT alone does not let the heap grow: " + Setting{GOGC: s.GOGC}.String() + " still decides when a cycle starts; with GOGC=off the limit does")
			s.GOGC = Off
			ask(strings.Replace(text, Setting{GOGC: w.in(h).GOGC, Limit: s.Limit, Ballast: s.Ballast}.String(), s.Setting.String(), 1), s)
		}
	}
	return p, errors.Join(errs...)
}

// Empty says that nothing of what was asked for could be predicted.
func (p *Prediction) Empty() bool {
	return len(p.Settings) == 0 && (p.Pool == nil || len(p.Pool.Outcomes) == 0) && (p.Young == nil || len(p.Young.Outcomes) == 0)
}

// note adds what is to be known, once.
func (p *Prediction) note(text string) {
	for _, n := range p.Notes {
		if n == text {
			return
		}
	}
	p.Notes = append(p.Notes, text)
}
