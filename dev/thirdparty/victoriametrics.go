package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// victoriametrics takes lines in the text format of Prometheus and answers PromQL.
var victoriametrics = program{
	name: "victoriametrics",
	fetch: goModule{module: "github.com/VictoriaMetrics/VictoriaMetrics", version: "v1.110.0", main: "app/victoria-metrics",
		sum: "h1:vK6+lomgNc4QXj4ZFK4H+BmFYgV3XRShY69B/0dr014="},
	start: func(p *place) {
		p.main, p.pprof = p.addressOf("http"), "http://"+p.addressOf("http")+"/debug/pprof"
		p.bin = filepath.Join(p.home, "bin/victoriametrics")
		p.args = []string{"-httpListenAddr=" + p.main, "-storageDataPath=" + filepath.Join(p.dir, "data"), "-retentionPeriod=30d"}
		p.prepare = func(ctx context.Context) error {
			if err := postBody(ctx, "http://"+p.main+"/api/v1/import/prometheus", seriesHistory(500, 6*time.Hour, time.Minute)); err != nil {
				return err
			}
			return postBody(ctx, "http://"+p.main+"/internal/force_flush", nil)
		}
		p.load = []traffic{importLoad(40), promQuery("sum(rate(requests_total[5m])) by (zone)", "-1h", "60s", 40),
			promQuery(`requests_total{host="host-7"}`, "-1h", "60s", 60)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 40 imports and 100 queries a second"},
		{name: "gogc", truth: "GOGC=3 in the environment", sick: func(p *place) { p.addEnv("GOGC=3") }},
		{name: "one-search", truth: "-search.maxConcurrentRequests=1 while 3 queries a second read all of 6 hours", sick: func(p *place) {
			p.args = append(p.args, "-search.maxConcurrentRequests=1")
			p.load = append(p.load, promQuery("max(quantile_over_time(0.9, requests_total[30m])) by (host)", "-6h", "60s", 3))
		}},
		{name: "heavy-queries", truth: "6 queries a second need more CPU than there is", sick: func(p *place) {
			p.load = append(p.load, promQuery("max(quantile_over_time(0.9, requests_total[30m])) by (host)", "-6h", "60s", 6))
		}},
		{name: "quota", truth: "a CPU quota of 0.3 CPUs", sick: func(p *place) { p.quota = .3 }},
	},
}

// importLoad returns a load of imports of 20 samples a request.
func importLoad(rate float64) traffic {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "live_total{host=\"host-%d\",zone=\"zone-%d\"} {n}\n", i, i%4)
	}
	return httpLoad{rate: rate, method: "POST", paths: []string{"/api/v1/import/prometheus"}, body: []byte(b.String())}.sendRequests
}

func promQuery(query, start, step string, rate float64) traffic {
	return httpLoad{rate: rate, paths: []string{"/api/v1/query_range?query=" + url.QueryEscape(query) + "&start=" + start + "&step=" + step + "&nocache=1"}}.sendRequests
}

// seriesHistory returns the samples of so many series of a counter, in the text format of
// Prometheus with times in ms.
func seriesHistory(series int, long, step time.Duration) []byte {
	var b strings.Builder
	now := time.Now().Truncate(step)
	for i := range series {
		for at, v := now.Add(-long), 0; !at.After(now); at, v = at.Add(step), v+i%17+1 {
			fmt.Fprintf(&b, "requests_total{host=\"host-%d\",zone=\"zone-%d\"} %d %d\n", i, i%4, v, at.UnixMilli())
		}
	}
	return []byte(b.String())
}
