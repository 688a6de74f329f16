package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// prometheus answers PromQL over blocks that its own promtool made; it scrapes
// itself, too.
var prometheus = program{
	name:  "prometheus",
	fetch: debian{"prometheus"},
	start: func(p *place) {
		p.main, p.pprof = p.addressOf("http"), "http://"+p.addressOf("http")+"/debug/pprof"
		p.bin = filepath.Join(p.home, "root/usr/bin/prometheus")
		p.args = []string{"--config.file=prometheus.yml", "--web.listen-address=" + p.main, "--storage.tsdb.path=data"}
		config := fmt.Sprintf("scrape_configs:\n- job_name: self\n  scrape_interval: 1s\n  static_configs:\n  - targets: [%q]\n", p.main)
		_ = os.WriteFile(filepath.Join(p.dir, "prometheus.yml"), []byte(config), 0o644)
		now := time.Now()
		_ = os.WriteFile(filepath.Join(p.dir, "history.txt"), openMetrics(300, now, 5*time.Hour, 30*time.Second), 0o644)
		if err := runCommand(context.Background(), p.dir, filepath.Join(p.home, "root/usr/bin/promtool"),
			"tsdb", "create-blocks-from", "openmetrics", "history.txt", "data"); err != nil {
			fmt.Fprintln(os.Stderr, "thirdparty:", err)
		}
		p.load = []traffic{prometheusQuery(`requests_total{host="host-7"}`, now, 60), prometheusQuery(`sum(rate(requests_total{zone="zone-1"}[5m]))`, now, 20)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 80 queries a second over an hour"},
		{name: "gogc", truth: "GOGC=1 in the environment, at 250 queries a second", sick: func(p *place) {
			p.addEnv("GOGC=1")
			p.load = append(p.load, prometheusQuery(`sum(rate(requests_total{zone="zone-2"}[5m]))`, time.Now(), 170))
		}},
		{name: "one-query", truth: "--query.max-concurrency=1 while 8 queries a second take some 100 ms", sick: func(p *place) {
			p.args = append(p.args, "--query.max-concurrency=1")
			p.load = append(p.load, prometheusQuery("max(quantile_over_time(0.9, requests_total[20m]))", time.Now(), 8))
		}},
		{name: "quota", truth: "a CPU quota of 0.1 CPUs", sick: func(p *place) { p.quota = .1 }},
	},
}

// prometheusQuery queries the hour that ended two hours before now: it is in blocks.
func prometheusQuery(q string, now time.Time, rate float64) traffic {
	end := now.Add(-2 * time.Hour).Unix()
	return httpLoad{rate: rate, paths: []string{fmt.Sprintf("/api/v1/query_range?query=%s&start=%d&end=%d&step=60", url.QueryEscape(q), end-3600, end)}}.sendRequests
}

func openMetrics(series int, now time.Time, long, step time.Duration) []byte {
	var b strings.Builder
	b.WriteString("# TYPE requests counter\n")
	now = now.Add(-90 * time.Minute).Truncate(step)
	for i := range series {
		for at, v := now.Add(-long), 0; !at.After(now); at, v = at.Add(step), v+i%17+1 {
			fmt.Fprintf(&b, "requests_total{host=\"host-%d\",zone=\"zone-%d\"} %d %d\n", i, i%10, v, at.Unix())
		}
	}
	b.WriteString("# EOF\n")
	return []byte(b.String())
}
