package present

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

func ptr[T any](v T) *T { return &v }

func at(clock string) *time.Time {
	t, err := time.Parse(time.DateTime, "2026-11-20 "+clock)
	if err != nil {
		panic(err)
	}
	return &t
}

// diagnoses are the diagnoses that every report is tested with, by the name of their golden file.
var diagnoses = map[string]func() *diagnose.Diagnosis{
	"sick":         sick,
	"two-causes":   twoCauses,
	"healthy":      healthy,
	"no-requests":  noRequests,
	"inconclusive": inconclusive,
	"unanchored":   unanchored,
	"extremes":     extremes,
	"through":      throughStack,
	"empty":        func() *diagnose.Diagnosis { return &diagnose.Diagnosis{Schema: diagnose.Schema} },
}

// slowEnough is what was compared to say that requests are slow.
var slowEnough = check.Asked{Question: check.AskSlow, Compared: []check.Compared{held(241, check.SomeSlow), {Name: check.SlowShare.Name, Threshold: check.SlowShare.Value, Unit: check.SlowShare.Unit, Speaks: check.Above, Joined: check.Beside, Of: check.SlowShare}}}

func held(figure float64, t check.Threshold) check.Compared {
	return check.Compared{Name: t.Name, Figure: &figure, Threshold: t.Value, Unit: t.Unit, Reached: figure >= t.Value, Speaks: check.Above, Joined: check.All, Of: t}
}

// decided returns a decision by a row of the policy, after these questions.
func decided(by check.Rule, asked ...check.Asked) *check.Decision {
	d := &check.Decision{Answer: by.Answer, Says: by.Says, Steps: asked}
	i := slices.IndexFunc(d.Steps, func(a check.Asked) bool { return a.Question == by.Question })
	if i < 0 {
		d.Steps, i = append(d.Steps, check.Asked{Question: by.Question, Compared: []check.Compared{}}), len(d.Steps)
	}
	d.Steps[i].Decides = true
	return d
}

func sick() *diagnose.Diagnosis {
	return &diagnose.Diagnosis{
		Schema: diagnose.Schema, ToolVersion: "0.1.0", Outcome: diagnose.Found, RankedBy: "request_time",
		Window:  diagnose.Window{Start: at("14:02:10"), End: at("14:02:40"), Duration: ptr(30.)},
		Targets: []diagnose.Target{{ID: "gateway pid 4711", Kind: "process", PID: ptr(4711), Name: "gateway", Runtime: "go", Version: "go1.26.8", CPUs: ptr(2), MemLimit: ptr(int64(4 << 30))}},
		Coverage: []diagnose.Coverage{
			{Subject: "gateway pid 4711", Kind: "goroutine states", From: at("14:02:10"), Until: at("14:02:40"), Seconds: 30},
		},
		Requests: &diagnose.Requests{Source: "access.log", Count: 24013, Slow: 241, Traced: 241, SlowThresholdMs: ptr(6.3), SlowRule: "3x_route_floor",
			SlowTotalMs: 1920, Rate: ptr(800.4), P50Ms: ptr(2.6), P99Ms: ptr(6.4), P999Ms: ptr(11.6)},
		Loads: []diagnose.Load{{Source: "load.txt", Tool: "wrk", Mode: "closed", LatencyFrom: "send", Rate: ptr(801.2), P50Ms: ptr(2.5), P99Ms: ptr(6.1), MaxMs: ptr(41.)}},
		Ledger: []diagnose.Entry{
			{Subject: "gateway pid 4711", Mechanism: "collector_cpu", Title: "runnable, CPU busy with GC", SlowMs: 1320, Low: ptr(1150.), High: ptr(1480.), Basis: ptr("sampling"), Method: "trace"},
			{Subject: "gateway pid 4711", Mechanism: "own", Title: "own work", SlowMs: 210, Method: "trace"},
			{Subject: "gateway pid 4711", Mechanism: "mark_assist", Title: "mark assist", SlowMs: 166, Method: "trace"},
			{Subject: "gateway pid 4711", Mechanism: "unexplained", Title: "unexplained", SlowMs: 121},
			{Subject: "gateway pid 4711", Mechanism: "dependency", Title: "dependency", Detail: "10.0.0.7:6379", SlowMs: 90, Method: "trace"},
			{Subject: "gateway pid 4711", Mechanism: "lock", Title: "waiting for a lock", Detail: "sync.(*Mutex) in (*cache).get", SlowMs: 8, Method: "trace"},
			{Subject: "gateway pid 4711", Mechanism: "stop_the_world", Title: "paused by GC (stop-the-world)", SlowMs: 5, Method: "trace"},
		},
		Verdicts: []diagnose.Verdict{
			{Cause: "go.gc-rate", Step: check.StepCollector, Subject: "gateway pid 4711", Verdict: "supported", Title: "GC runs 9.3 times per second because the heap is too small.",
				Summary: "9.3 GC/s", Saves: &diagnose.Saves{Value: 1490, Low: ptr(1310.), High: ptr(1630.)},
				Decision: decided(check.Matters, slowEnough, check.Asked{Question: check.AskMaterial, Compared: []check.Compared{held(.776, check.Material)}}),
				Evidence: []diagnose.Evidence{
					{ID: "gc.cycles_per_s", Text: "collections started by the pacer", Value: ptr(9.3), Unit: "1/s", Origin: "trace.out", Source: "trace.out"},
					{ID: "gc.marking_share", Text: "share of the time a cycle was marking", Value: ptr(.312), Unit: "1", Origin: "trace.out", Source: "trace.out"},
					{ID: "heap.live_bytes", Text: "live heap, at the end of the last cycle that was recorded from its start to its end", Value: ptr(40. * (1 << 20)), Unit: "bytes", Origin: "trace.out", Source: "trace.out"},
					{ID: "alloc.bytes_per_s", Text: "allocation rate", Value: ptr(390e6), Unit: "bytes/s", Origin: "trace.out", Source: "trace.out"},
					{Text: "most of it in main.(*sessions).resolve", Origin: "trace.out", Source: "trace.out"},
				},
				Fix: []diagnose.Fix{
					{Setting: "GOGC=off GOMEMLIMIT=800MiB", Text: "Go ≥ 1.19, needs a restart. The first 2 s after it are slow by page faults. 4 GiB would gain little more."},
					{Setting: "GOGC=400", Text: "without a limit, if the live heap may grow fivefold"},
				},
				Prediction: []diagnose.Prediction{
					{ID: "gc.cycles_per_s", Fix: ptr(0), Metric: "gc cycles", Unit: "1/s", Now: ptr(9.3), Then: ptr(.6)},
					{ID: "requests.p99_ms", Fix: ptr(0), Metric: "p99", Unit: "ms", Now: ptr(6.4), Then: ptr(2.7), Low: ptr(2.3), High: ptr(3.4)},
					{ID: "process.resident_bytes", Fix: ptr(0), Metric: "RSS", Unit: "bytes", Now: ptr(107. * (1 << 20)), Then: ptr(760. * (1 << 20))},
				}},
			{Cause: "linux.disk-sync", Step: check.StepProcessors, Subject: "gateway pid 4711", Verdict: "inconclusive", Summary: "no disk waits were recorded", Decision: decided(check.NotRecorded), Needs: []diagnose.Need{{What: "needs root", Command: "sudo unstall 4711"}}},
			{Cause: "linux.cpu-throttled", Step: check.StepProcessors, Subject: "gateway pid 4711", Verdict: "ruled_out", Summary: "0 of 300 periods"},
			{Cause: "linux.noisy-neighbour", Step: check.StepProcessors, Subject: "gateway pid 4711", Verdict: "ruled_out", Summary: "0.4 % steal",
				Decision: decided(check.TooLittle, slowEnough, check.Asked{Question: check.AskMaterial, Compared: []check.Compared{held(.004, check.Material)}})},
			{Cause: "go.lock-contention", Step: check.StepLocks, Subject: "gateway pid 4711", Verdict: "ruled_out", Summary: "0.4 ms"},
		},
		Warnings: []diagnose.Warning{{Text: "line not understood", Count: 3, Origin: "access.log:17"}, {Text: "the trace lost 12 events", Count: 1}},
		Sources:  []diagnose.Source{{Name: "trace.out", Formats: []string{"gotrace"}}, {Name: "access.log", Formats: []string{"accesslog"}, Envelopes: []string{"gzip"}, Cut: true}},
	}
}

func twoCauses() *diagnose.Diagnosis {
	d := sick()
	d.Requests.LedgerSource = "trace.out"
	for i := range 6 { // a capture's
		d.Sources = append(d.Sources, diagnose.Source{Name: fmt.Sprintf("cpu-%04d.pb.gz", i+1), Series: "cpu", Formats: []string{"gopprof"}, Envelopes: []string{"gzip"}})
	}
	d.NotSeen = []diagnose.NotSeen{{What: "environment", Why: "belongs to user app", Do: "sudo unstall 4711"}, {What: "3 more logs"}}
	d.Targets = append(d.Targets, diagnose.Target{ID: "redis pid 99", Kind: "process", PID: ptr(99), Name: "redis", Runtime: "redis", Version: "Redis 7.0.15"})
	d.Ledger = append(d.Ledger, diagnose.Entry{Subject: "redis pid 99", Mechanism: "kernel", Title: "system calls", SlowMs: 0, Method: "trace"})
	d.Verdicts = append([]diagnose.Verdict{d.Verdicts[0], {Cause: "go.lock-contention", Step: check.StepLocks, Subject: "gateway pid 4711", Verdict: "supported",
		Title: "Requests queue for one lock.", Saves: &diagnose.Saves{Value: 640},
		Evidence: []diagnose.Evidence{
			{Text: "of the time sessions.mu is held", Value: ptr(71.), Unit: "%", Origin: "mutex.pb.gz:3", Source: "mutex.pb.gz"},
			{ID: "slow.lock_at_ms", Text: "slow time waiting for: sync.(*Mutex).Lock", Value: ptr(640.), Unit: "ms", Origin: "trace.out", Source: "trace.out"}},
		Fix: []diagnose.Fix{{Text: "Do not encode while the lock is held:", Code: "s.mu.Lock()\nv := s.table[id]\ns.mu.Unlock()\nif v != nil {\n\treturn json.Marshal(v)\n}\n"}},
	}}, d.Verdicts[1:4]...)
	return d
}

func healthy() *diagnose.Diagnosis {
	d := sick()
	d.Outcome = diagnose.NothingFound
	d.Requests.Slow, d.Requests.Traced, d.Requests.SlowTotalMs, d.Requests.SlowThresholdMs, d.Requests.SlowRule = 0, 0, 0, ptr(300.), "slo"
	d.Requests.P50Ms, d.Requests.P99Ms, d.Requests.P999Ms = ptr(.413), ptr(2.04), nil
	d.Ledger, d.Warnings = nil, nil
	d.Verdicts = []diagnose.Verdict{
		{Cause: "go.gc-rate", Step: check.StepCollector, Verdict: "ruled_out", Summary: "0.6 GC/s, 0.2 % of request time"},
		{Cause: "go.lock-contention", Step: check.StepLocks, Verdict: "ruled_out", Summary: "0.4 ms"},
		{Cause: "service.over-capacity", Step: check.StepProcessors, Verdict: "ruled_out"},
		{Cause: "linux.cpu-throttled", Step: check.StepProcessors, Verdict: "inconclusive", Summary: "cpu.stat was not recorded", Needs: []diagnose.Need{{What: "a live look at the host", Command: "sudo unstall 4711"}}},
	}
	return d
}

func noRequests() *diagnose.Diagnosis {
	d := sick()
	d.RankedBy, d.Requests, d.Ledger = "stopped_time", nil, nil
	d.Targets = []diagnose.Target{{ID: "go process", Kind: "process", Runtime: "go"}}
	d.Verdicts[0].Saves, d.Verdicts[0].Summary = nil, "GC used 31 % of the CPUs."
	d.Verdicts[0].Prediction = d.Verdicts[0].Prediction[:1]
	return d
}

func inconclusive() *diagnose.Diagnosis {
	d := sick()
	d.Outcome = diagnose.NotJudged
	trace := func(shows string) []diagnose.Need {
		return []diagnose.Need{{What: "an execution trace of a few seconds under load shows " + shows, Command: platform.GoTrace}}
	}
	d.Requests.Traced = 0
	d.Ledger = []diagnose.Entry{{Mechanism: "unobserved", Title: "unobserved", SlowMs: 1840, Low: ptr(1700.), High: ptr(1920.), Basis: ptr("bound"), Method: "overlap"},
		{Mechanism: "stop_the_world", Title: "paused by GC (stop-the-world)", SlowMs: 80, Low: ptr(0.), High: ptr(220.), Basis: ptr("bound"), Method: "overlap"}}
	d.Verdicts = []diagnose.Verdict{
		{Cause: "go.gc-rate", Step: check.StepCollector, Verdict: "inconclusive", Summary: "no request's states are known", Needs: trace("who had the processors")},
		{Cause: "go.lock-contention", Step: check.StepLocks, Verdict: "inconclusive", Summary: "no request's states are known", Needs: trace("which locks they wait for")},
		{Cause: "go.goroutine-leak", Step: check.StepRest, Verdict: "inconclusive", Needs: []diagnose.Need{{What: "two goroutine profiles some minutes apart"}}},
	}
	return d
}

func unanchored() *diagnose.Diagnosis {
	d := sick()
	d.Window = diagnose.Window{Duration: ptr(1234.5)}
	for i := range d.Coverage {
		d.Coverage[i].From, d.Coverage[i].Until = nil, nil
	}
	d.Requests.SlowThresholdMs = nil
	return d
}

// extremes has what is huge, tiny, unknown, long or hostile.
func extremes() *diagnose.Diagnosis {
	d := sick()
	d.Window = diagnose.Window{Start: ptr(at("23:59:59").Add(1500 * time.Microsecond)), End: ptr(at("23:59:59").Add(2 * time.Second)), Duration: ptr(2.)}
	d.Targets[0].Name = "service-with-a-very-long-name-that-does-not-fit-beside-anything"
	d.Targets[0].Container = "k8s_gateway_gateway-5d9f7c6b8-x2x4q_production"
	d.Requests = &diagnose.Requests{Count: 123456789, Unfinished: 1234567, Slow: 9876543, Traced: 12, SlowThresholdMs: ptr(.00042), SlowRule: "baseline",
		SlowTotalMs: 9.87654321e9, Rate: ptr(1234567.8), P50Ms: ptr(.00031), P99Ms: ptr(math.NaN())}
	d.Ledger[0].SlowMs, d.Ledger[1].SlowMs = 9.8765e9, 1e-7
	d.Ledger[4].Detail = "a|very long \x1b[31mdetail\x1b[0m that `no reader` would <b>expect</b> in a table and that has to be wrapped"
	d.Verdicts[0].Evidence = d.Verdicts[0].Evidence[4:]
	d.Verdicts[0].Cause = "jvm.cms-concurrent-mode-failure"
	d.Verdicts[0].Saves = &diagnose.Saves{Value: .0004}
	d.Verdicts[0].Fix = []diagnose.Fix{{Setting: "-XX:+UseG1GC -XX:MaxGCPauseMillis=50 -XX:InitiatingHeapOccupancyPercent=35 -Xmx16g", Text: "日本語 → ok"}}
	d.Verdicts[0].Prediction = []diagnose.Prediction{{Metric: "p99", Unit: "ms", Now: ptr(math.Inf(1)), Then: ptr(2e-5)}, {Metric: "pauses", Unit: "count", Now: ptr(5e18), Then: nil}, {Metric: "CPU", Unit: "cores", Then: ptr(.0312)}}
	for range 12 {
		d.Verdicts = append(d.Verdicts, diagnose.Verdict{Cause: "linux.page-faults", Step: check.StepProcessors, Verdict: "ruled_out", Summary: "12 a second"})
	}
	return d
}

// throughStack returns a shop under journeys, whose slow requests wait for one of too few workers.
func throughStack() *diagnose.Diagnosis {
	d := healthy()
	page := diagnose.Steps{Step: "buy: product", Route: "GET /product/{id}", Requests: 410, MeanMs: 41.3, OutsideMs: .31, FrontMs: .52, WaitMs: 30.2, RunMs: 1.9, StoreMs: 7.9, KernelMs: .4, OtherMs: .07,
		Calls: []diagnose.Call{{Name: "unix:/run/redis.sock", Ms: 7.9}}}
	slow := page
	slow.Requests, slow.MeanMs, slow.WaitMs = 38, 260.4, 249.3
	page.Slow = &slow
	style := diagnose.Steps{Step: "buy: product", Route: "GET /static/shop.css", Requests: 205, MeanMs: .21, OutsideMs: .2, FrontMs: .01}
	other := diagnose.Steps{Step: "look at everything, and then at the details of one product: GET /delivery", Route: "GET /delivery", Requests: 198, MeanMs: 80.2, OutsideMs: .3, FrontMs: .4, WaitMs: 36, RunMs: 1.7, StoreMs: 1.2, OtherMs: 40.6}
	slow2 := other
	slow2.Requests, slow2.MeanMs, slow2.WaitMs = 21, 300, 255.8
	other.Slow = &slow2
	route := page
	route.Step, route.OutsideMs, route.MeanMs, route.Slow = "", 0, 40.99, nil
	d.Through = &diagnose.RequestPath{Front: "nginx pid 7", Title: "nginx", Pool: "PHP-FPM workers, pool www", Worker: "PHP",
		Store:  &diagnose.Store{Subject: "redis-server pid 9", Title: "Redis", Address: "unix:/run/redis.sock", Busy: ptr(.124), Most: []diagnose.Call{{Name: "keys", Ms: 11.2}, {Name: "setex", Ms: .004}, {Name: "get", Ms: .002}, {Name: "hgetall", Ms: .002}}},
		Routes: []diagnose.Steps{route}, Left: 2, Journeys: []diagnose.Steps{page, other, style}}
	return d
}
