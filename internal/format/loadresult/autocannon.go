package loadresult

import "strings"

// autocannon begins as wrk does, and prints tables: of 3.0 on within boxes, with the percentiles first, before in columns. It is a closed loop and counts from
// the send; with pipelining it keeps several requests on a connection, and counts from when the first of them is sent.
//
//	10 connections with 2 pipelining factor
//	│ Stat    │ 2.5%   │ 50%    │ 97.5%  │ 99%    │ Avg       │ Stdev   │ Max    │
//	│ Latency │ 400 ms │ 404 ms │ 413 ms │ 415 ms │ 404.61 ms │ 4.12 ms │ 416 ms │
//
// https://github.com/mcollina/autocannon lib/printResult.js, 1 to 8.

const autocannonName = "autocannon"

func newAutocannon() *run {
	r := newWrk()
	r.Tool = autocannonName
	return r
}

// autocannonStarts says whether a line is the head of a table of latencies that stands without the lines before it.
func autocannonStarts(line string, cur *run) bool {
	if !strings.Contains(line, "Stat ") || cur != nil && cur.Mean == 0 {
		return false
	}
	f := cellsOf(line)
	return len(f) >= 4 && f[0] == "Stat" && f[len(f)-1] == "Max" && f[len(f)-2] == "Stdev" && f[len(f)-3] == "Avg"
}

// cellsOf splits a row of a table, within a box or without one.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	rest, boxed := strings.CutPrefix(line, "│")
	if !boxed {
		var all []string
		for _, w := range strings.Fields(line) {
			if _, unit := timeUnits[w]; unit && len(all) > 0 { // "404 ms": the box was taken off
				all[len(all)-1] += w
			} else if w != "│" {
				all = append(all, w)
			}
		}
		return all
	}
	all := strings.Split(strings.TrimSuffix(rest, "│"), "│")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func autocannonText(r *run, line string) bool {
	f := cellsOf(line)
	switch {
	case len(f) < 2:
		return true
	case f[0] == "Stat":
		if r.head = nil; f[len(f)-1] == "Max" {
			r.head = f[1:]
		}
		return true
	case f[0] == "Latency":
		values := f[1:]
		unit := ""
		if values[0] == "(ms)" { // before 3.0
			values, unit = values[1:], "ms"
		}
		return r.autocannonLatency(values, unit)
	case f[0] == "Req/Sec":
		r.head = nil
		return true
	case f[1] == "connections":
		n, ok := parseCount(f[0])
		r.Connection = int(min(n, 1e9))
		return ok
	case f[1] == "requests" && len(f) > 3 && f[2] == "in":
		n, ok := parseScaled(strings.ReplaceAll(f[0], ",", ""), 1000)
		v, ok2 := parseDuration(strings.TrimSuffix(f[3], ","))
		if r.Completed, r.Duration, r.ended = int64(n), v, true; v > 0 {
			r.Rate = n / (float64(v) / 1e9)
		}
		return ok && ok2
	}
	return true
}

// autocannonLatency reads the row of latencies below its head.
func (r *run) autocannonLatency(values []string, unit string) bool {
	if len(values) != len(r.head) {
		return false
	}
	for i, name := range r.head {
		v, ok := parseDuration(strings.ReplaceAll(strings.ReplaceAll(values[i], " ", ""), ",", "") + unit)
		if !ok {
			return false
		}
		switch q, share := parsePercent(name); {
		case name == "Avg":
			r.Mean = v
		case name == "Stdev":
			r.Stdev = v
		case name == "Max":
			r.Max = v
		case share && v > 0: // it counts whole milliseconds: 0 is less than one
			r.addQuantile(q, v)
		}
	}
	r.head = nil
	return true
}
