package discover

import (
	"context"
	"os"
)

// Traits are what recorders need to know of a runtime; zero of one that is not known.
type Traits struct {
	Settings    string // what the environment of its processes says of how it runs, in words; "" nothing that is read
	Workers     bool   // its children do its work, each one request at a time
	ShowsLanes  bool   // something besides the kernel tells what the threads or goroutines of its processes do
	ShowsStacks bool   // its threads' stacks are read
}

// Recogniser tells the processes of one runtime from others. What is asked of all runtimes
// first is cheapest: what a process leaves behind, then what its executable says, last which
// libraries it has mapped. A field that is nil or "" tells nothing.
type Recogniser struct {
	Runtime   string   // its ID
	Launchers []string // names of executables that run its programs
	Traits    Traits
	Called    string // what users call its processes, whatever these are called, where [Recogniser.Traces] tells them: "redis"; "" nothing

	// Traces are what its processes alone leave behind or are called.
	Traces func(p Process) (Seen, bool)
	// Built is what executables that hold the runtime say of it.
	Built func(e Executable) (Seen, bool)
	// Program is what a command line of a launcher runs, "" unknown.
	Program func(command []string) string
	// Library is what its processes have mapped, and Version the runtime's by where that is.
	Library string
	Version func(p Process, library string) string
	// Suggested says that a name suggests it where nothing else tells a runtime; then Answers
	// asks who listens.
	Suggested func(name string) bool
	Answers   func(ctx context.Context, listens []Listener) bool
	// Schemes are those of URLs that lead to nothing else.
	Schemes []string
	// Way is how this user can ask a process of it, as "pprof"; "" there is none.
	Way func(p Process, listens []Listener) string
}

// Seen is what is seen of a runtime beside that it is there, each "" if unknown.
type Seen struct {
	Version string // "go1.26.8", "17.0.15"
	Main    string // what runs in it: path of the main Go module, main class or jar file
}

// Process is one as a [Recogniser] looks at it: what a method tells is looked up when it is
// called.
type Process interface {
	PID() int
	Comm() string    // what the kernel calls it, cut at 15 bytes
	Exe() string     // path of its executable, "" unreadable
	Inner() int      // the id it knows itself by, in its namespace
	Started() uint64 // ticks after boot
	Ours() bool      // we are its user, or root

	// Left are the paths of the files in its temporary directory whose names match a pattern
	// of [filepath.Glob], as seen from here; those of others are among them.
	Left(pattern string) []string
	// Hotspot is what the counters that a JVM publishes (hsperfdata) say.
	Hotspot() (Seen, bool)
	// Library is where a shared library is that it has mapped, by its own root.
	Library(name string) (where string, mapped bool)
	// Open opens a regular file by its own root. No link is followed at its end.
	Open(path string) (*os.File, error)
	// ServesPprof says whether it is built with net/http/pprof.
	ServesPprof() bool
}

// Executable is what an executable says of itself.
type Executable struct {
	GoVersion string // "go1.26.8"; "" not built by Go
	Main      string // path of the main Go module or package, as far as recorded
	Managed   bool   // it was compiled by .NET's compiler ahead of time
	Dynamic   bool   // it is linked at run time, so libraries may bring a runtime
}
