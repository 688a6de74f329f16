package loadresult

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// k6 counts from the send: http_req_duration is sending, waiting and receiving,
// without the request's wait for a connection or, with an arrival-rate
// executor, for a free virtual user. Its metric http_req_failed is true for
// failures, so its "passes" and its ✓ are the failed ones.

// k6JSON reads --summary-export, which has the figures right below the metric,
// and the data of handleSummary, which has them below "values".
func k6JSON(t tree) *run {
	values := func(metric string) tree {
		m := t.treeAt("metrics", metric)
		if v := m.treeAt("values"); v != nil {
			return v
		}
		return m
	}
	r := newK6()
	r.Duration = t.durationAt(1e6, "state", "testRunDurationMs")
	reqs := values("http_reqs")
	r.Completed = reqs.countAt("count")
	r.Sent = r.Completed
	r.Rate = reqs.rateAt("rate")
	duration := values("http_req_duration")
	for _, name := range slices.Sorted(maps.Keys(duration)) {
		if v, ok := duration.numberAt(name); ok {
			if v, ok := roundNanoseconds(v * 1e6); ok {
				r.k6Trend(name, v)
			}
		}
	}
	failed := values("http_req_failed")
	r.counted = failed.hasValue("passes")
	r.Errors = failed.countAt("passes")
	r.BytesPerS = values("data_received").rateAt("rate")
	r.Connection = int(min(max(values("vus_max").countAt("value"), values("vus_max").countAt("max")), 1e9))
	if t.hasValue("metrics", "dropped_iterations") {
		r.k6Dropped(values("dropped_iterations").countAt("count"))
	}
	return r
}

func newK6() *run {
	r := &run{}
	r.Tool = "k6"
	r.FromSend = true
	return r
}

// k6Trend reads one figure of http_req_duration.
func (r *run) k6Trend(name string, v int64) {
	switch name {
	case "avg":
		r.Mean = v
	case "med":
		r.addQuantile(.5, v)
	case "max":
		r.Max = v
	default:
		if p, ok := strings.CutPrefix(name, "p("); ok {
			if q, ok := parsePercent(strings.TrimSuffix(p, ")")); ok {
				r.addQuantile(q, v)
			}
		}
	}
}

// k6Dropped reads dropped iterations, which only executors with an arrival rate have.
func (r *run) k6Dropped(n int64) {
	r.Mode = "open"
	r.unsent = n
	if n > 0 {
		r.warn = append(r.warn, "k6 dropped "+format.Count(n, "iteration", "iterations")+": no virtual user was free, so the load was lower than requested; raise maxVUs")
	}
}

// k6Metric splits "http_reqs......: 180 4.36938/s" into the name and the rest.
// Thresholds put ✓ or ✗ before the name; names of sub-metrics are in braces.
func k6Metric(line string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(strings.TrimLeft(line, " ✓✗"), ": ")
	name = strings.TrimRight(name, ".")
	return name, strings.TrimSpace(rest), ok && name != "" && !strings.ContainsAny(name, " {'")
}

// isK6Count reports whether a line of k6 is whole because its rate ends with its unit: "http_reqs......: 180 4.36938/s".
func isK6Count(line string) bool {
	name, rest, ok := k6Metric(line)
	return ok && name == "http_reqs" && strings.HasSuffix(rest, "/s")
}

func k6Starts(line string, cur *run) bool {
	if cur == nil {
		if name, _, ok := k6Metric(line); ok && strings.Contains(line, "...: ") {
			switch name {
			case "checks", "checks_total", "data_received", "data_sent", "http_req_blocked", "http_req_duration", "http_reqs":
				return true
			}
		}
	}
	return strings.TrimSpace(line) == "execution: local"
}

func k6Text(r *run, line string) bool {
	trimmed := strings.TrimSpace(line)
	if after, ok := strings.CutPrefix(trimmed, "running ("); ok {
		if spent, _, ok := strings.Cut(after, ")"); ok {
			if v, ok := parseDuration(spent); ok && v > 0 {
				r.Duration = v
			}
		}
		return true
	}
	if strings.HasPrefix(trimmed, "* ") {
		r.k6Executor(trimmed)
		return true
	}
	if strings.HasPrefix(trimmed, "█ GROUP") || strings.HasPrefix(trimmed, "█ SCENARIO") {
		r.section = "parts" // the same metrics again, of a part
	}
	name, rest, ok := k6Metric(line)
	if !ok || r.section == "parts" {
		return true // or the script's own output
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return true
	}
	switch name {
	case "http_req_duration":
		for _, f := range fields {
			stat, value, _ := strings.Cut(f, "=")
			v, ok := parseDuration(value)
			if !ok && stat != "count" {
				return false
			}
			r.k6Trend(stat, v)
		}
	case "http_reqs":
		if len(fields) < 2 {
			return false
		}
		n, ok := parseCount(fields[0])
		rate, ok2 := perSecond(fields[1])
		if ok && ok2 {
			r.Completed, r.Sent, r.Rate = n, n, rate
		}
		return ok && ok2
	case "http_req_failed":
		rest = strings.NewReplacer("✓", " ", "✗", " ", "out of", " ").Replace(rest)
		if fields = strings.Fields(rest); len(fields) < 2 {
			return false
		}
		r.Errors, r.counted = parseCount(fields[1])
		return r.counted
	case "data_received":
		if len(fields) == 4 {
			r.BytesPerS, ok = perSecond(fields[2] + fields[3])
		}
		return ok
	case "vus_max":
		n, ok := parseCount(fields[0])
		r.Connection = int(min(n, 1e9))
		return ok
	case "dropped_iterations":
		n, ok := parseCount(fields[0])
		if ok {
			r.k6Dropped(n)
		}
		return ok
	}
	return true
}

// k6Executor reads the executor of a scenario: "* default: 100.00 iterations/s for
// 30s (maxVUs: 50)", "* default: 10 looping VUs for 30s (gracefulStop: 30s)".
func (r *run) k6Executor(line string) {
	mode := ""
	switch {
	case strings.Contains(line, "iterations/s"):
		mode = "open"
	case strings.Contains(line, "looping VUs"), strings.Contains(line, "iterations for each of"), strings.Contains(line, "iterations shared among"):
		mode = "closed"
	default:
		return
	}
	if r.Mode != "" && r.Mode != mode {
		mode = "" // scenarios of both kinds
	}
	r.Mode = mode
}

func k6Whole(r *run) bool { return r.Completed > 0 && r.Mean+r.Max > 0 && r.counted }

const k6Point = `{"metric":"`

// isK6Line recognises a line of --out json. Until 0.3x "type" came first.
func isK6Line(line []byte) bool {
	var typed, metric, data bool
	scanMembers(line, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			typed = string(value) == `"Point"` || string(value) == `"Metric"`
		case "metric":
			metric = true
		case "data":
			data = true
		}
		return true
	})
	return typed && metric && data
}

// k6Read are the metrics of --out json that are read; others are known and ignored.
var k6Read = map[string]func(rs *rows, r *run, data []byte, line int64) bool{
	"http_req_duration": k6Request,
	"data_received": func(rs *rows, _ *run, data []byte, _ int64) bool {
		v, ok := k6Value(data)
		rs.bytesIn += v
		return ok
	},
	"dropped_iterations": func(_ *rows, r *run, data []byte, _ int64) bool {
		v, ok := k6Value(data)
		r.unsent += int64(min(max(v, 0), 1e9))
		return ok
	},
	"vus_max": func(_ *rows, r *run, data []byte, _ int64) bool {
		v, ok := k6Value(data)
		r.Connection = max(r.Connection, int(min(max(v, 0), 1e9)))
		return ok
	},
}

func parseNumber(b []byte) (float64, bool) {
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}
