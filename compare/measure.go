package compare

import (
	"fmt"
	"math"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/incident"
	"github.com/unstall/unstall/ledger"
)

// MeasureOptions are what the user decides about measuring.
type MeasureOptions struct {
	SLO time.Duration // above which a request is slow; 0: the share of slow ones is not measured
}

// Measure reads a run out of the evidence of one: figures of requests from a load
// generator's result before any other source, as it sees what the service does
// not; the collector's, processor time and memory from whatever watched the
// process. Several load results in one file are as many runs. The bundle stays as it is.
func Measure(read *evidence.Bundle, name string, opt MeasureOptions) []Run {
	i := incident.Of(read, incident.Options{SLO: opt.SLO})
	b := i.Bundle
	if len(b.Loads) > 1 && b.Requests.Len() == 0 {
		var runs []Run
		for i := range b.Loads {
			m := newMeasurement(b, fmt.Sprintf("%s #%d", name, i+1))
			m.load(&b.Loads[i])
			runs = append(runs, m.run)
		}
		return runs
	}
	m := newMeasurement(b, name)
	m.from, m.until = b.Window()
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
		m.requests(top, opt)
	}
	var widest *evidence.LoadResult
	for i := range b.Loads {
		if l := &b.Loads[i]; widest == nil || l.Completed > widest.Completed {
			widest = l
		}
	}
	if widest != nil {
		m.load(widest)
	}
	if s, ok := m.process(top); ok {
		m.collector(s, top)
		m.system(s)
	}
	for _, w := range b.Warnings {
		m.run.Warnings = append(m.run.Warnings, w.Text)
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

// set notes a figure that is known.
func (m *measurement) set(name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 {
		m.run.Metrics[name] = v
	}
}

// perRequest notes a figure per second divided by the rate of requests.
func (m *measurement) perRequest(name string, perSecond float64) {
	if m.run.Load.Rate > 0 {
		m.set(name, perSecond/m.run.Load.Rate)
	}
}
