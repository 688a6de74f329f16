package younggen

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// writeAnswer writes a prediction as rows and sentences.
func (p *Prediction) writeAnswer(a *model.Answer) {
	a.Basis = p.listBasis()
	for i := range p.Outcomes {
		o := &p.Outcomes[i].Outcome
		a.Rows = append(a.Rows, model.Row{Text: p.Outcomes[i].Text, Effects: p.listEffects(o), Facts: model.Cautions(o.Cautions...)})
	}
	a.Lead = model.Lead{Of: "what the young generation buys", Text: "nothing to predict"}
	if len(p.Outcomes) > 0 {
		o := &p.Outcomes[0].Outcome
		a.Lead.Text, a.Lead.Effects = p.Outcomes[0].Text, p.listEffects(o)
		a.Lead.Why = units.Of(o.Rate.Value, "1/min") + " young collections, " + units.Ms(o.Pause.Value) + " each"
	}
}

func (p *Prediction) listBasis() (items []string) {
	c := p.Calibration
	if p.Version != "" {
		items = append(items, "JVM "+p.Version)
	}
	if c.Collector != "" {
		items = append(items, c.Collector)
	}
	items = append(items, units.Plural(c.Count, "young collection")+" in "+units.Time(c.Seconds*1e9))
	if c.Size > 0 {
		items = append(items, "young generation "+units.Size(c.Size))
	}
	if c.Heap > 0 {
		items = append(items, "heap "+units.Size(c.Heap))
	}
	items = append(items, units.Of(c.Alloc, "bytes/s")+" allocated", units.Size(c.Eden)+" between two collections")
	pause := "a pause takes " + units.Ms(1e3*c.Base)
	if c.PerByte > 0 {
		pause += fmt.Sprintf(" plus %s per MiB copied", units.Ms(1e3*c.PerByte*(1<<20)))
	}
	return append(items, pause+fmt.Sprintf(", ± %.0f %% for half of them", math.Ceil(100*c.Rest)))
}

// listEffects returns the figures of a changed young generation beside those measured.
func (p *Prediction) listEffects(then *Outcome) []model.Effect {
	now := &p.Measured
	return model.Known(
		model.Effect{Title: "young collections", Unit: "1/min", Now: now.Rate, Then: then.Rate},
		model.Effect{Title: "interval between collections", Unit: "ms", Now: now.Interval.Times(1e3), Then: then.Interval.Times(1e3)},
		model.Effect{Title: "mean pause", Unit: "ms", Now: now.Pause, Then: then.Pause},
		model.Effect{Title: "time paused", Unit: "%", Now: now.Stopped.Times(100), Then: then.Stopped.Times(100)},
		model.Effect{Title: "promoted", Unit: "bytes/s", Now: now.Promotion, Then: then.Promotion},
		model.Effect{Title: "knee", Unit: "1/s", Now: now.Knee, Then: then.Knee},
	)
}
