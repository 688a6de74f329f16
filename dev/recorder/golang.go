package main

import (
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

const ms = time.Millisecond

var gatewayRoutes = []string{"/v1/feed", "/v1/channel/7", "/v1/feed", "/v1/search?q=go", "/v1/channel/42"}

// goFixtures returns the fixtures of the causes in the Go runtime and in Go code.
func goFixtures() []recording {
	gateway := recording{
		program: "go-ballast/gateway",
		load:    loadgen.Plan{Rate: 400, Poisson: true, Connections: 64, Paths: gatewayRoutes, Tokens: 5000},
		warm:    time.Second, cpu: 3 * time.Second, trace: 1000 * ms, tail: 300 * ms,
		gctrace: true,
	}
	item := recording{
		program: "gosvc",
		load:    loadgen.Plan{Rate: 300, Poisson: true, Connections: 64, Paths: itemPaths(100)},
		warm:    500 * ms, cpu: 2 * time.Second, trace: 1500 * ms, tail: 300 * ms,
	}
	thrash := gateway.withChange(func(r *recording) { r.load.Rate = 300 })
	forced := gateway.withChange(func(r *recording) {
		r.args, r.env = []string{"-live=300", "-pretouch=500", "-free-every=500ms"}, []string{"GOGC=200"}
		r.load.Rate, r.trace = 400, 2000*ms
	})
	lock := item.withChange(func(r *recording) {
		r.args = []string{"-mode=lock", "-work=2ms", "-mutex-fraction=10"}
		r.profiles = []string{"mutex"}
	})
	refresh := lock.withChange(func(r *recording) { r.args = []string{"-mode=refresh", "-work=500us", "-mutex-fraction=10"} })
	leak := item.withChange(func(r *recording) {
		r.args = []string{"-mode=leak", "-via=tcp", "-dependency={resp}"}
		r.dependency = []string{"-delay=1ms", "-slow=40ms", "-every=500ms", "-for=100ms"}
		r.load.Rate, r.goroutines = 200, true
	})
	sick := func(r recording, bounds ...bound) recording {
		r.args = append(append([]string{}, r.args...), "-sick")
		r.expect = bounds
		return r
	}
	return []recording{
		newFixture("go.gc-rate/sick", "GOGC=100 on 40 MiB of sessions: the collector runs all the time",
			gateway.withChange(func(r *recording) {
				r.load.Rate = 600
				r.expect = []bound{{"GC/s", 4, 0}, {"collector %", 30, 0}}
			})),
		newFixture("go.gc-rate/healthy", "the same with GOGC=off GOMEMLIMIT=800MiB, after the plateau",
			gateway.withChange(func(r *recording) {
				r.load.Rate = 600
				r.args, r.env = []string{"-pretouch=700"}, []string{"GOGC=off", "GOMEMLIMIT=800MiB"}
				r.expect = []bound{{"GC/s", 0, 2}, {"collector %", 0, 15}, {"faults/s", 0, 1500}}
			})),
		newFixture("go.memory-limit-thrash/sick", "GOGC=off and a memory limit just above the live heap",
			thrash.withChange(func(r *recording) {
				r.env = []string{"GOGC=off", "GOMEMLIMIT=70MiB"}
				r.expect = []bound{{"GC/s", 8, 0}, {"collector %", 40, 0}}
			})),
		newFixture("go.memory-limit-thrash/healthy", "the same with a generous limit",
			thrash.withChange(func(r *recording) {
				r.args, r.env = []string{"-pretouch=500"}, []string{"GOGC=off", "GOMEMLIMIT=600MiB"}
				r.expect = []bound{{"GC/s", 0, 1.5}}
			})),
		newFixture("go.forced-gc/sick", "a housekeeper gives memory back twice a second, over 300 MiB of sessions",
			forced.withChange(func(r *recording) {
				r.expect = []bound{{"p99 ms", 12, 0}, {"collector %", 40, 0}}
			})),
		newFixture("go.forced-gc/healthy", "the same without the housekeeper",
			forced.withChange(func(r *recording) {
				r.args = []string{"-live=300", "-pretouch=500"}
				r.expect = []bound{{"p99 ms", 0, 10}, {"GC/s", 0, 1}}
			})),
		newFixture("go.lock-contention/sick", "one sync.Mutex around the work of every request", sick(lock, bound{"mutex wait s", .5, 0})),
		newFixture("go.lock-contention/healthy", "64 locks, each for a part of the table", lock.withChange(func(r *recording) { r.expect = []bound{{"mutex wait s", 0, .1}} })),
		newFixture("go.lock-contention/sick-rwmutex", "readers wait for a background writer that holds the lock while it works", sick(refresh, bound{"mutex wait s", .2, 0})),
		newFixture("go.lock-contention/healthy-rwmutex", "the writer works first and then exchanges the table", refresh.withChange(func(r *recording) { r.expect = []bound{{"mutex wait s", 0, .1}} })),
		newFixture("go.goroutine-leak/sick", "goroutines hand over late answers to nobody, for ever", sick(leak, bound{"leaks in trace", 20, 0})),
		newFixture("go.goroutine-leak/healthy", "32 workers that live as long as the service", leak.withChange(func(r *recording) { r.expect = []bound{{"leaks in trace", -8, 8}} })),
	}
}

func itemPaths(n int) (paths []string) {
	for i := range n {
		paths = append(paths, "/item/"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	return paths
}
