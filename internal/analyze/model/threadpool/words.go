package threadpool

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// writeAnswer writes a prediction as rows and sentences.
func (p *Prediction) writeAnswer(a *model.Answer) {
	a.Basis = p.Calibration.listBasis()
	for i := range p.Outcomes {
		o := &p.Outcomes[i].Outcome
		a.Rows = append(a.Rows, model.Row{Text: p.Outcomes[i].Text, Effects: p.listEffects(o),
			Facts: append(model.Facts("until then", o.formatClimb()), model.Cautions(o.formatEnd())...)})
	}
	a.Lead = model.Lead{Of: "what threads buy", Text: "nothing to predict"}
	if led := p.leadOutcome(); led != nil {
		a.Lead.Text, a.Lead.Effects = led.Text, p.listEffects(&led.Outcome)
		a.Lead.Why = units.Of(led.Outcome.Rate.Value, "1/s") + " with " + units.Num(led.Outcome.Threads.Value) + " pool threads"
	}
}

// leadOutcome returns the situation to lead with: what was asked for, or the first change where
// nothing was.
func (p *Prediction) leadOutcome() *Asked {
	for i := range p.Outcomes {
		if !strings.HasPrefix(p.Outcomes[i].Text, AsItIs) {
			return &p.Outcomes[i]
		}
	}
	if len(p.Outcomes) == 0 {
		return nil
	}
	return &p.Outcomes[0]
}

func (c *Calibration) listBasis() []string {
	items := []string{".NET " + c.Version, units.Plural(c.Processors, "CPU")}
	least := "at least " + units.Plural(c.Min, "pool thread")
	if !c.MinTold {
		least += " (the runtime's default)"
	}
	items = append(items, least)
	if c.Waits != "" {
		items = append(items, c.Waits)
	}
	items = append(items, units.Plural(c.Connections, "request")+" in flight",
		"an operation takes "+units.Time(c.Service*1e9)+" ("+c.From+")")
	if c.CPU != nil {
		items = append(items, "a request uses CPU for "+units.Time(*c.CPU*1e9))
	}
	if c.Seconds > 0 {
		items = append(items, "from "+units.Time(c.Seconds*1e9)+" of recording")
	}
	return items
}

// listEffects returns the figures of a situation beside those measured.
func (p *Prediction) listEffects(then *Outcome) []model.Effect {
	now := &p.Measured
	return model.Known(
		model.Effect{Title: "requests finished", Unit: "1/s", Now: now.Rate, Then: then.Rate},
		model.Effect{Title: "mean latency", Unit: "ms", Now: now.Latency, Then: then.Latency},
		model.Effect{Title: "p99", Unit: "ms", Now: now.P99, Then: then.P99},
		model.Effect{Title: "pool threads", Unit: "threads", Now: now.Threads, Then: then.Threads},
	)
}

// formatClimb says how a pool comes to that, "" where it is so from the start.
func (o *Outcome) formatClimb() string {
	if !o.Settles.Known() || o.Settles.Value == 0 {
		return ""
	}
	text := "the pool grows one thread at a time"
	if o.Growth.Known() {
		text = units.Num(o.Growth.Value) + " threads are added per second"
	}
	text += fmt.Sprintf(" for %s after each start", units.Time(o.Settles.Value*1e9))
	text += "; in the first 10 s " + units.Of(o.Start.Rate.Value, "1/s")
	if o.Start.Latency.Known() {
		text += " at " + units.Ms(o.Start.Latency.Value)
	}
	return text
}

// formatEnd says what ends the climb of a pool's threads, "" where it has enough.
func (o *Outcome) formatEnd() string {
	switch {
	case o.Ends == EndsMax && o.Rate.Value == 0:
		return "every thread waits for work that only another thread could do, and the pool is at its maximum: nothing is answered until a restart"
	case o.Ends == EndsMax:
		return "the pool is at its maximum: requests keep waiting for a thread"
	case o.Ends == EndsCPU:
		return "the CPUs are busy: more threads would not help"
	case o.Ends == EndsClimbing:
		return "the pool still grows after " + units.Time(float64(len(o.Curve))*1e9)
	}
	return ""
}
