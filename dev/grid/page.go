package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

func render(w io.Writer, p Plan, grids []grid) error {
	b := &strings.Builder{}
	b.WriteString(introduction)
	fmt.Fprintf(b, "Measured %s on %s, %s, GOMAXPROCS=%d, seed %d.\n\n", p.Start.Format("2006-01-02"), p.Host, p.Go, p.Processors, p.Seed)
	b.WriteString("| load | metric | asked for (median) | median error | too low | worst error | median error of then/now | ranges that hold |\n|---|---|---|---|---|---|---|---|\n")
	for _, g := range grids {
		now := g.now()
		for _, m := range gridMetrics {
			median, worst, where, n := g.summary(m.off)
			asked := ""
			if m.target > 0 {
				asked = fmt.Sprintf("±%.0f %%", 100*m.target)
			}
			if n == 0 {
				fmt.Fprintf(b, "| %g/s | %s | %s | | | | | |\n", g.rate, m.title, asked)
				continue
			}
			verdict := ""
			if m.target > 0 && median > m.target {
				verdict = " (missed)"
			}
			change, _, _, _ := g.summary(func(c compared) float64 { return m.changed(c, now) })
			in, ranges := m.ranges(g.settings)
			fmt.Fprintf(b, "| %g/s | %s | %s | %.0f %%%s | %d of %d | %+.0f %%: %s | %s %% | %d of %d |\n", g.rate, m.title, asked, 100*median, verdict,
				m.low(g.settings), n, 100*worst, where, number(100*change, 0), in, ranges)
		}
	}
	judged(b, grids)
	for _, g := range grids {
		g.write(b)
	}
	b.WriteString(leftOut)
	_, err := io.WriteString(w, b.String())
	return err
}

// ranges counts those that hold.
func (m metric) ranges(settings []compared) (in, all int) {
	for _, c := range settings {
		if ok, known := m.holds(c); known {
			all++
			if ok {
				in++
			}
		}
	}
	return in, all
}

// low counts predictions that are below what was measured.
func (m metric) low(settings []compared) (n int) {
	for _, c := range settings {
		if c.setting.Name != calibration && m.off(c) < 0 {
			n++
		}
	}
	return n
}

// judged writes how right the p99s are, from every recording.
func judged(b *strings.Builder, grids []grid) {
	var of grid
	for _, g := range grids {
		of.settings = append(of.settings, g.settings...)
		for _, other := range g.others {
			of.settings = append(of.settings, other.settings...)
		}
	}
	median, _, _, n := of.summary(p99.off)
	in, all := p99.ranges(of.settings)
	verdict := func(missed bool) string {
		if missed {
			return ": missed"
		}
		return ""
	}
	fmt.Fprintf(b, "\nFrom each of the recordings, %d p99s are %s %% off in the median (asked for: %.0f %%%s), %d of them too low; "+
		"%d of %d ranges hold what was measured (asked for: %.0f %%%s; meant: 90 %%). A bound on one side counts as a range.\n",
		n, number(100*median, 0), 100*p99.target, verdict(median > p99.target), p99.low(of.settings), in, all, 100*hold, verdict(float64(in) < hold*float64(all)))
}

func (g grid) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %g requests/s\n\n", g.rate)
	if k := g.models; k != nil {
		switch l := k.latencies; {
		case l != nil:
			fmt.Fprintf(b, "Latencies are calibrated on a p50 of %.2f ms and a p99 of %.1f ms. In the replay work takes %.1f times as long while a cycle marks, "+
				"and cycles mark for %.0f %% of the time.\n\n", float64(l.Fit.P50.Observed)/1e6, float64(l.Fit.P99.Observed)/1e6, l.Slower, 100*l.Mark)
		case k.unused != "":
			fmt.Fprintf(b, "There is no p99: %s.\n\n", k.unused)
		}
	}
	for _, other := range g.others {
		switch median, worst, where, n := other.summary(p99.off); {
		case other.models.latencies == nil:
			fmt.Fprintf(b, "Another recording gives no p99: %s.\n\n", other.models.unused)
		case n > 0:
			fmt.Fprintf(b, "From another recording, with a p99 of %.1f ms, the p99s are %.0f %% off in the median and %+.0f %% at worst (%s); %s.\n\n",
				float64(other.models.latencies.Fit.P99.Observed)/1e6, 100*median, 100*worst, where, other.held())
		}
	}
	b.WriteString("Each cell: predicted / measured, error.\n\n| setting |")
	rule := "|---|"
	for _, m := range gridMetrics {
		fmt.Fprintf(b, " %s, %s |", m.title, m.unit)
		rule += "---|"
	}
	b.WriteString(" predicted range, ms | p99 of the middle half, ms | runs |\n" + rule + "---|---|---|\n")
	var notes []string
	for _, c := range g.settings {
		name := c.setting.Name
		if c.setting.Times > 0 {
			name += fmt.Sprintf(" (%g × live)", c.setting.Times)
		}
		if name == calibration {
			name += " (calibration)"
		}
		fmt.Fprintf(b, "| %s |", name)
		for _, m := range gridMetrics {
			fmt.Fprintf(b, " %s |", m.cell(c))
		}
		fmt.Fprintf(b, " %s | %s–%s | %d", p99.rangeOf(c), number(c.low99, 1), number(c.high99, 1), c.runs)
		if c.left > 0 {
			fmt.Fprintf(b, " of %d", c.runs+c.left)
		}
		b.WriteString(" |\n")
		if c.said.why != "" {
			notes = append(notes, fmt.Sprintf("No prediction for %s: %s.", c.setting.Name, c.said.why))
		}
		replayed := c.said.why == "" && g.models != nil && g.models.latencies != nil
		switch {
		case c.behind && replayed && !c.said.p99.Known():
			notes = append(notes, fmt.Sprintf("Under %s the service fell behind its load, as predicted: there is no p99.", c.setting.Name))
		case c.behind:
			notes = append(notes, fmt.Sprintf("Under %s the service fell behind its load: its p99 is as long as the run, and is not compared.", c.setting.Name))
		case replayed && !c.said.p99.Known():
			notes = append(notes, fmt.Sprintf("Under %s no p99 is promised: requests and the collector would need nearly all processors, or too few requests were recorded.", c.setting.Name))
		}
	}
	for _, n := range notes {
		b.WriteString("\n" + n + "\n")
	}
}

// held says how many of the ranges of p99s hold.
func (g grid) held() string {
	in, all := p99.ranges(g.settings)
	return fmt.Sprintf("%d of %d ranges hold", in, all)
}

// rangeOf is the range of a prediction, and whether it held.
func (m metric) rangeOf(c compared) string {
	e := m.predicted(c)
	var text string
	switch low, high := number(e.Low/m.scale, m.digits), number(e.High/m.scale, m.digits); {
	case math.IsNaN(e.Low) && math.IsNaN(e.High):
		return "–"
	case math.IsNaN(e.Low):
		text = "≤ " + high
	case math.IsNaN(e.High):
		text = "≥ " + low
	default:
		text = low + "–" + high
	}
	if in, known := m.holds(c); known && !in {
		text += " (missed)"
	}
	return text
}

func (m metric) cell(c compared) string {
	said, was := m.predicted(c).Value/m.scale, m.measured(c)/m.scale
	text := number(said, m.digits) + " / " + number(was, m.digits)
	if e := m.off(c); !math.IsNaN(e) && !math.IsInf(e, 0) {
		text += fmt.Sprintf(", %+.0f %%", 100*e)
	}
	return text
}

func number(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, v)
}
