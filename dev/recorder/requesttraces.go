package main

import (
	"runtime"
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

// toolchains are those whose execution traces differ: the last of format v1,
// both generations of v2 and what came since. Empty is the one at hand.
var toolchains = []string{"go1.21.13", "go1.22.12", "go1.23.12", "go1.24.11", "go1.25.5", ""}

// requestTraces are small traces with an exactly known number of requests, for
// the trace reader's tests.
func requestTraces() (all []recording) {
	routes := []string{"/v1/feed", "/v1/channel/7", "/v1/search?q=go"}
	unsaturated := loadgen.Plan{Requests: 300, Rate: 150, Poisson: true, Connections: 8, Paths: routes, Tokens: 1000}
	saturated := loadgen.Plan{Requests: 350, Connections: 32, Paths: routes, Tokens: 1000}
	slowStart := []string{"-delay=1ms"}
	for _, toolchain := range toolchains {
		version := toolchain
		if version == "" {
			version = runtime.Version()
		}
		add := func(kind, about string, r recording) {
			r.id = "http/" + version + "-" + kind
			r.flat = version + "-" + kind + ".trace.gz"
			r.dir = "internal/format/gotrace/testdata/http"
			r.program, r.toolchain = "go-ballast/gateway", toolchain
			r.about = about
			r.args = append([]string{"-live=10", "-garbage=150"}, r.args...)
			r.warm = 300 * time.Millisecond
			all = append(all, r)
		}
		tcp := []string{"-session-store={resp}"}
		add("plain-unsat", "open loop, no network in the handler, connections opened in the trace", recording{load: unsaturated, whole: true, dialInside: true})
		add("plain-sat", "32 clients as fast as they can, no network in the handler", recording{load: saturated, whole: true})
		add("tcpdep-unsat", "open loop, the serving goroutine reads and writes a TCP connection of its own", recording{load: unsaturated, whole: true, args: tcp, dependency: slowStart})
		add("tcpdep-sat", "32 clients, the serving goroutine reads and writes a TCP connection of its own", recording{load: saturated, whole: true, dialInside: true, args: tcp, dependency: slowStart})
		if toolchain == "" || toolchain == "go1.21.13" {
			add("httpdep-unsat", "open loop, fan-in over net/http clients", recording{load: unsaturated, whole: true, args: []string{"-upstream={http}"}, dependency: slowStart})
			add("httpdep-sat", "32 clients, fan-in over net/http clients", recording{load: saturated, whole: true, args: []string{"-upstream={http}"}, dependency: slowStart})
			add("plain-middle", "starts and ends in the middle of an open loop, over net/http/pprof", recording{load: unsaturated, trace: 1500 * time.Millisecond, overHTTP: true})
			add("tcpdep-middle", "starts and ends in the middle of a closed loop of 32", recording{load: saturated, trace: 100 * time.Millisecond, args: tcp, dependency: slowStart})
		}
	}
	return all
}
