package loadresult

import "strconv"

// unstallJSON reads our own load results, schema unstall.load/v1: unknown is
// null there, never 0.
func unstallJSON(t tree) *run {
	const ms = 1e6
	r := &run{counted: t.has("errors")}
	r.Tool = "unstall"
	r.URL = t.str("url")
	r.Mode = t.str("mode")
	r.FromSend = t.str("latency_from") != "intended"
	r.Duration = t.ns(1e9, "duration_s")
	r.Offered = t.rate("offered_rate")
	r.Rate = t.rate("rate", "mean")
	r.Sent = t.count("sent")
	r.Completed = t.count("completed")
	r.Errors = t.count("errors")
	r.Timeouts = t.count("timeouts")
	r.Mean = t.ns(ms, "latency_ms", "mean")
	r.Stdev = t.ns(ms, "latency_ms", "stdev")
	r.Max = t.ns(ms, "latency_ms", "max")
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p999", .999}, {"p9999", .9999}} {
		if v, ok := t.num("latency_ms", q.name); ok {
			if v, ok := ns(v * ms); ok {
				r.quantile(q.q, v)
			}
		}
	}
	for _, c := range []string{"1xx", "2xx", "3xx", "4xx", "5xx", "other"} {
		if n := t.count("codes", c); n > 0 {
			r.code(c, n)
		}
	}
	r.BytesPerS = t.rate("bytes_s")
	if n, ok := t.num("unfinished"); ok {
		r.notes = append(r.notes, [2]string{"unfinished", strconv.FormatFloat(n, 'f', -1, 64)})
	}
	r.notes = append(r.notes,
		[2]string{"send lag p99", span(t.ns(ms, "send_lag_ms", "p99"))},
		[2]string{"send lag max", span(t.ns(ms, "send_lag_ms", "max"))})
	if limited, _ := t.at("generator_limited").(bool); limited {
		r.warn = append(r.warn, "the load generator did not keep its schedule, so part of the latency is its own: use a lower rate or a larger machine for it")
	}
	return r
}
