package lab

import (
	"fmt"
	"io"
	"slices"

	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/html"
)

// HTML writes an outcome as a page: the diagnosis of the sick variant, as for any
// service, then the results beside what was demanded and predicted. Repeat are the
// commands that make the page again.
func HTML(w io.Writer, o *Outcome, l *Lab, repeat ...string) error {
	p := html.Page{Title: "lab " + o.Lab, Version: o.ToolVersion, Repeat: repeat, Strip: []string{
		"lab " + o.Lab, fmt.Sprintf("%d CPUs", o.Host.CPUs), o.Host.Toolchain, fmt.Sprintf("%.0f s", o.Host.DurationS), o.formatVerdict()}}
	sick, fixed := o.Result(l.Sick), o.Result(l.Fixed)
	if sick != nil && sick.Diagnosis != nil {
		p.Parts = append(p.Parts, html.Diagnosed{Diagnosis: sick.Diagnosis, After: []html.Link{
			{ID: "comparisons", Title: "Before and after"}, {ID: "predicted", Title: "Predicted and measured"}, {ID: "asked", Title: "Asked for"}, {ID: "variants", Title: "All variants"}}})
	}
	comparisons := slices.Clone(o.Comparisons)
	slices.SortStableFunc(comparisons, func(a, b *compare.Comparison) int { // the fix of the incident first
		switch l.Fixed {
		case a.After:
			return -1
		case b.After:
			return 1
		}
		return 0
	})
	for i, c := range comparisons {
		part := html.Compared{Comparison: c, Title: fmt.Sprintf("Before and after: %s → %s", c.Before, c.After)}
		if i == 0 {
			part.ID = "comparisons"
		}
		if c.After == l.Fixed && sick != nil && fixed != nil {
			part.Before, part.After = sick.Diagnosis, fixed.Diagnosis
		}
		p.Parts = append(p.Parts, part)
	}
	p.Parts = append(p.Parts, html.Tables{o.predictionTable(), o.checkTable(), o.loadTable(), o.variantTable(), o.warningTable()})
	if fixed != nil && fixed.Diagnosis != nil {
		p.Parts = append(p.Parts, html.Diagnosed{Title: fixed.Name + ": " + fixed.About, Diagnosis: fixed.Diagnosis})
	}
	return p.Write(w)
}

// predictionTable compares what was predicted with what was measured.
func (o *Outcome) predictionTable() html.Table {
	t := html.Table{ID: "predicted", Title: "Predicted and measured",
		How:     "What the diagnosis above said its first fix would do, against what was measured of the variant that got that setting. The error is that of the prediction, relative to what was measured.",
		Columns: []html.Column{{Name: "metric"}, {Name: "variant"}, {Name: "predicted", Number: true}, {Name: "measured", Number: true}, {Name: "error", Number: true}}}
	for _, x := range o.Predictions {
		t.Rows = append(t.Rows, []html.Cell{{Text: x.Metric}, {Text: x.Variant}, {Text: formatFigure(x.Predicted, x.Unit)}, {Text: formatFigure(x.Measured, x.Unit), Class: "strong"}, {Text: formatPercent(x.RelativeError)}})
	}
	return t
}

// checkTable returns the checks: what was demanded, what was measured, and the field report's figure.
func (o *Outcome) checkTable() html.Table {
	t := html.Table{ID: "asked", Title: "Asked for",
		How:     "What had to come out was fixed before the lab ran. The article is the field report that it is made after.",
		Columns: []html.Column{{Name: "figure"}, {Name: "asked", Number: true}, {Name: "got", Number: true}, {Name: "interval", Number: true}, {Name: "article", Number: true}, {Name: ""}, {Name: "why"}}}
	for i := range o.Checks {
		c := &o.Checks[i]
		show := c.chooseFormat()
		article := ""
		if c.Article != nil {
			article = show(c.Article)
		}
		t.Rows = append(t.Rows, []html.Cell{{Text: c.Name}, {Text: c.Asked}, {Text: show(c.Got), Class: "strong"}, {Text: formatInterval(c.Low, c.High, show)}, {Text: article}, markCell(c.OK, c.Told), {Text: c.Why, Class: "muted"}})
	}
	return t
}

// loadTable returns the medians of each variant over the blocks.
func (o *Outcome) loadTable() html.Table {
	t := html.Table{ID: "storm", Title: o.Plan.underLoad(),
		How:     fmt.Sprintf("Medians of %s: %s.", o.Plan.formatBlocks(), o.Plan.formatLoad()),
		Columns: []html.Column{{Name: "variant"}}}
	for _, c := range o.knownColumns() {
		t.Columns = append(t.Columns, html.Column{Name: c.head, Number: true})
	}
	for _, v := range o.Variants {
		if len(o.Of(v.Name, "p99_ms")) == 0 {
			continue
		}
		row := []html.Cell{{Text: v.Name}}
		for _, c := range o.knownColumns() {
			row = append(row, html.Cell{Text: o.formatMedian(v.Name, c)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// variantTable returns all diagnosed variants: expected and found causes.
func (o *Outcome) variantTable() html.Table {
	t := html.Table{ID: "variants", Title: "All variants",
		How:     "Each was diagnosed by itself, like any service: what is wrong with it was not told.",
		Columns: []html.Column{{Name: "variant"}, {Name: "what it is"}, {Name: "expected"}, {Name: "found"}, {Name: ""}}}
	for _, v := range o.Variants {
		t.Rows = append(t.Rows, []html.Cell{{Text: v.Name}, {Text: v.About}, {Text: v.Expected.String()}, {Text: formatFound(v.Found), Class: "strong"}, markCell(v.OK, false)})
	}
	return t
}

func (o *Outcome) warningTable() html.Table {
	t := html.Table{ID: "lab-warnings", Title: "Warnings of the lab", Columns: []html.Column{{Name: "warning"}}}
	for _, text := range o.Warnings {
		t.Rows = append(t.Rows, []html.Cell{{Text: text}})
	}
	return t
}

// markCell returns [markWord] in its colour.
func markCell(ok, told bool) html.Cell {
	c := html.Cell{Text: markWord(ok, told), Class: "good"}
	if !ok {
		c.Class = "bad"
	}
	return c
}
