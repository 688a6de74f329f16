// Package dotnetstarvation is the lab of an ASP.NET Core service whose handlers
// block the threads of the pool: what a vendor's tutorial shows and advises, and
// what the advice achieves. README.md tells the story; this file has all that the
// lab demands.
package dotnetstarvation

import (
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/dotnet-starvation/app"
)

const (
	starvation = "dotnet.threadpool-starvation"
	locks      = "dotnet.lock-contention"
	saturation = "linux.cpu-saturation"
	capacity   = "service.over-capacity"
)

// host are causes of the host that a lab happens to run on.
var host = []string{"linux.noisy-neighbour", saturation}

// connections is the article's number.
const connections = 125

// service is how long the database takes: a client gets at most two answers a
// second.
const service = 500 * time.Millisecond

// slo is the latency objective of requests that take half a second when nothing delays them.
const slo = 700 * time.Millisecond

// minThreads lets every client have a thread: 200, in the hexadecimal that the
// runtime reads. .NET Core 3.1 knows the first name, 6 and later both.
var minThreads = []string{"COMPlus_ThreadPool_ForceMinWorkerThreads=c8", "DOTNET_ThreadPool_ForceMinWorkerThreads=c8"}

// patience is how long clients wait for an answer: the longest answer in the article took 18 s.
const patience = 20 * time.Second

func closedLoad(d time.Duration) lab.Load {
	return lab.Closed{Connections: connections, For: d, Patience: patience, Before: 1200 * time.Millisecond, SLO: slo}
}

// project is the service.
var project = build.Project{Sources: app.Sources, File: app.Project}

// Lab is the incident.
var Lab = lab.Lab{
	Name:    "dotnet-starvation",
	About:   "an ASP.NET Core service answers hardly any requests while its CPUs are idle",
	Report:  "https://learn.microsoft.com/en-us/dotnet/core/diagnostics/debug-threadpool-starvation",
	Runtime: lab.Dotnet{Project: project},
	On:      map[string]lab.Runtime{"dotnet-9": lab.Dotnet{Project: project, On9: true}},
	Path:    "/api/diagscenario",
	Full:    lab.Sizes{Load: closedLoad(10 * time.Second), Blocks: 6, Record: 10 * time.Second, Patience: 30 * time.Second},
	Quick:   lab.Sizes{Load: closedLoad(10 * time.Second), Blocks: 1, Record: 8 * time.Second, Patience: 10 * time.Second},
	Sick:    "taskwait",
	Fixed:   "taskasyncwait",
	Variants: []lab.Variant{
		{
			Name: "taskwait", About: "waits for the query with .Result", Path: "/api/diagscenario/taskwait", Compared: true, Resident: 80,
			Expected: lab.Expected{First: starvation, Not: []string{saturation, capacity, locks, "service.dependency-slow"}},
		},
		{
			Name: "tasksleepwait", About: "sleeps until the query is answered", Path: "/api/diagscenario/tasksleepwait", Compared: true, Resident: 80,
			Expected: lab.Expected{First: starvation, Not: []string{saturation, capacity, locks, "service.dependency-slow"}},
		},
		{
			Name: "taskasyncwait", About: "awaits the query", Path: "/api/diagscenario/taskasyncwait", Compared: true, Predicted: true, Resident: 80,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			// It blocks as before: the threads suffice for these clients, but not for more.
			Name: "min-threads", About: "waits with .Result, with 200 threads from the start", Path: "/api/diagscenario/taskwait", Env: minThreads, Resident: 100,
			Expected: lab.Expected{AnyOf: []string{starvation}, Not: []string{capacity, locks}},
		},
		{
			Name: "cpu", About: "computes more than its CPUs can", Path: "/api/diagscenario/cpu", Resident: 80,
			Expected: lab.Expected{AnyOf: []string{saturation, capacity}, Not: []string{starvation, locks}},
		},
		{
			Name: "lock", About: "computes while holding one lock", Path: "/api/diagscenario/lock?rounds=80", Resident: 80,
			Expected: lab.Expected{First: locks, Not: []string{starvation}},
		},
	},
	Checks: outcomeChecks,
	Moves:  climbChecks,
}
