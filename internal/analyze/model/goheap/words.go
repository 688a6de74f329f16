package goheap

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// writeAnswer writes a prediction as rows, a table and sentences.
func (p *Prediction) writeAnswer(a *model.Answer) {
	a.Basis = p.listBasis()
	for i := range p.Settings {
		s := &p.Settings[i]
		facts := model.Facts("first fill", s.Outcome.Fill.formatFill(), "margin", s.Margin.formatMargin())
		facts = append(facts, model.Cautions(s.Outcome.whyNoP99(p.Now.P99))...)
		a.Rows = append(a.Rows, model.Row{Text: s.Text, Effects: p.listEffects(&s.Outcome), At: s.Outcome.listColumns(),
			Facts: append(facts, model.Cautions(s.Outcome.listCautions()...)...)})
	}
	a.Frontier = p.Frontier.Table()
	if p.Ballast != nil {
		a.Frontier.Facts = append(model.Facts("older go", "before Go 1.19, use a ballast of "+FormatSize(*p.Ballast)+" instead"), a.Frontier.Facts...)
	}
	a.Lead = model.Lead{Of: a.Frontier.Title, Text: "keep " + p.Measured.Setting.String(), Why: p.Frontier.Why}
	if at, ok := p.Frontier.Recommended(); ok {
		a.Lead.Text, a.Lead.Setting = at.Setting.String(), true
		for _, e := range p.listEffects(&at) {
			if leading[e.Title] {
				a.Lead.Effects = append(a.Lead.Effects, e)
			}
		}
	}
}

// leading are the effects that count most.
var leading = map[string]bool{"gc cycles": true, "gc cpu": true, "p99": true, "heap at its peak": true, "resident": true}

func (p *Prediction) listBasis() (items []string) {
	c := &p.Calibration
	if c.Go != "" {
		items = append(items, c.Go)
	}
	items = append(items, units.Plural(int(math.Round(c.Processors)), "CPU"), units.Plural(c.Cycles, "GC cycle")+" in "+units.Time(c.Seconds*1e9))
	known := p.Measured.Setting.String()
	if !c.Told {
		known += " (inferred from its heap goals)"
	}
	return append(items, known, "live heap "+units.Size(p.Measured.Live), units.Of(p.Measured.Alloc, "bytes/s")+" allocated")
}

// listEffects returns the figures of an outcome beside what was measured. The p99 of now is what
// the model of latencies says, as that of then.
func (p *Prediction) listEffects(then *Outcome) []model.Effect {
	now := &p.Measured
	return model.Known(
		model.Effect{Title: "gc cycles", Unit: "1/s", Now: now.Cycles, Then: then.Cycles},
		model.Effect{Title: "gc cpu", Unit: "cores", Now: now.Collector, Then: then.Collector},
		model.Effect{Title: "gc share of cpu", Unit: "%", Now: now.Share.Times(100), Then: then.Share.Times(100)},
		model.Effect{Title: "gc in assists", Unit: "cores", Now: now.Assist, Then: then.Assist},
		model.Effect{Title: "time marking", Unit: "%", Now: now.Marking.Times(100), Then: then.Marking.Times(100)},
		model.Effect{Title: "process cpu", Unit: "cores", Now: now.Process, Then: then.Process},
		model.Effect{Title: "p99", Unit: "ms", Now: p.Now.P99, Then: then.P99},
		model.Effect{Title: "heap at its peak", Unit: "bytes", Now: now.Peak, Then: then.Peak},
		model.Effect{Title: "resident", Unit: "bytes", Now: now.RSS, Then: then.RSS},
	)
}

// Least page faults and least time of filling memory that are reported.
const (
	fewFaults   = 1000
	fewFillings = .05 // s
)

// formatFill says what filling the memory takes, "" if it is nothing.
func (f Fill) formatFill() string {
	if !f.Faults.Known() || f.Faults.Value < fewFaults {
		return ""
	}
	text := units.Count(int64(math.Round(f.Faults.Value/1000)*1000)) + " page faults once after each start"
	if f.Seconds.Known() && f.Seconds.Value >= fewFillings {
		text += ", over " + units.Time(f.Seconds.Value*1e9) + " at this load"
	}
	return text
}

// listCautions returns what is wrong with an outcome though it is possible.
func (o *Outcome) listCautions() (all []string) {
	if o.Limiter {
		all = append(all, "GC would need more than half of the CPUs: the runtime caps it there, and the heap grows past its limit")
	}
	if o.PilesUp {
		all = append(all, "requests and GC need more CPUs than there are: requests pile up")
	}
	if (o.Limiter || o.PilesUp) && !o.P99.Known() {
		all = append(all, "its p99 cannot be predicted")
	}
	if o.Bound == ByClock {
		all = append(all, "the heap does not reach its goal: the runtime forces a GC cycle every two minutes")
	}
	return all
}

// whyNoP99 says why an outcome has no p99 although the present has one; "" if it has one, or if the cautions say why.
func (o *Outcome) whyNoP99(now model.Estimate) string {
	switch {
	case o.P99.Known() || !now.Known() || o.Limiter || o.PilesUp:
		return ""
	case o.P99.High > 0:
		return fmt.Sprintf("its p99 cannot be predicted, only that it is at most %s: too few requests were recorded away from GC cycles", units.Ms(o.P99.High))
	case o.P99.Low > 0:
		return fmt.Sprintf("its p99 cannot be predicted: requests and GC would need nearly all CPUs; it is not below today's %s", units.Ms(o.P99.Low))
	}
	return "its p99 cannot be predicted: requests and GC would need nearly all CPUs"
}

// formatMargin says how far the live heap may grow, "" where it is not known.
func (m *Margin) formatMargin() string {
	if m == nil {
		return ""
	}
	to := func(v float64) string {
		return fmt.Sprintf("%s (%s ×)", units.Size(v), units.Num(v/m.Live))
	}
	live := "the live heap of " + units.Size(m.Live)
	const of = "the CPUs"
	switch {
	case m.Quarter == 0:
		return live + " may grow a hundredfold: GC never takes a quarter of " + of
	case m.Quarter <= m.Live:
		return "with " + live + " GC already takes a quarter of " + of
	case m.Half == 0:
		return live + " may grow to " + to(m.Quarter) + " before GC takes a quarter of " + of
	default:
		return live + " may grow to " + to(m.Quarter) + " before GC takes a quarter of " + of + ", and to " + to(m.Half) + " before it reaches the runtime's cap of half of the CPUs"
	}
}

// Table is the frontier as reports render it.
func (f *Frontier) Table() *model.Frontier {
	t := &model.Frontier{Title: "what memory buys", Knee: f.Knee,
		How: "CPU time used by GC, and p99 latency, over the resident memory that a setting needs.",
		Columns: []model.Column{{Title: "resident", Unit: "bytes"}, {Title: "gc cycles", Short: "gc/s", Unit: "1/s"},
			{Title: "gc cpu", Short: "gc cores", Unit: "cores", Drawn: true}, {Title: "p99", Unit: "ms", Drawn: true}}}
	for i := range f.Points {
		t.Points = append(t.Points, model.Point{Text: f.Points[i].Setting.String(), Values: f.Points[i].listColumns()})
	}
	fill := ""
	t.Text = "keep the setting: " + f.Why
	t.Brief, t.Caption = t.Text, f.formatCaption()
	if at, ok := f.Recommended(); ok {
		t.Text = at.Setting.String() + ": " + f.Why
		t.Brief = at.Setting.String() + ": rss " + units.MiB(at.RSS.Value) + ", gc " + units.Of(at.Collector.Value, "cores")
		if at.P99.Known() {
			t.Brief += ", p99 " + units.Ms(at.P99.Value)
		}
		fill = at.Fill.formatFill()
	}
	t.Facts = model.Facts("margin", f.Margin.formatMargin(), "first fill", fill, "room", f.formatRoom(), "rule", "the knee is "+f.Rule)
	return t
}

// listColumns returns an outcome's figures in the order of the frontier's columns.
func (o *Outcome) listColumns() []model.Estimate {
	return []model.Estimate{o.RSS, o.Cycles, o.Collector, o.P99}
}

// formatRoom says how much memory there is to use.
func (f *Frontier) formatRoom() string {
	switch {
	case !(f.Most > 0):
		return ""
	case f.Who == "container":
		return units.Size(f.Most) + ": the container's limit less 10 %"
	case f.Who == "host":
		return units.Size(f.Most) + ": half of the host's memory; no container limit is known"
	}
	return units.Size(f.Most)
}

// formatCaption says which point is recommended and by which rule.
func (f *Frontier) formatCaption() string {
	var s []string
	if at, ok := f.Recommended(); ok {
		text := "At the knee: " + at.Setting.String()
		if f.Why != "" {
			text += ": " + f.Why
		}
		s = append(s, text)
	} else if f.Why != "" {
		s = append(s, strings.ToUpper(f.Why[:1])+f.Why[1:])
	}
	if f.Rule != "" {
		s = append(s, "The knee is "+f.Rule)
	}
	if m := f.Margin; m != nil && m.Quarter > 0 && m.Live > 0 {
		s = append(s, fmt.Sprintf("With %s live instead of %s GC would take a quarter of the CPUs", units.Size(m.Quarter), units.Size(m.Live)))
	}
	if len(s) == 0 {
		return ""
	}
	return strings.Join(s, ". ") + "."
}
