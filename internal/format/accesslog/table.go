package accesslog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

func (t *tally) emitTables() {
	span := float64(t.until-t.from) / 1e9
	mean, busiest := "–", int32(0)
	if span >= 1 {
		mean = fmt.Sprintf("%.1f", float64(t.requests)/span)
	}
	for _, n := range t.perSecond {
		busiest = max(busiest, n)
	}
	rows := [][]string{
		{"layout", t.l.name},
		{"fields", strings.Join(t.l.fields, " · ")},
		{"lines", strconv.FormatInt(t.lines, 10)},
		{"requests", strconv.FormatInt(t.requests, 10)},
		{"lines of other kinds", strconv.FormatInt(t.others, 10)},
		{"lines not understood", strconv.FormatInt(t.damaged, 10)},
		{"first", formatTime(t.from)},
		{"last", formatTime(t.until)},
		{"requests per second, mean", mean},
		{"requests per second, highest", strconv.Itoa(int(busiest))},
	}
	if t.untimed > 0 {
		rows = slices.Insert(rows, 4, []string{"requests without a duration", strconv.FormatInt(t.untimed, 10)})
	}
	if t.profiles > 0 {
		rows = slices.Insert(rows, 4, []string{"requests for profiles (net/http/pprof), not counted", strconv.FormatInt(t.profiles, 10)})
	}
	t.b.Table(evidence.Table{Title: "access log", Columns: []string{"", ""}, Rows: rows})
	t.emitStatuses()
	if t.timed.len() == 0 {
		t.routesByCount()
		return
	}
	all, byRoute := t.latencyTables()
	t.b.Table(all)
	t.b.Table(byRoute)
}

func (t *tally) emitStatuses() {
	var rows [][]string
	for class, name := range []string{"none (client gone)", "1xx", "2xx", "3xx", "4xx", "5xx", "unknown"} {
		if n := t.classes[class]; n > 0 {
			rows = append(rows, []string{name, strconv.FormatInt(n, 10), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(t.requests))})
		}
	}
	t.b.Table(evidence.Table{Title: "status", Columns: []string{"class", "requests", "share"}, Rows: rows})
}

const topRoutes = 10

// latencyTables returns the latencies of all requests, and of the routes with the most time.
func (t *tally) latencyTables() (all, byRoute evidence.Table) {
	routes := topIndexes(t.timed.totals)
	routes = slices.DeleteFunc(routes, func(r int) bool { return t.timed.counts[r] == 0 })
	n := int64(t.timed.len())
	var quantiles []*quantile
	of := func(route int, n int64, q float64) *quantile {
		x := &quantile{route: route, rank: nearestRank(n, q)}
		quantiles = append(quantiles, x)
		return x
	}
	whole := []*quantile{of(allRoutes, n, 0.5), of(allRoutes, n, 0.9), of(allRoutes, n, 0.99), of(allRoutes, n, 0.999)}
	type pair struct{ half, high *quantile }
	pairs := make([]pair, len(routes))
	for i, r := range routes {
		pairs[i] = pair{of(r, t.timed.counts[r], 0.5), of(r, t.timed.counts[r], 0.99)}
	}
	t.timed.findQuantiles(quantiles)
	row := []string{strconv.FormatInt(n, 10), formatMillis(t.timed.sum / float64(n))}
	for _, q := range whole {
		row = append(row, formatMillis(float64(q.value)))
	}
	all = evidence.Table{Title: "latency, ms", Columns: []string{"requests", "mean", "p50", "p90", "p99", "p99.9", "max"}, Rows: [][]string{append(row, formatMillis(float64(t.timed.most)))}}
	byRoute = evidence.Table{Title: "routes by total time", Columns: []string{"route", "requests", "p50 ms", "p99 ms", "total s"}}
	for i, r := range routes {
		byRoute.Rows = append(byRoute.Rows, []string{cmp.Or(t.routes.texts[r], "(unknown)"), strconv.FormatInt(t.timed.counts[r], 10),
			formatMillis(float64(pairs[i].half.value)), formatMillis(float64(pairs[i].high.value)), fmt.Sprintf("%.3f", float64(t.timed.totals[r])/1e9)})
	}
	return all, byRoute
}

func (t *tally) routesByCount() {
	table := evidence.Table{Title: "routes by requests", Columns: []string{"route", "requests"}}
	for _, r := range topIndexes(t.counts) {
		table.Rows = append(table.Rows, []string{cmp.Or(t.routes.texts[r], "(unknown)"), strconv.FormatInt(t.counts[r], 10)})
	}
	t.b.Table(table)
}

// topIndexes returns the indexes of the largest values, at most topRoutes, largest first.
func topIndexes(v []int64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[b], v[a]) })
	return order[:min(len(order), topRoutes)]
}

func formatMillis(ns float64) string { return strconv.FormatFloat(ns/1e6, 'f', 3, 64) }

func formatTime(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}
