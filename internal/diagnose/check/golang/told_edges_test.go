package golang

import (
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

type (
	figures = checktest.Figures
	row     = checktest.Row
)

// What the runtime's counters and a trace's end tell by themselves, on both sides of what each must reach.
func TestToldEdges(t *testing.T) {
	count := func(n float64) figures { return figures{evidence.SeriesGoGoroutines: n} }
	for _, x := range []struct {
		cause         check.Check
		series, grows figures
		facts         figures
		text          string
		readings      int
		row
	}{
		{GoroutineLeak, count(100), count(8.5), nil, "", 61, row{About: "510 more in a minute", Rule: check.Matters, ID: "goroutines.growth_per_s", Figure: 8.5, Says: "100 → 610"}},
		{GoroutineLeak, count(100), count(8), nil, "", 61, row{About: "480 more in a minute", Rule: check.OneLook, ID: "goroutines.last", Figure: 580}},
		{GoroutineLeak, count(1000), count(8.5), nil, "", 61, row{About: "half as many again", Rule: check.Matters}},
		{GoroutineLeak, count(1100), count(8.5), nil, "", 61, row{About: "not half as many again", Rule: check.OneLook}},
		{GoroutineLeak, count(100), count(10), nil, "", 60, row{About: "in 59 seconds", Rule: check.OneLook}},
		{GoroutineLeak, count(900), count(-8.5), nil, "", 61, row{About: "fewer and fewer", Rule: check.OneLook, ID: "goroutines.first", Figure: 900}},
		{GoroutineLeak, count(100_000), nil, nil, "", 1, row{About: "one reading", Rule: check.OneLook, Says: "100000 goroutines at one moment: a second count is needed"}},
		{GoroutineLeak, nil, nil, nil, "", 0, row{About: "they were not counted", Rule: check.NotRecorded}},
		{GoroutineLeak, nil, nil, figures{evidence.FactGoroutinesLeft: 50, evidence.FactGoroutinesLeftEarly: 13}, "main.send", 0, row{About: "fifty are left", Rule: check.Matters, ID: "goroutines.left_waiting_long", Figure: 13, Says: "Goroutines are started but do not end: main.send"}},
		{GoroutineLeak, nil, nil, figures{evidence.FactGoroutinesLeft: 49, evidence.FactGoroutinesLeftEarly: 49}, "main.send", 0, row{About: "49 are left", Rule: check.TooLittle, ID: "goroutines.left_waiting", Figure: 49}},
		{GoroutineLeak, nil, nil, figures{evidence.FactGoroutinesLeft: 50, evidence.FactGoroutinesLeftEarly: 12}, "main.send", 0, row{About: "nearly all are new", Rule: check.TooLittle, Says: "nearly all had just started"}},
		{GoroutineLeak, nil, nil, figures{evidence.FactGoroutinesLeft: 50}, "main.send", 0, row{About: "when they were started is not known", Rule: check.NotRecorded, Says: "when they were started was not recorded"}},
		{GoroutineLeak, nil, nil, figures{evidence.FactGoroutinesLeft: 50, evidence.FactGoroutinesLeftEarly: 50}, "database/sql.(*DB).conn", 0, row{About: "they wait for connections", Rule: check.Matters, Says: "close rows and statements"}},
		{GoroutineLeak, nil, nil, figures{evidence.FactGoroutinesLeft: 50, evidence.FactGoroutinesLeftEarly: 50}, "net/http.(*Transport).getConn", 0, row{About: "they wait for a host", Rule: check.Matters, Says: "close the body of every response"}},

		{GCRate, nil, nil, figures{evidence.FactGCCPUFraction: .16}, "", 0, row{About: "16 % of the CPUs since the start", Rule: check.Matters, ID: "gc.since_start_share", Figure: .16, Says: "GC used 16 % of the available CPU time"}},
		{GCRate, nil, nil, figures{evidence.FactGCCPUFraction: .14}, "", 0, row{About: "14 % of them", Rule: check.NotRecorded, ID: "gc.since_start_share", Figure: .14}},
		{GCRate, figures{evidence.SeriesGoCPUFraction: .16}, nil, figures{evidence.FactGCCPUFraction: .01}, "", 0, row{About: "16 % of the last reading", Rule: check.Matters, ID: "gc.since_start_share", Figure: .16}},
		{GCRate, nil, nil, nil, "", 0, row{About: "nothing is known", Rule: check.NotRecorded, Says: "gctrace=1"}},

		{ForcedGC, figures{evidence.SeriesGoForced: 7}, figures{evidence.SeriesGoForced: 2}, nil, "", 0, row{About: "two are asked for each second", Rule: check.NotRecorded, ID: "gc.forced_cycles_per_s", Figure: 2, Says: "2 GC cycles/s requested by the program; what they cost was not recorded"}},
		{ForcedGC, figures{evidence.SeriesGoForced: 7}, nil, nil, "", 0, row{About: "none is asked for any more", Rule: check.Absent, ID: "gc.forced_cycles_per_s"}},
		{ForcedGC, figures{evidence.SeriesGoForced: 7}, nil, nil, "", 1, row{About: "one reading", Rule: check.NotRecorded, Says: "no GC cycles were recorded"}},

		{MemoryLimitThrash, nil, nil, nil, "", 0, row{About: "no cycles", Rule: check.NotRecorded}},
		{LockContention, nil, nil, nil, "", 0, row{About: "no profile", Rule: check.NotRecorded}},
	} {
		c := checktest.Told{Of: evidence.Subject{Runtime: "go", CPUs: 2}, Series: x.series, Grows: x.grows, Facts: x.facts, Text: x.text, Readings: x.readings}.Case()
		if !x.cause.Applies(c) {
			t.Errorf("%s: %s: it is not asked", x.cause.ID, x.About)
			continue
		}
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}

// traced adds requests with states to a log of cycles: one each 5 ms that computes for a millisecond; one in so many that meets a cycle also waits for GC.
func traced(l log, each int, assists int64, kind evidence.Kind, starved bool) *check.Case {
	c := l.build()
	p := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	until, n := int64(1e9)+int64(l.n)*l.period, 0
	for at := int64(1e9); at < until; at += 5e6 {
		r := evidence.Request{Subject: c.Subject, Route: p.Name("GET /"), Lane: evidence.LaneID(100 + n), Start: at, End: at + 1e6}
		r.Path = r.Path.Append(evidence.Segment{Kind: evidence.Running, Dur: 1e6})
		if (at-1e9)%l.period < l.mark {
			if n++; n%each == 0 {
				s := evidence.Segment{Kind: kind, Dur: assists}
				if kind == evidence.Runnable {
					s.Held[evidence.HeldByCollector] = assists
				}
				r.Path, r.End = r.Path.Append(s), r.End+assists
			}
		}
		p.Request(r)
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: c.Subject, Kind: kind, From: 1e9, Until: until, Origin: p.Origin(1)})
	}
	run := .8 * float64(until-1e9) // of 2 CPUs
	facts := map[string]float64{evidence.FactRunTime: run, evidence.FactLongRuns: 0, evidence.FactShortCalls: 1000, evidence.FactShortCallMedian: 1000, evidence.FactShortCallMean: 1500}
	if starved {
		facts[evidence.FactLongRuns], facts[evidence.FactShortCallMean] = .3*run, 30_000
	}
	for key, v := range facts {
		p.Fact(evidence.Fact{Subject: c.Subject, Key: key, Number: v, From: 1e9, Until: until, Origin: p.Origin(0)})
	}
	p.Close()
	for i := range c.Bundle.Clocks {
		c.Bundle.Clocks[i].Name, c.Bundle.Clocks[i].Error = "unix", 0
	}
	c.Ledger = ledger.Build(c.Bundle, ledger.Options{})[0]
	return c
}

// What GC costs requests decides, not how often it runs: few slow requests, or requests that are over in milliseconds, clear it for what they are.
func TestGCByWhatItCosts(t *testing.T) {
	often := log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: follows, workers: 1}
	limited, asked := often, often
	limited.goal = func(i int, _ float64) float64 { return mib * (78 - float64(i%3)) }
	asked.forced = 1
	for _, x := range []struct {
		cause   check.Check
		log     log
		each    int
		assists int64
		starved bool
		row
	}{
		{GCRate, often, 4, 60e6, false, row{About: "one in four that meets a cycle waits 60 ms", Rule: check.Matters, ID: "gc.cycles_per_s", Figure: 9.09}},
		{GCRate, often, 4, 4e6, false, row{About: "it waits 4 ms, which is three quarters of it", Rule: check.Matters}},
		{GCRate, often, 200, 60e6, false, row{About: "hardly any waits", Rule: check.NotSlow}},
		{GCRate, often, 4, 60e6, true, row{About: "on a host that does not run it", Rule: check.Withheld, Says: "the host did not run the process all the time"}},
		{MemoryLimitThrash, limited, 4, 60e6, false, row{About: "one in four that meets a cycle waits 60 ms", Rule: check.Matters, ID: "heap.goal_by_live", Figure: 1.71}},
		{MemoryLimitThrash, limited, 200, 60e6, false, row{About: "hardly any waits", Rule: check.NotSlow}},
		{ForcedGC, asked, 200, 60e6, false, row{About: "hardly any waits", Rule: check.NotSlow}},
	} {
		c := traced(x.log, x.each, x.assists, evidence.GCAssist, x.starved)
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}

// What decides is one of the figures that are kept, however often GC runs, for whatever reason, and whatever it costs requests.
func TestEveryDecisionHolds(t *testing.T) {
	for _, period := range []int64{110e6, 1200e6} {
		for _, part := range []float64{.04, .4} {
			for name, goal := range map[string]func(int, float64) float64{"GOGC": follows, "a limit": func(i int, _ float64) float64 { return mib * (78 - float64(i%3)) }} {
				for _, forced := range []float64{0, 1} {
					for _, n := range []int{4, 12} {
						for each, kind := range map[int]evidence.Kind{0: evidence.Running, 4: evidence.GCAssist, 200: evidence.Runnable} { // 0: no requests
							l := log{n: n, period: period, mark: int64(part * float64(period)), live: wobble, goal: goal, workers: 1, forced: forced}
							c := l.build()
							if each > 0 {
								c = traced(l, each, 60e6, kind, n == 4)
							}
							for _, k := range []check.Check{GCRate, ForcedGC, MemoryLimitThrash, LockContention, GoroutineLeak} {
								v := k.Judge(c)
								checktest.Holds(t, fmt.Sprintf("%d cycles each %d ms, %v marking, %s, forced %v, one in %d waits: %v", n, period/1e6, part, name, forced, each, kind), &k, c, &v)
							}
						}
					}
				}
			}
		}
	}
}
