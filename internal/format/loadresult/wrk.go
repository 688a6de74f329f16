package loadresult

import (
	"strconv"
	"strings"
)

// wrk and wrk2 print alike. wrk is a closed loop and counts from the send; wrk2
// keeps a rate, which it does not print, and counts from the intended
// time. wrk2 is recognised by its calibration and by its
// HdrHistogram distributions; with -U it prints a second one that counts
// from the send. A latency of "1.10m" is minutes. wrk 1 makes a number of requests instead of running for a time, and says so.

func newWrk() *run {
	r := &run{}
	r.Tool = "wrk"
	r.Mode = "closed"
	r.FromSend = true
	r.counted = true // both print errors only if there are any
	return r
}

func (r *run) markWrk2() {
	r.Tool = "wrk2"
	r.Mode = "open"
	r.FromSend = false
}

func wrkStarts(line string, cur *run) bool {
	if strings.HasPrefix(line, "Running ") && strings.Contains(line, " test @ ") {
		return true
	}
	if f := strings.Fields(line); strings.HasPrefix(line, "Making ") && len(f) == 5 && f[2] == "requests" && f[3] == "to" { // wrk 1
		return true
	}
	stats := strings.TrimPrefix(strings.TrimSpace(line), "Thread Stats ")
	return (cur == nil || cur.Mean > 0) && strings.HasPrefix(strings.TrimLeft(stats, " "), "Avg ") && strings.Contains(stats, "Stdev")
}

func wrkText(r *run, line string) bool {
	f := strings.Fields(line)
	if len(f) == 0 || r.ended {
		return true // what scripts print at the end is theirs
	}
	if len(f) > 1 && f[1] == "connections" { // wrk names its threads first
		r.Tool = autocannonName
	}
	if r.Tool == autocannonName {
		return autocannonText(r, line)
	}
	if r.section != "" && strings.HasSuffix(f[0], "%") {
		return r.wrkQuantile(f)
	}
	switch f[0] {
	case "Running":
		if len(f) != 5 {
			return false
		}
		r.URL = f[4]
		v, ok := parseDuration(f[1])
		r.Duration = v
		return ok
	case "Making":
		if len(f) != 5 {
			return false
		}
		r.URL = f[4]
		return true
	case "Thread":
		if len(f) > 1 && f[1] == "calibration:" {
			r.markWrk2()
		}
		return true
	case "Latency":
		return r.wrkLatency(f)
	case "Socket":
		return r.wrkErrors(f)
	case "Non-2xx":
		n, ok := parseCount(f[len(f)-1])
		r.Errors += n
		return ok
	case "Requests/sec:":
		if len(f) < 2 {
			return false
		}
		v, ok := parseScaled(f[1], 1000)
		r.Rate = v
		return ok
	case "Transfer/sec:":
		if len(f) < 2 {
			return false
		}
		v, ok := parseScaled(f[1], 1024)
		r.BytesPerS, r.ended = v, true
		return ok
	case "Detailed":
		r.section += " spectrum"
		return true
	case "Req/Sec", "Value":
		return true
	}
	switch {
	case strings.Contains(line, " threads and ") && len(f) == 5:
		n, ok := parseCount(f[3])
		r.Connection = int(min(n, 1e9))
		return ok
	case strings.Contains(line, " requests in ") && len(f) >= 4:
		n, ok := parseCount(f[0])
		v, ok2 := parseDuration(strings.TrimSuffix(f[3], ","))
		r.Completed, r.Duration, r.section = n, v, ""
		return ok && ok2
	case strings.HasSuffix(r.section, " spectrum") && len(f) == 4:
		return r.wrkSpectrum(f)
	}
	return strings.HasPrefix(f[0], "#[") || strings.Trim(f[0], "-") == "" || strings.HasPrefix(f[0], "[")
}

func (r *run) wrkLatency(f []string) bool {
	if len(f) > 1 && f[1] == "Distribution" {
		r.section = "recorded"
		if len(f) > 2 {
			r.markWrk2()
		}
		if len(f) > 4 && f[4] == "Uncorrected" {
			r.section = "uncorrected"
		}
		return true
	}
	if len(f) < 4 {
		return false
	}
	var ok [3]bool
	r.Mean, ok[0] = parseDuration(f[1])
	r.Stdev, ok[1] = parseDuration(f[2])
	r.Max, ok[2] = parseDuration(f[3])
	return ok[0] && ok[1] && ok[2]
}

func (r *run) wrkQuantile(f []string) bool {
	if len(f) != 2 {
		return false
	}
	q, ok := parsePercent(f[0])
	v, ok2 := parseDuration(f[1])
	if !ok || !ok2 {
		return false
	}
	r.wrkPoint(q, v)
	return true
}

// wrkPoint adds a point of the current distribution. 100 % of the
// uncorrected one is not the run's maximum.
func (r *run) wrkPoint(q float64, v int64) {
	if !strings.HasPrefix(r.section, "uncorrected") {
		r.addQuantile(q, v)
		return
	}
	at := len(r.Quantiles)
	r.addQuantile(q, v)
	r.fromRaw = append(r.fromRaw, r.Quantiles[at:]...)
	r.Quantiles = r.Quantiles[:at]
}

// wrkSpectrum reads "10.015  0.950000  37543  20.00", ms and a share, for the
// one usual point that the distribution above it lacks.
func (r *run) wrkSpectrum(f []string) bool {
	ms, err := strconv.ParseFloat(f[0], 64)
	q, err2 := strconv.ParseFloat(f[1], 64)
	v, ok := roundNanoseconds(ms * 1e6)
	if err != nil || err2 != nil || !ok {
		return false
	}
	if q == .95 {
		r.wrkPoint(q, v)
	}
	return true
}

// wrkErrors reads "Socket errors: connect 0, read 12, write 0, timeout 4". A
// timeout is a request that had no answer for 2 s when wrk looked.
func (r *run) wrkErrors(f []string) bool {
	for i := 2; i+1 < len(f); i += 2 {
		n, ok := parseCount(f[i+1])
		if !ok {
			return false
		}
		r.Errors += n
		if f[i] == "timeout" {
			r.Timeouts = n
		}
	}
	return true
}

func wrkWhole(r *run) bool { return r.ended }
