package main

import (
	"strings"
	"time"
)

// jvms are the fixtures of the causes in JVMs: a service in Java (lab/record/java), most
// of whose time is a dependency's, on real JVMs.
func jvms() []recording {
	return []recording{
		// The lists that requests keep for half a second are copied by each collection; eden
		// is full three times a second.
		jvmFixture("jvm.young-gc-rate/sick", "a small young generation, ParNew: collections every third of a second copy what requests keep for half a second", 200, 11,
			"-XX:+UseConcMarkSweepGC -Xms1g -Xmx1g -Xmn192m -XX:SurvivorRatio=2", "compute=500 garbage=1m chunk=8k lasting=256k lasted=100 grain=16 wait=3").expecting(bound{"p99 ms", 40, 0}),
		jvmFixture("jvm.young-gc-rate/healthy", "the same JVM, requests keep nothing and allocate a quarter", 200, 11,
			"-XX:+UseConcMarkSweepGC -Xms1g -Xmx1g -Xmn192m -XX:SurvivorRatio=2", "compute=500 garbage=256k chunk=8k wait=3").expecting(bound{"p99 ms", 0, 12}),
	}
}

// jvmFixture is a service on a JVM of a release, under so many requests a second.
func jvmFixture(id, about string, rate float64, release int, flags, args string) recording {
	r := fixture(id, about, recording{load: arrivals(rate), warm: 4 * time.Second, tail: 8 * time.Second,
		jvm: &jvm{release: release, flags: strings.Fields(flags)}, args: strings.Fields(args)})
	r.accessLog = false
	return r
}

// expecting returns the recording with what it must show.
func (r recording) expecting(bounds ...bound) recording {
	r.expect = append(r.expect[:len(r.expect):len(r.expect)], bounds...)
	return r
}
