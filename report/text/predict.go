package text

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/sentence"
)

// Predict renders a prediction: what was asked for, then what memory buys and which
// of it to take.
func (o Options) Predict(w io.Writer, p *predict.Prediction) error {
	if o.Width == 0 {
		o.Width = 80
	}
	t := &page{Options: o}
	name := t.clean(p.Subject)
	t.line(t.paint(bold, name))
	t.block("", "", 2, t.flow(sentence.Calibrated(p), 2))
	t.blank()
	for i := range p.Settings {
		t.asked(p, &p.Settings[i])
	}
	if p.Pool != nil {
		t.pool(p.Pool)
	} else if p.Young != nil {
		t.young(p.Young)
	} else if len(p.Settings) > 0 {
		t.block("KNEE", advice, labels, t.wrap(sentence.KneeInBrief(p.Frontier), labels))
	} else {
		t.frontier(p)
	}
	for _, n := range p.Notes {
		t.block("NOTE", bold, labels, t.wrap(n, labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(t.out.String(), "\n")+"\n")
	return err
}

// asked shows one setting: now, then, and in which range.
func (p *page) asked(all *predict.Prediction, a *predict.Asked) {
	titles := p.effects(a.Text, sentence.Effects(all, &a.Outcome))
	if f := sentence.Fill(&a.Outcome); f != "" {
		p.block("  "+pad("first fill", titles), "", titles+4, p.wrap(f, titles+4))
	}
	if m := sentence.Margin(a.Margin); m != "" {
		p.block("  "+pad("margin", titles), "", titles+4, p.wrap(m, titles+4))
	}
	for _, c := range sentence.Cautions(&a.Outcome) {
		p.block("  caution", alarm, titles+4, p.wrap(c, titles+4))
	}
	p.blank()
}

// effects shows figures under what they are of, and how wide their names are.
func (p *page) effects(of string, effects []sentence.Effect) (titles int) {
	p.line(p.paint(advice, p.clean(of)))
	for _, e := range effects {
		titles = max(titles, width(e.Title))
	}
	for _, e := range effects {
		p.line("  " + pad(p.clean(e.Title), titles) + "  " + p.clean(e.String()))
	}
	return titles
}

// pool shows situations of a thread pool: now, then, and how it comes to that.
func (p *page) pool(all *predict.Pool) {
	for i := range all.Outcomes {
		a := &all.Outcomes[i]
		titles := p.effects(a.Text, sentence.PoolEffects(all, &a.Outcome))
		if c := sentence.Climb(&a.Outcome); c != "" {
			p.block("  "+pad("until then", titles), "", titles+4, p.wrap(c, titles+4))
		}
		if e := sentence.PoolEnd(&a.Outcome); e != "" {
			p.block("  "+pad("caution", titles), alarm, titles+4, p.wrap(e, titles+4))
		}
		p.blank()
	}
}

// young shows changes of a young generation: now, then, and what stands against them.
func (p *page) young(all *predict.Young) {
	for i := range all.Outcomes {
		a := &all.Outcomes[i]
		titles := p.effects(a.Text, sentence.YoungEffects(all, &a.Outcome))
		for _, c := range a.Outcome.Cautions {
			p.block("  caution", alarm, titles+4, p.wrap(c, titles+4))
		}
		p.blank()
	}
}

// frontier shows a line for each size of memory.
func (p *page) frontier(all *predict.Prediction) {
	f := all.Frontier
	if f == nil {
		return
	}
	p.line(p.paint(bold, p.clean("WHAT MEMORY BUYS")))
	const columns = 5
	head := [columns]string{"resident", "gc/s", "gc cpu", "p99", ""}
	rows := make([][columns]string, len(f.Points))
	var most float64
	latency := false
	for _, o := range f.Points {
		most = max(most, o.Collector.Value)
		latency = latency || o.P99.Known()
	}
	widths := [columns]int{}
	for i, o := range f.Points {
		setting := o.Setting.String()
		switch i {
		case 0:
			setting += "  now"
		case f.Knee:
			setting += "  knee"
		}
		p99 := ""
		if latency {
			p99 = known(o.P99, figure.Ms)
		}
		rows[i] = [columns]string{known(o.RSS, sentence.Resident), known(o.Cycles, figure.Num), known(o.Collector, cores), p99, setting}
		for k, cell := range rows[i] {
			rows[i][k] = p.clean(cell)
			widths[k] = max(widths[k], width(rows[i][k]), width(head[k]))
		}
	}
	bars := min(max(p.Width-2-widths[0]-2-widths[1]-2-widths[2]-2-2-widths[4], 4), 12)
	if latency {
		bars = min(max(bars-2-widths[3], 4), 12)
	}
	line := func(r [columns]string, drawn string) string {
		s := "  " + padLeft(r[0], widths[0]) + "  " + padLeft(r[1], widths[1]) + "  " + padLeft(r[2], widths[2]) + "  " +
			p.paint(bar, drawn) + strings.Repeat(" ", max(0, bars-width(drawn)))
		if latency {
			s += "  " + padLeft(r[3], widths[3])
		}
		return s + "  " + r[4]
	}
	p.line(p.paint(dim, line(head, "")))
	for i, r := range rows {
		drawn := p.drawBar(f.Points[i].Collector.Value/math.Max(most, 1e-12), bars)
		l := line(r, drawn)
		if i == f.Knee {
			l = p.paint(advice, line(r, drawn))
		}
		p.line(l)
	}
	p.blank()
	p.block("KNEE", advice, labels, p.wrap(sentence.Knee(f), labels))
	if all.Ballast != nil {
		p.block("", "", labels, p.wrap(fmt.Sprintf("before Go 1.19 a ballast of %s instead", predict.FormatSize(*all.Ballast)), labels))
	}
	if m := sentence.Margin(f.Margin); m != "" {
		p.block("MARGIN", bold, labels, p.wrap(m, labels))
	}
	if at, ok := f.Recommended(); ok {
		if s := sentence.Fill(&at); s != "" {
			p.block("FIRST FILL", bold, labels, p.wrap(s, labels))
		}
	}
	if f.Most > 0 {
		p.block("ROOM", bold, labels, p.wrap(sentence.Room(f), labels))
	}
	p.block("RULE", dim, labels, p.wrap("the knee is "+f.Rule, labels))
}

func known(e predict.Estimate, write func(float64) string) string {
	if !e.Known() {
		return figure.Unknown
	}
	return write(e.Value)
}

func cores(v float64) string { return strings.TrimSuffix(figure.Of(v, "cores"), " cores") }
