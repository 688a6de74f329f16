package lab

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Report writes an outcome for people.
func Report(w io.Writer, o *Outcome) error {
	p := &page{w: w}
	p.writeLine("lab %s · %d CPUs · %s · %.0f s: %s", o.Lab, o.Host.CPUs, o.Host.Toolchain, o.Host.DurationS, o.formatVerdict())
	if o.Plan.Only == nil {
		p.writeLine("%s, %s", o.Plan.formatLoad(), o.Plan.formatBlocks())
	} else {
		p.writeLine("only %s: nothing was compared", strings.Join(o.Plan.Only, ", "))
	}
	p.writeLine("")
	p.writeDiagnoses(o)
	p.writeLoads(o)
	for _, c := range o.Comparisons {
		p.writeComparison(c)
	}
	p.writePredictions(o)
	p.writeChecks(o)
	for _, text := range o.Warnings {
		p.writeLine("warning: %s", text)
	}
	return p.err
}

// formatVerdict says in a few words whether the lab passed.
func (o *Outcome) formatVerdict() string {
	if o.Pass {
		return "all as asked for"
	}
	return "not all as asked for"
}

type page struct {
	w   io.Writer
	err error
}

func (p *page) writeLine(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// writeTable writes rows of cells below a title.
func (p *page) writeTable(title string, rows [][]string) {
	if len(rows) == 0 || p.err != nil {
		return
	}
	p.writeLine("%s", title)
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "  %s\n", strings.Join(r, "\t"))
	}
	if err := t.Flush(); p.err == nil {
		p.err = err
	}
	p.writeLine("")
}

func (p *page) writeDiagnoses(o *Outcome) {
	var rows [][]string
	for _, v := range o.Variants {
		rows = append(rows, []string{markWord(v.OK, false), v.Name, formatFound(v.Found), "expected " + v.Expected.String(), v.About})
	}
	p.writeTable("DIAGNOSED", rows)
	for _, v := range o.Variants {
		p.writeFinding(v)
	}
}

// writeFinding writes what the first cause found in a variant says, costs and advises.
func (p *page) writeFinding(v Result) {
	if v.Diagnosis == nil {
		return
	}
	supported, _, _ := sentence.Split(v.Diagnosis)
	if len(supported) == 0 {
		return
	}
	first := &supported[0]
	p.writeLine("%s: %s  %s", v.Name, first.Cause, first.Title)
	if cost := sentence.Cost(v.Diagnosis, first); cost != "" {
		p.writeLine("  %s", cost)
	}
	for _, f := range first.Fix {
		if f.Setting != "" {
			p.writeLine("  FIX %s", f.Setting)
		}
	}
	p.writeLine("")
}

// formatLoad describes the load of the services in words.
func (p *Plan) formatLoad() string {
	if p.Connections != nil {
		return fmt.Sprintf("closed loop of %d connections for %.3g s, each run in a process that served one client before", *p.Connections, *p.RunS)
	}
	return fmt.Sprintf("storm %.0f/s for %.3g s after %.3g/s", *p.Peak, *p.StormS, *p.Base)
}

func (p *Plan) formatBlocks() string {
	return fmt.Sprintf("%d blocks in random order (seed %d)", p.Blocks, p.Seed)
}

// underLoad returns the title of the figures of the blocks.
func (p *Plan) underLoad() string {
	if p.Connections != nil {
		return "Under load"
	}
	return "In the storm"
}

// column is a figure that is shown of each variant under load, and if progress is set
// also of each run as it ends.
type column struct {
	head, metric, format string
	progress             bool
}

var columns = []column{
	{"p50 ms", "p50_ms", "%.2f", false}, {"p99 ms", "p99_ms", "%.2f", true}, {"mean ms", "mean_ms", "%.0f", true}, {"GC/s", "gc_cycles_per_s", "%.2f", true},
	{"cores", "cpu_cores", "%.2f", true}, {"assist ms/s", "assist_ms_per_s", "%.1f", false}, {"MB/s", "alloc_mib_per_s", "%.0f", false},
	{"system", "system_cores", "%.2f", false}, {"threads", "threads", "%.0f", true}, {"RSS MiB", "rss_mib", "%.0f", false}, {"served/s", "rate", "%.1f", true},
}

// knownColumns returns the columns that have a figure in some run.
func (o *Outcome) knownColumns() (known []column) {
	for _, c := range columns {
		if slices.ContainsFunc(o.Runs, func(r Measured) bool { _, ok := r.Metrics[c.metric]; return ok }) {
			known = append(known, c)
		}
	}
	return known
}

// writeLoads writes the medians of each variant over the blocks.
func (p *page) writeLoads(o *Outcome) {
	if len(o.Runs) == 0 {
		return
	}
	rows := [][]string{{""}}
	for _, c := range o.knownColumns() {
		rows[0] = append(rows[0], c.head)
	}
	for _, v := range o.Variants {
		if len(o.Of(v.Name, "p99_ms")) == 0 {
			continue
		}
		row := []string{v.Name}
		for _, c := range o.knownColumns() {
			row = append(row, o.formatMedian(v.Name, c))
		}
		rows = append(rows, row)
	}
	p.writeTable(strings.ToUpper(o.Plan.underLoad())+" (medians of the blocks)", rows)
}

// formatMedian formats the median of a variant's figures in a column.
func (o *Outcome) formatMedian(variant string, c column) string {
	values := o.Of(variant, c.metric)
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf(c.format, stats.Median(values))
}

func (p *page) writeComparison(c *compare.Comparison) {
	title := fmt.Sprintf("%s → %s", c.Before, c.After)
	if c.Refused() {
		p.writeLine("%s: not compared: %s\n", title, c.Why)
		return
	}
	var rows [][]string
	for _, name := range []string{"gc_cycles_per_s", "cpu_ms_per_request", "assist_ms_per_s", "system_cores", "p50_ms", "p99_ms", "rate", "rss_mib"} {
		if m, ok := c.Of(name); ok {
			rows = append(rows, []string{m.Title, formatPercent(m.Change), formatInterval(m.Low, m.High, formatPercent), string(m.Result), m.Why})
		}
	}
	p.writeTable(title, rows)
}

func (p *page) writePredictions(o *Outcome) {
	var rows [][]string
	for _, x := range o.Predictions {
		rows = append(rows, []string{x.Metric, formatFigure(x.Predicted, x.Unit), formatFigure(x.Measured, x.Unit), formatPercent(x.RelativeError)})
	}
	if len(rows) > 0 {
		rows = append([][]string{{"", "predicted", "measured", "error"}}, rows...)
	}
	p.writeTable("PREDICTED BY THE DIAGNOSIS", rows)
}

func (p *page) writeChecks(o *Outcome) {
	var rows [][]string
	for _, c := range o.Checks {
		show := c.chooseFormat()
		article := ""
		if c.Article != nil {
			article = "article " + show(c.Article)
		}
		rows = append(rows, []string{markWord(c.OK, c.Told), c.Name, show(c.Got), formatInterval(c.Low, c.High, show), "asked " + c.Asked, article, c.Why})
	}
	p.writeTable("ASKED FOR", rows)
}

// chooseFormat returns the function that formats the figures of a check.
func (c *Check) chooseFormat() func(*float64) string {
	if c.change {
		return formatPercent
	}
	return func(v *float64) string { return formatFigure(v, c.Unit) }
}

// markWord says in a word whether something is as demanded.
func markWord(ok, told bool) string {
	switch {
	case ok:
		return "ok"
	case told:
		return "missed (told)"
	}
	return "MISSED"
}

func formatPercent(v *float64) string {
	if v == nil {
		return "?"
	}
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100**v), "-", "−", 1)
}

func formatInterval(low, high *float64, show func(*float64) string) string {
	if low == nil || high == nil {
		return ""
	}
	return fmt.Sprintf("(%s to %s)", show(low), show(high))
}

func formatFigure(v *float64, unit string) string {
	switch {
	case v == nil:
		return "?"
	case unit == "bytes":
		return fmt.Sprintf("%.0f MiB", *v/(1<<20))
	case unit == "1" || unit == "":
		return fmt.Sprintf("%.3g", *v)
	case math.Abs(*v) < 10:
		return fmt.Sprintf("%.2f %s", *v, unit)
	}
	return fmt.Sprintf("%.1f %s", *v, unit)
}

// String describes what is expected in a few words.
func (e Expected) String() string {
	switch {
	case e.First != "":
		if e.Behind != "" {
			return e.First + " first, or behind " + e.Behind
		}
		return e.First + " first"
	case len(e.AnyOf) > 0:
		return "one of " + strings.Join(e.AnyOf, ", ")
	case e.Nothing():
		return "nothing"
	}
	return "no " + strings.Join(e.NoneOf, ", no ")
}
