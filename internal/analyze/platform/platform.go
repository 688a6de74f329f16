// Package runtime knows the runtimes that services run on: what each is called, how its
// processes are recognised and its threads' stacks read, which counters of it can be watched
// , which models there are of it, and what to type for what is missing. A runtime is a
// file here and a line in [All].
//
// Its opinion: what is asked of a runtime is asked through it. A room that switches on a
// runtime's name would have to be found and changed for the next one.
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

// Runtime is what services run on.
type Runtime struct {
	ID        string   // as evidence and JSON have it: "go"
	Title     string   // "Go"
	Versioned string   // what a version is one of, where it does not say so itself: "Java"
	Lane      string   // what serves a request: "goroutine" or "thread"
	Launchers []string // names of executables that run any program: java
	Master    bool     // its children do its work: what they use it uses
	Workers   bool     // likewise, and each of them serves one request at a time
	Hosts     bool     // programs run inside its executable: a process is not called after its program
	Clients   []string // what the names of its clients' libraries have in them, in lower case
	Tells     bool     // it has no requests that are recorded: what it says of itself is what is judged

	States    Evidence // what shows the states of requests
	Requests  string   // what shows requests where nothing does, in words
	Settings  string   // what its environment says of how it runs, in words; "" nothing that is read
	Collector string   // the only one there is, as people call it; "" there are several
	Reasons   bool     // its collector's log says of each pause why it was, and what went wrong
	Records   bool     // it records itself on request (Java Flight Recorder)
	Addresses bool     // it tells where its functions lie in memory, so that they are known on anybody's stacks
	Walks     bool     // it tells what lies on its heap on request, and what dies there (EventPipe)
	Dump      string   // the tool that prints its threads' stacks, and whose form they are given to others in

	// Recognise tells its processes from others. ID and launchers are put in by [Recognisers].
	Recognise *discover.Recogniser

	// Built is the version of the program that one of its processes runs, as was built into its files, below the process's
	// folder of /proc; nil: they tell none.
	Built func(dir string, t discover.Target) string

	Stacks *threads.Reader // reads its threads' stacks; nil: requests' states come from elsewhere
	// ReadCollector reads what its garbage collector did; nil: it has none that is read.
	ReadCollector metrics.CollectorReader
	Collecting    []string // functions in which it collects, as stacks of the kernel name them; nil: they do not tell
	// Generations reads all that is told of each collection, where that is as much as .NET tells; nil: it is not.
	Generations func(*evidence.Bundle, evidence.SubjectID, metrics.Window) *metrics.DotnetGC
	// Pauses is what helps against pauses of its collector that no cause explains; "": all of them have causes of their own.
	Pauses string
	// Watchables are series of its processes that rules can be held against besides what these count themselves.
	Watchables metrics.OwnWatchables
	Models     []*model.Model // of its processes; the first is asked where nothing says which
	// HugePages is what its processes want of transparent huge pages, in words, where that depends on
	// versions; "": nothing special. Nil: it is all the same to it.
	HugePages func(HugePages) string
	// AtLeast is the oldest release that the evidence about a subject leaves possible, where
	// it does not name the release; nil: nothing tells.
	AtLeast func(b *evidence.Bundle, subject evidence.SubjectID) (release string, ok bool)
}

// Evidence is what would show something: in words, and what is to be typed for it. PID and
// HOST:PORT stand for those of the process; "" if nothing that can be typed would help.
type Evidence struct{ What, Command string }

// HugePages is what advice on them depends on.
type HugePages struct {
	Version string // of the runtime, "" unknown
	Kernel  string // release, "" unknown
	Splits  bool   // a write after a fork copies a small page of a huge one (Linux 5.8: commit 3917c80280c9), not all of it
	Asks    bool   // its settings have it ask for them
}

// All are the runtimes that are known.
var All = []*Runtime{Go, Dotnet, JVM, Redis, Nginx, PHPFPM}

// Everywhere are the models of any process on Linux, whatever it runs on.
var Everywhere = []*model.Model{hugepages.Model}

// unknown stands for a process of which nothing is known: it may be one of Go, whose traces
// and profiles need not say so.
var unknown = &Runtime{Lane: "thread", States: Go.States, Requests: Go.Requests}

// measured has requests whatever a service runs on.
const measured = "an access log or a load generator's results"

// ByID is the runtime of an ID. One that is not known is called by its ID and shows nothing.
func ByID(id string) *Runtime {
	if id == "" {
		return unknown
	}
	if i := slices.IndexFunc(All, func(r *Runtime) bool { return r.ID == id }); i >= 0 {
		return All[i]
	}
	return &Runtime{ID: id, Title: id, Lane: "thread", Requests: measured}
}

// Release is a version as people call it: "Java 17.0.15", "go1.26.8".
func (r *Runtime) Release(version string) string {
	return strings.TrimSpace(r.Versioned + " " + version)
}

// Launchers are the executables of all runtimes that run any program.
func Launchers() (names []string) {
	for _, r := range All {
		names = append(names, r.Launchers...)
	}
	return names
}

// Recognisers tell the processes of all runtimes.
func Recognisers() (known []discover.Recogniser) {
	for _, r := range All {
		if r.Recognise != nil {
			one := *r.Recognise
			one.Runtime, one.Launchers = r.ID, r.Launchers
			one.Traits = discover.Traits{Settings: r.Settings, Workers: r.Workers, ShowsLanes: !r.Native(), ShowsStacks: r.Stacks != nil}
			known = append(known, one)
		}
	}
	return known
}

// OnThreads says whether a request keeps a thread of the system as long as it is worked on, as
// far as is known of the runtime: looks at such threads tell of requests.
func (r *Runtime) OnThreads() bool { return r.ID == "" || r.Lane == "thread" || r.Workers }

// Native says whether nothing but the kernel tells what the threads of such a process do.
func (r *Runtime) Native() bool { return r.OnThreads() && r.Stacks == nil }

// Stacks are the readers of threads' stacks, by the runtime of their process. Where nothing else
// shows the states of requests, what the kernel says of their threads does.
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

// Titles are those of the runtimes of which something holds, as in a sentence with "and" or
// "or": "Go, .NET and JVM".
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

// Models are those of all runtimes, in the order in which they are told of.
func Models() (all []*model.Model) {
	for _, r := range All {
		all = append(all, r.Models...)
	}
	return append(all, Everywhere...)
}

// Modelled are the runtimes that there are models of: "Go, .NET or JVM".
func Modelled() string {
	return Titles(func(r *Runtime) bool { return len(r.Models) > 0 }, "or")
}

// Knobs says what can be asked of each model by --set.
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
