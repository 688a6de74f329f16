package loadresult

import (
	"strconv"
	"strings"
)

// loadtest of Node.js is a closed loop, or keeps a rate with --rps; which of them its result does not tell. The result is an object as console.log prints
// it, or as JSON:
//
//	totalRequests: 3186,
//	totalErrors: 0,
//	totalTimeSeconds: 20.001132613000003,
//	rps: 159,
//	meanLatencyMs: 42,
//	maxLatencyMs: 184,
//	minLatencyMs: 9,
//	percentiles: { '50': 32, '90': 80, '95': 94, '99': 122 },
//	errorCodes: { '-1': 12 },
//
// https://github.com/alexfernandez/loadtest, lib/result.js and lib/latency.js (1 to 8). Latencies count from the send, those of failed requests, too; the
// error code -1 is a request that got no answer.

const loadtestName = "loadtest"

func newLoadtest() *run {
	r := &run{}
	r.Tool = loadtestName
	r.FromSend = true
	r.counted = true
	return r
}

// loadtestField splits "totalErrors: 0,", also with a quoted name.
func loadtestField(line string) (name, value string) {
	name, value, _ = strings.Cut(strings.TrimSpace(line), ":")
	return strings.Trim(name, `"'`), strings.TrimSuffix(strings.TrimSpace(value), ",")
}

func loadtestStarts(line string, _ *run) bool {
	name, value := loadtestField(line)
	_, ok := parseCount(value)
	return name == "totalRequests" && ok
}

func loadtestText(r *run, line string) (ok bool) {
	if r.ended {
		return true
	}
	name, value := loadtestField(line)
	switch name {
	case "totalRequests":
		r.Sent, ok = parseCount(value)
	case "totalErrors":
		r.Errors, ok = parseCount(value)
		r.Completed = max(0, r.Sent-r.Errors)
	case "totalTimeSeconds":
		r.Duration, ok = parseDuration(value + "s")
	case "rps", "effectiveRps":
		r.Rate, ok = parseScaled(value, 1000)
	case "meanLatencyMs":
		r.Mean, ok = parseDuration(value + "ms")
	case "maxLatencyMs":
		r.Max, ok = parseDuration(value + "ms")
	case "percentiles":
		ok = value == "{" || r.loadtestPercentiles(value)
	case "50", "90", "95", "99": // of JSON over several lines
		ok = r.loadtestPercentile(name, value)
	case "errorCodes":
		r.ended, ok = true, true
	default:
		return true
	}
	return ok
}

// loadtestPercentiles reads "{ '50': 32, '90': 80 }".
func (r *run) loadtestPercentiles(text string) bool {
	inside, _, ok := strings.Cut(strings.TrimPrefix(text, "{"), "}")
	if !ok {
		return false
	}
	for _, pair := range strings.Split(inside, ",") {
		if !r.loadtestPercentile(loadtestField(pair)) {
			return false
		}
	}
	return true
}

func (r *run) loadtestPercentile(name, value string) bool {
	of, err := strconv.ParseFloat(name, 64)
	v, ok := parseDuration(value + "ms")
	if err != nil || !ok || !(of > 0 && of < 100) {
		return false
	}
	r.addQuantile(of/100, v)
	return true
}

func loadtestWhole(r *run) bool { return r.ended }
