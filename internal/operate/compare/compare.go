package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// Options are what the user decides. The zero value stands for the defaults.
type Options struct {
	Before, After string  // what the sides are called
	Level         float64 // of confidence, 0: 0.95
	MinEffect     float64 // relative; 0: as [Metrics] has it for each

	// FailOn are the metrics whose regression fails the comparison, instead of those of [Metrics]: names, "all" or "none".
	FailOn []string

	// Earlier are runs of the same service under the same load from before the change. They show by how much
	// figures differ without a change. They are used where there are too few pairs.
	Earlier []Run

	// InTurn says that the runs are pieces of one stretch of time under the load that was there, and that a
	// lot decided the side of each piece ([Blocks]). The differences between pairs then include the effect of
	// an unknown or varying load. What differs between the sides is the effect of the change, or chance. Such
	// a load is reported and refuses nothing.
	InTurn bool
}

// ErrNoRuns is wrapped by errors for sides without a run.
var ErrNoRuns = errors.New("no run to compare")

// Compare compares the runs of two sides pair by pair: the i-th run of one side with the i-th of the other.
// Each side is in order of time if all its start times are known. Runs without a partner are left out with a
// warning.
func Compare(before, after []Run, opt Options) (*Comparison, error) {
	if opt.Level == 0 {
		opt.Level = .95
	}
	if !(opt.Level > 0 && opt.Level < 1) {
		return nil, fmt.Errorf("level %g: give one between 0 and 1, such as 0.95", opt.Level)
	}
	if !(opt.MinEffect >= 0) || math.IsInf(opt.MinEffect, 0) {
		return nil, fmt.Errorf("least effect %g: give a share such as 0.05", opt.MinEffect)
	}
	for _, s := range []struct {
		name string
		runs []Run
	}{{"before", before}, {"after", after}} {
		if len(s.runs) == 0 {
			return nil, fmt.Errorf("%s: %w", s.name, ErrNoRuns)
		}
	}
	before, after = inOrder(before), inOrder(after)
	pairs := min(len(before), len(after))
	c := &Comparison{Schema: Schema, Before: opt.Before, After: opt.After, Pairs: pairs, Level: opt.Level, Metrics: []Result{}, Causes: []CauseChange{}, Warnings: []string{}}
	c.Before, c.After = cmp.Or(c.Before, formatRunNames(before)), cmp.Or(c.After, formatRunNames(after))
	if more := max(len(before), len(after)) - pairs; more > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d runs before, %d after: %d without a pair, not compared", len(before), len(after), more))
		before, after = before[:pairs], after[:pairs]
	}
	c.Loads = Loads{sideOf(before), sideOf(after)}
	g := &guard{before: before, after: after, inTurn: opt.InTurn}
	g.compareLoads()
	c.Warnings = append(append(c.Warnings, g.warnings...), distinctWarnings(before, after)...)
	if opt.InTurn {
		c.Warnings, g.differ = append(c.Warnings, g.differ...), nil
	}
	same := len(g.differ) == 0
	if !same {
		c.Comparable, c.Why = &same, "the loads differ: "+strings.Join(g.differ, "; ")
		if len(g.differ) == 1 && g.busier != "" {
			c.compareBesideOthers(g, opt)
		}
		return c, nil
	}
	c.compareMetrics(g, opt)
	return c, nil
}

// compareBesideOthers compares runs of which one had more of its host's CPUs used by other processes, and nothing else apart. That makes
// requests slower, never faster: a service that answers sooner on the busier host is better, and one that answers later on the quieter one
// is worse. All other results are unclear. Where none is left, the runs stay refused.
func (c *Comparison) compareBesideOthers(g *guard, opt Options) {
	stands := map[string]string{"after": Improved, "before": Regressed}[g.busier]
	beside := *c
	beside.Comparable, beside.Why = nil, ""
	beside.compareMetrics(g, opt)
	kept := false
	for i := range beside.Metrics {
		r := &beside.Metrics[i]
		switch {
		case r.Result == stands && slices.Contains(slowedByOthers, r.Name):
			kept = kept || r.Gate
		case r.Result != Unclear:
			r.Result, r.Moved, r.Allowed, r.Why = Unclear, nil, nil, g.crowded
		}
	}
	if !kept || beside.Comparable == nil {
		return
	}
	beside.Warnings = append(beside.Warnings, fmt.Sprintf("%s: this makes requests slower, so what %s did so in spite of it; other metrics stay unclear", g.crowded, stands))
	*c = beside
}

// slowedByOthers are the metrics that other processes on the host can only make worse.
var slowedByOthers = []string{"p50_ms", "p90_ms", "p99_ms", "p999_ms", "mean_ms", "slow_share", "rate"}

// compareMetrics compares all metrics that both sides have.
func (c *Comparison) compareMetrics(g *guard, opt Options) {
	before, after, comparable := g.before, g.after, true
	doubt := ""
	if g.isLoadUnknown() && !opt.InTurn {
		doubt = "the load of the runs is unknown"
		c.Why = doubt + ": add a load result, an access log or a trace to each side"
	} else {
		c.Comparable = &comparable
	}
	for _, m := range Metrics {
		if opt.MinEffect > 0 {
			m.MinEffect = opt.MinEffect
		}
		if len(opt.FailOn) > 0 {
			m.Gate = slices.Contains(opt.FailOn, m.Name) || slices.Contains(opt.FailOn, "all")
		}
		if r, ok := compareMetric(m, before, after, opt); ok {
			r.Moved = movedTo(&r)
			if doubt != "" && r.Moved != nil {
				r.Result, r.Why = Unclear, doubt
			}
			if doubt != "" {
				r.Allowed = nil
			}
			c.Metrics = append(c.Metrics, r)
		}
	}
	if len(c.Metrics) == 0 {
		c.Warnings = append(c.Warnings, "no metric is known for both sides: give runs of the same kind")
	}
	c.warnMissingQuantile(before, after)
}

// warnMissingQuantile says that p99, which most people look at, is not compared because runs have too few requests for it.
func (c *Comparison) warnMissingQuantile(before, after []Run) {
	const metric = "p99_ms"
	if _, known := c.Of(metric); known || len(c.Metrics) == 0 {
		return
	}
	fewest := int64(0)
	for _, runs := range [][]Run{before, after} {
		for i := range runs {
			if n := runs[i].Load.Sent; n > 0 && (fewest == 0 || n < fewest) {
				fewest = n
			}
		}
	}
	for _, q := range quantiles {
		if q.metric == metric && fewest > 0 && fewest < int64(q.least) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("p99 is not compared: a run has %d requests, and it is known from %d on: record for longer, or at a higher rate", fewest, q.least))
		}
	}
}

// movedTo says what a figure did, by its result; nil: neither a change nor its absence is shown.
func movedTo(r *Result) *string {
	to := MovedDown
	switch {
	case r.Result == Unclear:
		return nil
	case r.Result == Same:
		to = MovedNowhere
	case *r.After > *r.Before:
		to = MovedUp
	}
	return &to
}

var digits = regexp.MustCompile(`[0-9][0-9.,]*`)

// mostWarnings is how many warnings of runs are passed on.
const mostWarnings = 10

// distinctWarnings returns the warnings of all runs. Warnings that differ only in their figures become one,
// which names the first run. It returns at most [mostWarnings], with the number of the others.
func distinctWarnings(sides ...[]Run) (out []string) {
	first, count := make(map[string]string), make(map[string]int)
	var order []string
	for _, runs := range sides {
		for _, r := range runs {
			for _, w := range r.Warnings {
				shape := digits.ReplaceAllString(w, "0")
				if count[shape]++; count[shape] == 1 {
					first[shape], order = r.Name, append(order, w)
				}
			}
		}
	}
	for i, w := range order {
		if i == mostWarnings {
			return append(out, fmt.Sprintf("and %d more warnings: diagnose each run by itself to see them", len(order)-i))
		}
		shape := digits.ReplaceAllString(w, "0")
		text := first[shape] + ": " + w
		if n := count[shape]; n > 1 {
			text = fmt.Sprintf("%s and %d more: %s", first[shape], n-1, w)
		}
		out = append(out, text)
	}
	return out
}

func formatRunNames(runs []Run) string {
	if last := len(runs) - 1; last > 0 {
		return runs[0].Name + " … " + runs[last].Name
	}
	return runs[0].Name
}

func inOrder(runs []Run) []Run {
	runs = slices.Clone(runs)
	if !slices.ContainsFunc(runs, func(r Run) bool { return r.Start.IsZero() }) {
		sorting.Short(runs, func(a, b Run) int { return a.Start.Compare(b.Start) })
	}
	return runs
}

// sideOf returns the summary of the loads of one side's runs.
func sideOf(runs []Run) Side {
	s := Side{Runs: []string{}}
	for i := range runs {
		r := &runs[i]
		s.Runs = append(s.Runs, r.Name)
		s.URL, s.Mode, s.LatencyFrom = cmp.Or(s.URL, r.Load.URL), cmp.Or(s.Mode, r.Load.Mode), cmp.Or(s.LatencyFrom, r.Load.LatencyFrom)
		if n := r.Load.Connections; n > 0 && s.Connections == nil {
			s.Connections = &n
		}
	}
	median := func(of func(*Load) (float64, bool)) *float64 {
		if v, ok := medianFigure(runs, of); ok {
			return stats.FiniteOrNil(v)
		}
		return nil
	}
	s.OfferedRate = median(func(l *Load) (float64, bool) { return l.Offered, l.Offered > 0 })
	s.Rate = median(func(l *Load) (float64, bool) { return l.Rate, l.Rate > 0 })
	s.DurationS = median(func(l *Load) (float64, bool) { return l.Duration.Seconds(), l.Duration > 0 })
	s.Errors = median((*Load).Errors)
	s.Others = median(func(l *Load) (float64, bool) {
		if l.Others == nil {
			return 0, false
		}
		return *l.Others, true
	})
	return s
}
