// Package jvmparnew is the lab of an HTTP service on a JVM that answers too late because of
// frequent young collections: what a field report describes, the fixes it tried,
// and what would have helped. README.md tells the story; this file has all that the lab
// demands.
package jvmparnew

import (
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/jvm-parnew/app"
)

const (
	young      = "jvm.young-gc-rate"
	full       = "jvm.full-gc"
	leak       = "jvm.old-gen-leak"
	locks      = "jvm.lock-contention"
	dependency = "service.dependency-slow"
	pool       = "service.pool-exhausted"
	capacity   = "service.over-capacity"
	saturation = "linux.cpu-saturation"
)

// host are causes of the host that a lab happens to run on.
var host = []string{"linux.noisy-neighbour", saturation}

// The article's requests/s: when it was slow, after some callers cached, after more did,
// and the rate it was planned for. If the peak does not lie between the host's capacity with
// garbage and without, it is moved there, and its parts with it.
const (
	peak    = 120
	some    = 80. / peak
	more    = 40. / peak
	usual   = 6
	slo     = 300 * time.Millisecond
	waiting = 10 * time.Second
)

// The article's JVM with less than a fifth of its memory, for half of its processors: the young generation is half
// of the heap whatever NewRatio says.
var (
	shape = []string{"-XX:+UseConcMarkSweepGC", "-Xms768m", "-Xmx768m", "-XX:NewSize=384m", "-XX:MaxNewSize=384m", "-XX:SurvivorRatio=10",
		"-XX:MetaspaceSize=128m", "-XX:MaxMetaspaceSize=256m"}
	heap = []string{"-Xms768m", "-Xmx768m"}
)

// serviceArgs returns the arguments of the service. Eight Tomcat threads, four for each CPU,
// share the article's pool of ten connections: threads that wait for a CPU can hold eight of
// them.
func serviceArgs(options ...string) []string {
	return append([]string{"--database={resp}", "--gauges={files}gauges.csv", "--spans={files}spans.json", "--threads=8", "--pool=10"}, options...)
}

// databaseArgs returns the arguments of the database, which answers after a delay. With a delay of
// 0, a query takes only the round trip.
func databaseArgs(delay string) []string { return []string{"-delay", delay, "-monitor", "{monitor}"} }

var ready = databaseArgs("0")

// between are the variants whose knees enclose the peak: then garbage and its collection make
// the first slow, and not its work.
var between = [2]string{"sick", "no-garbage"}

// Lab is the incident.
var Lab = lab.Lab{
	Name:   "jvm-parnew",
	About:  "an HTTP service on a JVM takes seconds to answer while its database answers at once",
	Report: "https://blog.csdn.net/weixin_36180471/article/details/114968451",
	Runtime: lab.JVM{Sources: app.Sources, Main: app.Main, Release: 11, Launch: map[string]lab.Launch{
		"parnew": {JDK: 11, Flags: shape},
		"g1":     {JDK: 25, Flags: append([]string{"-XX:+UseG1GC"}, heap...)},
		"zgc":    {JDK: 25, Flags: append([]string{"-XX:+UseZGC"}, heap...)},
	}},
	Path: "/tree",
	Full: lab.Sizes{Blocks: 6, Record: 12 * time.Second, Patience: 40 * time.Second, Load: lab.Rising{
		Base: usual, Peak: peak, Warm: 12 * time.Second, Before: time.Second, Ramp: 3 * time.Second, For: 8 * time.Second,
		SLO: slo, Patience: waiting, Between: between, Hold: 4 * time.Second, Confirm: 2, Precision: .05,
	}},
	Quick: lab.Sizes{Blocks: 1, Record: 10 * time.Second, Patience: 10 * time.Second, Load: lab.Rising{
		Base: usual, Peak: peak, Warm: 10 * time.Second, Before: time.Second, Ramp: 2 * time.Second, For: 8 * time.Second,
		SLO: slo, Patience: waiting, Between: between, Hold: 3 * time.Second, Confirm: 1, Precision: .1,
	}},
	Sick:  "sick",
	Fixed: "server-cache",
	Variants: []lab.Variant{
		{
			Name: "sick", About: "every caller asks for everything each time", Program: "parnew", Args: serviceArgs(), Dependency: ready, Compared: true, Resident: 2300,
			Expected: lab.Expected{First: young, Not: []string{dependency, pool, full, leak, locks}},
		},
		{
			Name: "callers-cache", About: "some callers cache: two thirds of the requests", Of: "sick", Program: "parnew", Part: some,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "callers-cache-more", About: "more callers cache: a third of the requests", Of: "sick", Program: "parnew", Part: more, Long: true,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "low-rate", About: "what it was expected to serve: 6 requests/s", Of: "sick", Program: "parnew", Rate: usual,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "server-cache", About: "the service caches each answer for one second", Program: "parnew", Args: serviceArgs("--cache=1000"), Dependency: ready, Compared: true, Resident: 1500,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			// The same work on reused memory: what remains of the incident is not caused
			// by GC.
			Name: "no-garbage", About: "the counterfactual: the same work, and no garbage", Program: "parnew", Args: serviceArgs("--reuse"), Dependency: ready, Compared: true, Resident: 1500,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "advised", About: "as the diagnosis of the sick one advises", Program: "parnew", Flags: []string{"{setting}"}, Args: serviceArgs(), Dependency: ready,
			Compared: true, Aside: true, Long: true, Predicted: true, Resident: 5500,
			Expected: lab.Expected{NoneOf: []string{full, leak, dependency, pool}, Not: []string{}},
		},
		{
			Name: "split", About: "the answer in four parts: callers ask for the one they show", Program: "parnew", Args: serviceArgs("--parts=4"), Dependency: ready, Long: true, Resident: 2300,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "slow-database", About: "a database that takes 10 ms for an answer, at 10 requests/s", Program: "parnew", Args: serviceArgs(), Dependency: databaseArgs("10ms"), Rate: 10, Resident: 2300,
			Expected: lab.Expected{First: dependency, Not: []string{young, full, capacity, saturation}},
		},
		{
			// With Tomcat's default number of threads: with eight, requests that wait for a
			// connection would be in Tomcat's queue, which no gauge shows.
			Name: "small-pool", About: "a pool of two connections, at 40 requests/s", Program: "parnew", Args: serviceArgs("--pool=2", "--threads=200"), Dependency: databaseArgs("1ms"), Rate: 40, Resident: 2300,
			Expected: lab.Expected{First: pool, Not: []string{young, full, saturation}},
		},
		{
			// Neither collector copes with garbage at this rate on two processors.
			Name: "g1", About: "JDK 25 with its default collector", Program: "g1", Args: serviceArgs(), Dependency: ready, Long: true, Resident: 2300,
			Expected: lab.Expected{NoneOf: []string{dependency, pool, locks, leak}, Not: []string{}},
		},
		{
			Name: "zgc", About: "JDK 25 with generational ZGC", Program: "zgc", Args: serviceArgs(), Dependency: ready, Long: true, Resident: 2300,
			Expected: lab.Expected{NoneOf: []string{dependency, pool, locks, leak, young}, Not: []string{}},
		},
	},
	Checks: outcomeChecks,
}
