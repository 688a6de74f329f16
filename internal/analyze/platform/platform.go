// Package platform knows the runtimes that services run on: their names, how their processes are recognised and their threads' stacks read,
// which of their counters can be watched, which models exist, and what to type for missing evidence. A runtime is a file here and a line in
// [All].
//
// Its opinion: other packages ask a runtime through this one. Code that switches on a runtime's name would have to be found and changed for
// the next runtime.
package platform

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/hugepages"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
)

// Runtime is a runtime that services run on.
type Runtime struct {
	ID        string   // its id in evidence and JSON: "go"
	Title     string   // "Go"
	Versioned string   // the noun before a version that lacks it: "Java"
	Lane      string   // what serves a request: "goroutine" or "thread"
	Launchers []string // executables that run any program: java
	Master    bool     // its children of the same name do its work: their resource use counts as its own
	Workers   bool     // likewise, and each of them serves one request at a time
	Hosts     bool     // programs run inside its executable: a process does not have its program's name
	Clients   []string // parts of the names of its clients' libraries, in lower case
	Tells     bool     // its requests are not recorded: its own statistics are judged

	States    Evidence // what shows the states of requests
	Requests  string   // what would show requests, in words
	Settings  string   // what its environment configures, in words; "": nothing that is read
	Collector string   // the usual name of its only collector; "": there are several
	Reasons   bool     // its collector's log gives each pause's reason, and what went wrong
	Records   bool     // it records itself on request (Java Flight Recorder)
	Addresses bool     // it reports the addresses of its functions, so that other tools' stacks can be resolved
	Accepts   bool     // threads of its pool also accept connections and read them
	Walks     bool     // it lists the objects on its heap on request, and those that die there (EventPipe)
	Dump      string   // the tool that prints its threads' stacks, in the form that users share

	// Recognise identifies its processes. [Recognisers] fills in ID and launchers.
	Recognise *discover.Recogniser

	// Built returns the version of the program of one of its processes, as built into its files, below the process's folder of /proc; nil: its
	// programs have none.
	Built func(dir string, t discover.Target) string

	Stacks *threads.Reader // reads its threads' stacks; nil: requests' states come from elsewhere
	// ReadCollector reads what its garbage collector did; nil: it has none that can be read.
	ReadCollector metrics.CollectorReader
	Collecting    []string // functions in which it collects, by their names on kernel stacks; nil: unknown
	// Serves reports whether a function is one in which the common servers of the runtime serve requests, where Stacks does not tell; nil: not known.
	Serves func(function string) bool
	// Generations reads all figures of each collection, for a runtime that reports as much as .NET; nil: it does not.
	Generations func(*evidence.Bundle, evidence.SubjectID, metrics.Window) *metrics.DotnetGC
	// Pauses is the advice against pauses of its collector that no cause explains; "": causes cover all of them.
	Pauses string
	// Watchables are series of its processes for rules, besides those that the processes count themselves.
	Watchables metrics.OwnWatchables
	Models     []*model.Model // of its processes; the first one is the default
	// HugePages says how its processes should use transparent huge pages, in words, where that depends on versions; "": no special advice. Nil:
	// it does not matter.
	HugePages func(HugePages) string
	// FewerCPUs is the setting by which it runs on fewer CPUs than it sees, a format of their number, and FewerCPUsBy what does so without it, in
	// words; "": it has none.
	FewerCPUs, FewerCPUsBy string
	// KeepsConnections says how its usual clients keep connections open between calls, in words; "": not known.
	KeepsConnections string
	// AtLeast returns the oldest release consistent with the evidence about a subject, where the evidence does not name the release; nil:
	// unknown.
	AtLeast func(b *evidence.Bundle, subject evidence.SubjectID) (release string, ok bool)
}

// Evidence is what would show something: in words, and as a command. PID and HOST:PORT stand for those of the process; "" if no command would
// help.
type Evidence struct{ What, Command string }

// HugePages is the facts that advice on them depends on.
type HugePages struct {
	Version string // of the runtime, "" unknown
	Kernel  string // release, "" unknown
	Splits  bool   // a write after a fork copies a small page of a huge one (Linux 5.8: commit 3917c80280c9), not all of it
	Asks    bool   // its settings have it ask for them
}

// All are the known runtimes.
var All = []*Runtime{Go, Dotnet, JVM, Redis, Nginx, PHPFPM}

// Everywhere are the models of any process on Linux, whatever its runtime.
var Everywhere = []*model.Model{hugepages.Model}

// unknown is the runtime of a process of which nothing is known: it may be Go, whose traces and profiles need not say so, or the master of
// workers, as gunicorn, Puma and Node.js's cluster have.
var unknown = &Runtime{Lane: "thread", Master: true, States: Go.States, Requests: Go.Requests,
	FewerCPUs: Go.FewerCPUs, FewerCPUsBy: "this is of Go, which does it by default since 1.25"}

// measured are ways to record requests for any runtime.
const measured = "an access log or a load generator's results"

// ByID returns the runtime with an ID. An unknown one has its ID as name and shows nothing.
func ByID(id string) *Runtime {
	if id == "" {
		return unknown
	}
	if i := slices.IndexFunc(All, func(r *Runtime) bool { return r.ID == id }); i >= 0 {
		return All[i]
	}
	return &Runtime{ID: id, Title: id, Lane: "thread", Requests: measured}
}

// Release returns a version for people: "Java 17.0.15", "go1.26.8".
func (r *Runtime) Release(version string) string {
	return strings.TrimSpace(r.Versioned + " " + version)
}

// Launchers returns the executables of all runtimes that run any program.
func Launchers() (names []string) {
	for _, r := range All {
		names = append(names, r.Launchers...)
	}
	return names
}

// Recognisers returns the recognisers of all runtimes.
func Recognisers() (known []discover.Recogniser) {
	for _, r := range All {
		if r.Recognise != nil {
			one := *r.Recognise
			one.Runtime, one.Launchers = r.ID, r.Launchers
			one.Traits = discover.Traits{Settings: r.Settings, Master: r.Master, Workers: r.Workers, ShowsLanes: !r.Native(), ShowsStacks: r.Stacks != nil}
			known = append(known, one)
		}
	}
	return known
}

// OnThreads reports whether a request keeps an OS thread while it is worked on, as far as the runtime is known: looks at such threads then tell
// of requests.
func (r *Runtime) OnThreads() bool { return r.ID == "" || r.Lane == "thread" || r.Workers }

// Native reports whether only the kernel tells what the threads of such a process do.
func (r *Runtime) Native() bool { return r.OnThreads() && r.Stacks == nil }

// Stacks returns the readers of threads' stacks, by runtime. Where nothing else shows the states of requests, the kernel's view of threads does.
func Stacks() threads.Readers {
	of := threads.Readers{unknown.ID: threads.NativeStacks}
	for _, r := range All {
		switch {
		case r.Stacks != nil:
			of[r.ID] = *r.Stacks
		case r.OnThreads():
			of[r.ID] = threads.NativeStacks
		default:
			of[r.ID] = threads.ScheduledStacks
		}
	}
	return of
}

// Titles returns the titles of the runtimes with a property, joined with "and" or "or": "Go, .NET and JVM".
func Titles(holds func(*Runtime) bool, word string) string {
	var names []string
	for _, r := range All {
		if holds(r) {
			names = append(names, r.Title)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " " + word + " " + names[n-1]
	}
	return strings.Join(names, "")
}

// Models returns the models of all runtimes, in the order of listing.
func Models() (all []*model.Model) {
	for _, r := range All {
		all = append(all, r.Models...)
	}
	return append(all, Everywhere...)
}

// Modelled returns the runtimes with models: "Go, .NET or JVM".
func Modelled() string {
	return Titles(func(r *Runtime) bool { return len(r.Models) > 0 }, "or")
}

// Knobs describes what --set can ask of each model.
func Knobs() string {
	var text []string
	for _, r := range All {
		for _, m := range r.Models {
			text = append(text, "For "+r.Title+": "+m.Help()+".")
		}
	}
	for _, m := range Everywhere {
		text = append(text, "For any process on Linux: "+m.Help()+".")
	}
	return strings.Join(text, " ")
}
