package all_test

import (
	"fmt"
	"strings"
	"testing"
)

// each joins what a function makes of 0 to n−1.
func each(n int, of func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(of(i))
	}
	return b.String()
}

// TestExcerptsOfStacks wants causes named by parts of dumps in layouts of several tools, and not by what is as little as chance.
func TestExcerptsOfStacks(t *testing.T) {
	told := func(n int) string { // java.lang.management.ThreadInfo: the owner's eight frames do not show the lock
		return "\"loader\" prio=5 Id=11 RUNNABLE\n\tat com.acme.Cache.read(Cache.java:90)\n\tat com.acme.Cache.load(Cache.java:52)\n\t...\n\n" +
			each(n, func(i int) string {
				return fmt.Sprintf("\"web-%d\" prio=5 Id=%d BLOCKED on com.acme.Cache@31aa owned by \"loader\" Id=11\n\tat com.acme.Cache.get(Cache.java:12)\n\t-  blocked on com.acme.Cache@31aa\n\tat com.acme.Page.show(Page.java:8)\n\n", i, 20+i)
			})
	}
	merged := func(n int) string { // IntelliJ IDEA
		return each(n, func(i int) string {
			return fmt.Sprintf("\"exec-%d@33%d\" daemon prio=5 tid=0x%d nid=NA waiting for monitor entry\n  java.lang.Thread.State: BLOCKED\n\t waiting for admin@3400 to release lock on <merged>(a com.acme.Settings)\n\t  at com.acme.Settings.get(Settings.java:60)\n\t  at com.acme.Page.show(Page.java:8)\n\n", i, i, 30+i)
		}) + "\"admin@3400\" daemon prio=5 tid=0x50 nid=NA runnable\n  java.lang.Thread.State: RUNNABLE\n\t  at com.acme.Settings.read(Settings.java:40)\n\t  at com.acme.Settings.apply(Settings.java:55)\n\n"
	}
	monitors := func(n int) string { // OpenJ9's debugger
		return "Object monitor for !j9object 0x7f30\n\tOwner:\t!j9vmthread 0x11\t\"qtp-1\"\n\tBlocking (Enter Waiter):\n" +
			each(n, func(i int) string { return fmt.Sprintf("\t\t!j9vmthread 0x2%d\t\"qtp-%d\"\n", i, 2+i) })
	}
	parallel := func(n int) string { // dotnet-dump
		return fmt.Sprintf("________________________________________________\n     ~~~~ 2c,2d,...(more)\n     %d System.Threading.Monitor.Wait(Object, Int32, Boolean)\n     %d System.Threading.Tasks.Task.SpinThenBlockingWait(Int32, CancellationToken)\n     %d System.Threading.Tasks.Task`1.GetResultCore(Boolean)\n     %d acme.Cart.Total()\n     %d System.Threading.ThreadPoolWorkQueue.Dispatch()\n\n==> %d threads with 1 roots\n", n, n, n, n, n, n)
	}
	searched := func(n int) string { // grep in a dump of Go
		return each(n, func(i int) string {
			return fmt.Sprintf("sync.(*Mutex).Lock(0xc000452008)\n\t/usr/local/go/src/sync/mutex.go:90 +0x46\nacme.example/shelf.(*Shelf).Put(0xc00045%d000, {0xc00091c000, 0x40})\n\t/src/shelf/shelf.go:41 +0x52\n--\n", i)
		})
	}
	waiting := func(state string, minutes func(i int) int) string {
		return each(12, func(i int) string {
			return fmt.Sprintf("goroutine %d [%s, %d minutes]:\nacme.example/fetch.one(0xc0004%d)\n\t/src/fetch/fetch.go:86 +0xb6\ncreated by acme.example/fetch.all\n\t/src/fetch/fetch.go:79 +0x291\n\n", 100+i, state, minutes(i), i)
		})
	}
	spread := func(i int) int { return 5 + 17*i }
	pinned := func(n int) string { // a JVM's prints
		return each(n, func(i int) string {
			return fmt.Sprintf("10:01:11 INFO load\nVirtualThread[#5%d]/runnable@ForkJoinPool-1-worker-%d reason:MONITOR\n    com.acme.http.Writer.flush(Writer.kt:1%d) <== monitors:1\n", i, i+1, i)
		})
	}
	holdAll(t, map[string]made{
		"owners by name":                    {files: map[string]string{"threads.txt": told(4)}, supported: []string{"jvm.lock-contention"}},
		"one waits for an owner by name":    {files: map[string]string{"threads.txt": told(1)}, never: []string{"jvm.lock-contention"}},
		"threads put together":              {files: map[string]string{"dump.txt": merged(4)}, supported: []string{"jvm.lock-contention"}},
		"one of threads put together":       {files: map[string]string{"dump.txt": merged(1)}, never: []string{"jvm.lock-contention"}},
		"monitors without stacks":           {files: map[string]string{"ddr.txt": monitors(5)}, supported: []string{"jvm.lock-contention"}},
		"one monitor, one waits":            {files: map[string]string{"ddr.txt": monitors(1)}, never: []string{"jvm.lock-contention"}},
		"240 of a pool wait for tasks":      {files: map[string]string{"parallel.txt": parallel(240)}, supported: []string{"dotnet.threadpool-starvation"}},
		"40 of a pool wait for tasks":       {files: map[string]string{"parallel.txt": parallel(40)}, open: []string{"dotnet.threadpool-starvation"}},
		"stacks that grep left":             {files: map[string]string{"grep.txt": searched(4)}, supported: []string{"go.lock-contention"}},
		"two stacks that grep left":         {files: map[string]string{"grep.txt": searched(2)}, never: []string{"go.lock-contention"}},
		"senders of many ages":              {files: map[string]string{"dump.txt": waiting("chan send", spread)}, supported: []string{"go.goroutine-leak"}},
		"senders of one age":                {files: map[string]string{"dump.txt": waiting("chan send", func(int) int { return 190 })}, never: []string{"go.goroutine-leak"}},
		"receivers of many ages are idle":   {files: map[string]string{"dump.txt": waiting("chan receive", spread)}, never: []string{"go.goroutine-leak"}},
		"carriers that a JVM says are kept": {files: map[string]string{"out.log": pinned(3)}, supported: []string{"jvm.pinned-thread"}, says: []string{"com.acme.http.Writer.flush"}},
		"one carrier that a JVM says so of": {files: map[string]string{"out.log": pinned(1)}, open: []string{"jvm.pinned-thread"}},
	})
}

// TestExcerptsOfFigures is the same of tables, logs and profiles.
func TestExcerptsOfFigures(t *testing.T) {
	collections := func(reason, generation string, pause string) string { // PerfView, copied out of its page
		return "GC Events by Time\nGC Index\tPause Start\tTrigger Reason\tGen\tSuspend Msec\tPause MSec\t% GC\tPeak MB\tAfter MB\n" +
			"1\t120.004\tAllocSmall\t0N\t0.011\t3.120\t1.1\t90.0\t40.002\n2\t480.115\t" + reason + "\t" + generation + "\t0.050\t" + pause + "\t66.0\t91.0\t39.100\n3\t9,480.115\tAllocSmall\t0N\t0.050\t2.902\t1.0\t91.0\t39.100\n"
	}
	cache := func(misses, sets int, took string) string {
		return each(misses, func(i int) string { return fmt.Sprintf("10:00:0%d [CACHE MISS] user/17\n", i) }) +
			each(sets, func(i int) string { return fmt.Sprintf("10:00:1%d [CACHE STORE] user/17 took %s\n", i, took) })
	}
	calls := func(n int) string {
		return each(n, func(i int) string {
			return fmt.Sprintf("2024/02/03 10:00:0%d rate: Get \"https://rates.example.com/eur\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)\n", i)
		})
	}
	spins := func(percent string) string {
		return "# Overhead  Command  Shared Object      Symbol\n    " + percent + "%  java     libjvm.so          [.] ObjectMonitor::TrySpin\n     4.02%  java     perf-1.map         [.] Lcom/acme/Cart;::total\n     2.66%  java     [kernel.kallsyms]  [k] finish_task_switch\n     1.10%  java     libc.so.6          [.] memcpy\n"
	}
	processors := func(row string) string {
		return "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n" + strings.Repeat(row+"\n", 5)
	}
	pages := func(background, direct string) string {
		return "Linux 5.10.0 (n1)  07/25/2024  _x86_64_  (64 CPU)\n\n04:11:20 PM  pgpgin/s pgpgout/s   fault/s  majflt/s  pgfree/s pgscank/s pgscand/s pgsteal/s    %vmeff\n" +
			each(5, func(i int) string {
				return fmt.Sprintf("04:11:2%d PM   1304.00    418.00  14408.00      2.00  91022.00 %9s %9s  46080.00     74.15\n", i+1, background, direct)
			})
	}
	info := func(out string) string { // one INFO of a server that has run for a day
		return "# Server\nredis_version:6.2.6\nuptime_in_seconds:86400\n\n# Clients\nconnected_clients:12\n\n# Stats\ntotal_commands_processed:4320000\ntotal_net_input_bytes:912001200\ntotal_net_output_bytes:" + out + "\n"
	}
	holdAll(t, map[string]made{
		"commands that move 3 MB each":          {files: map[string]string{"info.txt": info("12960000000000")}, supported: []string{"redis.big-value"}},
		"commands that move 300 kB each":        {files: map[string]string{"info.txt": info("1296000000000")}, never: []string{"redis.big-value"}},
		"an induced collection of 2 s":          {files: map[string]string{"view.txt": collections("Induced", "2NI", "2,306.185")}, supported: []string{"dotnet.induced-gc"}},
		"an induced collection of 12 ms":        {files: map[string]string{"view.txt": collections("Induced", "2NI", "12.185")}, never: []string{"dotnet.induced-gc", "dotnet.gen2-pause"}},
		"a long collection that is not induced": {files: map[string]string{"view.txt": collections("LowMemory", "2N", "2,306.185")}, never: []string{"dotnet.induced-gc"}},
		"four make one value":                   {files: map[string]string{"app.log": cache(4, 4, "1.2s")}, supported: []string{"service.cache-stampede"}},
		"four wait for the one that makes it":   {files: map[string]string{"app.log": cache(4, 1, "1.2s")}, never: []string{"service.cache-stampede"}},
		"four make one value quickly":           {files: map[string]string{"app.log": cache(4, 4, "12ms")}, open: []string{"service.cache-stampede"}},
		"calls of a client without an answer":   {files: map[string]string{"app.log": calls(3)}, supported: []string{"service.dependency-slow"}, says: []string{"rates.example.com"}},
		"one call of a client without":          {files: map[string]string{"app.log": calls(1)}, never: []string{"service.dependency-slow"}},
		"a profile that spins for monitors":     {files: map[string]string{"perf.txt": spins("31.10")}, supported: []string{"jvm.lock-contention"}},
		"a profile that hardly does":            {files: map[string]string{"perf.txt": spins("5.10")}, never: []string{"jvm.lock-contention"}},
		"most of the work is stolen":            {files: map[string]string{"vmstat.txt": processors(" 1  0      0 420112 104210 53119008    0    0   118   840 9120 16204  8  3 53  1 35")}, supported: []string{"linux.noisy-neighbour"}},
		"little of the work is stolen":          {files: map[string]string{"vmstat.txt": processors(" 1  0      0 420112 104210 53119008    0    0   118   840 9120 16204 30  5 37  1 27")}, never: []string{"linux.noisy-neighbour"}},
		"threads free memory themselves":        {files: map[string]string{"sar.txt": pages("0.00", "41144.00")}, supported: []string{"linux.memory-reclaim"}},
		"the kernel's thread frees most":        {files: map[string]string{"sar.txt": pages("90144.00", "35144.00")}, never: []string{"linux.memory-reclaim"}},
		"threads free little":                   {files: map[string]string{"sar.txt": pages("0.00", "2144.00")}, never: []string{"linux.memory-reclaim"}},
	})
}
