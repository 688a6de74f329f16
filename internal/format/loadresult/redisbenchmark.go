package loadresult

import (
	"strconv"
	"strings"
)

// redis-benchmark is a closed loop: each of its clients sends when its answer is there. It counts from the send.

func newRedisBenchmark() *run {
	r := &run{}
	r.Tool = "redis-benchmark"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

// redisQuiet reads a line of -q: "SET: 121951.22 requests per second, p50=0.207 msec".
func redisQuiet(line string) (test string, rate float64, rest string, ok bool) {
	test, rest, ok = strings.Cut(line, ": ")
	word, rest, ok2 := strings.Cut(rest, " requests per second")
	rate, err := strconv.ParseFloat(word, 64)
	rest = strings.TrimRight(rest, " ")
	return test, rate, rest, ok && ok2 && (rest == "" || strings.HasSuffix(rest, " msec")) && err == nil && rate > 0 && rate < 1e12 && !strings.HasPrefix(test, " ") && test != "throughput summary"
}

func redisBenchmarkStarts(line string, _ *run) bool {
	if _, _, _, ok := redisQuiet(line); ok {
		return true
	}
	line = strings.TrimRight(line, " ")
	return strings.HasPrefix(line, "====== ") && strings.HasSuffix(line, " ======")
}

func redisBenchmarkText(r *run, line string) bool {
	if test, rate, rest, ok := redisQuiet(line); ok && r.section == "" {
		r.notes = append(r.notes, [2]string{"test", test})
		r.Rate, r.ended = rate, true
		if _, word, found := strings.Cut(rest, "p50="); found {
			if v, ok := parseMillis(strings.Fields(word)); ok {
				r.addQuantile(.5, v)
			}
		}
		return true
	}
	f := strings.Fields(line)
	switch {
	case len(f) == 0 || r.ended:
	case f[0] == "======":
		r.section = "test"
		r.notes = append(r.notes, [2]string{"test", strings.Trim(line, "= ")})
	case strings.Contains(line, " requests completed in "):
		n, ok := parseCount(f[0])
		s, err := strconv.ParseFloat(f[len(f)-2], 64)
		if !ok || err != nil || !(s >= 0 && s < 1e9) {
			return false
		}
		r.Sent, r.Completed, r.Duration = n, n, int64(s*1e9)
	case len(f) == 3 && f[1] == "parallel" && f[2] == "clients":
		n, ok := parseCount(f[0])
		r.Connection = int(n)
		return ok
	case len(f) >= 4 && f[1] == "<=" && strings.HasPrefix(f[3], "millisecond"):
		q, ok := parsePercent(f[0])
		v, ok2 := parseMillis(f[2:])
		if ok && ok2 {
			r.addQuantile(q, v)
		}
		return ok && ok2
	case strings.HasSuffix(strings.TrimSpace(line), " requests per second"):
		rate, err := strconv.ParseFloat(f[len(f)-4], 64)
		if err != nil || !(rate > 0 && rate < 1e12) {
			return false
		}
		r.Rate = rate
		r.ended = len(f) == 4 // before 6.2 it is the last line
	case f[0] == "latency" && strings.HasPrefix(line, "  latency summary"):
		r.section = "latency"
	case r.section == "latency" && len(f) == 6 && f[0] != "avg":
		var ok, ok2 bool
		r.Mean, ok = parseMillis(f)
		r.Max, ok2 = parseMillis(f[5:])
		r.ended = true
		return ok && ok2
	}
	return true
}

// parseMillis reads the first word as ms.
func parseMillis(f []string) (ns int64, ok bool) {
	if len(f) == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(f[0], 64)
	return int64(v * 1e6), err == nil && v >= 0 && v < 1e9
}

func redisBenchmarkWhole(r *run) bool { return r.ended }
