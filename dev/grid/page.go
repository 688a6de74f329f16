package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

func writePage(w io.Writer, p Plan, grids []grid) error {
	b := &strings.Builder{}
	b.WriteString(introduction)
	fmt.Fprintf(b, "Measured %s on %s, %s, GOMAXPROCS=%d, seed %d.\n\n", p.Start.Format("2006-01-02"), p.Host, p.Go, p.Processors, p.Seed)
	b.WriteString("| load | metric | asked for (median) | median error | too low | worst error | median error of then/now | ranges that hold |\n|---|---|---|---|---|---|---|---|\n")
	for _, g := range grids {
		now := g.calibrationRow()
		for _, m := range gridMetrics {
			median, worst, where, n := g.summarizeErrors(m.relativeError)
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
			change, _, _, _ := g.summarizeErrors(func(c compared) float64 { return m.changeError(c, now) })
			in, ranges := m.countRanges(g.settings)
			fmt.Fprintf(b, "| %g/s | %s | %s | %.0f %%%s | %d of %d | %+.0f %%: %s | %s %% | %d of %d |\n", g.rate, m.title, asked, 100*median, verdict,
				m.countLow(g.settings), n, 100*worst, where, formatNumber(100*change, 0), in, ranges)
		}
	}
	writeP99Summary(b, grids)
	for _, g := range grids {
		g.writeGrid(b)
	}
	b.WriteString(leftOut)
	_, err := io.WriteString(w, b.String())
	return err
}

// countRanges counts the predicted ranges, and those that contain the measurement.
func (m metric) countRanges(settings []compared) (in, all int) {
	for _, c := range settings {
		if ok, known := m.isWithinRange(c); known {
			all++
			if ok {
				in++
			}
		}
	}
	return in, all
}

// countLow counts predictions below the measurement.
func (m metric) countLow(settings []compared) (n int) {
	for _, c := range settings {
		if c.setting.Name != calibration && m.relativeError(c) < 0 {
			n++
		}
	}
	return n
}

// writeP99Summary writes the errors of the p99s, for every recording.
func writeP99Summary(b *strings.Builder, grids []grid) {
	var of grid
	for _, g := range grids {
		of.settings = append(of.settings, g.settings...)
		for _, other := range g.others {
			of.settings = append(of.settings, other.settings...)
		}
	}
	median, _, _, n := of.summarizeErrors(p99.relativeError)
	in, all := p99.countRanges(of.settings)
	verdict := func(missed bool) string {
		if missed {
			return ": missed"
		}
		return ""
	}
	fmt.Fprintf(b, "\nFrom each of the recordings, %d p99s are %s %% off in the median (asked for: %.0f %%%s), %d of them too low; "+
		"%d of %d ranges hold what was measured (asked for: %.0f %%%s; meant: 90 %%). A bound on one side counts as a range.\n",
		n, formatNumber(100*median, 0), 100*p99.target, verdict(median > p99.target), p99.countLow(of.settings), in, all, 100*hold, verdict(float64(in) < hold*float64(all)))
}

func (g grid) writeGrid(b *strings.Builder) {
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
		switch median, worst, where, n := other.summarizeErrors(p99.relativeError); {
		case other.models.latencies == nil:
			fmt.Fprintf(b, "Another recording gives no p99: %s.\n\n", other.models.unused)
		case n > 0:
			fmt.Fprintf(b, "From another recording, with a p99 of %.1f ms, the p99s are %.0f %% off in the median and %+.0f %% at worst (%s); %s.\n\n",
				float64(other.models.latencies.Fit.P99.Observed)/1e6, 100*median, 100*worst, where, other.formatHeld())
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
			fmt.Fprintf(b, " %s |", m.formatCell(c))
		}
		fmt.Fprintf(b, " %s | %s–%s | %d", p99.rangeOf(c), formatNumber(c.low99, 1), formatNumber(c.high99, 1), c.runs)
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

// formatHeld says how many of the ranges of p99s contain the measurement.
func (g grid) formatHeld() string {
	in, all := p99.countRanges(g.settings)
	return fmt.Sprintf("%d of %d ranges hold", in, all)
}

// rangeOf formats the range of a prediction, and whether it contains the measurement.
func (m metric) rangeOf(c compared) string {
	e := m.predicted(c)
	var text string
	switch low, high := formatNumber(e.Low/m.scale, m.digits), formatNumber(e.High/m.scale, m.digits); {
	case math.IsNaN(e.Low) && math.IsNaN(e.High):
		return "–"
	case math.IsNaN(e.Low):
		text = "≤ " + high
	case math.IsNaN(e.High):
		text = "≥ " + low
	default:
		text = low + "–" + high
	}
	if in, known := m.isWithinRange(c); known && !in {
		text += " (missed)"
	}
	return text
}

func (m metric) formatCell(c compared) string {
	said, was := m.predicted(c).Value/m.scale, m.measured(c)/m.scale
	text := formatNumber(said, m.digits) + " / " + formatNumber(was, m.digits)
	if e := m.relativeError(c); !math.IsNaN(e) && !math.IsInf(e, 0) {
		text += fmt.Sprintf(", %+.0f %%", 100*e)
	}
	return text
}

func formatNumber(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, v)
}
