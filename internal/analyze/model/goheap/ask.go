package goheap

import (
	"errors"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
)

// ID is that of [Model].
const ID = "go.heap"

// Knobs of a Go process's heap.
var Knobs = []model.Knob{
	{Name: "GOGC", Example: "200", Parse: ParseGOGC},
	{Name: "GOMEMLIMIT", Example: "800MiB", Parse: ParseLimit},
	{Name: "ballast", Example: "1GiB", Parse: sizeOrNone},
	{Name: "live", Example: "120MiB", Parse: ParseSize, Load: true},
	{Name: "alloc", Example: "800MiB/s", Parse: sizeEachSecond, Load: true},
}

func sizeOrNone(text string) (float64, error) {
	if text == "0" {
		return 0, nil
	}
	return ParseSize(text)
}

func sizeEachSecond(text string) (float64, error) { return ParseSize(strings.TrimSuffix(text, "/s")) }

// Prediction is the model's own part of an answer. Fields that all answers have by now, and that it writes too, were here
// first.
type Prediction struct {
	Calibration Calibration `json:"calibration"`
	Measured    Outcome     `json:"measured"` // as recorded
	Now         Outcome     `json:"now"`      // the same by the model
	Settings    []Asked     `json:"settings"` // in the order they were asked for
	Frontier    *Frontier   `json:"frontier"`
	Ballast     *float64    `json:"ballast_bytes"` // that gives the recommended setting's headroom, for Go before 1.19; null: none is recommended, or it is one already
}

// Calibration is the recorded basis of the model.
type Calibration struct {
	Cycles     int     `json:"gc_cycles"`
	Seconds    float64 `json:"seconds"`
	Source     string  `json:"source"` // the artifact
	Go         string  `json:"go"`     // "go1.26.8", "go1.19 or later"
	Processors float64 `json:"processors"`
	Told       bool    `json:"setting_known"` // else the setting is inferred from the goals
}

// Asked is one setting, or other change, with its outcome.
type Asked struct {
	Text    string  `json:"asked"`
	Outcome Outcome `json:"outcome"`
	Margin  *Margin `json:"margin"` // how far the live heap may grow under it
}

// scenarioOf fills in unspecified values from the heap.
func scenarioOf(w model.Wanted, h *Heap) Scenario {
	return Scenario{Setting: Setting{GOGC: w.Or("GOGC", h.Setting.GOGC), Limit: w.Or("GOMEMLIMIT", h.Setting.Limit), Ballast: w.Or("ballast", h.Setting.Ballast)},
		Live: w.Or("live", 0), Alloc: w.Or("alloc", 0)}
}

// Ask predicts settings, with the frontier. Settings that the process could not run under are joined errors beside the
// answer for the others.
func (h *Heap) Ask(subject string, wanted []model.Wanted, latency Latency) (*model.Answer, error) {
	f, err := h.Frontier(subject, latency)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Measured: f.Measured, Now: f.Now, Frontier: f, Settings: []Asked{},
		Calibration: Calibration{Cycles: len(h.Cycles), Seconds: h.Span, Source: h.Source, Go: h.Go, Processors: h.Procs, Told: h.Told}}
	if at, ok := f.Recommended(); ok && at.Setting.Ballast == 0 && h.Minor < 20 && !h.Exact {
		b := h.BallastFor(at).Ballast
		p.Ballast = &b
	}
	a := &model.Answer{Model: ID, Subject: subject, Source: h.Source, Own: p}
	var errs []error
	ask := func(text string, s Scenario) bool {
		o, err := h.Predict(s)
		if err != nil {
			errs = append(errs, err)
			return false
		}
		o.P99 = latency.p99Of(f.Now, o)
		p.Settings = append(p.Settings, Asked{text, o, h.Margin(s)})
		return true
	}
	for _, w := range wanted {
		s := scenarioOf(w, h)
		text := s.Setting.String()
		if s.Live > 0 {
			text += " live=" + FormatSize(s.Live)
		}
		if s.Alloc > 0 {
			text += " alloc=" + FormatSize(s.Alloc) + "/s"
		}
		ok := ask(text, s)
		if ok && w.Has("GOMEMLIMIT") && s.Limit > 0 && !w.Has("GOGC") && s.GOGC >= 0 && p.Settings[len(p.Settings)-1].Outcome.Bound != ByLimit {
			a.Note("GOMEMLIMIT alone does not let the heap grow: " + Setting{GOGC: s.GOGC}.String() + " still decides when a GC cycle starts; with GOGC=off the limit does")
			then := s
			then.GOGC = Off
			ask(strings.Replace(text, s.Setting.String(), then.Setting.String(), 1), then)
		}
	}
	p.writeAnswer(a)
	return a, errors.Join(errs...)
}
