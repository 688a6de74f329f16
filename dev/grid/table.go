package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/stats"
)

// keptUp is the part of the planned requests that must have been answered: if a
// service falls behind, its p99 is as long as the run.
const keptUp = .97

// compared is the prediction and the measurement of a setting under a load.
type compared struct {
	setting Setting
	said    forecast
	// medians of the counted runs; NaN is unknown
	cycles, collector, cpu, peak, rss, p50, p99, faults float64
	low99, high99                                       float64 // of the stretches, the middle half
	runs, left                                          int     // counted, and left out because other programs used the host
	behind                                              bool
}

// grid is a whole load.
type grid struct {
	rate     float64
	settings []compared
	models   *calibrated // models predict the settings
	others   []grid      // the same, predicted from the other recordings
}

// writeTable writes the page of predictions.
func writeTable(ctx context.Context, o options) error {
	var p Plan
	if err := readJSON(filepath.Join(o.dir, planFile), &p); err != nil {
		return fmt.Errorf("%w: measure first: go run ./dev/grid measure -dir %s", err, o.dir)
	}
	rows, err := readRows(o.dir)
	if err != nil {
		return err
	}
	var grids []grid
	for _, rate := range ratesOf(rows) {
		files, err := listCaptures(o.dir, rate)
		if err != nil {
			return err
		}
		var models []*calibrated
		for _, file := range files {
			k, err := calibrateModels(ctx, file)
			if err != nil {
				return err
			}
			models = append(models, k)
		}
		if len(models) == 0 {
			continue
		}
		putMedianFirst(models)
		var of []grid
		for _, k := range models {
			g := compareAll(rate, p.Settings, rows, k.forecastSetting)
			g.models = k
			of = append(of, g)
		}
		of[0].others = of[1:]
		grids = append(grids, of[0])
	}
	if len(grids) == 0 {
		return fmt.Errorf("%s: nothing was measured: go run ./dev/grid measure -dir %[1]s", o.dir)
	}
	if o.out == "" {
		return writePage(os.Stdout, p, grids)
	}
	var page bytes.Buffer
	if err := writePage(&page, p, grids); err != nil {
		return err
	}
	return os.WriteFile(o.out, page.Bytes(), 0o644)
}

// putMedianFirst puts first the recording whose own p99 is the median. Recordings that the replay
// refuses come last.
func putMedianFirst(models []*calibrated) {
	observed := func(k *calibrated) float64 {
		if k.latencies == nil {
			return math.Inf(1)
		}
		return float64(k.latencies.Fit.P99.Observed)
	}
	slices.SortStableFunc(models, func(a, b *calibrated) int { return cmp.Compare(observed(a), observed(b)) })
	used := 0
	for _, k := range models {
		if k.latencies != nil {
			used++
		}
	}
	if middle := (used - 1) / 2; used > 0 {
		models[0], models[middle] = models[middle], models[0]
	}
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

// compareAll compares the prediction for every setting with its runs.
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
			g.settings = append(g.settings, compareRuns(s, runs, of(s)))
		}
	}
	return g
}

func compareRuns(s Setting, runs []Row, said forecast) compared {
	c := compared{setting: s, said: said}
	all := len(runs)
	runs = dropSpoilt(runs)
	c.runs, c.left = len(runs), all-len(runs)
	median := func(of func(Row) float64) float64 {
		v := make([]float64, 0, len(runs))
		for _, r := range runs {
			if x := of(r); !math.IsNaN(x) {
				v = append(v, x)
			}
		}
		if len(v) == 0 {
			return math.NaN()
		}
		return stats.Median(v)
	}
	cycled := func(of func(Row) float64) float64 { // runs with fewer than two cycles have no such figure
		return median(func(r Row) float64 {
			if r.Cycles == 0 {
				return math.NaN()
			}
			return of(r)
		})
	}
	c.cycles = cycled(func(r Row) float64 { return r.Cycles })
	c.collector = cycled(func(r Row) float64 { return r.Assist + r.Background + r.Idle })
	c.peak = cycled(func(r Row) float64 { return r.Peak })
	c.cpu = median(func(r Row) float64 { return r.CPU })
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

// enough is how many runs of a setting always count, even if other programs used the host: the median of two
// runs, one of them disturbed, says more than one run.
const enough = 2

// dropSpoilt leaves out runs that other programs disturbed, if enough remain. A run's own figures
// are no reason to leave it out.
func dropSpoilt(runs []Row) []Row {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Row) int { return cmp.Compare(a.Others, b.Others) })
	n := len(runs)
	for n > enough && runs[n-1].Others >= spoilt {
		n--
	}
	return runs[:n]
}

// metric is a column.
type metric struct {
	title, unit string
	target      float64 // the bound of the median error; 0: none
	digits      int
	scale       float64
	predicted   func(compared) model.Estimate
	measured    func(compared) float64
}

var gridMetrics = []metric{
	{"cycles", "1/s", .10, 2, 1, func(c compared) model.Estimate { return c.said.cycles }, func(c compared) float64 { return c.cycles }},
	{"collector", "cores", .20, 3, 1, func(c compared) model.Estimate { return c.said.collector }, func(c compared) float64 { return c.collector }},
	{"CPU", "cores", 0, 2, 1, func(c compared) model.Estimate { return c.said.process }, func(c compared) float64 { return c.cpu }},
	{"peak heap", "MiB", 0, 0, 1 << 20, func(c compared) model.Estimate { return c.said.peak }, func(c compared) float64 { return c.peak }},
	{"RSS", "MiB", 0, 0, 1 << 20, func(c compared) model.Estimate { return c.said.rss }, func(c compared) float64 { return c.rss }},
	p99,
}

var p99 = metric{"p99", "ms", .25, 1, 1, func(c compared) model.Estimate { return c.said.p99 }, func(c compared) float64 {
	if c.behind {
		return math.NaN()
	}
	return c.p99
}}

// hold is the part of the ranges that must contain the measurement.
const hold = .8

// isWithinRange reports whether the measurement lies in the predicted range, or on the right side
// of a bound; known is false if either is missing. The p99 of a service that falls behind is
// outside every range.
func (m metric) isWithinRange(c compared) (in, known bool) {
	e, v := m.predicted(c), m.measured(c)
	if c.behind && math.IsNaN(v) {
		v = math.Inf(1)
	}
	if math.IsNaN(v) || math.IsNaN(e.Low) && math.IsNaN(e.High) || c.setting.Name == calibration {
		return false, false
	}
	return !(v < e.Low) && !(v > e.High), true
}

// relativeError returns the relative error of a prediction, NaN if there is nothing to compare.
func (m metric) relativeError(c compared) float64 {
	v := m.measured(c)
	if v == 0 {
		return math.NaN()
	}
	return m.predicted(c).Value/v - 1
}

// changeError returns the relative error of a predicted change: predicted then/now against
// measured then/now. The slowness of a host cancels.
func (m metric) changeError(c, now compared) float64 {
	then, before := m.predicted(c).Value/m.predicted(now).Value, m.measured(c)/m.measured(now)
	if before == 0 {
		return math.NaN()
	}
	return then/before - 1
}

// summarizeErrors returns how far a metric is off over a grid: the median of the absolute errors,
// and the worst one.
func (g grid) summarizeErrors(off func(compared) float64) (median, worst float64, where string, n int) {
	var all []float64
	for _, c := range g.settings {
		if c.setting.Name == calibration {
			continue // the models were calibrated on it
		}
		e := off(c)
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

// calibrationRow returns the row of the calibration's own setting.
func (g grid) calibrationRow() compared {
	if i := slices.IndexFunc(g.settings, func(c compared) bool { return c.setting.Name == calibration }); i >= 0 {
		return g.settings[i]
	}
	return compareRuns(Setting{}, nil, noForecast(""))
}
