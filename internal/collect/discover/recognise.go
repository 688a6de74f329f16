package discover

import (
	"context"
	"os"
)

// Traits are the properties of a runtime that recorders need; zero for an unknown runtime.
type Traits struct {
	Settings    string // what the environment of its processes says about how it runs, in words; "" nothing that is read
	Master      bool   // its child processes of the same name do its work
	Workers     bool   // likewise, each one request at a time
	ShowsLanes  bool   // a source besides the kernel shows what the threads or goroutines of its processes do
	ShowsStacks bool   // the stacks of its threads are read
}

// Recogniser distinguishes the processes of one runtime from others. Methods run in order of their cost over all runtimes: first files
// and names that a process leaves behind, then the contents of its executable, last its mapped libraries. A field that is nil or ""
// is not used.
type Recogniser struct {
	Runtime   string   // its ID
	Launchers []string // names of executables that run its programs
	Traits    Traits
	Called    string // users' name for its processes if [Recogniser.Traces] recognises them, whatever their names: "redis"; "" nothing

	// Traces recognises a process by traces or names that only this runtime has.
	Traces func(p Process) (Seen, bool)
	// Built recognises an executable that contains the runtime.
	Built func(e Executable) (Seen, bool)
	// Program returns the program in a launcher's command line, "" unknown.
	Program func(command []string) string
	// Library is the library that its processes have mapped. Version returns the runtime's version from the library's path.
	Library string
	Version func(p Process, library string) string
	// Suggested says that a process's name suggests the runtime, if nothing else shows one. Answers then asks the process that
	// listens.
	Suggested func(name string) bool
	Answers   func(ctx context.Context, listens []Listener) bool
	// Schemes are the schemes of URLs that lead only to this runtime.
	Schemes []string
	// Way returns how this user can ask a process of the runtime, such as "pprof"; "" there is no way.
	Way func(p Process, listens []Listener) string
}

// Seen is what is known of a recognised runtime, each "" if unknown.
type Seen struct {
	Version string // "go1.26.8", "17.0.15"
	Main    string // the program in it: path of the main Go module, main class or jar file
}

// Process is a process as a [Recogniser] sees it. Each method looks its result up when it is called.
type Process interface {
	PID() int
	Comm() string    // the kernel's name, cut at 15 bytes
	Exe() string     // path of its executable, "" unreadable
	Inner() int      // its PID in its own namespace
	Started() uint64 // ticks after boot
	Ours() bool      // we run as its user, or as root

	// Left returns the paths of the files in its temporary directory that match a pattern of [filepath.Glob], as seen from
	// here. Files of other processes are among them.
	Left(pattern string) []string
	// Hotspot returns what the counters that a JVM publishes (hsperfdata) show.
	Hotspot() (Seen, bool)
	// Library returns the path of a mapped shared library, relative to the process's root.
	Library(name string) (where string, mapped bool)
	// Open opens a regular file relative to the process's root. It follows no link at the path's end.
	Open(path string) (*os.File, error)
	// ServesPprof says whether it is built with net/http/pprof.
	ServesPprof() bool
}

// Executable is the information in an executable.
type Executable struct {
	GoVersion string // "go1.26.8"; "" not built by Go
	Main      string // path of the main Go module or package, as far as recorded
	Managed   bool   // .NET's ahead-of-time compiler compiled it
	Dynamic   bool   // it is dynamically linked, so libraries may bring a runtime
}
