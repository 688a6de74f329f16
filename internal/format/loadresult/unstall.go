package loadresult

import "strconv"

// unstallJSON reads our own load results, schema unstall.load/v1: unknown is
// null there, never 0.
func unstallJSON(t tree) *run {
	const ms = 1e6
	r := &run{counted: t.hasValue("errors")}
	r.Tool = "unstall"
	r.URL = t.stringAt("url")
	r.Mode = t.stringAt("mode")
	r.FromSend = t.stringAt("latency_from") != "intended"
	r.Duration = t.durationAt(1e9, "duration_s")
	r.Offered = t.rateAt("offered_rate")
	r.Rate = t.rateAt("rate", "mean")
	r.Sent = t.countAt("sent")
	r.Completed = t.countAt("completed")
	r.Errors = t.countAt("errors")
	r.Timeouts = t.countAt("timeouts")
	r.Mean = t.durationAt(ms, "latency_ms", "mean")
	r.Stdev = t.durationAt(ms, "latency_ms", "stdev")
	r.Max = t.durationAt(ms, "latency_ms", "max")
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p999", .999}, {"p9999", .9999}} {
		if v, ok := t.numberAt("latency_ms", q.name); ok {
			if v, ok := roundNanoseconds(v * ms); ok {
				r.addQuantile(q.q, v)
			}
		}
	}
	for _, c := range []string{"1xx", "2xx", "3xx", "4xx", "5xx", "other"} {
		if n := t.countAt("codes", c); n > 0 {
			r.addCode(c, n)
		}
	}
	r.BytesPerS = t.rateAt("bytes_s")
	if n, ok := t.numberAt("unfinished"); ok {
		r.notes = append(r.notes, [2]string{"unfinished", strconv.FormatFloat(n, 'f', -1, 64)})
	}
	r.notes = append(r.notes,
		[2]string{"send lag p99", formatDuration(t.durationAt(ms, "send_lag_ms", "p99"))},
		[2]string{"send lag max", formatDuration(t.durationAt(ms, "send_lag_ms", "max"))})
	if limited, _ := t.valueAt("generator_limited").(bool); limited {
		r.warn = append(r.warn, "the load generator did not keep its schedule, so part of the latency is its own: use a lower rate or a larger machine for it")
	}
	return r
}
