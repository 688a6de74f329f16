package jvm_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// states are the answers of all causes about a text.
func states(t *testing.T, text string) map[string]diagnose.Verdict {
	t.Helper()
	a := &format.Artifact{Name: "pasted.txt", Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	b := incident.NewBundle()
	if err := format.Read(context.Background(), formats.Formats, a, b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]diagnose.Verdict)
	for _, v := range d.Verdicts {
		out[v.Cause] = v
	}
	return out
}

// stopped is a line of PrintGCApplicationStoppedTime.
func stopped(at, total, reaching float64) string {
	return fmt.Sprintf("%.3f: Total time for which application threads were stopped: %.7f seconds, Stopping threads took: %.7f seconds\n", at, total, reaching)
}

// back is safepoints of some µs back to back, as JDK 13 and later print them.
func back(n int, operation string, gap, total int) string {
	var w strings.Builder
	at := 40_000_000
	for range n {
		at += gap + total
		fmt.Fprintf(&w, "[%d.%03ds][info][safepoint] Safepoint \"%s\", Time since last: %d000 ns, Reaching safepoint: %d000 ns, At safepoint: 5000 ns, Total: %d000 ns\n", at/1e6, at/1e3%1e3, operation, gap, total-5, total)
	}
	return w.String()
}

// What people post in threads is a part of a log: it must not say more than it does, and no
// cause may be ruled out by what it lacks.
func TestPasted(t *testing.T) {
	const (
		young     = "[%d.000s][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) 900M->500M(1000M) 20.000ms\n"
		toSpace   = "[%d.500s][info][gc] GC(%d) To-space exhausted\n[%[1]d.500s][info][gc] GC(%[2]d) Pause Young (Normal) (G1 Evacuation Pause) 1000M->900M(1000M) %[3]d.000ms\n"
		evacuated = "jvm.g1-evacuation-failure"
	)
	var g1, g1Short strings.Builder
	for i := range 40 {
		fmt.Fprintf(&g1, young, 100+10*i, i)
		fmt.Fprintf(&g1Short, young, 100+10*i, i)
		if i == 20 {
			fmt.Fprintf(&g1, toSpace, 302, 99, 350)
			fmt.Fprintf(&g1Short, toSpace, 302, 99, 40)
		}
	}
	for name, x := range map[string]struct {
		text, cause, state string
	}{
		"stops without names":              {stopped(10, .0006, .0001) + stopped(13, 2.7, .0001) + stopped(16, 2.6, .0001), "jvm.safepoint", check.Inconclusive},
		"one stop without a name":          {stopped(13, 2.7, .0001), "jvm.safepoint", check.Inconclusive},
		"they may be full collections":     {stopped(10, .0006, .0001) + stopped(13, 2.7, .0001), "jvm.full-gc", check.Inconclusive},
		"short stops without names":        {stopped(10, .0006, .0001) + stopped(13, .0007, .0001) + stopped(60, .0005, .0001), "jvm.safepoint", check.RuledOut},
		"late threads, without names":      {stopped(10, .0006, .0001) + stopped(60, 14.2, 14.1), "jvm.safepoint", check.Supported},
		"stops beside collections":         {"10.000: [GC (Allocation Failure) 100K->50K(1000K), 0.0100000 secs]\n" + stopped(10.01, .0102, .0001) + stopped(60, 2.7, .0001), "jvm.safepoint", check.Supported},
		"back to back":                     {back(20, "ICBufferFull", 850, 150), "jvm.safepoint", check.Supported},
		"back to back for long":            {back(20_000, "Deoptimize", 850, 150), "jvm.safepoint", check.Supported},
		"a few of them":                    {back(3, "ICBufferFull", 850, 150), "jvm.safepoint", check.Inconclusive},
		"far apart":                        {back(20, "Cleanup", 1_000_000, 150), "jvm.safepoint", check.RuledOut},
		"8 ms again and again":             {back(6, "RevokeBias", 60_000_000, 8000), "jvm.safepoint", check.Inconclusive},
		"8 ms, three times":                {back(3, "RevokeBias", 60_000_000, 8000), "jvm.safepoint", check.RuledOut},
		"3 ms again and again":             {back(6, "RevokeBias", 60_000_000, 3000), "jvm.safepoint", check.RuledOut},
		"late, without stamps":             {"some words\r\nSafepoint \"Cleanup\", Time since last: 6621547800 ns, Reaching safepoint: 22039674300 ns, Cleanup: 198300 ns, At safepoint: 411123900 ns, Total: 22450996500 ns\r\n", "jvm.safepoint", check.Supported},
		"in time, without stamps":          {strings.Repeat("Safepoint \"Cleanup\", Time since last: 1000000000 ns, Reaching safepoint: 50000 ns, At safepoint: 2000 ns, Total: 52000 ns\n", 30), "jvm.safepoint", check.RuledOut},
		"one evacuation failure":           {g1.String(), evacuated, check.Supported},
		"one in a second of a log":         {"[9.100s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 900M->500M(1000M) 20.000ms\n[9.900s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Allocation) 1000M->990M(1000M) 350.000ms\n", evacuated, check.Supported},
		"a short one in a second":          {"[9.100s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 900M->500M(1000M) 20.000ms\n[9.900s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Allocation) 1000M->990M(1000M) 35.000ms\n", evacuated, check.Inconclusive},
		"a short evacuation failure":       {g1Short.String(), evacuated, check.Inconclusive},
		"a long full collection":           {"[27.400s][info][gc] GC(17) Pause Young (Allocation Failure) 1868M->734M(2743M) 120.470ms\n[29.965s][info][gc] GC(18) Pause Full (Ergonomics) 734M->714M(3328M) 2525.974ms\n", "jvm.long-pause", check.Inconclusive},
		"one full collection in a minute":  {"[27.400s][info][gc] GC(17) Pause Young (Allocation Failure) 1868M->734M(2743M) 120.470ms\n[32.000s][info][gc] GC(18) Pause Full (Ergonomics) 734M->714M(3328M) 286.000ms\n", "jvm.full-gc", check.Inconclusive},
		"a thread that lost its quote":     {lockedDump("http-1\"", "\"http-2\""), "jvm.lock-contention", check.Inconclusive},
		"threads that lost their quotes":   {lockedDump("http-1", "http-2"), "jvm.lock-contention", check.Inconclusive},
		"an actuator's idle thread":        {`[{"thread_name":"http-1","thread_id":93,"blocked_time":-1,"blocked_count":1,"lock_name":"java.util.X@54","lock_owner_id":-1,"thread_state":"WAITING","stack_trace":[{"method_name":"park","file_name":"Unsafe.java","line_number":-2,"class_name":"sun.misc.Unsafe","native_method":true}]}]`, "jvm.lock-contention", check.Inconclusive},
		"an actuator's blocked thread":     {`{"threads":[{"threadName":"http-1","threadId":93,"blockedTime":-1,"blockedCount":1,"lockName":"shop.Shop@54","lockOwnerId":94,"lockOwnerName":"http-2","threadState":"BLOCKED","stackTrace":[{"methodName":"price","fileName":"Shop.java","lineNumber":26,"className":"shop.Shop","nativeMethod":false}]},{"threadName":"http-2","threadId":94,"blockedTime":-1,"blockedCount":0,"lockName":null,"lockOwnerId":-1,"threadState":"RUNNABLE","stackTrace":[{"methodName":"read","fileName":"Shop.java","lineNumber":30,"className":"shop.Shop","nativeMethod":false}]}]}`, "jvm.lock-contention", check.Inconclusive},
		"jstat of a full collection":       {"% jstat -gc -h10 17079 10s\n" + jstatRows, "jvm.full-gc", check.Supported},
		"what triggered it is not told":    {"% jstat -gc -h10 17079 10s\n" + jstatRows, "jvm.explicit-gc", check.Inconclusive},
		"jstat of quiet minutes":           {"$ jstat -gcutil 17079 60000\n" + jstatQuiet, "jvm.full-gc", check.RuledOut},
		"jstat without times between rows": {jstatRows, "jvm.young-gc-rate", check.Inconclusive},
		"a dump of a JVM that hangs":       {"Thread 19: (state = IN_JAVA)\n - shop.Shop.count() @bci=387, line=80 (Compiled frame)\n\nThread 18: (state = BLOCKED)\n - java.lang.Thread.sleep(long) @bci=0 (Interpreted frame)\n", "jvm.lock-contention", check.Inconclusive},
		"a monitor's full collection":      {monitored, "jvm.full-gc", check.Supported},
		"a monitor tells no quick ones":    {monitored, "jvm.young-gc-rate", check.Inconclusive},
		"a monitor tells no reasons":       {`{"timestamp":"2020-05-06T07:08:09,123Z","message":"[gc][young][10][2] duration [800ms], collections [1]/[1.1s], total [1.2s]/[3m], memory [3gb]->[2gb]/[4gb]"}` + "\n", "jvm.explicit-gc", check.Inconclusive},
		"a service's log":                  {"shop.1.76bikgr3bu48@node1    | [1282.654s][info][gc] Allocation Stall (worker-1) 315.305ms\nshop.1.76bikgr3bu48@node1    | [1282.655s][info][gc] Allocation Stall (worker-2) 288.598ms\n", "jvm.allocation-stall", check.Supported},
	} {
		t.Run(name, func(t *testing.T) {
			v, ok := states(t, x.text)[x.cause]
			if !ok || v.Verdict != x.state {
				t.Errorf("%s is %q, want %q: %s %s", x.cause, v.Verdict, x.state, v.Title, v.Summary)
			}
		})
	}
}

// lockedDump is a dump of two threads whose names stand as given, one of which waits for the other.
func lockedDump(waiter, holder string) string {
	return waiter + ` #21 daemon prio=5 os_prio=0 tid=0x00007f13d2338000 nid=0x2454d waiting for monitor entry [0x00007f13a171a000]
   java.lang.Thread.State: BLOCKED (on object monitor)
        at shop.Shop.price(Shop.java:26)
        - waiting to lock <0x00000006c006e230> (a shop.Shop)

` + holder + ` #22 daemon prio=5 os_prio=0 tid=0x00007f13d2339000 nid=0x2454e runnable [0x00007f13a171b000]
   java.lang.Thread.State: RUNNABLE
        at shop.Shop.read(Shop.java:30)
        - locked <0x00000006c006e230> (a shop.Shop)
`
}

const jstatRows = `14848.0 15872.0 14356.0  0.0   4162560.0 3986224.8 5716480.0  5633496.7  37592.0 36577.7 4096.0 3739.3   3666  182.964   5      5.399  188.363
 S0C    S1C    S0U    S1U      EC       EU        OC         OU       MC     MU    CCSC   CCSU   YGC     YGCT    FGC    FGCT     GCT
14848.0 15360.0  0.0   8140.3 4163072.0 238585.4 5716480.0  5642829.5  37592.0 36577.7 4096.0 3739.3   3669  183.129   5      5.399  188.528
14848.0 41984.0  0.0    0.0   4110336.0 3888676.8 5973504.0  2838417.4  37592.0 36577.7 4096.0 3739.3   3670  183.316   6      7.345  190.661
37376.0 38400.0  0.0   10415.9 4111872.0 1463619.6 5973504.0  2845162.4  37592.0 36577.7 4096.0 3739.3   3673  183.452   6      7.345  190.797
`

const jstatQuiet = `  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT
  0.00  50.00  10.00  20.00  95.00  90.00    100    1.000     2    0.200    1.200
 50.00   0.00  12.00  20.10  95.00  90.00    101    1.010     2    0.200    1.210
  0.00  50.00  14.00  20.20  95.00  90.00    102    1.020     2    0.200    1.220
`

const monitored = `[2018-09-10T16:06:49,468][INFO ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][young][355198][16325] duration [756ms], collections [1]/[1.5s], total [756ms]/[22.4m], memory [6.7gb]->[8.4gb]/[11.7gb]
[2018-09-10T16:07:02,914][INFO ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][old][355204][472] duration [5.2s], collections [1]/[5.5s], total [5.2s]/[1.5m], memory [11.3gb]->[10.3gb]/[11.7gb]
`

// Logs of JDK 5 to 7 tell no trigger: a full collection came for class metadata where the permanent generation was full and the old one had room.
func TestPermanentGeneration(t *testing.T) {
	const times = " [Times: user=0.70 sys=0.01, real=0.71 secs] \n"
	for _, x := range []struct{ name, text, want, not string }{
		{"ParallelOld", "40.100: [Full GC [PSYoungGen: 10496K->0K(458752K)] [ParOldGen: 61440K->58880K(1048576K)] 71936K->58880K(1507328K) [PSPermGen: 83967K->83960K(84480K)], 0.7010000 secs]" + times +
			"52.400: [Full GC [PSYoungGen: 14592K->0K(458752K)] [ParOldGen: 58880K->60160K(1048576K)] 73472K->60160K(1507328K) [PSPermGen: 84472K->84470K(85504K)], 0.6920000 secs]" + times, "jvm.metaspace-gc", "jvm.full-gc"},
		{"Serial", "12.100: [Full GC 12.100: [Tenured: 9421K->9301K(174784K), 0.6010000 secs] 12012K->9301K(253440K), [Perm : 12287K->12287K(12288K)], 0.6015000 secs]" + times, "jvm.metaspace-gc", "jvm.full-gc"},
		{"the old generation is full", "40.100: [Full GC [PSYoungGen: 10496K->0K(458752K)] [ParOldGen: 1040384K->1039360K(1048576K)] 1050880K->1039360K(1507328K) [PSPermGen: 84470K->84470K(84480K)], 1.7010000 secs] [Times: user=1.68 sys=0.01, real=1.70 secs] \n", "jvm.full-gc", "jvm.metaspace-gc"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := states(t, x.text)
			if got[x.want].Verdict != check.Supported || got[x.not].Verdict == check.Supported {
				t.Errorf("%s is %s (%s), %s is %s (%s)", x.want, got[x.want].Verdict, got[x.want].Summary, x.not, got[x.not].Verdict, got[x.not].Summary)
			}
		})
	}
}
