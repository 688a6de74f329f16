package main

import (
	"slices"
	"strings"
	"time"
)

// jvmFixtures returns the fixtures of the causes in JVMs: a service in Java (dev/recorder/java) on
// real JVMs, which mostly waits for a dependency.
func jvmFixtures() []recording {
	return slices.Concat(youngCollections(), oldCollections(), concurrentCollections(), besideCollections(), flightFixtures())
}

// flightFixtures returns the fixtures whose evidence is a flight recording.
func flightFixtures() []recording {
	recorded := func(r *recording) { r.jvm.flight = true }
	alone := func(r *recording) { r.jvm.flight, r.jvm.alone = true, true }
	return []recording{
		jvmFixture("jvm.pinned-thread/sick", "virtual threads wait 25 ms for a dependency, each inside a monitor of its own, on two carriers", 72, 21,
			"-XX:+UseG1GC -Xms400m -Xmx400m", "virtual=1 pinned=1 compute=100 garbage=64k chunk=8k wait=25").withChange(recorded).withBounds(bound{"p99 ms", 100, 0}),
		jvmFixture("jvm.pinned-thread/healthy", "the same without the monitor", 72, 21,
			"-XX:+UseG1GC -Xms400m -Xmx400m", "virtual=1 compute=100 garbage=64k chunk=8k wait=25").withChange(recorded).withBounds(bound{"p50 ms", 0, 35}),

		jvmFixture("jvm.lock-contention/sick-flight", "16 clients whose requests compute under one lock; a flight recording is all there is", 0, 17,
			"-XX:+UseG1GC -Xms400m -Xmx400m", "locked=3000 garbage=64k chunk=8k").withChange(func(r *recording) {
			r.load.Connections = 16
			alone(r)
		}).withBounds(bound{"p50 ms", 30, 0}),
		jvmFixture("jvm.lock-contention/healthy-flight", "one client: the lock is free whenever it comes", 0, 17,
			"-XX:+UseG1GC -Xms400m -Xmx400m", "locked=3000 garbage=64k chunk=8k").withChange(func(r *recording) {
			r.load.Connections = 1
			alone(r)
		}).withBounds(bound{"p50 ms", 0, 9}),
		jvmFixture("jvm.full-gc/sick-flight", "ParallelGC, a heap a quarter larger than what is live; a flight recording is all there is", 120, 17,
			"-XX:+UseParallelGC -Xms330m -Xmx330m", "live=110 compute=300 garbage=256k chunk=8k lasting=128k lasted=300 grain=64 wait=3").withChange(alone).withBounds(bound{"p99 ms", 150, 0}),
	}
}

// youngCollections returns fixtures of collections of what requests allocate and keep for a while.
func youngCollections() []recording {
	const parnew = "-XX:+UseConcMarkSweepGC -Xms1g -Xmx1g -Xmn192m -XX:SurvivorRatio=2"
	const parallel = "-XX:+UseParallelGC -Xms4g -Xmx4g -Xmn192m"
	const promoting = "compute=300 lasting=2m lasted=1500 grain=256k wait=10"
	const surviving = "compute=300 garbage=3m chunk=8k lasting=256k lasted=100 grain=16 wait=30"
	const throughput = "-XX:+UseParallelGC -Xms1g -Xmx1g -Xmn192m -XX:-UseAdaptiveSizePolicy -XX:SurvivorRatio=2"
	return []recording{
		// Each collection copies the lists that requests keep for half a second; eden is full
		// three times a second.
		jvmFixture("jvm.young-gc-rate/sick", "a small young generation, ParNew: collections every third of a second copy what requests keep for half a second", 200, 11,
			parnew, "compute=500 garbage=1m chunk=8k lasting=256k lasted=100 grain=16 wait=3").withBounds(bound{"p99 ms", 40, 0}),
		jvmFixture("jvm.young-gc-rate/healthy", "the same JVM, requests keep nothing and allocate a quarter", 200, 11,
			parnew, "compute=500 garbage=256k chunk=8k wait=3").withBounds(bound{"p50 ms", 0, 12}),

		// Requests of four seconds are kept, which fill eden, and one thread copies them.
		jvmFixture("jvm.long-pause/sick", "one thread collects a young generation of 2.5 GiB in which nearly all survives", 80, 17,
			"-XX:+UseSerialGC -Xms7g -Xmx7g -Xmn2600m -XX:+AlwaysPreTouch", "compute=300 lasting=2m lasted=600 grain=16 wait=10").withBounds(bound{"p99 ms", 900, 0}),
		jvmFixture("jvm.long-pause/healthy", "the same JVM, requests keep nothing", 80, 17,
			"-XX:+UseSerialGC -Xms7g -Xmx7g -Xmn2600m -XX:+AlwaysPreTouch", "compute=300 garbage=2m chunk=8k wait=10").withBounds(bound{"p50 ms", 0, 32}),

		jvmFixture("jvm.gc-kernel-time/sick", "ParallelGC promotes into memory that was never touched: the kernel clears each page inside the pause", 80, 17,
			parallel, promoting).withProcfs().withBounds(bound{"p99 ms", 45, 0}),
		jvmFixture("jvm.gc-kernel-time/healthy", "the same with -XX:+AlwaysPreTouch", 80, 17,
			parallel+" -XX:+AlwaysPreTouch", promoting).withProcfs().withBounds(bound{"p50 ms", 0, 32}),

		jvmFixture("jvm.gc-cpu-starved/sick", "eight busy threads of others beside two collecting ones", 60, 17,
			throughput, surviving).withProcfs().withChange(func(r *recording) {
			r.neighbours, r.noisy = [][]string{{"-threads", "12"}}, true
		}).withBounds(bound{"p99 ms", 150, 0}),
		jvmFixture("jvm.gc-cpu-starved/healthy", "the same with the processors to itself", 60, 17,
			throughput, surviving).withProcfs().withBounds(bound{"p50 ms", 0, 90}),
	}
}

// oldCollections returns fixtures of collections of long-lived objects, and of explicit ones.
func oldCollections() []recording {
	const cms = "-XX:+UseConcMarkSweepGC -Xmn96m -XX:SurvivorRatio=6 -XX:+UseCMSInitiatingOccupancyOnly"
	const cached = "live=180 compute=300 garbage=256k chunk=8k lasting=512k lasted=220 grain=64 wait=15"
	const asked = "live=60 compute=300 garbage=64k chunk=8k wait=3 collect-every=1000"
	const full = "live=110 compute=300 garbage=256k chunk=8k lasting=128k lasted=300 grain=64 wait=3"
	const loading = "live=60 compute=300 garbage=64k chunk=8k wait=3"
	return []recording{
		jvmFixture("jvm.cms-concurrent-mode-failure/sick", "CMS begins at 92 % of an old generation that fills faster than it sweeps", 100, 11,
			cms+" -Xms520m -Xmx520m -XX:CMSInitiatingOccupancyFraction=92", cached).withBounds(bound{"p99 ms", 250, 0}),
		jvmFixture("jvm.cms-concurrent-mode-failure/healthy", "the same service with room, and CMS begins at half of it", 100, 11,
			cms+" -Xms1200m -Xmx1200m -XX:CMSInitiatingOccupancyFraction=50", "live=60 compute=300 garbage=256k chunk=8k lasting=64k lasted=220 grain=64 wait=15").withBounds(bound{"p50 ms", 0, 45}),

		jvmFixture("jvm.full-gc/sick", "ParallelGC, a heap a quarter larger than what is live: full collections by themselves", 120, 17,
			"-XX:+UseParallelGC -Xms330m -Xmx330m", full).withBounds(bound{"p99 ms", 150, 0}),
		jvmFixture("jvm.full-gc/healthy", "the same in a heap of four times the live set", 120, 17,
			"-XX:+UseParallelGC -Xms1200m -Xmx1200m", "live=110 compute=300 garbage=256k chunk=8k lasting=8k lasted=300 grain=64 wait=12").withBounds(bound{"p50 ms", 0, 36}),

		jvmFixture("jvm.old-gen-leak/sick", "each request leaves 64 KiB in a list nobody empties", 120, 17,
			"-XX:+UseParallelGC -Xms460m -Xmx460m", "live=60 compute=300 garbage=64k chunk=8k lasting=256k lasted=300 grain=64 leaked=64k wait=3").withChange(func(r *recording) {
			r.tail, r.jvm.classes = 20*time.Second, true
		}).withBounds(bound{"p99 ms", 100, 0}),
		jvmFixture("jvm.old-gen-leak/healthy", "a cache that fills and then stays as large as it is", 120, 17,
			"-XX:+UseG1GC -Xms800m -Xmx800m", "live=60 compute=300 garbage=64k chunk=8k lasting=64k lasted=600 grain=64 wait=8").withChange(func(r *recording) {
			r.tail, r.jvm.classes = 20*time.Second, true
		}).withBounds(bound{"p50 ms", 0, 27}),

		jvmFixture("jvm.explicit-gc/sick", "a thread calls System.gc() once a second", 150, 17,
			"-XX:+UseParallelGC -Xms600m -Xmx600m", asked).withBounds(bound{"p99 ms", 60, 0}),
		jvmFixture("jvm.explicit-gc/healthy", "the same with -XX:+DisableExplicitGC", 150, 17,
			"-XX:+UseParallelGC -Xms600m -Xmx600m -XX:+DisableExplicitGC", asked).withBounds(bound{"p50 ms", 0, 12}),

		jvmFixture("jvm.metaspace-gc/sick", "each request makes five class loaders, of which a hundred are kept, within 20 MiB of metaspace", 120, 17,
			"-XX:+UseParallelGC -Xms600m -Xmx600m -XX:MetaspaceSize=20m -XX:MaxMetaspaceSize=20m", loading+" classes=5 loaders=20").withBounds(bound{"p99 ms", 100, 0}),
		jvmFixture("jvm.metaspace-gc/healthy", "the classes are loaded once", 120, 17,
			"-XX:+UseParallelGC -Xms600m -Xmx600m -XX:MetaspaceSize=20m -XX:MaxMetaspaceSize=20m", loading).withBounds(bound{"p50 ms", 0, 12}),
	}
}

// concurrentCollections returns fixtures of concurrent collectors that do not keep up.
func concurrentCollections() []recording {
	const bursts = "live=60 compute=300 garbage=512k chunk=8k lasting=512k lasted=220 grain=128 wait=5"
	const humongous = "live=150 compute=300 kept=40 garbage=64k chunk=8k wait=5"
	const churning = "live=150 compute=300 garbage=2m chunk=8k lasting=256k lasted=200 grain=64 wait=3"
	const degenerating = "live=150 compute=300 garbage=2m chunk=8k lasting=256k lasted=180 grain=256 wait=3"
	const small = "live=60 compute=300 garbage=512k chunk=8k wait=3"
	return []recording{
		jvmFixture("jvm.g1-humongous/sick", "each request makes an array of 3 MiB of references, in four adjacent regions of 1 MiB", 40, 17,
			"-XX:+UseG1GC -Xms420m -Xmx420m", humongous+" array=3m").withProcfs().withBounds(bound{"p99 ms", 100, 0}),
		jvmFixture("jvm.g1-humongous/healthy", "the same with arrays of 300 KiB, which are none", 80, 17,
			"-XX:+UseG1GC -Xms420m -Xmx420m", humongous+" array=300k").withBounds(bound{"p50 ms", 0, 19}),

		jvmFixture("jvm.g1-evacuation-failure/sick", "all of a large young generation survives, and half of it has no region to go to", 150, 25,
			"-XX:+UseG1GC -Xms400m -Xmx400m -Xmn200m", bursts).withBounds(bound{"p99 ms", 80, 0}),
		jvmFixture("jvm.g1-evacuation-failure/sick-11", "the same on JDK 11", 150, 11,
			"-XX:+UseG1GC -Xms400m -Xmx400m -Xmn200m", bursts).withBounds(bound{"p99 ms", 80, 0}),
		jvmFixture("jvm.g1-evacuation-failure/healthy", "the same collector, few survive", 150, 25,
			"-XX:+UseG1GC -Xms400m -Xmx400m", small).withBounds(bound{"p50 ms", 0, 12}),

		jvmFixture("jvm.allocation-stall/sick", "ZGC in a heap too small for what is allocated while it works", 120, 17,
			"-XX:+UseZGC -Xms512m -Xmx512m", churning).withBounds(bound{"p99 ms", 60, 0}),
		jvmFixture("jvm.allocation-stall/sick-25", "generational ZGC in a heap too small", 150, 25,
			"-XX:+UseZGC -Xms320m -Xmx320m", "live=130 compute=300 garbage=2m chunk=8k lasting=256k lasted=200 grain=64 wait=3").withBounds(bound{"p99 ms", 60, 0}),
		jvmFixture("jvm.allocation-stall/healthy", "the same collector with room", 120, 17,
			"-XX:+UseZGC -Xms1500m -Xmx1500m", small).withBounds(bound{"p50 ms", 0, 12}),

		jvmFixture("jvm.degenerated-gc/sick", "Shenandoah in a heap too small for what is allocated while it works, without pacing", 100, 17,
			"-XX:+UseShenandoahGC -Xms450m -Xmx450m -XX:+UnlockExperimentalVMOptions -XX:-ShenandoahPacing", degenerating).withProcfs().withBounds(bound{"p99 ms", 100, 0}),
		jvmFixture("jvm.degenerated-gc/healthy", "the same collector with room", 150, 17,
			"-XX:+UseShenandoahGC -Xms1500m -Xmx1500m", small).withBounds(bound{"p50 ms", 0, 12}),
	}
}

// besideCollections returns fixtures of other reasons that stop or delay threads.
func besideCollections() []recording {
	const summing = "live=10 compute=300 garbage=512k chunk=8k wait=3 sum-every=400 sum=100000"
	return []recording{
		jvmFixture("jvm.safepoint/sick", "a report sums in a counted loop of 0.2 s that does not look for safepoints", 150, 17,
			"-XX:+UseParallelGC -Xms600m -Xmx600m", summing).withBounds(bound{"p99 ms", 50, 0}),
		jvmFixture("jvm.safepoint/healthy", "the same loop, strip-mined", 150, 17,
			"-XX:+UseParallelGC -Xms600m -Xmx600m -XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000", summing).withBounds(bound{"p50 ms", 0, 15}),

		jvmFixture("jvm.lock-contention/sick", "16 clients whose requests compute under one lock", 0, 17,
			"-XX:+UseG1GC -Xms400m -Xmx400m", "locked=3000 garbage=64k chunk=8k").withProcfs().withChange(func(r *recording) {
			r.load.Connections, r.jvm.dumps = 16, 8
		}).withBounds(bound{"p50 ms", 30, 0}),
		jvmFixture("jvm.lock-contention/healthy", "one client: the lock is free whenever it comes", 0, 17,
			"-XX:+UseG1GC -Xms400m -Xmx400m", "locked=3000 garbage=64k chunk=8k").withProcfs().withChange(func(r *recording) {
			r.load.Connections, r.jvm.dumps = 1, 8
		}).withBounds(bound{"p50 ms", 0, 9}),
	}
}

// jvmFixture returns a service on a JVM of a release, under a rate of requests/s.
func jvmFixture(id, about string, rate float64, release int, flags, args string) recording {
	r := newFixture(id, about, recording{load: poissonPlan(rate), warm: 4 * time.Second, tail: 8 * time.Second,
		jvm: &jvm{release: release, flags: strings.Fields(flags)}, args: strings.Fields(args)})
	r.accessLog = false
	return r
}

// withBounds returns the recording with bounds that it must satisfy.
func (r recording) withBounds(bounds ...bound) recording {
	r.expect = append(r.expect[:len(r.expect):len(r.expect)], bounds...)
	return r
}

// withProcfs returns the recording with samples of /proc beside it.
func (r recording) withProcfs() recording {
	r.procfs = 500 * time.Millisecond
	return r
}
