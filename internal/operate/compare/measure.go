package compare

import (
	"fmt"
	"math"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// MeasureOptions are what the user decides about measuring.
type MeasureOptions struct {
	SLO time.Duration // a request above it is slow; 0: the share of slow requests is not measured

	// Since and Until bound the part of the evidence that is the run; zero: no bound.
	Since, Until time.Time

	// Process is the PID of the process that the figures are about; 0: the one that was recorded.
	Process int

	// Parts says that the quarters of the run are measured, too ([Run.Parts]).
	Parts bool
}

// Measure returns the runs in the evidence of one recording. Figures of requests come from a load generator's
// result before any other source, because a generator sees queueing that the service does not. Figures of GC,
// CPU time and memory come from the source that recorded the process. A file with several load results gives
// as many runs. The bundle is not changed.
func Measure(read *evidence.Bundle, name string, opt MeasureOptions) []Run {
	i := incident.Of(read, incident.Options{SLO: opt.SLO, Since: opt.Since, Until: opt.Until})
	b := i.Bundle
	part := !opt.Since.IsZero() && !opt.Until.IsZero()
	if len(b.Loads) > 1 && b.Requests.Len() == 0 && !part {
		var runs []Run
		for i := range b.Loads {
			m := newMeasurement(b, fmt.Sprintf("%s #%d", name, i+1))
			m.applyLoadResult(&b.Loads[i])
			runs = append(runs, m.run)
		}
		return runs
	}
	m := newMeasurement(b, name)
	if m.from, m.until = b.Window(); part {
		m.from, m.until = opt.Since.UnixNano(), opt.Until.UnixNano()
	}
	if m.until > m.from {
		m.run.Start = time.Unix(0, m.from).UTC()
	}
	var top *ledger.Ledger
	for _, l := range i.Ledgers() {
		if top == nil || l.Requests.Count > top.Requests.Count {
			top = l
		}
	}
	if top != nil {
		m.measureRequests(top, opt)
	}
	var widest *evidence.LoadResult
	for i := range b.Loads {
		if l := &b.Loads[i]; widest == nil || l.Completed > widest.Completed {
			widest = l
		}
	}
	switch {
	case widest != nil && part:
		m.applySchedule(widest)
	case widest != nil:
		m.applyLoadResult(widest)
	}
	if part {
		m.run.Load.Duration = opt.Until.Sub(opt.Since)
	}
	s, ok := findProcessByPID(b, opt.Process)
	if opt.Process == 0 {
		s, ok = m.findProcess(top)
	}
	if ok {
		m.measureCollector(s, top)
		m.measureSystem(s)
		m.addSettings(s)
	}
	for _, w := range b.Warnings {
		m.run.Warnings = append(m.run.Warnings, w.Text)
	}
	if opt.Parts && !part {
		from, until := m.from, m.until
		if top != nil && len(m.run.Load.Routes) > 0 {
			from, until = top.Requests.From, top.Requests.To
		}
		m.run.Parts = measureQuarters(read, name, from, until, opt)
	}
	return []Run{m.run}
}

// measurement fills a run.
type measurement struct {
	b           *evidence.Bundle
	run         Run
	from, until int64 // ns: the span of the evidence
}

func newMeasurement(b *evidence.Bundle, name string) *measurement {
	return &measurement{b: b, run: Run{Name: name, Metrics: make(map[string]float64)}}
}

// setMetric notes a metric's figure; one that is not finite or is negative is dropped.
func (m *measurement) setMetric(name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 {
		m.run.Metrics[name] = v
	}
}

// perRequest notes a metric of one request: a figure per second divided by the rate of requests.
func (m *measurement) perRequest(name string, perSecond float64) {
	if m.run.Load.Rate > 0 {
		m.setMetric(name, perSecond/m.run.Load.Rate)
	}
}
