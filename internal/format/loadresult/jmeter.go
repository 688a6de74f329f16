package loadresult

import (
	"strconv"
	"strings"
)

// JMeter's Summariser prints the figures since the previous line (+) and since the start (=), in ms from the send, for a loop of threads
// (https://jmeter.apache.org/usermanual/component_reference.html#Generate_Summary_Results):
//
//	summary +    412 in 00:00:30 =   13.7/s Avg:  3120 Min:   120 Max: 12033 Err:    12 (2.91%) Active: 50 Started: 50 Finished: 0
//	summary =   1203 in 00:01:30 =   13.4/s Avg:  3320 Min:   101 Max: 14033 Err:    22 (1.83%)
//
// The last line since the start is the result; it follows each line of a part.

func newJMeter() *run {
	r := &run{}
	r.Tool = "JMeter"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

func jmeterStarts(line string, cur *run) bool { return cur == nil && jmeterLine(line) != nil }

// jmeterLine returns the words of such a line, nil for other lines: the name, its sign, the count and so on.
func jmeterLine(line string) []string {
	i := strings.Index(line, " Avg: ")
	if i < 0 || !strings.Contains(line, " Err: ") || !strings.Contains(line[:i], " in ") {
		return nil
	}
	f := strings.Fields(line)
	for at, s := range f {
		if s == "=" && at > 0 && at+2 < len(f) && f[at+2] == "in" {
			return f[at-1:]
		}
	}
	return nil
}

func jmeterText(r *run, line string) bool {
	f := jmeterLine(line)
	if f == nil {
		return true
	}
	n, ok := parseCount(f[2])
	spent, ok2 := clockTime(f[4])
	if !ok || !ok2 {
		return false
	}
	figure := func(name string) (float64, bool) {
		for i := range f[:len(f)-1] {
			if f[i] == name {
				v, err := strconv.ParseFloat(f[i+1], 64)
				return v, err == nil && v >= 0
			}
		}
		return 0, false
	}
	mean, ok := figure("Avg:")
	most, ok2 := figure("Max:")
	failed, ok3 := figure("Err:")
	if !ok || !ok2 || !ok3 {
		return false
	}
	r.Completed, r.Sent, r.Duration = n, n, spent
	r.Mean, _ = roundNanoseconds(mean * 1e6)
	r.Max, _ = roundNanoseconds(most * 1e6)
	r.Errors, r.counted = int64(min(failed, 1e15)), true
	r.Rate = 0
	if rate, ok := perSecond(f[6]); ok {
		r.Rate = rate
	}
	if v, ok := figure("Active:"); ok && v > 0 && v < 1e6 {
		r.Connection = max(r.Connection, int(v))
	}
	return true
}

// clockTime reads "00:01:30", and "90s" of versions before JMeter 2.12, as ns.
func clockTime(s string) (int64, bool) {
	if strings.HasSuffix(s, "s") {
		return parseDuration(s)
	}
	part := strings.Split(s, ":")
	if len(part) != 3 {
		return 0, false
	}
	total := 0.
	for i, unit := range []float64{3600, 60, 1} {
		v, err := strconv.ParseFloat(part[i], 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0, false
		}
		total += v * unit
	}
	return roundNanoseconds(total * 1e9)
}

func jmeterWhole(r *run) bool { return r.Completed > 0 }
