package loadresult

import (
	"strconv"
	"strings"
)

// Artillery prints a report each ten seconds and one of all, in ms from the send
// (https://www.artillery.io/docs/reference/reported-metrics, 2.0):
//
//	Summary report @ 21:20:11(+0200)
//	errors.ETIMEDOUT: .............................................................. 184279
//	http.codes.404: ................................................................ 444
//	http.response_time:
//	  p95: ......................................................................... 1002.4
//
// Only the summary is read: the other reports are parts of it.

func newArtillery() *run {
	r := &run{}
	r.Tool = "Artillery"
	r.Mode = "open"
	r.FromSend = true
	r.counted = true
	return r
}

func artilleryStarts(line string, _ *run) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "Summary report @ ")
}

func artilleryText(r *run, line string) bool {
	text := strings.TrimSpace(line)
	name, rest, ok := strings.Cut(text, ":")
	if !ok || strings.HasPrefix(text, "Summary report") || strings.Trim(text, "-") == "" {
		return true
	}
	value := strings.TrimLeft(rest, ". ")
	v, err := strconv.ParseFloat(strings.TrimSuffix(value, "/sec"), 64)
	if value == "" {
		r.section = name
		return true
	}
	if err != nil || v < 0 || v > 1e15 {
		return true
	}
	if line[0] != ' ' && line[0] != '\t' {
		r.section = ""
	}
	ms := func() int64 { n, _ := roundNanoseconds(v * 1e6); return n }
	switch {
	case strings.HasPrefix(name, "errors."):
		r.Errors += int64(v)
		if strings.HasPrefix(name, "errors.ETIMEDOUT") || strings.HasPrefix(name, "errors.ESOCKETTIMEDOUT") {
			r.Timeouts += int64(v)
		}
	case strings.HasPrefix(name, "http.codes."):
		class := "other"
		if c := name[len("http.codes."):]; len(c) == 3 && c[0] >= '1' && c[0] <= '5' {
			class = c[:1] + "xx"
		}
		r.addCode(class, int64(v))
	case name == "http.request_rate":
		r.Rate = v
	case name == "http.requests":
		r.Sent = int64(v)
	case name == "http.responses":
		r.Completed = int64(v)
	case r.section != "http.response_time":
	case name == "max":
		r.Max = ms()
	case name == "mean":
		r.Mean = ms()
	case name == "median":
		r.addQuantile(.5, ms())
	case len(name) > 1 && name[0] == 'p':
		if q, err := strconv.ParseFloat(name[1:], 64); err == nil && q > 1 {
			for q > 100 { // p999
				q /= 10
			}
			r.addQuantile(q/100, ms())
		}
	}
	return true
}

func artilleryWhole(r *run) bool { return r.Sent > 0 && r.Completed > 0 }
