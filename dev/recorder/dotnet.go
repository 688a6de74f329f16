package main

import (
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

// dotnetFixtures returns the fixtures of the causes in .NET: recordings by the probes of the lab's
// service when one client becomes many.
func dotnetFixtures() []recording {
	of := func(path string, connections int) recording {
		return recording{
			program: dotnetService, warm: 1200 * ms, capture: 7 * time.Second,
			load: loadgen.Plan{Connections: connections, Paths: []string{"/api/diagscenario/" + path}},
		}
	}
	return []recording{
		dotnetFixture("dotnet.threadpool-starvation/sick", "125 clients, each of whose requests waits half a second for a query with .Result", of("taskwait", 125).withChange(func(r *recording) {
			r.expect = []bound{{"answers/s", 0, 30}, {"cores", 0, .5}}
		})),
		dotnetFixture("dotnet.threadpool-starvation/healthy", "the same clients, the query is awaited", of("taskasyncwait", 125).withChange(func(r *recording) {
			r.expect = []bound{{"answers/s", 200, 0}, {"p99 ms", 0, 1000}}
		})),
		dotnetFixture("dotnet.lock-contention/sick", "16 clients whose requests compute under one lock", of("lock", 16).withChange(func(r *recording) {
			r.expect = []bound{{"answers/s", 50, 0}}
		})),
		dotnetFixture("dotnet.lock-contention/healthy", "one client: the lock is free whenever it comes", of("lock", 1).withChange(func(r *recording) {
			r.expect = []bound{{"answers/s", 50, 0}, {"p99 ms", 0, 50}}
		})),
	}
}

func dotnetFixture(id, about string, r recording) recording {
	r = newFixture(id, about, r)
	r.accessLog = false
	return r
}
