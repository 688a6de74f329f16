package sentence

import (
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// Routes returns a table of the first routes with a header; a column that would be empty is left
// out.
func Routes(d *diagnose.Diagnosis, most int) [][]string {
	rows := [][]string{{"", "requests", "rate", "p50", "p99", "slow", "main slow time"}}
	last := len(rows[0]) - 1
	some := false
	for i := range d.Routes[:most] {
		row := routeRow(d, &d.Routes[i])
		some = some || row[last] != ""
		rows = append(rows, row)
	}
	if !some {
		for i := range rows {
			rows[i] = rows[i][:last]
		}
	}
	return rows
}

// routeRow returns a row of the table; cells that are not known are empty.
func routeRow(d *diagnose.Diagnosis, r *diagnose.Route) []string {
	name := r.Route
	if name == "" {
		name = "(no route)"
	}
	if Several(d) && r.Subject != "" {
		name += ", " + r.Subject
	}
	row := []string{name, units.Count(r.Requests), "", "", "", "none", ""}
	if r.Rate != nil {
		row[2] = units.Num(*r.Rate) + "/s"
	}
	for i, ms := range []*float64{r.P50Ms, r.P99Ms} {
		if ms != nil {
			row[3+i] = units.Ms(*ms)
		}
	}
	if r.Slow > 0 {
		row[5] = units.Percent(float64(r.Slow) / float64(r.Requests))
	}
	if r.Share != nil {
		row[6] = r.Title + " " + units.Percent(*r.Share)
	}
	return row
}
