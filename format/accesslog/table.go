package accesslog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/sorting"
)

func (t *tally) tables() {
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
		{"first", clock(t.from)},
		{"last", clock(t.until)},
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
	t.statuses()
	if len(t.durations) == 0 {
		t.routesByCount()
		return
	}
	byRoute := t.routesByTime()
	slices.Sort(t.durations)
	d := t.durations
	var sum float64
	for _, ns := range d {
		sum += float64(ns)
	}
	t.b.Table(evidence.Table{Title: "latency, ms", Columns: []string{"requests", "mean", "p50", "p90", "p99", "p99.9", "max"}, Rows: [][]string{{
		strconv.Itoa(len(d)), millis(sum / float64(len(d))), millisAt(d, 0.5), millisAt(d, 0.9), millisAt(d, 0.99), millisAt(d, 0.999), millis(float64(d[len(d)-1])),
	}}})
	t.b.Table(byRoute)
}

func (t *tally) statuses() {
	var rows [][]string
	for class, name := range []string{"none (client gone)", "1xx", "2xx", "3xx", "4xx", "5xx", "unknown"} {
		if n := t.classes[class]; n > 0 {
			rows = append(rows, []string{name, strconv.FormatInt(n, 10), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(t.requests))})
		}
	}
	t.b.Table(evidence.Table{Title: "status", Columns: []string{"class", "requests", "share"}, Rows: rows})
}

const topRoutes = 10

// routesByTime sorts the durations by route and shows the routes that took most.
func (t *tally) routesByTime() evidence.Table {
	starts := make([]int, len(t.counts)+1)
	for _, s := range t.slots {
		starts[s+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	sorted := make([]int64, len(t.durations))
	next := slices.Clone(starts)
	totals := make([]int64, len(t.counts))
	for i, s := range t.slots {
		sorted[next[s]] = t.durations[i]
		next[s]++
		totals[s] += t.durations[i]
	}
	order := top(totals)
	table := evidence.Table{Title: "routes by total time", Columns: []string{"route", "requests", "p50 ms", "p99 ms", "total s"}}
	for _, r := range order {
		d := sorted[starts[r]:starts[r+1]]
		if len(d) == 0 {
			continue
		}
		slices.Sort(d)
		table.Rows = append(table.Rows, []string{cmp.Or(t.routes.texts[r], "(unknown)"), strconv.Itoa(len(d)), millisAt(d, 0.5), millisAt(d, 0.99), fmt.Sprintf("%.3f", float64(totals[r])/1e9)})
	}
	return table
}

func (t *tally) routesByCount() {
	table := evidence.Table{Title: "routes by requests", Columns: []string{"route", "requests"}}
	for _, r := range top(t.counts) {
		table.Rows = append(table.Rows, []string{cmp.Or(t.routes.texts[r], "(unknown)"), strconv.FormatInt(t.counts[r], 10)})
	}
	t.b.Table(table)
}

// top returns the indexes of the largest values, largest first.
func top(v []int64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	sorting.By(order, func(a, b int) int {
		switch {
		case v[a] > v[b]:
			return -1
		case v[a] < v[b]:
			return 1
		}
		return 0
	})
	return order[:min(len(order), topRoutes)]
}

// millisAt is a quantile, by nearest rank.
func millisAt(sorted []int64, q float64) string {
	i := int(q*float64(len(sorted))+0.999999) - 1
	return millis(float64(sorted[min(max(i, 0), len(sorted)-1)]))
}

func millis(ns float64) string { return strconv.FormatFloat(ns/1e6, 'f', 3, 64) }

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.999999Z07:00") }
