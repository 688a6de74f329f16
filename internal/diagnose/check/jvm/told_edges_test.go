package jvm

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

// What counts and single sights tell of a JVM whose collections were not watched, on both sides of what each must reach.
func TestToldEdges(t *testing.T) {
	each := figures{evidence.FactFullCollections: 100, evidence.FactFullMean: 101e6, evidence.FactYoungCollected: 199}
	for _, x := range []struct {
		cause check.Check
		facts figures
		text  string
		row
	}{
		{FullGC, figures{evidence.FactFullCollections: 2, evidence.FactFullMean: 1.01e9}, "", row{About: "two of a second", Rule: check.Matters, ID: "gc.full_mean_ms", Figure: 1010, Says: "probably stop the program for 1.01 s each; 2 were counted"}},
		{FullGC, figures{evidence.FactFullCollections: 1, evidence.FactFullMean: 5e9}, "", row{About: "one", Rule: check.NotRecorded}},
		{FullGC, figures{evidence.FactFullCollections: 20, evidence.FactFullMean: .99e9}, "", row{About: "twenty of less than a second", Rule: check.NotRecorded}},
		{FullGC, each, "", row{About: "one for two young ones", Rule: check.Matters, ID: "gc.young_counted", Figure: 199, Says: "full collections of 101 ms come for nearly each young one: 100 for 199"}},
		{FullGC, each.With(figures{evidence.FactYoungCollected: 201}), "", row{About: "not quite one for two", Rule: check.NotRecorded}},
		{FullGC, each.With(figures{evidence.FactFullCollections: 99, evidence.FactYoungCollected: 99}), "", row{About: "99 of them", Rule: check.NotRecorded}},
		{FullGC, each.With(figures{evidence.FactFullMean: 99e6}), "", row{About: "99 ms each", Rule: check.NotRecorded}},
		{FullGC, each.With(figures{evidence.FactPermanentFull: .99}), "", row{About: "the permanent generation is full", Rule: check.Matters, ID: "gc.permanent_used", Figure: .99, Says: "-XX:MaxPermSize=SIZE"}},

		{LongPause, figures{evidence.FactPauseMost: 1.01e9}, "", row{About: "a second by its own metrics", Rule: check.Matters, ID: "gc.longest_ms", Figure: 1010, Says: "A pause of GC probably stopped the program for 1.01 s"}},
		{LongPause, figures{evidence.FactPauseMost: .99e9}, "", row{About: "less than a second", Rule: check.NotRecorded}},

		{LockContention, figures{evidence.FactMonitorWaits: 2, evidence.FactMonitorWaitMost: 1.01e9}, "shop.Cart" + evidence.Link + "shop.Cart.add", row{About: "two waits, one of a second", Rule: check.StandsAlone, ID: "lock.wait_longest_ms", Figure: 1010, Says: "Threads wait for a lock (shop.Cart) for up to 1.01 s, in shop.Cart.add"}},
		{LockContention, figures{evidence.FactMonitorWaits: 1, evidence.FactMonitorWaitMost: 5e9}, "shop.Cart", row{About: "one wait", Rule: check.TooFew, ID: "lock.waits", Figure: 1, Says: "thread dumps under load"}},
		{LockContention, figures{evidence.FactMonitorWaits: 9, evidence.FactMonitorWaitMost: .99e9}, "shop.Cart", row{About: "waits of less than a second", Rule: check.Happens}},
		{LockContention, figures{evidence.FactDeadlock: 2}, "a, b", row{About: "two wait for each other", Rule: check.StandsAlone, Says: "Deadlock: 2 threads wait for each other's locks forever (a, b)"}},
		{LockContention, nil, "", row{About: "no dump", Rule: check.NotRecorded, Says: "jcmd PID Thread.print"}},

		{YoungGCRate, nil, "", row{About: "no log", Rule: check.NotRecorded}},
		{OldGenLeak, nil, "", row{About: "no log", Rule: check.NotRecorded}},
		{GCKernelTime, nil, "", row{About: "no log", Rule: check.NotRecorded}},
		{GCStarved, nil, "", row{About: "no log", Rule: check.NotRecorded}},
		{ExplicitGC, nil, "", row{About: "no log", Rule: check.NotRecorded}},
		{Safepoint, nil, "", row{About: "no log", Rule: check.NotRecorded}},
		{MetaspaceGC, nil, "", row{About: "no log", Rule: check.NotRecorded}},
	} {
		c := checktest.Told{Of: evidence.Subject{Runtime: "jvm", CPUs: 2}, Facts: x.facts, Text: x.text}.Case()
		if !x.cause.Applies(c) {
			t.Errorf("%s: %s: it is not asked", x.cause.ID, x.About)
			continue
		}
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}

// Of a log alone, pauses with a reason of their own are found by their share of the time, and by what makes them long; just below a share they are left
// open, and below three fifths of it they are ruled out.
func TestPausesWithReasonsEdges(t *testing.T) {
	young := func(took int64, trigger string) stop { // of 1 %, the reason is reported
		x := parnew(took * ms)
		x.trigger = trigger
		return x
	}
	whole := func(took int64, trigger string, before, after float64) stop {
		x := full(took*ms, after)
		x.trigger, x.before = trigger, before
		return x
	}
	failed := func(took int64) stop {
		x := young(took, "G1 Evacuation Pause")
		x.failure = "Evacuation Failure"
		return x
	}
	degenerate := func(took int64) stop {
		x := young(took, "Allocation Failure")
		x.of = evidence.PauseDegenerated
		return x
	}
	ran := func(took, user, system int64) stop {
		x := parnew(took * ms)
		x.user, x.system = user*ms, system*ms
		return x
	}
	tens := func(x stop) []stop { return every(10_000*ms, x) } // five of them
	one := func(x stop) []stop { return every(30_000*ms, x) }
	const cms, g1 = "ParNew+CMS", "G1"
	for _, x := range []struct {
		cause     check.Check
		collector string
		pauses    []stop
		seconds   int64 // of the log, 0: a minute
		row
	}{
		{ExplicitGC, cms, tens(whole(150, "System.gc()", 500, 300)), 0, row{About: "1.25 % of the time", Rule: check.Matters, ID: "gc.explicit_by_caller", Figure: 5, Says: "System.gc() paused the program for 750 ms in total"}},
		{ExplicitGC, cms, tens(whole(100, "System.gc()", 500, 300)), 0, row{About: "0.83 %", Rule: check.OnTheEdge}},
		{ExplicitGC, cms, tens(whole(60, "System.gc()", 500, 300)), 0, row{About: "0.5 %", Rule: check.TooLittle}},
		{ExplicitGC, cms, tens(whole(900, "Allocation Failure", 500, 300)), 0, row{About: "for lack of space", Rule: check.Absent}},
		{ExplicitGC, cms, one(whole(1010, "System.gc()", 500, 300)), 0, row{About: "one of a second", Rule: check.Matters, ID: "gc.longest_pause_ms", Figure: 1010}},
		{ExplicitGC, cms, tens(whole(150, "Heap Inspection Initiated GC", 500, 300)), 0, row{About: "a histogram", Rule: check.Matters, Says: "GC.class_histogram -all"}},
		{ExplicitGC, cms, tens(whole(150, "Heap Dump Initiated GC", 500, 300)), 0, row{About: "a dump", Rule: check.Matters, Says: "GC.heap_dump -all"}},
		{ExplicitGC, cms, tens(whole(150, "Diagnostic Command", 500, 300)), 0, row{About: "a command", Rule: check.Matters, Says: "jcmd PID GC.run"}},
		{ExplicitGC, cms, tens(whole(150, "JvmtiEnv ForceGarbageCollection", 500, 300)), 0, row{About: "an agent", Rule: check.Matters, Says: "-agentpath"}},
		{ExplicitGC, cms, tens(whole(150, "System.gc()", 500, 300)), 0, row{About: "CMS can do it beside", Rule: check.Matters, Says: "-XX:+ExplicitGCInvokesConcurrent"}},
		{ExplicitGC, "Parallel", tens(whole(150, "System.gc()", 500, 300)), 0, row{About: "Parallel cannot", Rule: check.Matters, Says: "-XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent"}},

		{MetaspaceGC, cms, tens(whole(150, "Metadata GC Threshold", 500, 300)), 0, row{About: "1.25 % of the time", Rule: check.Matters, Says: "Class metadata reached its threshold and triggered GC 5 times"}},
		{MetaspaceGC, cms, tens(whole(100, "Metadata GC Threshold", 500, 300)), 0, row{About: "0.83 %", Rule: check.OnTheEdge}},
		{MetaspaceGC, cms, tens(whole(60, "Metadata GC Threshold", 500, 300)), 0, row{About: "0.5 %", Rule: check.TooLittle}},

		{G1Humongous, g1, tens(young(150, "G1 Humongous Allocation")), 0, row{About: "1.25 % of the time", Rule: check.Matters, ID: "heap.capacity_bytes", Figure: 1472 * mib, Says: "humongous objects"}},
		{G1Humongous, g1, tens(young(100, "G1 Humongous Allocation")), 0, row{About: "0.83 %", Rule: check.OnTheEdge}},
		{G1Humongous, g1, tens(young(60, "G1 Humongous Allocation")), 0, row{About: "0.5 %", Rule: check.TooLittle}},
		{G1Humongous, g1, tens(whole(30, "G1 Humongous Allocation", 900, 892))[:2], 0, row{About: "two that freed nothing", Rule: check.StandsAlone, ID: "gc.full_useless", Figure: 2, Says: "No room in a row for a humongous object"}},
		{G1Humongous, g1, tens(whole(30, "G1 Humongous Allocation", 900, 892))[:1], 0, row{About: "one that freed nothing", Rule: check.TooLittle}},
		{G1Humongous, g1, tens(whole(30, "G1 Humongous Allocation", 900, 890))[:2], 0, row{About: "two that freed a little", Rule: check.TooLittle}},

		{G1EvacuationFailure, g1, tens(failed(150)), 0, row{About: "1.25 % of the time", Rule: check.Matters, ID: "gc.evacuation_failures", Figure: 5, Says: "G1 ran out of free regions 5 times"}},
		{G1EvacuationFailure, g1, one(failed(210)), 0, row{About: "one that is noticed", Rule: check.StandsAlone, ID: "gc.evacuation_failures", Figure: 1}},
		{G1EvacuationFailure, g1, one(failed(190)), 0, row{About: "one that is not", Rule: check.CostUnknown}},
		{G1EvacuationFailure, g1, tens(young(900, "G1 Evacuation Pause")), 0, row{About: "none failed", Rule: check.Absent}},

		{DegeneratedGC, "Shenandoah", tens(degenerate(150)), 0, row{About: "1.25 % of the time", Rule: check.Matters, ID: "gc.degenerated", Figure: 5, Says: "5 degenerated collections"}},
		{DegeneratedGC, "Shenandoah", tens(degenerate(100)), 0, row{About: "0.83 %", Rule: check.OnTheEdge}},
		{DegeneratedGC, "Shenandoah", tens(degenerate(60)), 0, row{About: "0.5 %", Rule: check.TooLittle}},

		{LongPause, cms, one(parnew(1010 * ms)), 0, row{About: "a pause of a second", Rule: check.Matters, ID: "gc.pause_s", Figure: 1.01, Says: "A young collection (ParNew) paused the program for 1.01 s"}},
		{LongPause, cms, one(parnew(990 * ms)), 0, row{About: "a pause of less", Rule: check.TooLittle, Says: "the longest pause was 990 ms"}},
		{LongPause, cms, one(whole(1010, "Allocation Failure", 900, 300)), 0, row{About: "a full collection is judged elsewhere", Rule: check.PartlyExplained}},
		{LongPause, cms, nil, 0, row{About: "no pauses", Rule: check.TooLittle, Says: "no pauses"}},

		{FullGC, "Serial", tens(whole(20, "Allocation Failure", 990, 960)), 0, row{About: "they leave 96 % in use", Rule: check.StandsAlone, ID: "gc.full_in_a_row", Figure: 5, Says: "5 full collections in a row freed nearly nothing"}},
		{FullGC, "Serial", tens(whole(20, "Allocation Failure", 990, 940)), 0, row{About: "they leave 94 % in use", Rule: check.TooLittle}},
		{FullGC, "Serial", tens(whole(20, "Allocation Failure", 990, 960))[:3], 0, row{About: "three of them", Rule: check.StandsAlone, ID: "gc.full_in_a_row", Figure: 3}},
		{FullGC, "Serial", tens(whole(20, "Allocation Failure", 990, 960))[:2], 0, row{About: "two of them", Rule: check.TooLittle}},
		{FullGC, "Serial", tens(whole(300, "Allocation Failure", 990, 710)), 0, row{About: "71 % of the heap is live", Rule: check.Matters, ID: "heap.after_bytes", Figure: 710 * mib, Says: "at least 1.5 times the live set"}},
		{FullGC, "Serial", tens(whole(300, "Allocation Failure", 990, 690)), 0, row{About: "69 % of the heap is live", Rule: check.Matters, Says: "twice the live set"}},
		{FullGC, "Serial", tens(whole(300, "Allocation Failure", 990, 490)), 0, row{About: "half of it dies", Rule: check.Matters, Says: "died soon after it was promoted"}},
		{FullGC, cms, tens(whole(300, "Allocation Failure", 990, 710)), 0, row{About: "CMS can begin earlier", Rule: check.Matters, Says: "-XX:CMSInitiatingOccupancyFraction=70"}},

		{GCKernelTime, cms, every(5000*ms, ran(80, 11, 70)), 0, row{About: "most of the CPU time", Rule: check.Matters, ID: "gc.these_system_s", Figure: .77, Says: "11 of 11 collections spent 86 % of their CPU time in the kernel"}},
		{GCKernelTime, cms, every(5000*ms, ran(80, 71, 70)), 0, row{About: "less than half of it", Rule: check.Absent, Says: "s of system CPU time"}},
		{GCKernelTime, cms, every(5000*ms, ran(80, 1, 19)), 0, row{About: "19 ms each", Rule: check.Absent}},
		{GCKernelTime, cms, every(5000*ms, ran(100, 5, 23)), 0, row{About: "a quarter of a second in all", Rule: check.Matters, ID: "gc.these_system_s", Figure: .253}},
		{GCKernelTime, cms, every(5000*ms, ran(100, 5, 22)), 0, row{About: "not quite a quarter of a second", Rule: check.TooLittle, ID: "gc.these_system_s", Figure: .242, Says: "too little to matter"}},
		{GCKernelTime, cms, every(5000*ms, ran(100, 0, 0)), 0, row{About: "CPU times are not in the log", Rule: check.NotRecorded}},

		{GCStarved, cms, every(5000*ms, ran(120, 54, 0)), 0, row{About: "0.45 CPUs", Rule: check.Matters, ID: "gc.starved_cpus", Figure: .45}},
		{GCStarved, cms, every(5000*ms, ran(120, 61, 0)), 0, row{About: "0.51 CPUs", Rule: check.Absent, Says: "got enough CPU"}},
		{GCStarved, cms, every(1000*ms, ran(49, 2, 0)), 0, row{About: "of 49 ms each", Rule: check.Absent}},
		{GCStarved, cms, every(1000*ms, ran(51, 2, 0)), 0, row{About: "of 51 ms each", Rule: check.Matters, ID: "gc.starved_time_share", Figure: .961}},
		{GCStarved, cms, every(4000*ms, ran(120, 54, 0))[:4], 20, row{About: "a quarter of a second is lost", Rule: check.Matters}},
		{GCStarved, cms, every(3000*ms, ran(120, 54, 0))[:3], 15, row{About: "less is lost", Rule: check.TooLittle, Says: "longer by only 198 ms in total"}},
		{GCStarved, cms, every(5000*ms, ran(120, 0, 0)), 0, row{About: "CPU times are not in the log", Rule: check.NotRecorded}},

		{OldGenLeak, cms, nil, 6, row{About: "none in 6 s", Rule: check.Absent}},
		{OldGenLeak, cms, nil, 4, row{About: "none in 4 s", Rule: check.TooFew, Says: "the log of 4 s is too short to rule growth out"}},

		{YoungGCRate, cms, every(1000*ms, parnew(51*ms)), 0, row{About: "5 % of the time", Rule: check.Matters}},
		{YoungGCRate, cms, every(1000*ms, parnew(31*ms)), 0, row{About: "3.1 % of it", Rule: check.OnTheEdge}},
		{YoungGCRate, cms, every(1000*ms, parnew(29*ms)), 0, row{About: "2.9 % of it", Rule: check.TooLittle}},
	} {
		c := service{collector: x.collector, cores: 2, pauses: x.pauses, alone: true, watched: x.seconds * 1000 * ms}.build()
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}

// What decides is one of the figures that are kept, for whatever collects, however long, and whether requests tell its cost, are few or hardly slow.
func TestEveryDecisionHolds(t *testing.T) {
	causes := []check.Check{YoungGCRate, FullGC, OldGenLeak, GCKernelTime, GCStarved, ExplicitGC, MetaspaceGC, LongPause, Safepoint, CMSConcurrentModeFailure, G1Humongous, G1EvacuationFailure, DegeneratedGC, AllocationStall}
	kinds := map[string]func(took int64) stop{
		"young": parnew, "full": func(took int64) stop { return full(took, 300) }, "full of a full heap": func(took int64) stop { return full(took, 960) },
		"asked for":     func(took int64) stop { x := full(took, 300); x.trigger = "System.gc()"; return x },
		"in the kernel": func(took int64) stop { x := parnew(took); x.user, x.system = took/10, took; return x },
		"starved":       func(took int64) stop { x := parnew(took); x.user, x.system = took/10, 0; return x },
		"without times": func(took int64) stop { x := parnew(took); x.user, x.system = 0, 0; return x },
	}
	for kind, of := range kinds {
		for _, took := range []int64{40, 300, 1200} {
			for _, each := range []int64{500, 4000} {
				if took*2 > each {
					continue
				}
				for _, rate := range []float64{0, .05, 20} { // requests/s; 0: a log alone
					for _, collector := range []string{"ParNew+CMS", "G1"} {
						c := service{collector: collector, cores: 2, rate: rate, demand: 10 * ms, pauses: every(each*ms, of(took*ms)), alone: rate == 0}.build()
						for _, k := range causes {
							if k.Applies(c) {
								v := k.Judge(c)
								checktest.Holds(t, fmt.Sprintf("%s, %d ms every %d ms, %v requests/s", kind, took, each, rate), &k, c, &v)
							}
						}
					}
				}
			}
		}
	}
}
