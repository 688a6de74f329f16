package all_test

import (
	"fmt"
	"testing"
)

// TestWordsOfJavaServers wants causes named by what servers and tools of the JVM write in words of their own, and not by what is as little as chance.
func TestWordsOfJavaServers(t *testing.T) {
	rockit := func(n int) string {
		return "===== FULL THREAD DUMP ===============\nOracle JRockit(R) R28.2.2\n\n" +
			each(n, func(i int) string {
				return fmt.Sprintf("\"exec-%d\" id=%d idx=0x%d tid=70%d prio=5 alive, blocked, native_blocked, daemon\n    -- Blocked trying to get lock: com/acme/Cache@0x1C20D448[fat lock]\n    at jrockit/vm/Locks.monitorEnter(Locks.java:2170)[optimized]\n    at com/acme/Cache.get(Ljava/lang/String;)Lcom/acme/Page;(Cache.java:58)\n    -- end of trace\n\n", i, 20+i, 40+4*i, i)
			}) + "\"exec-9\" id=99 idx=0x9c tid=7099 prio=5 alive, daemon\n    at com/acme/Cache.load(Cache.java:80)\n    ^-- Holding lock: com/acme/Cache@0x1C20D448[fat lock]\n    -- end of trace\n"
	}
	copied := func(n int) string { // FullThreadDump, of the JDK's examples
		return "\"exec-9\" Id=99 in RUNNABLE\n    at com.acme.Cache.load(Cache.java:80)\n      - locked com.acme.Cache@31aa\n\n" +
			each(n, func(i int) string {
				return fmt.Sprintf("\"exec-%d\" Id=%d in BLOCKED on lock=com.acme.Cache@31aa\n     owned by exec-9 Id=99\n    at com.acme.Cache.get(Cache.java:58)\n    at com.acme.Page.show(Page.java:8)\n\n", i, 20+i)
			})
	}
	hadoop := func(n int) string {
		return "Process Thread Dump: \n9 active threads\nThread 99 (flusher):\n  State: RUNNABLE\n  Blocked count: 3\n  Waited count: 1\n  Stack:\n    com.acme.Journal.flush(Journal.java:80)\n" +
			each(n, func(i int) string {
				return fmt.Sprintf("Thread %d (handler %d on 8020):\n  State: BLOCKED\n  Blocked count: 41\n  Waited count: 7\n  Blocked on com.acme.Journal@31aa\n  Blocked by 99 (flusher)\n  Stack:\n    com.acme.Journal.append(Journal.java:58)\n    com.acme.Names.create(Names.java:8)\n", 20+i, i)
			})
	}
	parked := func(n int) string { // ThreadInfo
		return "\"loader\" Id=11 RUNNABLE\n\tat com.acme.Cache.load(Cache.java:52)\n\t...\n\n" +
			each(n, func(i int) string {
				return fmt.Sprintf("\"web-%d\" Id=%d WAITING on java.util.concurrent.locks.ReentrantLock$NonfairSync@31aa owned by \"loader\" Id=11\n\tat sun.misc.Unsafe.park(Native Method)\n\t-  waiting on java.util.concurrent.locks.ReentrantLock$NonfairSync@31aa\n\tat java.util.concurrent.locks.LockSupport.park(LockSupport.java:175)\n\tat java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(AbstractQueuedSynchronizer.java:1199)\n\tat java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:285)\n\tat com.acme.Cache.get(Cache.java:12)\n\n", i, 20+i)
			})
	}
	valve := func(ms, innermost string) string {
		return "15-Sep-2023 20:09:00.153 WARNING [Catalina-utility-1] org.apache.catalina.valves.StuckThreadDetectionValve.notifyStuckThreadDetected Thread [exec-1] (id=[22]) has been active for [" + ms +
			"] milliseconds (since [9/15/23 8:06 PM]) to serve the same request for [http://shop/cart] and may be stuck\n\tjava.lang.Throwable\n\t\tat " + innermost + "\n\t\tat com.acme.Cart.total(Cart.java:8)\n"
	}
	loop := func(ms, innermost string) string {
		return "2021-08-05 09:08:55,853 WARN (vertx-blocked-thread-checker) Thread Thread[vert.x-eventloop-thread-3,5,main] has been blocked for " + ms + " ms, time limit is 2000 ms: io.vertx.core.VertxException: Thread blocked\n\tat " +
			innermost + "\n\tat com.acme.Filter.test(Filter.java:8)\n\tat io.netty.channel.nio.NioEventLoop.run(NioEventLoop.java:500)\n"
	}
	helpers := "2018-11-29 19:55:41 WARN com.mchange.v2.async.ThreadPoolAsynchronousRunner$DeadlockDetector@3 -- APPARENT DEADLOCK!!! Creating emergency threads for unassigned pending tasks!\n"
	npgsql := func(waiting int) string {
		return each(6, func(i int) string {
			return fmt.Sprintf("2016-11-02 08:14:0%d,120 INFO Npgsql [301] Release passing off connector [10 busy, 0 idle, %d waiting]\n", i, waiting)
		})
	}
	paused := func(young, old int) string {
		return fmt.Sprintf("2016-05-09 19:38:05,742 WARN JvmPauseMonitor: Detected pause in JVM or host machine (eg GC): pause of approximately %dms\nGC pool 'ParNew' had collection(s): count=1 time=%dms\nGC pool 'ConcurrentMarkSweep' had collection(s): count=1 time=%dms\n", young+old, young, old)
	}
	recorded := func(name, took string) string { // jfr print
		return each(2, func(i int) string {
			return fmt.Sprintf("jdk.GarbageCollection {\n  startTime = 09:14:%d0.120\n  duration = %s\n  gcId = %d\n  name = \"%s\"\n  cause = \"Allocation Failure\"\n  sumOfPauses = %s\n  longestPause = %s\n}\n\n", i+1, took, i, name, took, took)
		})
	}
	holdAll(t, map[string]made{
		"JRockit, four wait":                     {files: map[string]string{"dump.txt": rockit(4)}, supported: []string{"jvm.lock-contention"}},
		"JRockit, one waits":                     {files: map[string]string{"dump.txt": rockit(1)}, never: []string{"jvm.lock-contention"}},
		"the JDK's example, four wait":           {files: map[string]string{"dump.txt": copied(4)}, supported: []string{"jvm.lock-contention"}},
		"the JDK's example, one waits":           {files: map[string]string{"dump.txt": copied(1)}, never: []string{"jvm.lock-contention"}},
		"Hadoop, four wait":                      {files: map[string]string{"dump.txt": hadoop(4)}, supported: []string{"jvm.lock-contention"}},
		"Hadoop, one waits":                      {files: map[string]string{"dump.txt": hadoop(1)}, never: []string{"jvm.lock-contention"}},
		"ThreadInfo, four are parked":            {files: map[string]string{"dump.txt": parked(4)}, supported: []string{"jvm.lock-contention"}},
		"a stuck request that waits for network": {files: map[string]string{"catalina.log": valve("125.838", "java.base@11.0.16/sun.nio.ch.NioSocketImpl.park(NioSocketImpl.java:189)")}, supported: []string{"service.dependency-slow"}},
		"a stuck request that computes":          {files: map[string]string{"catalina.log": valve("125.838", "com.acme.Report.sum(Report.java:8)")}, never: []string{"service.dependency-slow"}},
		"a loop in a call that blocks":           {files: map[string]string{"app.log": loop("3870", "java.base@11.0.10/java.net.Inet6AddressImpl.lookupAllHostAddr(Native Method)")}, supported: []string{"service.blocked-loop"}},
		"a loop that computes for a while":       {files: map[string]string{"app.log": loop("2101", "com.acme.Prices.sum(Prices.java:8)")}, never: []string{"service.blocked-loop"}},
		"all helper threads of c3p0 are busy":    {files: map[string]string{"app.log": helpers}, supported: []string{"service.pool-exhausted"}},
		"Npgsql, seven wait for ten":             {files: map[string]string{"app.log": npgsql(7)}, supported: []string{"service.pool-exhausted"}},
		"Npgsql, none waits":                     {files: map[string]string{"app.log": npgsql(0)}, never: []string{"service.pool-exhausted"}},
		"a young collection of a long pause":     {files: map[string]string{"rs.log": paused(48250, 1814)}, supported: []string{"jvm.long-pause"}, never: []string{"jvm.full-gc"}},
		"an old one of a long pause":             {files: map[string]string{"rs.log": paused(612, 77890)}, supported: []string{"jvm.full-gc"}},
		"full collections of a recording":        {files: map[string]string{"events.txt": recorded("G1Full", "2.31 s")}, supported: []string{"jvm.full-gc"}},
		"young collections of a recording":       {files: map[string]string{"events.txt": recorded("G1New", "3.1 ms")}, never: []string{"jvm.full-gc", "jvm.young-gc-rate", "jvm.long-pause"}},
	})
}
