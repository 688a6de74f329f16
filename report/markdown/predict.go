package markdown

import (
	"io"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/sentence"
)

// Predict renders a prediction, for a ticket.
func Predict(w io.Writer, all *predict.Prediction) error {
	p := new(page)
	p.linef("## %s", escape(all.Subject))
	p.linef("\n%s", escape(strings.Join(sentence.Calibrated(all), " · ")))
	for i := range all.Settings {
		a := &all.Settings[i]
		p.section(escape(a.Text))
		p.linef("| | now → then |\n|---|---|")
		for _, e := range sentence.Effects(all, &a.Outcome) {
			p.row(e.Title, e.String())
		}
		if f := sentence.Fill(&a.Outcome); f != "" {
			p.row("First fill", f)
		}
		if m := sentence.Margin(a.Margin); m != "" {
			p.row("Margin", m)
		}
		for _, c := range sentence.Cautions(&a.Outcome) {
			p.row("Caution", c)
		}
	}
	if all.Pool != nil {
		p.pool(all.Pool)
	} else if all.Young != nil {
		p.young(all.Young)
	} else if len(all.Settings) > 0 {
		p.linef("\nKnee: %s", escape(sentence.KneeInBrief(all.Frontier)))
	} else {
		p.frontier(all)
	}
	if len(all.Notes) > 0 {
		p.section("Notes")
		for _, n := range all.Notes {
			p.linef("- %s", escape(n))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}

// pool is a table for each situation of a thread pool.
func (p *page) pool(all *predict.Pool) {
	for i := range all.Outcomes {
		a := &all.Outcomes[i]
		p.section(escape(a.Text))
		p.linef("| | now → then |\n|---|---|")
		for _, e := range sentence.PoolEffects(all, &a.Outcome) {
			p.row(e.Title, e.String())
		}
		if c := sentence.Climb(&a.Outcome); c != "" {
			p.row("Until then", c)
		}
		if e := sentence.PoolEnd(&a.Outcome); e != "" {
			p.row("Caution", e)
		}
	}
}

// young is a table for each change of a young generation.
func (p *page) young(all *predict.Young) {
	for i := range all.Outcomes {
		a := &all.Outcomes[i]
		p.section(escape(a.Text))
		p.linef("| | now → then |\n|---|---|")
		for _, e := range sentence.YoungEffects(all, &a.Outcome) {
			p.row(e.Title, e.String())
		}
		for _, c := range a.Outcome.Cautions {
			p.row("Caution", c)
		}
	}
}

// frontier is a table of what memory buys.
func (p *page) frontier(all *predict.Prediction) {
	f := all.Frontier
	if f == nil {
		return
	}
	p.section("What memory buys")
	p.linef("| setting | resident | gc/s | gc cpu, cores | p99 |\n|---|---:|---:|---:|---:|")
	for i, o := range f.Points {
		setting := code(o.Setting.String())
		switch i {
		case 0:
			setting += " now"
		case f.Knee:
			setting = "**" + setting + " knee**"
		}
		number := func(e predict.Estimate, write func(float64) string) string {
			if !e.Known() {
				return figure.Unknown
			}
			return escape(write(e.Value))
		}
		p.linef("| %s | %s | %s | %s | %s |", setting, number(o.RSS, sentence.Resident),
			number(o.Cycles, figure.Num), number(o.Collector, figure.Num), number(o.P99, figure.Ms))
	}
	p.linef("\n| | |\n|---|---|")
	p.row("Knee", sentence.Knee(f))
	if all.Ballast != nil {
		p.row("Before Go 1.19", "a ballast of "+predict.FormatSize(*all.Ballast))
	}
	if m := sentence.Margin(f.Margin); m != "" {
		p.row("Margin", m)
	}
	if f.Most > 0 {
		p.row("Room", sentence.Room(f))
	}
	p.row("Rule", "the knee is "+f.Rule)
}
