package main

import (
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

// recording is a fixture: what to run, under which load, and what to keep.
type recording struct {
	id    string // as listed
	about string // one line: its fault, or that it has none
	dir   string // its folder, from the root of the repository

	program   string // below lab/
	toolchain string // "": the one that runs the recorder
	args      []string
	env       []string

	dependency []string   // arguments of lab/dependency; nil: none. {resp} and {http} in args are its addresses
	neighbours [][]string // arguments of each lab/burn that runs beside
	quota      float64    // CPUs the service may use, by a cgroup; 0: all
	host       []string   // settings of the host during the recording, such as thp=always, put back afterwards; of a capture
	beside     []string   // a program below lab/ that runs beside, with its arguments; of a capture
	joined     bool       // kept as the capture itself, whose files know their process; of a capture
	kernel     bool       // with kernel stacks, and without its runtime; of a capture

	load loadgen.Plan
	warm time.Duration // load before anything is recorded; of a capture: with one client
	cpu  time.Duration // of CPU profile, before the trace
	tail time.Duration // load that goes on after the trace

	// The trace: either it holds exactly the requests of load (whole), or it is
	// that long and starts in the middle of the load.
	trace      time.Duration
	whole      bool
	dialInside bool // whole: connections are opened after the trace began
	overHTTP   bool // net/http/pprof makes the trace, which then holds that request too

	native *native // of a service in C, recorded as unstall does; capture is how long

	redis *redisServer // of a Redis server, recorded as unstall does; capture is how long

	jvm *jvm // of a service in Java; warm is the load before the recording, tail the recorded load

	capture time.Duration // length of a capture by all probes, of a program that is not lab/service's; 0: none

	flat       string        // name of the trace; then truth.json is a map shared by the folder
	accessLog  bool          // keep it
	gctrace    bool          // keep it
	procfs     time.Duration // keep what /proc says, at this interval
	goroutines bool          // two goroutine profiles, before and after everything recorded
	profiles   []string      // others at the end: mutex, block, heap

	noisy  bool // the host is meant to be busy
	expect []bound
}
