package loadresult

import (
	"math"
	"strconv"
	"strings"
)

// Time units as tools write them. wrk and k6 spell micro with u and with µ, and
// µ is two characters of Unicode; hey and ab write the words out.
var timeUnits = map[string]float64{
	"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9,
	"sec": 1e9, "secs": 1e9, "seconds": 1e9,
}

// parseDuration parses "6.67ms", "1m2.5s", "00m30.0s", "0.1158 secs" as ns.
func parseDuration(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || s == "0" {
		return 0, s == "0"
	}
	var total float64
	for s != "" {
		n, rest, ok := parseLeading(s)
		if !ok {
			return 0, false
		}
		rest = strings.TrimLeft(rest, " ")
		end := strings.IndexAny(rest, "0123456789. ")
		if end < 0 {
			end = len(rest)
		}
		unit, ok := timeUnits[rest[:end]]
		if !ok {
			return 0, false
		}
		total += n * unit
		s = strings.TrimLeft(rest[end:], " ")
	}
	return roundNanoseconds(total)
}

// roundNanoseconds rounds a duration to whole ns; it returns false for implausible ones.
func roundNanoseconds(v float64) (int64, bool) {
	if !(v >= 0 && v < 1e18) {
		return 0, false
	}
	return int64(math.Round(v)), true
}

// perSecond reads "4.36938/s" and "31kB/s" with decimal prefixes.
func perSecond(s string) (float64, bool) {
	s, ok := strings.CutSuffix(s, "/s")
	v, ok2 := parseScaled(s, 1000)
	return v, ok && ok2
}

// parseScaled parses "1.05k", "748868.53", "19.81MB": a number with a decimal prefix, or a binary
// one of base 1024 as wrk's and bombardier's are.
func parseScaled(s string, base float64) (float64, bool) {
	n, rest, ok := parseLeading(strings.TrimSpace(s))
	if !ok {
		return 0, false
	}
	rest = strings.TrimSuffix(strings.TrimSpace(rest), "/s")
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, "B"), "i")
	switch rest {
	case "":
	case "k", "K":
		n *= base
	case "M":
		n *= base * base
	case "G":
		n *= base * base * base
	case "T":
		n *= base * base * base * base
	default:
		return 0, false
	}
	return n, true
}

// parseLeading parses the number at the beginning of a string.
func parseLeading(s string) (n float64, rest string, ok bool) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	return n, s[i:], err == nil
}

// parseCount parses a whole number; it returns false for other text and for implausible
// counts.
func parseCount(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.Trim(s, " ,"), 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

// parsePercent parses "99.900%", and "99.9" of "p(99.9)", as a share.
func parsePercent(s string) (float64, bool) {
	n, rest, ok := parseLeading(strings.TrimSpace(s))
	if !ok || strings.Trim(rest, "%") != "" || n > 100 {
		return 0, false
	}
	return math.Round(n*1e7) / 1e9, true
}

// statusClass returns the class of a status code: "2xx", or "other".
func statusClass(code int64) string {
	if code < 100 || code > 599 {
		return "other"
	}
	return strconv.FormatInt(code/100, 10) + "xx"
}
