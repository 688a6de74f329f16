package dotnet

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

func TestStarvation(t *testing.T) {
	stuck := []stack{{2, 37, result}, {1, 4, works}}
	blocked := []stack{{2, 37, result}, {1, 1, works}}
	for _, tt := range []struct {
		name  string
		in    incident
		state string
		says  string // parts, in order, separated by …
		not   string
	}{
		{"all signs", incident{version: "3.1.2", cores: 2, threads: ramp(3, 3.8), cpu: 4, queue: 29, inFlight: 125, timers: ramp(0, 12), reasons: []string{metrics.Starvation, metrics.Starvation, metrics.Starvation}, stacks: stuck},
			check.Supported, "CartController.Get blocks 37 of 41 pool threads on .Result: the pool starves…Starvation…make CartController.Get async…COMPlus_ThreadPool_ForceMinWorkerThreads=82", "DOTNET_"},
		{"neighbours use the processors", incident{version: "10.0.9", cores: 2, threads: ramp(3, 5), cpu: 7, queue: 20, others: 1.86, ready: 6, stacks: []stack{{9, 9, works}}},
			check.Inconclusive, "while other processes use the host's CPUs: runnable threads wait for a CPU…while the host has CPUs to spare", "Pool threads are blocked"},
		{"counters of .NET 8", incident{version: "8.0.11", cores: 4, threads: ramp(5, 1), cpu: 12},
			check.Supported, "adds 1 per second and has 15, while the CPUs are only 12 % busy…dotnet-stack report…await instead of blocking…DOTNET_ThreadPool_ForceMinWorkerThreads=", "COMPlus_"},
		{"counters without processors, with a queue", incident{threads: ramp(1, 2), cpu: 12, queue: 20, timers: ramp(0, 12)},
			check.Supported, "adds 2 per second and has 21…active timers, from 0 at the beginning…hex for 50 threads; until then, start with more pool threads: they cost memory…Threads=32", ""},
		{"counters without processors", incident{threads: ramp(4, 1.5), cpu: 12}, check.Supported, "adds 1.5 per second", ""},
		{"counters without processors, of a few threads", incident{threads: ramp(5, .5), cpu: 12}, check.Inconclusive, "the number of CPUs is unknown", ""},
		{"counters without the CPU", incident{cores: 2, threads: ramp(5, 1)}, check.Inconclusive, "adds 1 per second; CPU use was not recorded…dotnet-counters", ""},
		{"the runtime says why", incident{version: "10.0.0", cores: 2, cpu: 10, reasons: strings.Fields(strings.Repeat(metrics.CooperativeBlocking+" ", 30))},
			check.Supported, "adds 4 per second…CooperativeBlocking", ""},
		{"a burst of stacks beside the runtime's reasons", incident{version: "10.0.0", cores: 2, reasons: strings.Fields(strings.Repeat(metrics.CooperativeBlocking+" ", 30)), stacks: blocked},
			check.Supported, "CartController.Get blocks 37 of 38 pool threads on .Result: the pool starves", ""},
		{"stacks alone, over time", incident{cores: 2, stacks: blocked}, check.Supported, "CartController.Get blocks 37 of 38…the pool starves", ""},
		{"stacks alone, once", incident{cores: 2, stacks: blocked, dump: true}, check.Supported, "starves, or has added threads…whether it still starves", ""},
		{"stacks alone, while others run", incident{cores: 2, stacks: stuck, dump: true}, check.Inconclusive, "37 of 41 pool threads were blocked at the same time, on 2 CPUs, while 4 ran; CPU use is unknown…dotnet-counters", ""},
		{"stacks alone, of how many processors is not known", incident{stacks: stuck, dump: true}, check.Inconclusive, "CartController.Get blocks 37 of 41 pool threads on .Result, but neither the number of CPUs…dotnet-counters", ""},
		{"the stack of one thread", incident{stacks: []stack{{1, 1, works}}, dump: true}, check.Inconclusive, "the stack of one thread does not show…unstall record PID", ""},
		{"the stack of one thread that is blocked", incident{cores: 4, stacks: []stack{{1, 1, result}}, dump: true}, check.Inconclusive, "the stack of one thread does not show…unstall record PID", ""},
		{"threads of the process climb", incident{cores: 2, process: ramp(20, 1), cpu: 5}, check.Inconclusive, "the process has 30 threads on 2 CPUs and adds 1 per second…unstall record PID", ""},
		{"a sleep loop", incident{version: "6.0.1", cores: 2, threads: ramp(4, 1), cpu: 20, stacks: []stack{{3, 12, sleep}}},
			check.Supported, "CartController.Poll blocks 12 of 12 pool threads on Thread.Sleep…await the task instead of sleeping", ""},
		{"a sleep without a frame", incident{version: "3.1.2", cores: 2, threads: ramp(4, 1), cpu: 3, stacks: []stack{{3, 14, hidden}}},
			check.Supported, "CartController.Poll blocks 14 of 14 pool threads on Thread.Sleep or native code: the pool starves…often Thread.Sleep up to .NET 5", ""},
		{"they wait for memory while gen 2 is collected", incident{version: "3.1.2", cores: 2, threads: flat(14), cpu: 3, beside: true, stacks: []stack{{3, 14, hidden}}}, check.RuledOut, "none of 14 pool threads", ""},
		{"they had to wait for memory until just now", incident{version: "3.1.2", cores: 2, threads: flat(14), cpu: 3, beside: true, ended: 8.5, stacks: []stack{{3, 14, hidden}}}, check.RuledOut, "none of 14 pool threads", ""},
		{"gen 2 was collected long ago", incident{version: "3.1.2", cores: 2, threads: flat(14), cpu: 3, beside: true, ended: 2, stacks: []stack{{3, 14, hidden}}}, check.Supported, "14 pool threads", ""},
		{"native code that computes", incident{version: "3.1.2", cores: 2, threads: ramp(4, 1), cpu: 80, stacks: []stack{{3, 14, hidden}}}, check.RuledOut, "none of 14 pool threads", ""},
		{"grown since the last look", incident{version: "3.1.2", cores: 2, threads: ramp(2, 1), cpu: 3, reasons: []string{metrics.Starvation, metrics.Starvation, metrics.Starvation}, stacks: []stack{{2, 2, works}}},
			check.Supported, "adds 1 per second and has 12, while the CPUs are only 3 % busy…dotnet-stack", ""},
		{"few threads that block again and again, and a queue", incident{version: "9.0.7", cores: 2, threads: flat(4), cpu: 1, queue: 35, stacks: []stack{{4, 4, socket}}},
			check.Supported, "DocumentStore.ReadLength blocks 4 of 4 pool threads on NetworkStream.Read: the pool starves…4 of 4 pool threads blocked, and on average 35 work items wait", ""},
		{"a queue, and nobody looked", incident{version: "10.0.9", cores: 2, threads: flat(4), cpu: 3, queue: 30},
			check.Supported, "30 work items wait for one on average, while the CPUs are only 3 % busy…dotnet-stack", ""},
		{"a queue, and some block", incident{cores: 2, threads: flat(5), cpu: 40, queue: 30, stacks: []stack{{2, 2, socket}, {3, 3, works}}},
			check.Inconclusive, "on average 2 of 5 busy pool threads were blocked, while 30 work items waited", ""},
		{"a method that no session told the name of", incident{version: "9.0.7", cores: 2, threads: ramp(3, 1), cpu: 4, stacks: []stack{{12, 12, append([]string{result[0], "?!?"}, result[5:]...)}}},
			check.Supported, "unnamed code blocks 12 of 12 pool threads on ManualResetEventSlim.Wait", "?!?"},
		{"made up for", incident{version: "8.0.11", cores: 2, threads: flat(130), cpu: 20, stacks: []stack{{115, 115, result}, {15, 15, idle}}},
			check.Supported, "CartController.Get blocks 115 of 130 pool threads on .Result: extra threads compensate for it", "starves"},
		{"made up for, and requests are quick", incident{version: "8.0.11", cores: 2, threads: flat(130), cpu: 20, stacks: []stack{{115, 115, result}, {15, 15, idle}}, observed: true, requests: []request{{n: 120, dur: .002, kind: evidence.TaskWait}}},
			check.RuledOut, "at most 115 of 130 pool threads were blocked at the same time, on 2 CPUs; extra threads compensate for it, and requests are quick", ""},
		{"consumers, of a server that nobody followed", incident{version: "9.0.7", cores: 2, threads: flat(20), cpu: 10, stacks: []stack{{18, 18, consumer}, {2, 2, works}}},
			check.Supported, "Sorter.Sort blocks 18 of 20 pool threads on BlockingCollection.Take: extra threads compensate for it", ""},
		{"consumers, and a queue", incident{version: "9.0.7", cores: 2, threads: flat(20), cpu: 10, queue: 30, stacks: []stack{{18, 18, consumer}, {2, 2, works}}, requests: []request{{n: 40, dur: .1, separated: true}}},
			check.Supported, "Sorter.Sort blocks 18 of 20 pool threads on BlockingCollection.Take: the pool starves", ""},
		{"stable, and nobody looked", incident{cores: 2, threads: flat(60), cpu: 20}, check.Inconclusive, "the pool has 60 threads on 2 CPUs, more than the running work needs…dotnet-stack", ""},

		{"awaited", incident{cores: 2, threads: flat(5), cpu: 30, inFlight: 125, stacks: []stack{{3, 3, idle}, {2, 2, works}}}, check.RuledOut, "none of 5 pool threads was blocked, on 2 CPUs", ""},
		{"awaited, by counters", incident{cores: 2, threads: flat(5), cpu: 30}, check.RuledOut, "the pool has 5 threads on 2 CPUs", ""},
		{"consumers that wait for work, and nobody waits for them", incident{version: "9.0.7", cores: 2, threads: flat(20), cpu: 10, stacks: []stack{{18, 18, consumer}, {2, 2, works}}, requests: []request{{n: 40, dur: .1, separated: true}}},
			check.RuledOut, "on average 0 busy pool threads were blocked, on 2 CPUs, and 18 idle consumers; no work waited for a thread", ""},
		{"now and then more than there always may", incident{version: "9.0.7", cores: 2, threads: flat(12), cpu: 10, stacks: []stack{{2, 9, socket}, {10, 3, idle}}},
			check.RuledOut, "on average 5.1 busy pool threads were blocked, on 2 CPUs; no work waited for a thread", ""},
		{"looks that met more at requests than there are", incident{version: "9.0.7", cores: 2, threads: flat(12), cpu: 10, stacks: []stack{{9, 9, result}, {3, 3, idle}}, requests: []request{{n: 60, dur: .5, separated: true}}},
			check.RuledOut, "on average 0.91 busy pool threads were blocked, on 2 CPUs; no work waited for a thread", ""},
		{"a queue for a moment, after a stop", incident{version: "9.0.7", cores: 2, threads: flat(80), cpu: 10, spike: 80, stacks: []stack{{5, 5, socket}, {3, 3, idle}}},
			check.RuledOut, "at most 5 of 8 pool threads", ""},
		{"some block, as many as there always may", incident{cores: 4, threads: flat(8), cpu: 30, stacks: []stack{{4, 4, result}, {4, 4, idle}}}, check.RuledOut, "at most 4 of 8", ""},
		{"busy processors", incident{cores: 2, threads: ramp(3, 1), cpu: 97, queue: 100, stacks: []stack{{3, 13, works}}}, check.RuledOut, "the CPUs are 97 % busy", ""},
		{"the pool tries more threads", incident{cores: 2, threads: ramp(3, 1), cpu: 70, reasons: []string{"Warmup", "ClimbingMove", "ClimbingMove", "ClimbingMove"}}, check.RuledOut, "13 threads on 2 CPUs, some of them added", ""},
		{"a collector that stops everything", incident{cores: 2, threads: ramp(3, 1), cpu: 40, paused: .6}, check.Inconclusive, "GC pauses the program for 60 %", ""},
		{"a lock", incident{cores: 2, threads: ramp(3, 1), cpu: 40, stacks: []stack{{1, 1, held}, {2, 12, lock}}}, check.RuledOut, "12 of 13 pool threads wait for a lock", ""},
		{"a lock of two threads, and a queue", incident{cores: 2, threads: flat(2), cpu: 50, queue: 30, stacks: []stack{{1, 1, append([]string{"Shop!Shop.Ledger.Append(int32)"}, dispatch)}, {1, 1, lock}}},
			check.RuledOut, "1 of 2 pool threads wait for a lock: see dotnet.lock-contention", ""},
		{"a queue for processors", incident{cores: 2, threads: flat(4), cpu: 85, queue: 30, stacks: []stack{{2, 2, socket}, {2, 2, works}}}, check.RuledOut, "at most 2 of 4", ""},
		{"nothing", incident{cores: 2}, check.Inconclusive, "were not recorded…unstall record PID", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.in.subject(t)
			v := judgeStarvation(c)
			checktest.Decides(t, "", c, &v)
			text := said(v)
			if v.State != tt.state {
				t.Fatalf("%s, want %s:\n%s", v.State, tt.state, text)
			}
			rest := text
			for _, part := range strings.Split(tt.says, "…") {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Errorf("it does not say %q:\n%s", part, text)
				}
				rest = after
			}
			if tt.not != "" && strings.Contains(text, tt.not) {
				t.Errorf("it says %q:\n%s", tt.not, text)
			}
			if v.State == check.Supported && (v.Weight <= 0 || len(v.Fix) == 0) {
				t.Errorf("weight %g, %d fixes", v.Weight, len(v.Fix))
			}
		})
	}
}

// TestWhatStarvationCosts holds what it saves against what is known of the requests.
func TestWhatStarvationCosts(t *testing.T) {
	starving := incident{version: "3.1.2", cores: 2, threads: ramp(3, 3.8), cpu: 4, inFlight: 125, stacks: []stack{{2, 37, result}, {1, 4, works}}, observed: true}

	// Twelve requests got a thread, none ended: no floor, fewer than a figure needs.
	starving.requests = []request{{n: 12, dur: 8, unended: true, kind: evidence.TaskWait}}
	v := judgeStarvation(starving.subject(t))
	if v.Saves == nil || v.Saves.Value < 95_000 || v.Saves.Value > 96_000 || *v.Saves.Low != 0 || *v.Saves.Basis != "bound" {
		t.Errorf("12 requests that did not end in 8 s: %+v", v.Saves)
	}
	if !strings.Contains(said(v), "to predict the effect of a fix: a recording under light load") || len(v.Prediction) > 0 {
		t.Errorf("what a request needs is not known, and not asked for:\n%s", said(v))
	}

	// Before the load came, requests one by one took half a second.
	starving.requests = append(starving.requests, request{n: 4, at: -5, dur: .5, separated: true, kind: evidence.TaskWait})
	v = judgeStarvation(starving.subject(t))
	if v.Saves == nil || v.Saves.Value < 89_500 || v.Saves.Value > 90_500 {
		t.Errorf("12 × (8 − 0.5) s: %+v", v.Saves)
	}
	if len(v.Prediction) != 4 {
		t.Fatalf("%d predictions", len(v.Prediction))
	}
	if rate, threads := *v.Prediction[0].Then, *v.Prediction[3].Then; threads > 6 || rate < 200 {
		t.Errorf("awaited, 125 requests of 0.5 s are 250 a second on a few threads, not %.0f on %.0f", rate, threads)
	}

	// Nobody asked before the load came, but some that got a thread were answered.
	busy := starving
	busy.requests = []request{{n: 12, dur: 8, unended: true, kind: evidence.TaskWait}, {n: 5, at: 1, dur: .5, kind: evidence.TaskWait}, {n: 3, at: 2, dur: 4, kind: evidence.TaskWait}}
	if v = judgeStarvation(busy.subject(t)); len(v.Prediction) != 4 || *v.Prediction[0].Then < 200 {
		t.Errorf("125 requests of 0.5 s are 250 a second: %+v", v.Prediction)
	}

	// The pool has a thread for each: they wait for none.
	made := incident{version: "8.0.11", cores: 2, threads: flat(130), cpu: 20, inFlight: 115, stacks: []stack{{115, 115, result}, {15, 15, idle}}, observed: true,
		requests: []request{{n: 120, dur: .5, kind: evidence.TaskWait}, {n: 10, at: 1, dur: 4, kind: evidence.TaskWait}}}
	if v = judgeStarvation(made.subject(t)); v.Saves == nil || v.Saves.Value != 0 || v.Weight >= .1 {
		t.Errorf("threads made up for it: %+v, weight %g", v.Saves, v.Weight)
	}
	if len(v.Prediction) != 4 || *v.Prediction[3].Then > 6 {
		t.Errorf("awaited, the same takes a few threads: %+v", v.Prediction)
	}
}

// TestStarvationBehindALock has threads that wait for a lock while work is queued. Where requests
// are those who wait for it, the lock is named by its own cause; where timers keep the threads at
// it, no request waits for it, and requests wait for a thread.
func TestStarvationBehindALock(t *testing.T) {
	in := incident{version: "3.1.2", cores: 2, threads: flat(12), cpu: 3, queue: 30, stacks: []stack{{11, 11, lock}, {1, 1, socket}}, observed: true}
	for name, x := range map[string]struct {
		dur   float64 // s, of requests that the server has begun
		kind  evidence.Kind
		state string
		says  string
	}{
		"of requests": {2, evidence.LockWait, check.RuledOut, "see dotnet.lock-contention"},
		"of timers":   {.01, evidence.Running, check.Supported, "11 of 12 pool threads on a lock: the pool starves"},
	} {
		in.requests = []request{{n: 60, dur: .01, kind: evidence.Running}, {n: 20, at: 1, dur: x.dur, kind: x.kind}}
		v := judgeStarvation(in.subject(t))
		if text := said(v); v.State != x.state || !strings.Contains(text, x.says) {
			t.Errorf("%s: %s, want %s and %q:\n%s", name, v.State, x.state, x.says, text)
		}
	}
}

// TestTimersAtALock has timers keep most threads of a pool at a lock that is given more of them one by
// one: nothing is queued, no request waits, and what requests would gain is not foretold.
func TestTimersAtALock(t *testing.T) {
	in := incident{version: "9.0.7", cores: 2, threads: ramp(10, 1), cpu: 2, stacks: []stack{{9, 9, lock}, {1, 1, socket}, {4, 4, idle}}, observed: true}
	in.requests = []request{{n: 80, dur: .001, kind: evidence.Running}}
	v := judgeStarvation(in.subject(t))
	if text := said(v); v.State != check.Supported || !strings.Contains(text, "9 of ") || !strings.Contains(text, "on a lock") || len(v.Prediction) > 0 {
		t.Errorf("%s, %d predictions:\n%s", v.State, len(v.Prediction), text)
	}
}
