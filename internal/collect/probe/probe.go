// Package probe is the frame around the recorders of a running service. A probe is a package below this one with one [Probe] value;
// internal/collect/probe/all lists them.
//
// The package's opinion: a probe records and interprets nothing. It writes artifacts in their usual form, which formats read. It says what it
// will switch on before it does, prefers switches that expire by themselves, and leaves nothing on, however it ends.
package probe

import (
	"context"
	"io"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
)

// Probe is a kind of endpoint of a target, and how to record it.
type Probe struct {
	Name  string // as printed: "gopprof"
	About string // one line

	// General says that the probe records data that any process of a host has, and nothing about its runtime.
	General bool

	// Find returns what this probe can record of the target, without switching anything on; nothing if it has no data for it.
	Find func(ctx context.Context, t discover.Target) []Access

	// Tidy switches off what earlier recorders left on in any process ([Notes]), and calls say with a line for each. It is quick if there is
	// nothing to do. Nil: this probe leaves nothing on.
	Tidy func(ctx context.Context, say func(string))
}

// Access is one endpoint that can be recorded.
type Access struct {
	Probe string // its probe's name
	Where string // as shown: "http://127.0.0.1:6060/debug/pprof", "/proc/4711"

	// SwitchesOn lists what recording switches on in the target, by the usual names: "CPU profile", "execution trace". Empty: it only
	// reads.
	SwitchesOn []string

	// Traces says that execution traces are recorded, which tell what each goroutine does.
	Traces bool

	// Lacks says what cannot be recorded as this user, and what would help: "environment: needs the user app or root".
	Lacks []Lack

	// Missing says, in one line with what to do, why nothing the user named can be recorded. Record returns it. Nil: recording can be tried.
	Missing error

	// Alone says that the user named only the missing thing, so that nothing is recorded without it.
	Alone bool

	// Record writes artifacts until the context ends or, if the plan has a duration, until that has passed. On an error the written data
	// stays. The end of the context is no error; its cause is context.DeadlineExceeded if the recording ends as planned. When Record returns,
	// everything it switched on is off.
	Record func(ctx context.Context, plan Plan, sink Sink) error
}

// Lack is data that an access cannot record.
type Lack = capture.Lack

// Plan is how long and how gently to record.
type Plan struct {
	For      time.Duration // > 0
	Passive  bool          // switch nothing on: only read
	Always   bool          // it lasts as long as the process: record less often, and only cheap data
	Flight   bool          // also use a JVM's flight recorder, which costs more than the rest
	NoFlight bool          // never use it, not even if thread dumps leave waits unexplained
	Heap     bool          // also record the objects on the heap of .NET and those that die in gen 2: it lengthens collections, and ends with one

	Traced bool // another access records execution traces, which tell what goroutines do

	Latencies *Latencies // of the requests that a load sends at the same time; nil: none
}

// OwnFile is the beginning of the names of files that probes create beside the target's own files. So they are not taken for the target's.
const OwnFile = ".unstall-"

// Sink takes the data that a probe records. It is safe for concurrent use.
type Sink interface {
	// Create starts an artifact. Written data is kept in memory for at most 5 s; Close ends the artifact. An empty artifact is not kept. The
	// writer returns an error once if no more can be stored (disk full).
	Create(capture.Meta) (io.WriteCloser, error)

	// Known says whether a format reads text or data that begins like this.
	Known(head []byte) bool

	// Warnf passes a warning to the user and stores it.
	Warnf(format string, args ...any)

	// Lack adds data that turned out to be missing.
	Lack(Lack)
}
