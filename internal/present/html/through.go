package html

import (
	"fmt"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// throughView is where the time of requests went through a stack of services: a row for each journey step, or
// route, with a bar of its parts.
type throughView struct {
	N, H    int
	Title   string
	By      string
	Columns []throughColumn
	Rows    []throughRow
	Notes   []string
}

type throughColumn struct{ Head, Colour string }

type throughRow struct {
	Name  string
	Cells []throughCell
	Bar   []throughPart
}

type throughCell struct{ Label, Text, Colour string }

type throughPart struct{ X, W, Colour, Title string } // of the longest row, %

// partColours are the mechanisms whose colours the parts have.
var partColours = map[string]string{"outside": "unobserved", "front": "requests_cpu", "wait": "pool", "run": "own", "store": "dependency", "calls": "client", "kernel": "kernel", "else": "timer"}

func newThroughView(d *diagnose.Diagnosis, n, h int) *throughView {
	s := sentence.Stack(d.Through)
	if s == nil {
		return nil
	}
	v := &throughView{N: n, H: h, Title: "Through the stack: " + s.Of, By: s.By, Notes: s.Notes}
	behind := len(s.Columns) - len(s.Parts)
	for i, head := range s.Columns {
		c := throughColumn{Head: head}
		if i >= behind {
			c.Colour = partColours[s.Parts[i-behind]]
		}
		v.Columns = append(v.Columns, c)
	}
	longest := 0.
	for _, r := range s.Rows {
		longest = max(longest, sumParts(r.Parts))
	}
	for _, r := range s.Rows {
		row := throughRow{Name: r.Name}
		for i, text := range r.Cells {
			row.Cells = append(row.Cells, throughCell{v.Columns[i].Head, text, v.Columns[i].Colour})
		}
		at := 0.
		for i, ms := range r.Parts {
			if w := 100 * ms / longest; w >= 100*visibleShare {
				row.Bar = append(row.Bar, throughPart{fmt.Sprintf("%.2f", at), fmt.Sprintf("%.2f", w), partColours[s.Parts[i]], s.Columns[i+behind] + ": " + r.Cells[i+behind] + " ms"})
			}
			at += 100 * ms / longest
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func sumParts(parts []float64) (sum float64) {
	for _, v := range parts {
		sum += v
	}
	return sum
}
