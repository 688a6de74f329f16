package all_test

import (
	"fmt"
	"strings"
	"testing"
)

// unified are lines of a unified log, one for each step; the first verb of a text is the seconds, the second the number.
func unified(collector string, n int, step float64, texts ...string) string {
	b := fmt.Sprintf("[0.010s][info][gc] Using %s\n", collector)
	for i := range n {
		at := 1 + float64(i+1)*step
		for k, text := range texts {
			b += fmt.Sprintf("[%.3fs]%s\n", at+float64(k)*.01, strings.ReplaceAll(text, "GC(#)", fmt.Sprintf("GC(%d)", i)))
		}
	}
	return b
}

const safepointLine = "[info][safepoint] Safepoint %q, Time since last: 17000000 ns, Reaching safepoint: %d ns, Cleanup: 10000 ns, At safepoint: %d ns, Total: %d ns"

func safepoint(operation string, reach, at int) string {
	return fmt.Sprintf(safepointLine, operation, reach, at, reach+at+10000)
}

// TestNotAcquittedWithoutLooking wants a cause left open that too little was looked at for.
func TestNotAcquittedWithoutLooking(t *testing.T) {
	dump := func(threads string) string {
		return "2024-03-01 10:00:00\nFull thread dump OpenJDK 64-Bit Server VM (17.0.2+8 mixed mode):\n\n" + threads
	}
	running := "\"http-1\" #12 daemon prio=5 os_prio=0 cpu=10.00ms elapsed=100.00s tid=0x00007f0000000001 nid=0x1001 runnable  [0x00007f0000001000]\n   java.lang.Thread.State: RUNNABLE\n\tat com.acme.Work.run(Work.java:10)\n\n"
	blocked := "\"http-2 <<?>> tid 77 garbled\n   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat com.acme.Journal.append(Journal.java:10)\n\t- waiting to lock <0x00000000e0000001> (a com.acme.Journal)\n\tat com.acme.Work.run(Work.java:20)\n\n"
	growing := func(fulls int) string {
		return unified("Parallel", 40, 10, "[info][gc] GC(#) Pause Young (Allocation Failure) 400M->200M(1000M) 12.000ms") +
			strings.ReplaceAll(strings.Join(fullsOf(fulls, 600, 50), ""), "\x00", "")
	}
	holdAll(t, map[string]made{
		"locks: one dump of one thread":         {files: map[string]string{"dump.txt": dump(running)}, open: []string{"jvm.lock-contention"}},
		"locks: a header not understood":        {files: map[string]string{"dump.txt": dump(running + blocked)}, open: []string{"jvm.lock-contention"}},
		"locks: one dump of two threads":        {files: map[string]string{"dump.txt": dump(running + strings.ReplaceAll(running, "http-1", "http-3"))}, open: []string{"jvm.lock-contention"}},
		"safepoints: 32 ms of 158 ms":           {files: map[string]string{"gc.log": unified("G1", 4, .05, safepoint("ThreadDump", 100000, 7890000))}, open: []string{"jvm.safepoint"}},
		"safepoints: 15 % in stops of 3 ms":     {files: map[string]string{"gc.log": unified("G1", 2000, .02, safepoint("Cleanup", 100000, 2890000))}, supported: []string{"jvm.safepoint"}},
		"safepoints: short and rare":            {files: map[string]string{"gc.log": unified("G1", 60, 1, safepoint("Cleanup", 100000, 890000))}, ruledOut: []string{"jvm.safepoint"}},
		"leak: three full collections":          {files: map[string]string{"gc.log": growing(3)}, open: []string{"jvm.old-gen-leak"}},
		"leak: two remarks, what is live grows": {files: map[string]string{"gc.log": remarks(2, 100, 60)}, open: []string{"jvm.old-gen-leak"}},
		"leak: three remarks, nothing grows":    {files: map[string]string{"gc.log": remarks(3, 100, 0)}, ruledOut: []string{"jvm.old-gen-leak"}},
		"ZGC: stalls alone":                     {files: map[string]string{"gc.log": "[1282.654s][info][gc] Allocation Stall (a) 315.305ms\n[1283.101s][info][gc] Allocation Stall (b) 288.598ms\n"}, open: []string{"jvm.explicit-gc", "jvm.full-gc", "jvm.long-pause", "jvm.young-gc-rate"}},
		"ZGC: cycles without pauses":            {files: map[string]string{"gc.log": unified("The Z Garbage Collector", 60, 1, "[info][gc] GC(#) Garbage Collection (Allocation Rate) 700M(70%)->300M(30%)", "[info][gc] Allocation Stall (http-1) 215.305ms")}, supported: []string{"jvm.allocation-stall"}, open: []string{"jvm.explicit-gc", "jvm.long-pause"}},
	})
}

// fullsOf are full collections that leave more each time, MiB, 500 s after the log began.
func fullsOf(n, from, step int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("[%d.000s][info][gc] GC(%d) Pause Full (Ergonomics) 900M->%dM(1000M) 212.000ms\n", 500+10*i, 40+i, from+step*i))
	}
	return lines
}

// remarks are young collections of G1 with a remark after each twenty; grow is by how many MiB what is live grows between these.
func remarks(n, live, grow int) string {
	b := "[0.010s][info][gc] Using G1\n"
	for i := range 20 * n {
		at, left := 1+2*float64(i), live+grow*(i/20)
		b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) %dM->%dM(1000M) 12.000ms\n", at, i, left+300, left)
		if i%20 == 19 {
			b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Remark %dM->%dM(1000M) 2.000ms\n", at+1, i, left, left)
		}
	}
	return b
}

// TestAdviceThatCanBeTaken wants no setting that the JVM has not, has already, or whose output is in the evidence.
func TestAdviceThatCanBeTaken(t *testing.T) {
	banner := func(system, flags string) string {
		return "OpenJDK 64-Bit Server VM (25.292-b10) for " + system + "-amd64 JRE (1.8.0_292-b10), built on Apr 20 2021 by \"x\" with gcc 4.4.7\nMemory: 4k page, physical 16777216k(1000000k free)\nCommandLine flags: -XX:+UseParallelGC " + flags + "\n"
	}
	late := func(between string) string {
		b := ""
		for i := range 20 {
			b += between + fmt.Sprintf("%d.000: Total time for which application threads were stopped: 0.5300000 seconds, Stopping threads took: 0.5200000 seconds\n", 5+5*i)
		}
		return b
	}
	collected := func() string {
		b := ""
		for i := range 20 {
			b += fmt.Sprintf("%d.000: [GC (Allocation Failure) [PSYoungGen: 100000K->1000K(120000K)] 200000K->100000K(500000K), 0.0100000 secs] [Times: user=0.02 sys=0.00, real=0.01 secs]\n%d.000: Total time for which application threads were stopped: 0.5300000 seconds, Stopping threads took: 0.5200000 seconds\n", 4+5*i, 5+5*i)
		}
		return b
	}
	timeout8 := "# SafepointSynchronize::begin: Timeout detected:\n# SafepointSynchronize::begin: Timed out while spinning to reach a safepoint.\n# SafepointSynchronize::begin: Threads which did not reach the safepoint:\n# \"worker-7\" #33 prio=5 os_prio=0 tid=0x00007f1a2c0a1000 nid=0x5f03 runnable [0x0000000000000000]\n   java.lang.Thread.State: RUNNABLE\n\n# SafepointSynchronize::begin: (End of list)\n"
	kernel := func() string {
		b := ""
		for i := range 20 {
			b += fmt.Sprintf("%d.000: [Full GC (Ergonomics) [PSYoungGen: 1000K->0K(120000K)] [ParOldGen: 300000K->280000K(400000K)] 301000K->280000K(520000K), [Metaspace: 2000K->2000K(1056768K)], 0.8000000 secs] [Times: user=0.10 sys=1.50, real=0.80 secs]\n", 5+5*i)
		}
		return b
	}
	holdAll(t, map[string]made{
		"JDK 8 by its banner":            {files: map[string]string{"gc.log": banner("linux", "") + late("")}, supported: []string{"jvm.safepoint"}, says: []string{"-XX:+UseCountedLoopSafepoints"}, silent: []string{"LoopStripMiningIter"}},
		"JDK 8 by the form of its lines": {files: map[string]string{"gc.log": collected()}, supported: []string{"jvm.safepoint"}, silent: []string{"LoopStripMiningIter"}},
		"set already":                    {files: map[string]string{"gc.log": banner("linux", "-XX:+UseCountedLoopSafepoints") + late("")}, supported: []string{"jvm.safepoint"}, silent: []string{"fix: make compiled loops"}, says: []string{"set already: -XX:+UseCountedLoopSafepoints"}},
		"one of two set already":         {files: map[string]string{"gc.log": banner("linux", "-XX:+SafepointTimeout") + late("")}, supported: []string{"jvm.safepoint"}, says: []string{"-XX:SafepointTimeoutDelay=100"}, silent: []string{"-XX:+SafepointTimeout -XX"}},
		"pre-touch set already":          {files: map[string]string{"gc.log": banner("linux", "-XX:+AlwaysPreTouch") + kernel()}, supported: []string{"jvm.gc-kernel-time"}, silent: []string{"fix: touch the heap"}},
		"SafepointTimeout of JDK 8":      {files: map[string]string{"gc.log": banner("linux", "-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100") + late(timeout8)}, supported: []string{"jvm.safepoint"}, says: []string{"worker-7"}, silent: []string{"find the late thread"}},
		"SafepointTimeout of JDK 17": {files: map[string]string{"gc.log": unified("Parallel", 20, 5,
			"[warning][safepoint] # SafepointSynchronize::begin: Timeout detected:", "[warning][safepoint] # \"worker-8\" #33 prio=5 os_prio=0 cpu=100.0ms elapsed=30.0s tid=0x00007f1a2c0a1000 nid=0x5f03 runnable  [0x0000000000000000]",
			"[warning][safepoint]    java.lang.Thread.State: RUNNABLE", safepoint("ThreadDump", 520000000, 1000000))}, supported: []string{"jvm.safepoint"}, says: []string{"worker-8"}, silent: []string{"find the late thread"}},
		"a JVM of macOS":   {files: map[string]string{"gc.log": banner("bsd", "") + kernel()}, supported: []string{"jvm.gc-kernel-time"}, silent: []string{"swappiness", "UseTransparentHugePages", "/sys/"}},
		"a JVM of Windows": {files: map[string]string{"gc.log": banner("windows", "") + kernel()}, supported: []string{"jvm.gc-kernel-time"}, silent: []string{"swappiness", "UseTransparentHugePages", "/sys/"}},
		"a JVM of Linux":   {files: map[string]string{"gc.log": banner("linux", "") + kernel()}, supported: []string{"jvm.gc-kernel-time"}, says: []string{"swappiness"}},
	})
}

// TestPausesTogetherHaveAHome wants pauses that matter only together named by their largest part, and none of them ruled out.
func TestPausesTogetherHaveAHome(t *testing.T) {
	degenerated := func(every int, ms int) string {
		b := "[0.010s][info][gc] Using Shenandoah\n"
		for i := range 240 {
			at := 1 + 5*float64(i)
			b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Init Mark (unload classes) 60.000ms\n[%.3fs][info][gc] GC(%d) Concurrent marking (unload classes) 500.000ms\n", at, i, at+.6, i)
			if i%every == 0 {
				b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Degenerated GC (Mark) 900M->300M(1000M) %d.000ms\n", at+1.5, i, ms)
			} else {
				b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Final Mark (unload classes) 5.000ms\n", at+.7, i)
			}
		}
		return b
	}
	mixture := func(young, full int) string {
		b := "[0.010s][info][gc] Using Parallel\n"
		for i := range 200 {
			at := 1 + 3*float64(i)
			b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Young (Allocation Failure) 400M->200M(1000M) %d.000ms\n", at, 2*i, young)
			if i%20 == 0 {
				b += fmt.Sprintf("[%.3fs][info][gc] GC(%d) Pause Full (Ergonomics) 600M->200M(1000M) %d.000ms\n", at+1, 2*i+1, full)
			}
		}
		return b
	}
	holdAll(t, map[string]made{
		"Shenandoah: degenerated cycles and marks": {files: map[string]string{"gc.log": degenerated(15, 700)}, supported: []string{"jvm.degenerated-gc"}, says: []string{"GC pauses are"}},
		"Shenandoah: just below the threshold":     {files: map[string]string{"gc.log": strings.ReplaceAll(degenerated(15, 700), " 60.000ms", " 1.000ms")}, open: []string{"jvm.degenerated-gc"}},
		"Shenandoah: few":                          {files: map[string]string{"gc.log": strings.ReplaceAll(degenerated(80, 300), " 60.000ms", " 1.000ms")}, ruledOut: []string{"jvm.degenerated-gc"}},
		"Parallel: young 4 %, full 1.2 %":          {files: map[string]string{"gc.log": mixture(120, 700)}, supported: []string{"jvm.young-gc-rate"}, says: []string{"young collections 4"}},
		"Parallel: young and full, both little":    {files: map[string]string{"gc.log": mixture(20, 200)}, ruledOut: []string{"jvm.young-gc-rate", "jvm.full-gc"}},
	})
}
