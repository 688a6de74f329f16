package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
)

// frontierView is what memory would buy: the collector's processors and the p99
// over the resident memory.
type frontierView struct {
	SVG           template.HTML
	Aria, Caption string
}

// The picture's measures, in its own units.
const (
	chartWidth, chartHeight         = 460, 270
	chartLeft, chartRight           = 44, 44
	chartTop, chartBottom           = 30, 40
	plotRight, plotBottom           = chartWidth - chartRight, chartHeight - chartBottom
	plotWidth, plotHeight   float64 = plotRight - chartLeft, plotBottom - chartTop
)

// frontier draws what memory buys, with the outcomes of other settings beside; nil
// where there is no choice.
func frontier(f *predict.Frontier, others ...predict.Outcome) *frontierView {
	if f == nil {
		return nil
	}
	c := &chart{}
	for _, o := range others {
		if o.RSS.Known() && o.RSS.Value > 0 && o.Collector.Known() {
			c.others = append(c.others, o)
		}
	}
	for i, p := range f.Points {
		if p.RSS.Known() && p.RSS.Value > 0 && p.Collector.Known() {
			c.points, c.index = append(c.points, p), append(c.index, i)
		}
	}
	if len(c.points) < 2 {
		return nil // one point is no choice
	}
	c.scale()
	c.axes()
	c.curve("cpu", func(p predict.Outcome) (predict.Estimate, float64) { return p.Collector, c.mostCPU })
	if c.mostP99 > 0 {
		c.curve("latency", func(p predict.Outcome) (predict.Estimate, float64) { return p.P99, c.mostP99 })
	}
	now := c.points[0]
	c.mark(now, "ring", "now")
	view := &frontierView{Aria: "What memory buys: now " + outcome(now)}
	if at, ok := f.Recommended(); ok && at.RSS.Known() && at.Collector.Known() {
		c.mark(at, "knee", "knee")
		view.Aria += "; at the knee, " + at.Setting.String() + ": " + outcome(at)
	}
	for i, o := range c.others {
		name := "then"
		if len(c.others) > 1 {
			name = fmt.Sprint(i + 1)
		}
		c.mark(o, "other", name)
	}
	c.label()
	view.SVG = template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" aria-hidden="true" focusable="false">%s</svg>`, chartWidth, chartHeight, c.out.String()))
	view.Caption = caption(f)
	return view
}

// outcome is a setting's effect in a few words.
func outcome(o predict.Outcome) string {
	s := figure.Size(o.RSS.Value) + " resident, collector " + figure.Num(o.Collector.Value) + " cores"
	if o.P99.Known() {
		s += ", p99 " + figure.Ms(o.P99.Value)
	}
	return s
}

// caption says which point is recommended and by which rule.
func caption(f *predict.Frontier) string {
	var s []string
	if at, ok := f.Recommended(); ok {
		text := "At the knee: " + at.Setting.String()
		if f.Why != "" {
			text += ": " + f.Why
		}
		s = append(s, text)
	} else if f.Why != "" {
		s = append(s, sentenceCase(f.Why))
	}
	if f.Rule != "" {
		s = append(s, "The knee is "+f.Rule)
	}
	if m := f.Margin; m != nil && m.Quarter > 0 && m.Live > 0 {
		s = append(s, fmt.Sprintf("With %s live instead of %s the collector would take a quarter of the CPU", figure.Size(m.Quarter), figure.Size(m.Live)))
	}
	if len(s) == 0 {
		return ""
	}
	return strings.Join(s, ". ") + "."
}

// chart draws the points of a frontier.
type chart struct {
	points           []predict.Outcome
	others           []predict.Outcome // beside the curve
	index            []int
	low, high        float64 // log2 of bytes
	mostCPU, mostP99 float64 // at the top of each axis
	names            []named
	out              strings.Builder
}

func (c *chart) scale() {
	c.low, c.high = math.Inf(1), math.Inf(-1)
	for _, p := range slices.Concat(c.points, c.others) {
		c.low, c.high = min(c.low, math.Log2(p.RSS.Value)), max(c.high, math.Log2(p.RSS.Value))
		c.mostCPU = max(c.mostCPU, p.Collector.Value)
		if p.P99.Known() {
			c.mostP99 = max(c.mostP99, p.P99.Value)
		}
	}
	margin := max(.04*(c.high-c.low), .05)
	c.low, c.high = c.low-margin, c.high+margin
	c.mostCPU, c.mostP99 = round(c.mostCPU), round(c.mostP99)
}

// round gives the top of an axis: four equal steps of a round figure.
func round(v float64) float64 {
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

func (c *chart) x(bytes float64) float64 {
	return chartLeft + plotWidth*(math.Log2(bytes)-c.low)/(c.high-c.low)
}

func y(v, most float64) float64 {
	if !(most > 0) {
		return plotBottom
	}
	return chartTop + plotHeight*(1-min(1, max(0, v/most)))
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.out, format, args...) }

func (c *chart) text(x, y float64, anchor, class, text string) {
	c.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, template.HTMLEscapeString(text))
}

// axes draws the grid: four steps of cores on the left and of ms on the right,
// doublings of memory below.
func (c *chart) axes() {
	const steps = 4
	for i := 0; i <= steps; i++ {
		at := y(float64(i), steps)
		c.printf(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, plotRight, at, at)
		c.text(chartLeft-6, at+4, "end", "tick", figure.Num(c.mostCPU*float64(i)/steps))
		if c.mostP99 > 0 {
			c.text(plotRight+6, at+4, "start", "tick", figure.Num(c.mostP99*float64(i)/steps))
		}
	}
	every := max(1, math.Ceil((c.high-c.low)/5))
	for k := math.Ceil(c.low); k <= c.high; k += every {
		at := c.x(math.Exp2(k))
		c.printf(`<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, at, at, plotBottom, plotBottom+4)
		c.text(at, plotBottom+17, "middle", "tick", figure.Size(math.Exp2(k)))
	}
	c.text(chartLeft+plotWidth/2, chartHeight-6, "middle", "tick", "resident memory")
	c.printf(`<line class="cpu" x1="%d" x2="%d" y1="10" y2="10"/>`, chartLeft, chartLeft+18)
	c.text(chartLeft+23, 14, "start", "tick", "collector, cores")
	if c.mostP99 > 0 {
		c.printf(`<line class="latency" x1="%d" x2="%d" y1="10" y2="10"/>`, plotRight-18, plotRight)
		c.text(plotRight-23, 14, "end", "tick", "p99, ms")
	}
}

// curve draws an estimate over the memory, with its range where it has one.
func (c *chart) curve(class string, of func(predict.Outcome) (predict.Estimate, float64)) {
	var line, low, high []string
	var dots strings.Builder
	for _, p := range c.points {
		e, most := of(p)
		if !e.Known() {
			continue
		}
		x := c.x(p.RSS.Value)
		line = append(line, fmt.Sprintf("%.1f,%.1f", x, y(e.Value, most)))
		if !math.IsNaN(e.Low) && !math.IsNaN(e.High) && e.High > e.Low {
			high = append(high, fmt.Sprintf("%.1f,%.1f", x, y(e.High, most)))
			low = append([]string{fmt.Sprintf("%.1f,%.1f", x, y(e.Low, most))}, low...)
		}
		fmt.Fprintf(&dots, `<circle class="%s-dot" cx="%.1f" cy="%.1f" r="2.5"/>`, class, x, y(e.Value, most))
	}
	if len(high) > 1 && class == "latency" {
		c.printf(`<polygon class="band" points="%s"/>`, strings.Join(append(high, low...), " "))
	}
	if len(line) > 1 {
		c.printf(`<polyline class="%s" points="%s"/>`, class, strings.Join(line, " "))
	}
	c.out.WriteString(dots.String())
}

// mark draws where an outcome is, on both curves, and names it.
func (c *chart) mark(p predict.Outcome, class, name string) {
	x := c.x(p.RSS.Value)
	c.printf(`<line class="mark" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x, x, chartTop, plotBottom)
	at := []float64{y(p.Collector.Value, c.mostCPU)}
	if p.P99.Known() && c.mostP99 > 0 {
		at = append(at, y(p.P99.Value, c.mostP99))
	}
	for _, v := range at {
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

// chartNear is where names would touch: they stand together then.
const chartNear = 40

func (c *chart) label() {
	for _, n := range c.names {
		anchor, room := "middle", 4*float64(len(n.text))
		if n.x < chartLeft+room {
			anchor = "start"
		} else if n.x > plotRight-room {
			anchor = "end"
		}
		c.text(n.x, chartTop-3, anchor, "named", n.text)
	}
}
