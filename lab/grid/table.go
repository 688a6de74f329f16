package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/stats"
)

// slower is how much more CPU time than in the setting's best run the same requests
// may take. Above, the host itself ran slower (neighbours that a guest cannot see),
// and the run is left out.
const slower = 1.2

// kept up says how much of what was asked for must have been answered: where a
// service falls behind, its p99 is as long as the run.
const keptUp = .97

// compared is a setting under a load: what was predicted and what was measured.
type compared struct {
	setting Setting
	said    forecast
	// medians of the runs that count; NaN is not known
	cycles, collector, peak, rss, p50, p99, faults float64
	low99, high99                                  float64 // of the stretches, the middle half
	runs, left                                     int     // counted, and left out as the host ran slower
	behind                                         bool
}

// grid is a whole load.
type grid struct {
	rate     float64
	settings []compared
	models   *calibrated
}

// table writes the page of predictions.
func table(ctx context.Context, o options) error {
	var p Plan
	if err := readJSON(filepath.Join(o.dir, planFile), &p); err != nil {
		return fmt.Errorf("%w: measure first: go run ./lab/grid measure -dir %s", err, o.dir)
	}
	rows, err := readRows(o.dir)
	if err != nil {
		return err
	}
	var grids []grid
	for _, rate := range ratesOf(rows) {
		k, err := calibrate(ctx, captureFile(o.dir, rate))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		grids = append(grids, compareAll(rate, p.Settings, rows, k.forecast))
		grids[len(grids)-1].models = k
	}
	if len(grids) == 0 {
		return fmt.Errorf("%s: nothing was measured: go run ./lab/grid measure -dir %[1]s", o.dir)
	}
	out := io.Writer(os.Stdout)
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	return render(out, p, grids)
}

func ratesOf(rows []Row) (rates []float64) {
	for _, r := range rows {
		if !slices.Contains(rates, r.Rate) {
			rates = append(rates, r.Rate)
		}
	}
	slices.SortFunc(rates, func(a, b float64) int { return cmp.Compare(b, a) })
	return rates
}

// compareAll holds what is predicted for every setting against its runs.
func compareAll(rate float64, settings []Setting, rows []Row, of func(Setting) forecast) grid {
	g := grid{rate: rate}
	for _, s := range settings {
		var runs []Row
		for _, r := range rows {
			if r.Rate == rate && r.Setting.Name == s.Name {
				runs = append(runs, r)
			}
		}
		if len(runs) > 0 {
			g.settings = append(g.settings, measured(s, runs, of(s)))
		}
	}
	return g
}

func measured(s Setting, runs []Row, said forecast) compared {
	c := compared{setting: s, said: said}
	least := math.Inf(1)
	for _, r := range runs {
		least = min(least, r.CPU/r.Achieved)
	}
	all := len(runs)
	runs = slices.DeleteFunc(runs, func(r Row) bool { return r.CPU/r.Achieved > slower*least || r.Others >= spoilt })
	c.runs, c.left = len(runs), all-len(runs)
	median := func(of func(Row) float64) float64 {
		v := make([]float64, 0, len(runs))
		for _, r := range runs {
			v = append(v, of(r))
		}
		if len(v) == 0 {
			return math.NaN()
		}
		return stats.Median(v)
	}
	c.cycles = median(func(r Row) float64 { return r.Cycles })
	c.collector = median(func(r Row) float64 { return r.Assist + r.Background + r.Idle })
	c.peak = median(func(r Row) float64 { return r.Peak })
	c.rss = median(func(r Row) float64 { return r.RSS })
	c.p50 = median(func(r Row) float64 { return r.P50 })
	c.faults = median(func(r Row) float64 { return r.Faults })
	var stretches []float64
	for _, r := range runs {
		stretches = append(stretches, r.Stretches...)
	}
	slices.Sort(stretches)
	c.p99, c.low99, c.high99 = math.NaN(), math.NaN(), math.NaN()
	if len(stretches) > 0 {
		c.p99, c.low99, c.high99 = stats.Median(stretches), stats.Quantile(stretches, .25), stats.Quantile(stretches, .75)
	}
	c.behind = median(func(r Row) float64 { return r.Achieved / r.Offered }) < keptUp
	return c
}

// metric is a column.
type metric struct {
	title, unit string
	target      float64 // that the median error is to stay within; 0: none
	digits      int
	scale       float64
	predicted   func(compared) float64
	measured    func(compared) float64
}

var metrics = []metric{
	{"cycles", "1/s", .10, 2, 1, func(c compared) float64 { return c.said.cycles }, func(c compared) float64 { return c.cycles }},
	{"collector", "cores", .20, 3, 1, func(c compared) float64 { return c.said.collector }, func(c compared) float64 { return c.collector }},
	{"peak heap", "MiB", 0, 0, 1 << 20, func(c compared) float64 { return c.said.peak }, func(c compared) float64 { return c.peak }},
	{"RSS", "MiB", 0, 0, 1 << 20, func(c compared) float64 { return c.said.rss }, func(c compared) float64 { return c.rss }},
	{"p99", "ms", .25, 1, 1, func(c compared) float64 { return c.said.p99.Value }, func(c compared) float64 {
		if c.behind {
			return math.NaN()
		}
		return c.p99
	}},
}

// off is the relative error of a prediction, NaN where there is nothing to compare.
func (m metric) off(c compared) float64 {
	v := m.measured(c)
	if v == 0 {
		return math.NaN()
	}
	return m.predicted(c)/v - 1
}

// summary is how far a metric is off over a grid: the median of the absolute errors,
// and the worst one.
func (m metric) summary(g grid) (median, worst float64, where string, n int) {
	var all []float64
	for _, c := range g.settings {
		if c.setting.Name == calibration {
			continue // is what it was calibrated on
		}
		e := m.off(c)
		if math.IsNaN(e) || math.IsInf(e, 0) {
			continue
		}
		all = append(all, math.Abs(e))
		if math.Abs(e) >= math.Abs(worst) {
			worst, where = e, c.setting.Name
		}
	}
	if len(all) == 0 {
		return math.NaN(), math.NaN(), "", 0
	}
	return stats.Median(all), worst, where, len(all)
}

func render(w io.Writer, p Plan, grids []grid) error {
	b := &strings.Builder{}
	b.WriteString(introduction)
	fmt.Fprintf(b, "Measured %s on %s, %s, GOMAXPROCS=%d, seed %d.\n\n", p.Start.Format("2006-01-02"), p.Host, p.Go, p.Processors, p.Seed)
	b.WriteString("| load | metric | asked for (median) | median error | worst error |\n|---|---|---|---|---|\n")
	for _, g := range grids {
		for _, m := range metrics {
			median, worst, where, n := m.summary(g)
			asked := ""
			if m.target > 0 {
				asked = fmt.Sprintf("±%.0f %%", 100*m.target)
			}
			if n == 0 {
				fmt.Fprintf(b, "| %g/s | %s | %s | | |\n", g.rate, m.title, asked)
				continue
			}
			verdict := ""
			if m.target > 0 && median > m.target {
				verdict = " (missed)"
			}
			fmt.Fprintf(b, "| %g/s | %s | %s | %.0f %%%s | %+.0f %%: %s |\n", g.rate, m.title, asked, 100*median, verdict, 100*worst, where)
		}
	}
	for _, g := range grids {
		g.write(b)
	}
	b.WriteString(leftOut)
	_, err := io.WriteString(w, b.String())
	return err
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
	b.WriteString("Each cell: predicted / measured, error.\n\n| setting |")
	rule := "|---|"
	for _, m := range metrics {
		fmt.Fprintf(b, " %s, %s |", m.title, m.unit)
		rule += "---|"
	}
	b.WriteString(" p99 of the middle half, ms | runs |\n" + rule + "---|---|\n")
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
		for _, m := range metrics {
			fmt.Fprintf(b, " %s |", m.cell(c))
		}
		fmt.Fprintf(b, " %s–%s | %d", number(c.low99, 1), number(c.high99, 1), c.runs)
		if c.left > 0 {
			fmt.Fprintf(b, " of %d", c.runs+c.left)
		}
		b.WriteString(" |\n")
		if c.said.why != "" {
			notes = append(notes, fmt.Sprintf("No prediction for %s: %s.", c.setting.Name, c.said.why))
		}
		if c.behind {
			notes = append(notes, fmt.Sprintf("Under %s the service fell behind its load: its p99 is as long as the run, and is not compared.", c.setting.Name))
		}
	}
	for _, n := range notes {
		b.WriteString("\n" + n + "\n")
	}
}

func (m metric) cell(c compared) string {
	said, was := m.predicted(c)/m.scale, m.measured(c)/m.scale
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
