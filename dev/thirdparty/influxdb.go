package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// influxdb takes lines and answers InfluxQL. Settings are variables of its environment.
var influxdb = program{
	name:  "influxdb",
	fetch: debian{"influxdb"},
	start: func(p *place) {
		p.main, p.pprof = p.addressOf("http"), "http://"+p.addressOf("http")+"/debug/pprof"
		p.bin = filepath.Join(p.home, "root/usr/bin/influxd")
		p.args = []string{"run"}
		p.env = []string{"HOME=" + p.dir, "INFLUXDB_HTTP_BIND_ADDRESS=" + p.main, "INFLUXDB_BIND_ADDRESS=" + p.addressOf("rpc"),
			"INFLUXDB_META_DIR=" + p.dir + "/meta", "INFLUXDB_DATA_DIR=" + p.dir + "/data", "INFLUXDB_DATA_WAL_DIR=" + p.dir + "/wal",
			"INFLUXDB_DATA_WAL_FSYNC_DELAY=5ms", "INFLUXDB_MONITOR_STORE_ENABLED=false"}
		p.prepare = func(ctx context.Context) error {
			if err := postBody(ctx, "http://"+p.main+"/query?q="+url.QueryEscape("CREATE DATABASE shop"), nil); err != nil {
				return err
			}
			return postBody(ctx, "http://"+p.main+"/write?db=shop&precision=s", influxHistory(200, 6*time.Hour, time.Minute))
		}
		p.load = []traffic{influxWrite(40),
			influxQuery("SELECT mean(value) FROM requests WHERE host='host-7' AND time > now() - 1h GROUP BY time(1m)", 60),
			influxQuery("SELECT max(value) FROM requests WHERE time > now() - 30m GROUP BY zone", 20)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 40 writes and 80 queries a second"},
		{name: "gogc", truth: "GOGC=2 in the environment", sick: func(p *place) { p.addEnv("GOGC=2") }},
		{name: "tiny-cache", truth: "cache-snapshot-memory-size = 20k: a snapshot to disk after every few writes", sick: func(p *place) {
			p.addEnv("INFLUXDB_DATA_CACHE_SNAPSHOT_MEMORY_SIZE=20000")
		}},
		{name: "fsync", truth: "wal-fsync-delay = 0: each of 500 writes a second is synced to disk by itself", sick: func(p *place) {
			p.addEnv("INFLUXDB_DATA_WAL_FSYNC_DELAY=0s")
			p.load[0] = influxWrite(500)
		}},
		{name: "heavy-query", truth: "3 queries a second read all points", sick: func(p *place) {
			p.load = append(p.load, influxQuery("SELECT percentile(value, 90) FROM requests GROUP BY host, time(1m)", 3))
		}},
	},
}

func influxWrite(rate float64) traffic {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "live,host=host-%d,zone=zone-%d value={n}\n", i, i%4)
	}
	return httpLoad{rate: rate, method: "POST", paths: []string{"/write?db=shop"}, body: []byte(b.String())}.sendRequests
}

func influxQuery(q string, rate float64) traffic {
	return httpLoad{rate: rate, paths: []string{"/query?db=shop&q=" + url.QueryEscape(q)}}.sendRequests
}

func influxHistory(series int, long, step time.Duration) []byte {
	var b strings.Builder
	now := time.Now().Truncate(step)
	for i := range series {
		for at, v := now.Add(-long), 0; !at.After(now); at, v = at.Add(step), v+i%17+1 {
			fmt.Fprintf(&b, "requests,host=host-%d,zone=zone-%d value=%d %d\n", i, i%4, v, at.Unix())
		}
	}
	return []byte(b.String())
}
