package dotnet

import (
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

type (
	figures = checktest.Figures
	row     = checktest.Row
)

// What counters, a debugger or a client's log tell by themselves, on both sides of what each must reach.
func TestToldEdges(t *testing.T) {
	busy := figures{evidence.FactPoolBusy: 24, evidence.FactPoolMinimum: 8}
	for _, x := range []struct {
		cause  check.Check
		series figures
		facts  figures
		text   string
		row
	}{
		{ThreadPoolStarvation, nil, figures{evidence.FactHeartbeatsLate: 2, evidence.FactHeartbeatMost: 3e9}, "", row{About: "two late heartbeats", Rule: check.StandsAlone, ID: "threadpool.heartbeat_longest_ms", Figure: 3000, Says: "2 Kestrel heartbeats came late, by up to 3 s"}},
		{ThreadPoolStarvation, nil, figures{evidence.FactHeartbeatsLate: 1, evidence.FactHeartbeatMost: 9e9}, "", row{About: "one late heartbeat", Rule: check.NotRecorded}},
		{ThreadPoolStarvation, nil, nil, "", row{About: "nothing is known", Rule: check.NotRecorded, Says: "unstall record PID"}},
		{ThreadPoolStarvation, figures{evidence.SeriesPoolThreads: 30, evidence.SeriesPoolQueue: 0}, busy, "", row{About: "three times the minimum is busy", Rule: check.StandsAlone, ID: "pool.busy_threads", Figure: 24, Says: "24 worker threads are busy, where the pool creates 8 without delay"}},
		{ThreadPoolStarvation, figures{evidence.SeriesPoolThreads: 30, evidence.SeriesPoolQueue: 0}, busy.With(figures{evidence.FactRedisTimeouts: 4}), "", row{About: "when a client of Redis gave up", Rule: check.StandsAlone, ID: "redis.client_timeouts", Figure: 4, Says: "when the Redis client gave up"}},
		{ThreadPoolStarvation, figures{evidence.SeriesPoolThreads: 30, evidence.SeriesPoolQueue: 0}, figures{evidence.FactPoolBusy: 2, evidence.FactPoolMinimum: 8, evidence.FactPoolIOBusy: 30, evidence.FactPoolIOMinimum: 8}, "", row{About: "those for I/O are busy", Rule: check.StandsAlone, ID: "pool.busy_threads", Figure: 30, Says: "30 threads for completed I/O"}},
		{ThreadPoolStarvation, figures{evidence.SeriesPoolThreads: 30, evidence.SeriesPoolQueue: 101}, busy.With(figures{evidence.FactPoolBusy: 23}), "", row{About: "not three times, and a long queue", Rule: check.StandsAlone, ID: "pool.queued_items_most", Figure: 101, Says: "101 work items wait for one of 30"}},
		{ThreadPoolStarvation, figures{evidence.SeriesPoolThreads: 30, evidence.SeriesPoolQueue: 0}, figures{evidence.FactPoolBusy: 24}, "", row{About: "24 are busy, of an unknown minimum", Rule: check.Untold}},

		{LockContention, nil, figures{evidence.FactMonitorWaiting: 5}, "Shop.Cart", row{About: "five wait for one monitor", Rule: check.StandsAlone, ID: "lock.monitor_waiting", Figure: 5, Says: "5 threads wait for one lock, a monitor of Shop.Cart"}},
		{LockContention, nil, figures{evidence.FactMonitorWaiting: 4}, "Shop.Cart", row{About: "four do", Rule: check.OneLook, ID: "lock.monitor_waiting", Figure: 4, Says: "dotnet-stack report"}},
		{LockContention, nil, figures{evidence.FactMonitorWaiting: 0}, "", row{About: "none does", Rule: check.OneLook, Says: "no thread waited for a monitor"}},
		{LockContention, nil, figures{evidence.FactMonitorWaiting: 2, evidence.FactMonitorsWaiting: check.Crowd.Value}, "3", row{About: "a crowd waits for several", Rule: check.StandsAlone, ID: "lock.monitors_waiting", Figure: check.Crowd.Value, Says: "monitors that 3 others hold"}},
		{LockContention, nil, figures{evidence.FactMonitorWaiting: 2, evidence.FactMonitorsWaiting: check.Crowd.Value - 1}, "3", row{About: "not quite a crowd", Rule: check.OneLook}},
		{LockContention, figures{evidence.SeriesContentions: .9}, nil, "", row{About: "less than one a second", Rule: check.TooLittle, ID: "lock.contentions_per_s", Figure: .9}},
		{LockContention, figures{evidence.SeriesContentions: 1.1}, nil, "", row{About: "more than one a second", Rule: check.NotRecorded, ID: "lock.contentions_per_s", Figure: 1.1, Says: "the counter does not show how long each wait took"}},
		{LockContention, nil, nil, "", row{About: "no waits", Rule: check.NotRecorded}},

		{Gen2Pause, nil, figures{evidence.FactGen2Most: 1.01e9, evidence.FactGen2Count: 1}, "", row{About: "a pause of a second", Rule: check.StandsAlone, ID: "gc.gen2_longest_ms", Figure: 1010, Says: "stopped the program for 1.01 s; there were 1"}},
		{Gen2Pause, nil, figures{evidence.FactGen2Most: .99e9, evidence.FactGen2Count: 9}, "", row{About: "pauses of less", Rule: check.NotRecorded}},
		{Gen2Pause, nil, figures{evidence.FactGen2Most: 1.01e9, evidence.FactGen2Count: 0}, "", row{About: "none of its own", Rule: check.NotRecorded}},
		{InducedGC, nil, nil, "", row{About: "no collections", Rule: check.NotRecorded}},
		{LOHChurn, nil, nil, "", row{About: "no collections", Rule: check.NotRecorded}},
		{MidLife, nil, nil, "", row{About: "no collections", Rule: check.NotRecorded}},
		{HeapLeak, nil, nil, "", row{About: "no collections", Rule: check.NotRecorded}},
		{GCStarved, nil, nil, "", row{About: "no collections", Rule: check.NotRecorded}},
	} {
		c := checktest.Told{Of: evidence.Subject{Runtime: "dotnet", Name: "Shop"}, Series: x.series, Facts: x.facts, Text: x.text}.Case()
		if !x.cause.Applies(c) {
			t.Errorf("%s: %s: it is not asked", x.cause.ID, x.About)
			continue
		}
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}

// What decides is one of the figures that are kept, for whatever is collected or blocked, however long, and whether requests tell its cost.
func TestEveryDecisionHolds(t *testing.T) {
	causes := []check.Check{ThreadPoolStarvation, LockContention, InducedGC, LOHChurn, Gen2Pause, MidLife, HeapLeak, GCStarved}
	judge := func(about string, c *check.Case) {
		for _, k := range causes {
			if k.Applies(c) {
				v := k.Judge(c)
				checktest.Holds(t, about, &k, c, &v)
			}
		}
	}
	for _, reason := range []string{"small allocations", "large allocations", "induced", "low memory"} {
		for generation := range 3 {
			for _, pause := range []int64{60, 1100} {
				for _, each := range []int64{500, 2500} {
					if 2*pause > each {
						continue
					}
					for name, in := range map[string]heap{"requests": {}, "no requests": {none: true}, "requests seen from within": {outside: true}, "it grows": {grows: 20 * mb}, "on half a CPU": {heaps: 8, quota: .5, throttled: .4}, "others are slow": {others: 300}} {
						in.live = 100 * mb
						in.collections = []collects{{every: each, pause: pause, generation: generation, reason: reason, kept: 10 * mb}}
						judge(fmt.Sprintf("%s of gen %d, %d ms every %d ms, %s", reason, generation, pause, each, name), in.subject(t))
					}
				}
			}
		}
	}
	for what, frames := range map[string][]string{"a result": result, "asleep": sleep, "a lock": lock, "work": works, "idle": idle, "a socket": socket, "a queue": consumer} {
		for _, cpu := range []float64{4, 97} {
			for _, n := range []int{8, 40} {
				for name, in := range map[string]incident{"flat": {threads: flat(float64(n))}, "growing": {threads: ramp(float64(n), 3)}, "queued": {threads: flat(float64(n)), queue: 20}, "looks alone": {}, "paused": {threads: flat(float64(n)), paused: .4}} {
					in.version, in.cores, in.cpu, in.stacks = "8.0.1", 4, cpu, []stack{{n, n, frames}}
					for _, requests := range [][]request{nil, {{n: 60, at: 1, dur: .002, separated: true}, {n: 40, at: 3, dur: 1.5}}} {
						in.requests = requests
						judge(fmt.Sprintf("%d in %s, %s, %.0f %% busy, %d kinds of requests", n, what, name, cpu, len(requests)), in.subject(t))
					}
				}
			}
		}
	}
}
