package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"

	"github.com/unstall/unstall/internal/collect/load"
)

// etcd is asked through its JSON gateway.
var etcd = program{
	name: "etcd",
	fetch: goModule{module: "go.etcd.io/etcd/server/v3", version: "v3.6.16", main: "",
		sum: "h1:sLkpvz3RFtiNd/yPrZBKz5kT+XO1ZJkhmuUJeqc7OmA="},
	start: func(p *place) {
		p.main, p.pprof = p.addressOf("client"), "http://"+p.addressOf("client")+"/debug/pprof"
		client, peer := "http://"+p.main, "http://"+p.addressOf("peer")
		p.bin = filepath.Join(p.home, "bin/etcd")
		p.args = []string{"--name", "one", "--data-dir", filepath.Join(p.dir, "data"), "--enable-pprof",
			"--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "one=" + peer}
		p.prepare = func(ctx context.Context) error { return etcdFill(ctx, p, 2000) }
		p.load = []traffic{etcdPut(40, 200, "{n%2000:7}"), etcdRange(150, false)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 40 writes of 200 bytes and 150 reads a second"},
		{name: "busier", truth: "healthy: 1,200 reads a second", load: []traffic{etcdPut(40, 200, "{n%2000:7}"), etcdRange(1200, false)}},
		{name: "gogc", truth: "GOGC=1 in the environment, as busy as 'busier'", load: []traffic{etcdPut(40, 200, "{n%2000:7}"), etcdRange(1200, false)}, sick: func(p *place) { p.addEnv("GOGC=1") }},
		{name: "memory-limit", truth: "GOMEMLIMIT=20MiB in the environment, below what it needs, as busy as 'busier'", load: []traffic{etcdPut(40, 200, "{n%2000:7}"), etcdRange(1200, false)}, sick: func(p *place) { p.addEnv("GOMEMLIMIT=20MiB") }},
		{name: "snapshots", truth: "healthy all the same: --snapshot-count=5, a snapshot after every 5 writes", sick: func(p *place) { p.args = append(p.args, "--snapshot-count=5") }},
		{name: "writes", truth: "600 writes a second on a disk that has to sync each", load: []traffic{etcdPut(600, 200, "{n%2000:7}"), etcdRange(150, false)}},
		{name: "big-ranges", truth: "12 requests a second list all 2,000 keys, 3 MB of JSON each: more CPU than there is", load: []traffic{etcdPut(40, 200, "{n%2000:7}"), etcdRange(100, false), etcdRange(12, true)}},
		{name: "quota", truth: "a CPU quota of 0.2 CPUs", sick: func(p *place) { p.quota = .2 }},
	},
}

// etcdPut writes one of that many keys. A key is the base64 of 9 bytes and three digits, which
// leaves no remainder, so the number can stand in the text as it is.
func etcdPut(rate float64, size int, key string) traffic {
	b := fmt.Sprintf(`{"key":"%s","value":"%s"}`, key+"A", base64.StdEncoding.EncodeToString(bodyText(size)))
	return httpLoad{rate: rate, method: "POST", paths: []string{"/v3/kv/put"}, body: []byte(b)}.sendRequests
}

func etcdRange(rate float64, all bool) traffic {
	b := `{"key":"{n%2000:7}A"}`
	if all {
		b = `{"key":"AA==","range_end":"AA=="}` // two zero bytes: from the first key on
	}
	return httpLoad{rate: rate, method: "POST", paths: []string{"/v3/kv/range"}, body: []byte(b)}.sendRequests
}

// etcdFill writes every key once.
func etcdFill(ctx context.Context, p *place, keys int64) error {
	b := fmt.Sprintf(`{"key":"{n%%2000:7}A","value":"%s"}`, base64.StdEncoding.EncodeToString(bodyText(1000)))
	_, err := load.Run(ctx, load.Plan{URL: "http://" + p.main + "/v3/kv/put", Method: "POST", Body: []byte(b), Mode: load.Closed, Connections: 50, Requests: keys}, discard{})
	return err
}

// discard keeps no requests.
type discard struct{}

func (discard) Progress(load.Snapshot) {}
func (discard) Rows([]load.Row) error  { return nil }
