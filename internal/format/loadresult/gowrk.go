package loadresult

import "strings"

// adjust/go-wrk is a closed loop and counts from the send. Its times are those of all calls, failed ones included; its Errors got no
// answer.

func newGoWrk() *run {
	r := &run{}
	r.Tool = "go-wrk"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

func goWrkStarts(line string, _ *run) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "==========================")
	return ok && strings.TrimRight(name, "=") == "BENCHMARK"
}

func goWrkText(r *run, line string) bool {
	name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	v := strings.Fields(value)
	if !ok || len(v) == 0 || r.ended {
		return true
	}
	switch name {
	case "URL":
		r.URL = v[0]
		return true
	case "Used Connections":
		var n int64
		n, ok = parseCount(v[0])
		r.Connection = int(min(n, 1e9))
	case "Total number of calls":
		r.Sent, ok = parseCount(v[0])
	case "Total time passed":
		r.Duration, ok = parseDuration(v[0])
	case "Avg time per request":
		r.Mean, ok = parseDuration(v[0])
	case "Median time per request":
		ok = r.goWrkQuantile(.5, v[0])
	case "99th percentile time":
		ok = r.goWrkQuantile(.99, v[0])
	case "Slowest time for request":
		r.Max, ok = parseDuration(v[0])
	case "20X Responses", "30X Responses", "40X Responses", "50X Responses":
		var n int64
		if n, ok = parseCount(v[0]); ok {
			r.addCode(name[:1]+"xx", n)
		}
	case "Errors":
		var n int64
		if n, ok = parseCount(v[0]); ok {
			r.addCode("other", n)
			r.countTotals()
			r.ended = true
		}
	}
	return ok
}

func (r *run) goWrkQuantile(q float64, text string) bool {
	v, ok := parseDuration(text)
	if ok {
		r.addQuantile(q, v)
	}
	return ok
}

func goWrkWhole(r *run) bool { return r.ended }
