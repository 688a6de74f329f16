package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Given is a table of figures in the evidence, where no figure decides a cause.
type Given struct {
	Title   string   `json:"title"`   // of a table, or the id of a cause of which only the reason is not told
	Figures []string `json:"figures"` // the first of them: "go_goroutines 61"
}

// How many tables and figures are listed.
const (
	mostGiven        = 2
	mostGivenFigures = 4
	mostGivenText    = 120
)

// listGivenFigures returns the first figures of the tables in the evidence where nothing is judged, to show users that their file was read, and what
// is in it. listHostFigures lists figures of hosts.
func (r *run) listGivenFigures() (all []Given) {
	if r.d.Outcome != NotJudged || r.d.Requests != nil || len(r.d.Host) > 0 || len(r.d.Loads) > 0 || r.d.AtRequests != nil || r.d.Unasked ||
		slices.ContainsFunc(r.d.Verdicts, func(v Verdict) bool { return v.Verdict == check.RuledOut }) {
		return nil
	}
	for _, v := range r.d.Verdicts { // what happened, where only its reason is not told
		if len(all) == 0 && v.Decision != nil && v.Decision.Answer == check.Untold.Answer && strings.ContainsAny(v.Summary, "0123456789") {
			all = append(all, Given{Title: v.Cause, Figures: []string{v.Summary}})
		}
	}
	for i := range r.b.Tables {
		t := &r.b.Tables[i]
		if len(all) > 0 && strings.HasPrefix(t.Title, "Lines of ") { // how it was read says less
			continue
		}
		g := Given{Title: t.Title}
		for _, row := range t.Rows {
			if len(g.Figures) == mostGivenFigures {
				break
			}
			if text := figuresOf(t.Columns, row); text != "" {
				g.Figures = append(g.Figures, string(redact.Line([]byte(text)))) // labels may hold what programs call their threads
			}
		}
		if len(g.Figures) > 0 {
			all = append(all, g)
		}
		if len(all) == mostGiven {
			break
		}
	}
	return all
}

// figuresOf writes a row: "label (column figure, column figure)", or "label figure" where there is one, or one with its unit.
func figuresOf(columns, row []string) string {
	if len(row) < 2 || row[0] == "" {
		return ""
	}
	if last := len(row) - 1; len(row) == len(columns) && columns[last] == "unit" {
		if v, err := strconv.ParseFloat(row[1], 64); err == nil && !strings.HasPrefix(row[0], "lines ") && !strings.HasPrefix(row[0], "rows ") && len(row[0]) <= mostGivenText {
			return row[0] + " " + units.Of(v, row[last])
		}
		return ""
	}
	var cells []string
	for i := 1; i < len(row) && i < len(columns); i++ {
		switch {
		case row[i] == "" || row[i] == "–" || len(row[i]) > mostGivenText:
		case len(row) == 2:
			cells = append(cells, row[i])
		default:
			name, unit := columns[i], ""
			if of, share := strings.CutSuffix(name, " %"); share {
				name, unit = of, " %"
			}
			cells = append(cells, strings.TrimSpace(name+" "+row[i])+unit)
		}
	}
	if len(cells) == 0 || strings.HasPrefix(row[0], "lines ") || strings.HasPrefix(row[0], "rows ") {
		return ""
	}
	label := row[0]
	if len(label) > mostGivenText {
		return ""
	}
	if len(row) == 2 {
		return label + " " + cells[0]
	}
	return label + " (" + strings.Join(cells, ", ") + ")"
}
