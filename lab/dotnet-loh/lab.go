// Package dotnetloh is the lab of an ASP.NET Core service whose large temporary objects
// bring on collections of the oldest generation: what a field report describes, and what
// was done against it. README.md tells the story; everything that is asked for is here.
package dotnetloh

import (
	"io/fs"
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/dotnet-loh/app"
	"github.com/unstall/unstall/remedy/dotnet"
)

const (
	churn      = "dotnet.loh-churn"
	induced    = "dotnet.induced-gc"
	leak       = "dotnet.heap-leak"
	starvation = "dotnet.threadpool-starvation"
	locks      = "dotnet.lock-contention"
	dependency = "service.dependency-slow"
	pool       = "service.pool-exhausted"
)

// The variants the incident is about.
const (
	sick  = "sick"
	fixed = "chunked-streamed"
)

// Causes that are about the host a lab happens to run on.
var host = []string{"linux.noisy-neighbour", "linux.cpu-saturation"}

// rate is of both routes together: half of the requests ask the public API, which takes
// some 25 ms of a CPU for each. That is one of two CPUs, so that the one which a collection in the
// background takes is missed.
const rate = 80

// usual is less than that: how much is private to the process depends on it, and is to lie between two limits.
const usual = 50

// slo is what a request may take: twice what 99 of 100 take once it is cured.
const slo = 60 * time.Millisecond

// tasks are those that are kept in memory: 14 million objects, which each collection of
// the oldest generation marks.
const tasks = "--tasks=2000000"

// few are those of services whose heap is to grow: what comes is to be much beside what is there.
const few = "--tasks=20000"

// often has these collected each 32 MiB, so that their heap is seen many times in a short recording.
var often = []string{"COMPlus_GCgen0size=2000000", "DOTNET_GCgen0size=2000000"}

// given is what the heap may have, in the hexadecimal that the runtime reads: 1,620 MiB on .NET Core 3.1, which knows the first name
// alone, and 1,400 MiB on 5 and later, which go by the second. What is private to the process, 1,040 to 1,320 MB there by what came
// before and some 920 MB on .NET 9, is more than 60 % of that, and less than 80 %.
var given = []string{"COMPlus_GCHeapHardLimit=65400000", "DOTNET_GCHeapHardLimit=57800000"}

var routes = []string{"/public/clients/{n%211}", "/tasks/{n%211}"}

func serviceArgs(options ...string) []string { return append([]string{tasks}, options...) }

func curedArgs(options ...string) []string {
	return serviceArgs(append([]string{"--collections=chunked", "--answers=streamed"}, options...)...)
}

func steadyLoad(d time.Duration) lab.Load {
	return lab.Rising{Base: rate, Peak: rate, Warm: 5 * time.Second, Before: 2 * time.Second, For: d, SLO: slo, Patience: 5 * time.Second}
}

// project is the service, with the collections that cure it.
var project = build.Project{Sources: app.Sources, File: app.Project, Libraries: map[string]fs.FS{"collections": dotnet.Collections()}}

// Lab is the incident.
var Lab = lab.Lab{
	Name:    "dotnet-loh",
	About:   "an ASP.NET Core service collects its oldest generation as often as its youngest",
	Report:  "https://habr.com/ru/post/452298/",
	Runtime: lab.Dotnet{Project: project},
	On:      map[string]lab.Runtime{"dotnet-9": lab.Dotnet{Project: project, On9: true}},
	Path:    "/",
	Paths:   routes,
	Full:    lab.Sizes{Load: steadyLoad(30 * time.Second), Blocks: 6, Record: 20 * time.Second, Patience: 40 * time.Second},
	Quick:   lab.Sizes{Load: steadyLoad(10 * time.Second), Blocks: 1, Record: 15 * time.Second, Patience: 10 * time.Second},
	Sick:    sick,
	Fixed:   fixed,
	Variants: []lab.Variant{
		{
			Name: sick, About: "client caches of List and HashSet, and answers made whole", Args: serviceArgs(), Compared: true, Resident: 1500,
			Expected: lab.Expected{First: churn, Not: []string{starvation, locks, dependency, pool, leak, induced}},
		},
		{
			Name: "chunked", About: "client caches of collections in chunks, and answers made whole", Args: serviceArgs("--collections=chunked"), Compared: true, Aside: true, Resident: 1500,
			Expected: lab.Expected{NoneOf: []string{starvation, locks, dependency, pool, leak, induced}, Not: []string{}},
		},
		{
			Name: fixed, About: "client caches of collections in chunks, and answers written as they are made", Args: curedArgs(), Compared: true, Predicted: true, Resident: 1500,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "induced", About: "cured, and a library has the memory collected that is above 60 % of what the process was given", Args: curedArgs("--limit=60"), Env: given, Rate: usual, Resident: 1500,
			Expected: lab.Expected{First: induced, Not: []string{starvation, locks, dependency, pool, leak, churn}},
		},
		{
			Name: "limit-80", About: "the library's limit raised to 80 %", Args: curedArgs("--limit=80"), Env: given, Rate: usual, Resident: 1500,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "short-lived", About: "many small objects that are dead soon", Args: serviceArgs(), Path: "/tasks/{n%211}", Rate: 200, Resident: 1500,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "cache", About: "a cache of answers that grows until it has each user's, and keeps its size then", Args: []string{few, "--recent=200"}, Env: often, Path: "/tasks/{n%1500}", Rate: 300, Warm: 50, Resident: 400,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "leak", About: "each request subscribes to an event and never takes that back", Args: []string{few, "--listeners=true"}, Env: often, Path: "/tasks/{n%1500}", Rate: 300, Warm: 50, Resident: 800,
			Expected: lab.Expected{First: leak, Not: []string{starvation, locks, dependency, pool, induced, churn}},
		},
	},
	Checks: outcomeChecks,
}
