package loadresult

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// bombardier is a closed loop, also with --rate, which only delays its
// connections; it counts from the send. "others" are requests without a
// usable answer.

func newBombardier() *run {
	r := &run{}
	r.Tool = "bombardier"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

// bombardierJSON reads -o json: latencies are in µs. The keys of its rps and of
// its latencies are percents, written "50".
func bombardierJSON(t tree) *run {
	const us = 1e3
	r := newBombardier()
	r.URL = t.stringAt("spec", "url")
	r.Connection = int(min(t.countAt("spec", "numberOfConnections"), 1e9))
	r.Offered = t.rateAt("spec", "rate")
	res := t.treeAt("result")
	r.Duration = res.durationAt(1e9, "timeTakenSeconds")
	r.Rate = res.rateAt("rps", "mean")
	r.Mean = res.durationAt(us, "latency", "mean")
	r.Stdev = res.durationAt(us, "latency", "stddev")
	r.Max = res.durationAt(us, "latency", "max")
	percentiles := res.treeAt("latency", "percentiles")
	for _, p := range slices.Sorted(maps.Keys(percentiles)) {
		if q, ok := parsePercent(p); ok {
			r.addQuantile(q, percentiles.durationAt(us, p))
		}
	}
	for _, c := range []string{"1xx", "2xx", "3xx", "4xx", "5xx"} {
		if n := res.countAt("req" + c); n > 0 {
			r.addCode(c, n)
		}
	}
	if n := res.countAt("others"); n > 0 {
		r.addCode("other", n)
	}
	list, _ := res.valueAt("errors").([]any)
	for _, e := range list {
		if e, ok := e.(tree); ok && timedOut([]byte(e.stringAt("description"))) {
			r.Timeouts += e.countAt("count")
		}
	}
	r.bombardierTotals()
	if r.Duration > 0 {
		r.BytesPerS = res.rateAt("bytesRead") / (float64(r.Duration) / 1e9)
	}
	return r
}

func (r *run) bombardierTotals() {
	r.Completed = r.countAnswered()
	r.Sent = r.Completed + r.Codes["other"]
	r.Errors = r.countFailed()
	r.counted = true
}

func bombardierStarts(line string, cur *run) bool {
	if strings.HasPrefix(line, "Bombarding ") {
		return true
	}
	if !strings.HasPrefix(strings.TrimSpace(line), "Statistics") {
		return false
	}
	f := strings.Fields(line)
	return (cur == nil || cur.section != "") && slices.Equal(f, []string{"Statistics", "Avg", "Stdev", "Max"})
}

func bombardierText(r *run, line string) bool {
	f := strings.Fields(line)
	if len(f) == 0 || r.ended {
		return true
	}
	switch f[0] {
	case "Bombarding":
		return r.bombardierPlan(f)
	case "Statistics":
		r.section = "statistics"
	case "Reqs/sec":
		if len(f) < 4 {
			return false
		}
		v, ok := parseScaled(f[1], 1000)
		r.Rate = v
		return ok
	case "Latency":
		if len(f) > 1 && f[1] == "Distribution" {
			r.section = "latency"
			return true
		}
		if len(f) != 4 {
			return false
		}
		var ok [3]bool
		r.Mean, ok[0] = parseDuration(f[1])
		r.Stdev, ok[1] = parseDuration(f[2])
		r.Max, ok[2] = parseDuration(f[3])
		return ok[0] && ok[1] && ok[2]
	case "HTTP":
		r.section = "codes"
	case "Errors:":
		r.section = "errors"
	case "Throughput:":
		if len(f) < 2 {
			return false
		}
		v, ok := parseScaled(f[1], 1024)
		r.BytesPerS, r.ended = v, true
		return ok
	default:
		switch r.section {
		case "latency":
			q, ok := parsePercent(f[0])
			v, ok2 := parseDuration(f[len(f)-1])
			if ok && ok2 {
				r.addQuantile(q, v)
			}
			return ok && ok2
		case "codes":
			return r.bombardierCodes(line)
		case "errors":
			i := strings.LastIndex(line, " - ")
			if i < 0 {
				return false
			}
			n, ok := parseCount(line[i+3:])
			if ok && timedOut([]byte(line[:i])) {
				r.Timeouts += n
			}
			return ok
		}
		return r.section == "" || f[0] == "There" // progress; "There wasn't enough data to compute …"
	}
	return true
}

// bombardierPlan reads "Bombarding URL for 10s using 125 connection(s)" and
// "Bombarding URL with 1000 request(s) using 125 connection(s)".
func (r *run) bombardierPlan(f []string) bool {
	if len(f) < 7 {
		return false
	}
	r.URL = f[1]
	if f[2] == "for" {
		r.Duration, _ = parseDuration(f[3])
	}
	n, err := strconv.Atoi(f[len(f)-2])
	r.Connection = n
	return err == nil
}

// bombardierCodes reads "1xx - 0, 2xx - 1000, …" and "others - 5".
func (r *run) bombardierCodes(line string) bool {
	for part := range strings.SplitSeq(line, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), " - ")
		n, ok := parseCount(value)
		if !ok {
			return false
		}
		if name == "others" {
			name = "other"
		}
		if n > 0 {
			r.addCode(name, n)
		}
	}
	r.bombardierTotals()
	return true
}

func bombardierWhole(r *run) bool { return r.ended }
