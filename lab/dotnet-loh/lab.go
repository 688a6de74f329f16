// Package dotnetloh is the lab of an ASP.NET Core service whose large temporary objects
// cause collections of the oldest generation: what a field report describes, and the fixes
// it tried. README.md tells the story; this file has all that the lab demands.
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

// Names of the variants that the incident is about.
const (
	sick  = "sick"
	fixed = "chunked-streamed"
)

// host are causes of the host that a lab happens to run on.
var host = []string{"linux.noisy-neighbour", "linux.cpu-saturation"}

// rate is the requests/s of both routes together: half of them use the public API, which takes
// some 25 ms of CPU for each. That is one of two CPUs, so a background collection that takes the
// other makes requests wait.
const rate = 80

// usual is less than that, in requests/s: the process's private memory depends on it and must stay between two limits.
const usual = 50

// work is the CPU time of a request of the fixed service where rate and slo were chosen (README.md: 0.58 CPUs at that rate).
const work = 7500 * time.Microsecond

// slo is the latency objective: twice the 99th percentile of the fixed service.
const slo = 60 * time.Millisecond

// tasks is how many tasks are kept in memory: 14 million objects, which each collection of
// the oldest generation marks.
const tasks = "--tasks=2000000"

// few is the number of tasks in services whose heap is to grow: the growth must be large beside the rest.
const few = "--tasks=20000"

// often makes these collect each 32 MiB, so that a short recording sees their heap many times.
var often = []string{"COMPlus_GCgen0size=2000000", "DOTNET_GCgen0size=2000000"}

// given is the limit of the heap, in the hexadecimal that the runtime reads: 1,620 MiB on .NET Core 3.1, which knows only the first
// name, and 1,400 MiB on 5 and later, which use the second. Private memory, 1,040 to 1,320 MB on 3.1 depending on what came before and
// some 920 MB on .NET 9, is more than 60 % of that and less than 80 %.
var given = []string{"COMPlus_GCHeapHardLimit=65400000", "DOTNET_GCHeapHardLimit=57800000"}

var routes = []string{"/public/clients/{n%211}", "/tasks/{n%211}"}

func serviceArgs(options ...string) []string { return append([]string{tasks}, options...) }

func curedArgs(options ...string) []string {
	return serviceArgs(append([]string{"--collections=chunked", "--answers=streamed"}, options...)...)
}

func steadyLoad(d time.Duration) lab.Load {
	return lab.Rising{Base: rate, Peak: rate, Warm: 5 * time.Second, Before: 2 * time.Second, For: d, SLO: slo, Patience: 5 * time.Second, Work: work}
}

// project is the service, with the collections that fix it.
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
