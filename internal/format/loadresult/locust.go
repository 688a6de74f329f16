package loadresult

import (
	"strconv"
	"strings"
)

// locust prints a table of all requests repeatedly while it runs, and the percentiles at its end; ms from the send, by users in a
// loop (https://github.com/locustio/locust/blob/master/locust/stats.py):
//
//	Type     Name                                  # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s
//	         Aggregated                              4932     12(0.24%) |   2449     120   15033   2100 |   82.10        0.20
//
//	Type     Name                 50%    66%    75%    80%    90%    95%    98%    99%  99.9% 99.99%   100% # reqs
//	         Aggregated          2100   2600   2900   3200   4600   5900   8100  10100  14000  15000  15000   4932
//
// People copy the percentiles alone, of versions to 0.7 with the count in front: then the requests of all rows count, and the percentiles
// of each are notes.
//
// Before 1.0 some rows are called Total, and the median stands behind a bar with the rate. The last table is the result.

func newLocust() *run {
	r := &run{}
	r.Tool = "locust"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

func locustStarts(line string, cur *run) bool {
	if cur == nil && strings.Contains(line, " Name ") && strings.Contains(line, " # reqs ") && strings.Contains(line, " 50% ") && strings.Contains(line, " 99% ") && strings.Contains(line, "100%") {
		return true
	}
	return cur == nil && strings.Contains(line, " # reqs ") && strings.Contains(line, " # fails ") && strings.Contains(line, " Avg ") && strings.Contains(line, " Max")
}

func locustText(r *run, line string) bool {
	f := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == '|' })
	if len(f) == 0 {
		return true
	}
	switch {
	case strings.Contains(line, " # fails "):
		r.section = "figures"
		if strings.Contains(line, "Median") {
			r.section = "old" // Avg, Min, Max, Median
		}
		return true
	case strings.Contains(line, "50%") && strings.Contains(line, "99%") && strings.Contains(line, "# reqs"):
		if r.section == "" && strings.Index(line, "# reqs") < strings.Index(line, "50%") {
			return locustRows(r, f)
		}
		r.section = "percentiles"
		r.notes = r.notes[:0]
		for _, name := range f {
			if strings.HasSuffix(name, "%") {
				r.notes = append(r.notes, [2]string{name, ""})
			}
		}
		return true
	case r.section == "rows" && strings.Trim(line, "- ") == "" && r.Completed > 0: // the line below the last row
		r.section = "done"
		return true
	case r.section == "rows":
		return locustRow(r, f)
	case f[0] != "Aggregated" && f[0] != "Total":
		return true
	}
	f = f[1:]
	switch {
	case r.section == "percentiles":
		if len(f) < len(r.notes) {
			return false
		}
		if n, ok := parseCount(f[0]); len(f) == len(r.notes)+1 && ok && n == r.Completed && f[len(f)-1] != f[0] { // the count stands first in older versions
			f = f[1:]
		}
		r.Quantiles = r.Quantiles[:0]
		for i, x := range r.notes {
			q, ok := parsePercent(x[0])
			ms, err := strconv.ParseFloat(f[i], 64)
			v, ok2 := roundNanoseconds(ms * 1e6)
			if !ok || err != nil || !ok2 {
				return false
			}
			r.addQuantile(q, v)
		}
		r.notes, r.section = nil, "done"
		return true
	case r.section != "figures" && r.section != "old":
		return true
	case len(f) < 7, len(f) < 8 && r.section == "figures":
		return false // cut, maybe within a figure
	}
	n, ok := parseCount(f[0])
	failed, _, _ := strings.Cut(f[1], "(")
	bad, ok2 := parseCount(failed)
	var v [4]float64 // mean, least, most, median
	for i := range v {
		x, err := strconv.ParseFloat(f[2+min(i, len(f)-3)], 64)
		if err != nil || x < 0 {
			return false
		}
		v[i] = x
	}
	if !ok || !ok2 {
		return false
	}
	r.Completed, r.Sent, r.Errors, r.counted = n, n, bad, true
	r.Mean, _ = roundNanoseconds(v[0] * 1e6)
	r.Max, _ = roundNanoseconds(v[2] * 1e6)
	r.Quantiles = r.Quantiles[:0]
	if median, ok := roundNanoseconds(v[3] * 1e6); ok && median > 0 {
		r.addQuantile(.5, median)
	}
	if len(f) > 7 {
		r.Rate, _ = strconv.ParseFloat(f[6], 64)
	}
	return true
}

// locustRows begins a table of percentiles without a table of figures before it.
func locustRows(r *run, heading []string) bool {
	r.section = "rows"
	for _, name := range heading {
		if strings.HasSuffix(name, "%") {
			r.columns++
		}
	}
	return true
}

// mostNamed is how many rows are kept as notes.
const mostNamed = 20

// locustRow reads "GET /  5346  70  81  89  96  120  130  160  170  284" of such a table.
func locustRow(r *run, f []string) bool {
	k := r.columns + 1
	if len(f) <= k {
		return true // a line between
	}
	figures := f[len(f)-k:]
	n, ok := parseCount(figures[0])
	if !ok {
		return true
	}
	name := strings.Join(f[:len(f)-k], " ")
	if name == "Total" || name == "Aggregated" {
		return true
	}
	r.Completed += n
	r.Sent, r.counted = r.Completed, false
	if len(r.notes) < mostNamed {
		r.notes = append(r.notes, [2]string{name, figures[0] + " requests, median " + figures[1] + " ms, p99 " + figures[max(1, k-2)] + " ms"})
	}
	return true
}

func locustWhole(r *run) bool { return r.Completed > 0 && r.section == "done" }
