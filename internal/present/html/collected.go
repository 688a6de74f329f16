package html

import (
	"fmt"
	"html/template"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/present/sentence"
)

// collectedView is what a garbage collector did, as viewers of GC logs show it.
type collectedView struct {
	N, H, Sub  int
	How        string
	Figures    []figureView
	Aria       string
	SVG        template.HTML // histogram of pause lengths; "": too few pauses
	Quantiles  []figureView
	Tables     []pausesView
	InTimeline bool // the timeline shows the collector over time
}

type figureView struct{ Title, Text, Note string }

// pausesView is a table of pauses by what they have in common.
type pausesView struct {
	Title, Of   string
	Mean, Worst string // titles of columns
	Quantile    bool   // some have a 99th percentile
	Rows        []pausesRow
}

type pausesRow struct{ Name, Count, Total, Share, Mean, P99, Worst string }

// newCollectedView returns what the collector of a timeline's subject did, nil if it was not
// watched.
func newCollectedView(d *diagnose.Diagnosis, t *timeline.Timeline, n, h, sub int) *collectedView {
	if t == nil || t.Collected == nil {
		return nil
	}
	c := t.Collected
	v := &collectedView{N: n, H: h, Sub: sub}
	var from []string
	if c.Name != "" {
		from = append(from, c.Name)
	}
	from = append(from, "from "+path.Base(c.Source), "over "+units.Time(c.Watched*1e9))
	v.How = sentence.Capital(strings.Join(from, ", ")) + "."
	v.addFigures(d, t)
	v.addPauses(c)
	for _, x := range []struct {
		title, of string
		rows      []timeline.Pauses
	}{{"Why GC ran, and how long each collection paused the program", "cause", c.Causes}, {"Pauses by kind", "kind", c.Kinds}} {
		if len(x.rows) > 0 {
			table := newPausesTable(x.title, x.of, x.rows, c)
			if x.of == "cause" { // a collection may pause more than once
				table.Mean, table.Worst = "mean per collection", "most per collection"
			}
			if n := len(v.Tables); n > 0 && saysTheSame(&v.Tables[n-1], &table) {
				continue
			}
			v.Tables = append(v.Tables, table)
		}
	}
	for _, chart := range t.Charts {
		v.InTimeline = v.InTimeline || chart.ID == "heap" || chart.ID == "collected" || chart.ID == "allocation"
	}
	return v
}

// saysTheSame says whether two tables of one row have the same figures: all collections had one cause, and pauses of one kind.
func saysTheSame(x, y *pausesView) bool {
	if len(x.Rows) != 1 || len(y.Rows) != 1 {
		return false
	}
	a, b := x.Rows[0], y.Rows[0]
	a.Name, b.Name = "", ""
	return a == b
}

func (v *collectedView) addFigures(d *diagnose.Diagnosis, t *timeline.Timeline) {
	c := t.Collected
	put := func(title, text, note string) { v.Figures = append(v.Figures, figureView{title, text, note}) }
	known := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	if known(c.Stopped) && !c.Unlogged {
		put("Throughput", formatThroughput(c.Stopped), "of the time the program was not paused")
	}
	if known(c.Rate) {
		put("Collections", formatFrequency(c.Rate), "in "+units.Time(c.Watched*1e9)+" that were watched"+judgedRate(d, c))
	}
	switch n := len(c.Pauses); {
	case c.Unlogged:
		put("Pauses", "not in the log", "it has the cycles of a concurrent collector, without their pauses")
	case n == 0:
		put("Pauses", "none", "")
	default:
		var total int64
		for _, ns := range c.Pauses {
			total += ns
		}
		note := units.Time(float64(total)) + " in all"
		if others := countStops(t) - n; others > 0 {
			note += "; " + units.Plural(others, "more pause") + " in the timeline not by GC, or outside that time"
		}
		put("GC pauses", units.Count(n), note)
		put("Longest GC pause", units.Time(float64(c.Pauses[n-1])), "")
	}
	if c.WorstOf > 0 && known(c.Stopped) && c.WorstShare > 2*c.Stopped {
		put("Worst "+units.Time(float64(c.WorstOf)), units.Percent(c.WorstShare)+" paused", "from "+formatMoment(t, c.Worst))
	}
	for _, x := range []struct {
		title string
		value float64
		unit  string
	}{{"Allocation rate", c.Alloc, "bytes/s"}, {"Promotion rate", c.Promoted, "bytes/s"}, {"Live heap", c.Live, "bytes"}, {"Heap goal", c.Goal, "bytes"}, {"Heap limit", c.Capacity, "bytes"}} {
		if known(x.value) && x.value > 0 {
			put(x.title, units.Of(x.value, x.unit), "")
		}
	}
}

// judgedRate says which rate of collections the cause was judged by, where that is of another time; "" where it is the same.
func judgedRate(d *diagnose.Diagnosis, c *timeline.Collected) string {
	for i := range d.Verdicts {
		for _, e := range d.Verdicts[i].Evidence {
			source, _, _ := strings.Cut(e.Origin, ":")
			if d.Verdicts[i].Verdict != "supported" || e.ID != "gc.cycles_per_s" || e.Value == nil || formatFrequency(*e.Value) == formatFrequency(c.Rate) || source == "" {
				continue
			}
			return "; " + formatFrequency(*e.Value) + " in that of " + path.Base(source)
		}
	}
	return ""
}

// countStops returns how many pauses of the program the timeline shows, for whatever reason.
func countStops(t *timeline.Timeline) int {
	i := slices.IndexFunc(t.Bands, func(b timeline.Band) bool { return b.ID == "stop-the-world" })
	if i < 0 {
		return 0
	}
	n := 0
	for k := range t.Bands[i].From {
		if all := t.Bands[i].Number; all != nil {
			n += int(all[k])
			continue
		}
		n++
	}
	return n
}

// formatMoment returns when something was: a time of day, or the time since the beginning of the
// recording.
func formatMoment(t *timeline.Timeline, at int64) string {
	if t.Anchored {
		return time.Unix(0, at).UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	return units.Time(float64(at-t.From)) + " in"
}

// formatFrequency returns how often something happens, per second, minute or hour.
func formatFrequency(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "none"
	case perSecond >= .1:
		return units.Num(perSecond) + " per second"
	case perSecond*60 >= 1:
		return units.Num(perSecond*60) + " per minute"
	}
	return units.Num(perSecond*3600) + " per hour"
}

// formatThroughput returns the share of the time in which the program was not paused, with as many
// nines as there are.
func formatThroughput(stopped float64) string {
	switch p := 100 * (1 - stopped); {
	case stopped == 0:
		return "100 %"
	case p < 99:
		return units.Percent(1 - stopped)
	case p < 99.99:
		return units.Fixed(p, 2) + " %"
	case p < 99.999:
		return units.Fixed(p, 3) + " %"
	}
	return "> 99.999 %"
}

// quantiles are the quantiles shown, each with the number of pauses it needs.
var quantiles = []struct {
	q     float64
	title string
	least int
}{{.5, "p50", 1}, {.9, "p90", 10}, {.95, "p95", 20}, {.99, "p99", 100}, {.999, "p99.9", 1000}}

func (v *collectedView) addPauses(c *timeline.Collected) {
	for _, x := range quantiles {
		if len(c.Pauses) >= x.least && len(c.Pauses) > 1 {
			v.Quantiles = append(v.Quantiles, figureView{Title: x.title, Text: units.Time(float64(stats.Quantile(c.Pauses, x.q)))})
		}
	}
	if n := len(c.Pauses); n > 1 {
		v.Quantiles = append(v.Quantiles, figureView{Title: "longest", Text: units.Time(float64(c.Pauses[n-1]))})
	}
	v.drawHistogram(c.Pauses)
}

// newPausesTable returns a table of pauses.
func newPausesTable(title, of string, rows []timeline.Pauses, c *timeline.Collected) pausesView {
	v := pausesView{Title: title, Of: of, Mean: "mean", Worst: "longest"}
	var all, these int64
	for _, ns := range c.Pauses {
		all += ns
	}
	for _, r := range rows {
		these += r.Total
	}
	all = max(all, these) // .NET counts more of a collection than the stop-the-world time
	for _, r := range rows {
		row := pausesRow{Name: r.Name, Count: units.Count(r.Count), Total: units.Time(float64(r.Total)), Mean: units.Time(float64(r.Mean)), Worst: units.Time(float64(r.Worst))}
		if all > 0 {
			row.Share = units.Percent(float64(r.Total) / float64(all))
		}
		if r.P99 > 0 {
			row.P99, v.Quantile = units.Time(float64(r.P99)), true
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// The histogram's measures, in its own units.
const (
	histogramWidth, histogramHeight = 460, 190
	histogramTop, histogramBottom   = 18, 34
	histogramLeft, histogramRight   = 34, 30
)

// drawHistogram draws how many pauses were how long: bars from 1 to 2 to 5 to 10 of each power of
// ten.
func (v *collectedView) drawHistogram(pauses []int64) {
	if len(pauses) < 5 || pauses[len(pauses)-1] <= 0 {
		return
	}
	shortest := max(pauses[0], pauses[len(pauses)-1]/1e6, 1)
	edges := histogramEdges(shortest, pauses[len(pauses)-1])
	counts := make([]int, len(edges)-1)
	most, at := 0, 0
	for _, ns := range pauses {
		for at < len(counts)-1 && ns >= edges[at+1] {
			at++
		}
		counts[at]++
		most = max(most, counts[at])
	}
	var out, said strings.Builder
	width := float64(histogramWidth-histogramLeft-histogramRight) / float64(len(counts))
	plot := float64(histogramHeight - histogramTop - histogramBottom)
	bottom := float64(histogramHeight - histogramBottom)
	for i, n := range counts {
		x := histogramLeft + float64(i)*width
		tall := plot * float64(n) / float64(most)
		if n > 0 {
			tall = max(tall, 1)
			fmt.Fprintf(&out, `<rect class="bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x+1, bottom-tall, max(width-2, 1), tall)
			fmt.Fprintf(&out, `<text class="named" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x+width/2, bottom-tall-4, formatBriefCount(n))
			if said.Len() > 0 {
				said.WriteString(", ")
			}
			fmt.Fprintf(&said, "%s of %s to %s", units.Count(n), units.Time(float64(edges[i])), units.Time(float64(edges[i+1])))
		}
	}
	fmt.Fprintf(&out, `<line class="axis" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, histogramLeft, histogramWidth-histogramRight, bottom, bottom)
	every := 1 + (len(edges)-1)/9
	for i, e := range edges {
		if i%every == 0 {
			fmt.Fprintf(&out, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, histogramLeft+float64(i)*width, bottom+15, template.HTMLEscapeString(units.Time(float64(e))))
		}
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="middle">pause</text>`, histogramWidth/2, histogramHeight-3)
	v.SVG = template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" aria-hidden="true" focusable="false">%s</svg>`, histogramWidth, histogramHeight, out.String()))
	v.Aria = "How long GC pauses were: " + said.String()
}

// formatBriefCount returns a count for a bar, where there is room for four digits.
func formatBriefCount(n int) string {
	switch {
	case n >= 1e6:
		return units.Num(float64(n)/1e6) + " M"
	case n >= 1e4:
		return units.Fixed(float64(n)/1e3, 0) + " k"
	}
	return units.Count(n)
}

// histogramEdges returns the numbers 1, 2 and 5 times the powers of ten that enclose a range, two
// at least.
func histogramEdges(low, high int64) (out []int64) {
	for decade := int64(1); ; decade *= 10 {
		for _, k := range []int64{1, 2, 5} {
			e := k * decade
			if next := decade * map[int64]int64{1: 2, 2: 5, 5: 10}[k]; next <= low {
				continue
			}
			out = append(out, e)
			if e > high {
				return out
			}
		}
	}
}
