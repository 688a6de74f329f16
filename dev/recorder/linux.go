package main

import (
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

// captureFixture returns a fixture that is a capture without an access log: only the load generator's rows show its requests.
func captureFixture(id, about string, r recording) recording {
	r = newFixture(id, about, r)
	r.accessLog = false
	return r
}

// linuxFixtures returns the fixtures of the causes outside the process.
func linuxFixtures() []recording {
	compute := recording{
		program: "gosvc", args: []string{"-mode=compute", "-work=2ms"},
		load: loadgen.Plan{Rate: 250, Poisson: true, Connections: 256, Paths: itemPaths(100)},
		warm: 500 * ms, cpu: 2 * time.Second, trace: 1500 * ms, tail: 300 * ms,
		procfs: 250 * ms,
	}
	quiet := compute.withChange(func(r *recording) { r.expect = []bound{{"p99 ms", 0, 20}, {"achieved %", 97, 0}} })
	bursts := compute.withChange(func(r *recording) {
		r.args, r.load.Rate, r.trace = []string{"-mode=compute", "-work=4ms"}, 125, 2*time.Second
	})
	fresh := recording{
		program: "go-ballast/gateway", env: []string{"GOGC=off", "GOMEMLIMIT=4GiB"},
		load:  loadgen.Plan{Rate: 900, Poisson: true, Connections: 64, Paths: gatewayRoutes, Tokens: 5000},
		trace: 900 * ms, cpu: 2 * time.Second, warm: 200 * ms,
		gctrace: true, procfs: 250 * ms,
	}
	blocks := recording{
		program: "gosvc", args: []string{"-mode=blocks"}, kernel: true, warm: 500 * ms, capture: 8 * time.Second,
		host: []string{"thp=always", "thp-defrag=always"},
		load: loadgen.Plan{Connections: 6, Paths: []string{"/item/7"}},
	}
	return []recording{
		captureFixture("linux.thp-stall/sick", "four threads for each request decode into fresh memory, on a host without free huge pages that compacts at once", blocks.withChange(func(r *recording) {
			r.beside = []string{"linux-thp/fragment"}
		})),
		captureFixture("linux.thp-stall/healthy", "the same with the same settings, on a host with free huge pages", blocks),
		newFixture("linux.cpu-saturation/sick", "a healthy service on a host where four programs want all CPUs all the time", compute.withChange(func(r *recording) {
			r.neighbours = [][]string{{}, {}, {}, {}}
			r.noisy, r.expect = true, []bound{{"neighbours' CPUs", 0, .3}, {"p99 ms", 30, 0}}
		})),
		newFixture("linux.cpu-saturation/healthy", "the same service on a quiet host", quiet),
		newFixture("linux.noisy-neighbour/sick", "a healthy service beside one program that takes all CPUs for 300 ms of each second", compute.withChange(func(r *recording) {
			r.neighbours = [][]string{{"-threads=8", "-for=300ms", "-every=1s"}}
			r.noisy, r.expect = true, []bound{{"p50 ms", 0, 10}, {"p99 ms", 30, 0}}
		})),
		newFixture("linux.noisy-neighbour/healthy", "the same service alone", quiet),
		newFixture("linux.cpu-throttled/sick", "a healthy service on a quiet host with a quota that its bursts use up", bursts.withChange(func(r *recording) {
			r.quota, r.expect = .65, []bound{{"cores", 0, .64}, {"p99 ms", 40, 0}, {"achieved %", 97, 0}}
		})),
		newFixture("linux.cpu-throttled/healthy", "the same service with a quota that it never uses up", bursts.withChange(func(r *recording) {
			r.quota, r.expect = 2, []bound{{"p99 ms", 0, 20}, {"achieved %", 97, 0}}
		})),
		newFixture("linux.page-faults/sick", "a fresh process whose every allocation touches new memory", fresh.withChange(func(r *recording) {
			r.expect = []bound{{"faults/s", 50_000, 0}, {"GC/s", 0, .5}, {"p99 ms", 6, 0}}
		})),
		newFixture("linux.page-faults/healthy", "the same with the heap touched at the start", fresh.withChange(func(r *recording) {
			r.args = []string{"-pretouch=3600"}
			r.expect = []bound{{"faults/s", 0, 5000}, {"GC/s", 0, .5}}
		})),
	}
}
