package main

import (
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

// serviceFixtures returns the fixtures of the causes that any service can have.
func serviceFixtures() []recording {
	item := recording{
		program: "gosvc",
		load:    loadgen.Plan{Rate: 300, Poisson: true, Connections: 128, Paths: itemPaths(100)},
		warm:    700 * ms, cpu: 2 * time.Second, trace: 1500 * ms, tail: 300 * ms,
	}
	call := func(dependency ...string) recording {
		return item.withChange(func(r *recording) {
			r.args = []string{"-mode=call", "-via=http", "-dependency={http}", "-work=300us"}
			r.dependency = append([]string{"-delay=2ms"}, dependency...)
		})
	}
	overTCP := func(r recording) recording {
		r.args = []string{"-mode=call", "-via=tcp", "-dependency={resp}", "-work=300us"}
		return r
	}
	slow := call("-slow=60ms", "-every=1s", "-for=300ms").withChange(func(r *recording) { r.expect = []bound{{"p50 ms", 0, 10}, {"p99 ms", 50, 0}} })
	quick := call().withChange(func(r *recording) { r.expect = []bound{{"p99 ms", 0, 10}, {"achieved %", 97, 0}} })
	pool := func(via string, sick bool) recording {
		return item.withChange(func(r *recording) {
			r.args = []string{"-mode=pool", "-via=" + via, "-dependency={resp}"}
			r.dependency = []string{"-delay=8ms"}
			r.load.Rate = 400
			r.expect = []bound{{"p99 ms", 0, 20}}
			if sick {
				r.args = append(r.args, "-sick")
				r.expect = []bound{{"p99 ms", 25, 0}}
			}
		})
	}
	gate := recording{
		program: "gosvc", warm: 500 * ms, capture: 3 * time.Second, joined: true,
		load: loadgen.Plan{Connections: 10, Paths: []string{"/item/7"}},
	}
	capacity := item.withChange(func(r *recording) {
		r.args, r.env = []string{"-mode=compute", "-work=3ms"}, []string{"GOMAXPROCS=1"}
		r.load.Connections = 1024
	})
	own := item.withChange(func(r *recording) {
		r.load.Rate, r.cpu, r.trace = 100, 3*time.Second, 2500*ms
		r.expect = []bound{{"p99 ms", 0, 20}}
	})
	sick := func(r recording, mode string, p99 float64) recording {
		r.args, r.expect = []string{"-mode=" + mode, "-work=1ms", "-sick"}, []bound{{"p99 ms", p99, 0}}
		return r
	}
	healthy := func(r recording, mode string) recording {
		r.args = []string{"-mode=" + mode, "-work=1ms"}
		return r
	}
	chatty := func(sick bool) recording {
		return item.withChange(func(r *recording) {
			r.args, r.dependency, r.load.Rate = []string{"-mode=chatty", "-via=tcp", "-dependency={resp}", "-work=100us"}, []string{"-delay=600us"}, 60
			if sick {
				r.args = append(r.args, "-sick")
				r.expect = []bound{{"p50 ms", 25, 0}}
			}
		})
	}
	return []recording{
		newFixture("service.chatty-calls/sick", "forty calls over TCP for each request, one after the other, of 0.6 ms each", chatty(true)),
		newFixture("service.chatty-calls/healthy", "one such call", chatty(false)),
		newFixture("service.dependency-slow/sick", "an HTTP dependency that takes 60 ms for 300 ms of each second", slow),
		newFixture("service.dependency-slow/healthy", "an HTTP dependency that always takes 2 ms", quick),
		newFixture("service.dependency-slow/sick-tcp", "the same over a TCP connection the serving goroutine reads itself", overTCP(slow)),
		newFixture("service.dependency-slow/healthy-tcp", "the same over a TCP connection the serving goroutine reads itself", overTCP(quick)),
		newFixture("service.pool-exhausted/sick", "database/sql with 4 connections, queries of 8 ms, 400 requests/s", pool("sql", true)),
		newFixture("service.pool-exhausted/healthy", "the same with 64 connections", pool("sql", false)),
		newFixture("service.pool-exhausted/sick-semaphore", "4 permits in a channel, queries of 8 ms, 400 requests/s", pool("semaphore", true)),
		newFixture("service.pool-exhausted/healthy-semaphore", "the same with 64 permits", pool("semaphore", false)),
		captureFixture("service.accept-queue/sick", "four connections at a time, which are held for 60 ms each, and ten clients", gate.withChange(func(r *recording) {
			r.args = []string{"-mode=gate", "-work=100us", "-sick"}
		})),
		captureFixture("service.accept-queue/healthy", "the same, which lets all of them in", gate.withChange(func(r *recording) {
			r.args = []string{"-mode=gate", "-work=100us"}
		})),
		newFixture("service.over-capacity/sick", "3 ms of CPU for each of 320 requests/s, on one processor", capacity.withChange(func(r *recording) {
			r.load.Rate = 320
			r.expect = []bound{{"p50 ms", 100, 0}, {"cores", .9, 0}}
		})),
		newFixture("service.over-capacity/healthy", "the same at half its capacity", capacity.withChange(func(r *recording) {
			r.load.Rate = 165
			r.expect = []bound{{"p50 ms", 0, 6}, {"achieved %", 97, 0}}
		})),
		newFixture("service.over-capacity/sick-two-processors", "3 ms of CPU for each of 630 requests/s, on two processors", capacity.withChange(func(r *recording) {
			r.env, r.load.Rate = []string{"GOMAXPROCS=2"}, 630
			r.expect = []bound{{"p50 ms", 100, 0}, {"cores", 1.7, 0}}
		})),
		newFixture("service.waiting/sick", "three in ten requests fail at first and try again after 80 ms", sick(own, "retry", 80)),
		newFixture("service.waiting/healthy", "the same, and they try again at once", healthy(own, "retry")),
		newFixture("service.own-work/sick", "a tenth of the requests compute for 40 ms", sick(own, "search", 35)),
		newFixture("service.own-work/healthy", "the same, and what was found is remembered", healthy(own, "search")),
	}
}
