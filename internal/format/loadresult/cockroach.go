package loadresult

import (
	"math"
	"strconv"
	"strings"
)

// The workload tool of CockroachDB, and others made after it, print a row of totals below a heading of their own:
//
//	_elapsed___errors_____ops(total)___ops/sec(cum)__avg(ms)__p50(ms)__p95(ms)__p99(ms)_pMax(ms)__result
//	  180.0s        0        9003760        50020.5      3.6      1.1     16.3     67.1    260.0
//
// Its workers are a closed loop, unless --max-rate is set, and count from the send.
// https://github.com/cockroachdb/cockroach/blob/master/pkg/workload/cli/format.go

func newCockroach() *run {
	r := &run{}
	r.Tool = "cockroach workload"
	r.Mode = "closed"
	r.FromSend, r.counted = true, true
	return r
}

func cockroachStarts(line string, _ *run) bool {
	return strings.HasPrefix(line, "_elapsed_") && strings.Contains(line, "ops(total)_") && strings.Contains(line, "(ms)_")
}

func cockroachText(r *run, line string) bool {
	f := strings.Fields(line)
	if cockroachStarts(line, nil) || len(f) < 9 || r.ended {
		return true
	}
	d, ok := parseDuration(f[0])
	if !ok {
		return true // another program's
	}
	var v [8]float64
	for i := range v {
		n, err := strconv.ParseFloat(f[i+1], 64)
		if err != nil || !(n >= 0 && n < 1e12) {
			return false
		}
		v[i] = n
	}
	r.Duration, r.Errors, r.Completed, r.Rate = d, int64(v[0]), int64(v[1]), v[2]
	r.Mean, r.Max, r.ended = int64(math.Round(v[3]*1e6)), int64(math.Round(v[7]*1e6)), true
	for i, q := range []float64{.5, .95, .99} {
		r.addQuantile(q, int64(math.Round(v[4+i]*1e6)))
	}
	return true
}

func cockroachWhole(r *run) bool { return r.ended }
