package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/present/sentence"
)

// frontierView is a trade-off between figures: a table, and with several points a chart of
// figures over the first column.
type frontierView struct {
	Title, How, Caption string
	Columns             []string
	Points              []pointView
	SVG                 template.HTML // "": there is only one point
	Aria                string
}

// pointView is a point of a frontier.
type pointView struct {
	Text  string
	Mark  string // "now", "knee", ""
	Cells []cellView
}

type cellView struct{ Label, Text string }

// The picture's measures, in its own units.
const (
	chartWidth, chartHeight         = 460, 270
	chartLeft, chartRight           = 54, 44
	chartTop, chartBottom           = 30, 40
	plotRight, plotBottom           = chartWidth - chartRight, chartHeight - chartBottom
	plotWidth, plotHeight   float64 = plotRight - chartLeft, plotBottom - chartTop
)

// newFrontierView returns a frontier as a table and, where there is a choice, a chart with the
// situations of rows in it; nil for nil.
func newFrontierView(f *model.Frontier, rows ...model.Row) *frontierView {
	if f == nil {
		return nil
	}
	v := &frontierView{Title: sentence.Capital(f.Title), How: f.How, Caption: f.Caption}
	for _, c := range f.Columns {
		v.Columns = append(v.Columns, c.Title)
	}
	for i, p := range f.Points {
		view := pointView{Text: p.Text, Mark: f.Marked(i)}
		for k, c := range f.Columns {
			cell := cellView{Label: c.Title}
			switch e := p.Values[k]; {
			case !e.Known():
			case c.Unit == "bytes":
				cell.Text = sentence.Cell(f, i, k) // in one unit
			default:
				cell.Text = units.Of(e.Value, c.Unit)
			}
			view.Cells = append(view.Cells, cell)
		}
		v.Points = append(v.Points, view)
	}
	v.drawChart(f, rows)
	return v
}

// drawChart adds the chart.
func (v *frontierView) drawChart(f *model.Frontier, rows []model.Row) {
	c := &chart{f: f}
	for k, column := range f.Columns {
		if column.Drawn && len(c.drawn) < len(curves) {
			c.drawn = append(c.drawn, k)
		}
	}
	if len(c.drawn) == 0 {
		return
	}
	var others [][]model.Estimate
	for _, r := range rows {
		if c.canDraw(r.At) {
			others = append(others, r.At)
		}
	}
	for _, p := range f.Points {
		if c.canDraw(p.Values) {
			c.points = append(c.points, p.Values)
		}
	}
	if len(c.points) < 2 {
		return // one point is no choice
	}
	first := c.drawn[0]
	c.drawn = slices.DeleteFunc(c.drawn, func(k int) bool { // nor is a figure known of one point a curve
		known := 0
		for _, p := range c.points {
			if p[k].Known() {
				known++
			}
		}
		return k != first && known < 2
	})
	c.setScale(others)
	c.drawAxes()
	for n := range c.drawn {
		c.drawCurve(n)
	}
	now := f.Points[f.Now].Values
	v.Aria = v.Title + ": now " + c.describePoint(now)
	if c.canDraw(now) {
		c.markPoint(now, "ring", "now")
	}
	if at := f.At(); at != nil && c.canDraw(at.Values) {
		c.markPoint(at.Values, "knee", "knee")
		v.Aria += "; at the knee, " + at.Text + ": " + c.describePoint(at.Values)
	}
	for i, o := range others {
		name := "then"
		if len(others) > 1 {
			name = fmt.Sprint(i + 1)
		}
		c.markPoint(o, "other", name)
	}
	c.drawNames()
	v.SVG = template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" aria-hidden="true" focusable="false">%s</svg>`, chartWidth, chartHeight, c.out.String()))
}

// curves are the classes of the curves: the first is on the left axis, the second on the right.
var curves = []struct{ class, anchor string }{{"first", "start"}, {"second", "end"}}

// chart draws figures over the first column, whose scale is in doublings.
type chart struct {
	f         *model.Frontier
	drawn     []int              // columns
	points    [][]model.Estimate // those that can be drawn
	low, high float64            // log2 of the first column
	most      []float64          // at the top of each axis; 0: nothing is known of it
	names     []named
	out       strings.Builder
}

// canDraw says whether a point can be drawn.
func (c *chart) canDraw(values []model.Estimate) bool {
	return values != nil && values[0].Known() && values[0].Value > 0 && values[c.drawn[0]].Known()
}

// describePoint returns a point's figures in words.
func (c *chart) describePoint(values []model.Estimate) string {
	var all []string
	for _, k := range append([]int{0}, c.drawn...) {
		if values[k].Known() {
			all = append(all, c.f.Columns[k].Title+" "+units.Of(values[k].Value, c.f.Columns[k].Unit))
		}
	}
	return strings.Join(all, ", ")
}

func (c *chart) setScale(others [][]model.Estimate) {
	c.low, c.high, c.most = math.Inf(1), math.Inf(-1), make([]float64, len(c.drawn))
	for _, p := range slices.Concat(c.points, others) {
		c.low, c.high = min(c.low, math.Log2(p[0].Value)), max(c.high, math.Log2(p[0].Value))
		for n, k := range c.drawn {
			if p[k].Known() {
				c.most[n] = max(c.most[n], p[k].Value)
			}
		}
	}
	margin := max(.04*(c.high-c.low), .05)
	c.low, c.high = c.low-margin, c.high+margin
	for n := range c.most {
		c.most[n] = roundAxisTop(c.most[n])
	}
}

// roundAxisTop returns the top of an axis: four equal steps of a round figure.
func roundAxisTop(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8, 10} {
		if top := m * unit; top >= v*1.02 {
			return top
		}
	}
	return 20 * unit
}

func (c *chart) xPosition(bytes float64) float64 {
	return chartLeft + plotWidth*(math.Log2(bytes)-c.low)/(c.high-c.low)
}

func yPosition(v, most float64) float64 {
	if !(most > 0) {
		return plotBottom
	}
	return chartTop + plotHeight*(1-min(1, max(0, v/most)))
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.out, format, args...) }

func (c *chart) drawText(x, y float64, anchor, class, text string) {
	c.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, template.HTMLEscapeString(text))
}

// drawAxes draws the grid: four steps of what is drawn on either side, doublings below.
func (c *chart) drawAxes() {
	const steps = 4
	for i := 0; i <= steps; i++ {
		at := yPosition(float64(i), steps)
		c.printf(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, plotRight, at, at)
		for n, most := range c.most {
			if most == 0 && n > 0 {
				continue
			}
			x, anchor := float64(chartLeft-6), "end"
			if n > 0 {
				x, anchor = plotRight+6, "start"
			}
			c.drawText(x, at+4, anchor, "tick", units.Num(most*float64(i)/steps))
		}
	}
	below := c.f.Columns[0]
	every := max(1, math.Ceil((c.high-c.low)/5))
	for k := math.Ceil(c.low); k <= c.high; k += every {
		at := c.xPosition(math.Exp2(k))
		c.printf(`<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, at, at, plotBottom, plotBottom+4)
		c.drawText(at, plotBottom+17, "middle", "tick", units.Of(math.Exp2(k), below.Unit))
	}
	c.drawText(chartLeft+plotWidth/2, chartHeight-6, "middle", "tick", below.Title)
	for n, k := range c.drawn {
		if c.most[n] == 0 && n > 0 {
			continue
		}
		x, beside := chartLeft, chartLeft+23.
		if n > 0 {
			x, beside = plotRight-18, plotRight-23
		}
		c.printf(`<line class="%s" x1="%d" x2="%d" y1="10" y2="10"/>`, curves[n].class, x, x+18)
		c.drawText(beside, 14, curves[n].anchor, "tick", c.f.Columns[k].Title+", "+c.f.Columns[k].Unit)
	}
}

// drawCurve draws a figure over the first column; the second with its range, where it has one.
func (c *chart) drawCurve(n int) {
	var line, low, high []string
	var dots strings.Builder
	class, most := curves[n].class, c.most[n]
	for _, p := range c.points {
		e := p[c.drawn[n]]
		if !e.Known() {
			continue
		}
		x := c.xPosition(p[0].Value)
		line = append(line, fmt.Sprintf("%.1f,%.1f", x, yPosition(e.Value, most)))
		if e.Ranged() && e.High > e.Low {
			high = append(high, fmt.Sprintf("%.1f,%.1f", x, yPosition(e.High, most)))
			low = append([]string{fmt.Sprintf("%.1f,%.1f", x, yPosition(e.Low, most))}, low...)
		}
		fmt.Fprintf(&dots, `<circle class="%s-dot" cx="%.1f" cy="%.1f" r="2.5"/>`, class, x, yPosition(e.Value, most))
	}
	if len(high) > 1 && n > 0 {
		c.printf(`<polygon class="band" points="%s"/>`, strings.Join(append(high, low...), " "))
	}
	if len(line) > 1 {
		c.printf(`<polyline class="%s" points="%s"/>`, class, strings.Join(line, " "))
	}
	c.out.WriteString(dots.String())
}

// markPoint draws where a point is, on all curves, and names it.
func (c *chart) markPoint(values []model.Estimate, class, name string) {
	x := c.xPosition(values[0].Value)
	c.printf(`<line class="mark" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x, x, chartTop, plotBottom)
	for n, k := range c.drawn {
		if !values[k].Known() || c.most[n] == 0 && n > 0 {
			continue
		}
		v := yPosition(values[k].Value, c.most[n])
		switch class {
		case "knee":
			c.printf(`<path class="knee" d="M%.1f %.1fl6 6l-6 6l-6 -6z"/>`, x, v-6)
		case "other":
			c.printf(`<path class="ring" d="M%.1f %.1fh9v9h-9z"/>`, x-4.5, v-4.5)
		default:
			c.printf(`<circle class="ring" cx="%.1f" cy="%.1f" r="5"/>`, x, v)
		}
	}
	for i := range c.names {
		if n := &c.names[i]; math.Abs(n.x-x) < chartNear {
			n.text += ", " + name
			return
		}
	}
	c.names = append(c.names, named{x, name})
}

// named is a text above the plot.
type named struct {
	x    float64
	text string
}

// chartNear is the distance below which names would touch and are joined.
const chartNear = 40

func (c *chart) drawNames() {
	for _, n := range c.names {
		anchor, room := "middle", 4*float64(len(n.text))
		if n.x < chartLeft+room {
			anchor = "start"
		} else if n.x > plotRight-room {
			anchor = "end"
		}
		c.drawText(n.x, chartTop-3, anchor, "named", n.text)
	}
}
