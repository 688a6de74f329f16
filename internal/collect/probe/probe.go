// Package probe is the frame around what records a running service. A probe is a
// package below this one that exposes one [Probe] value; internal/collect/probe/all lists them.
//
// The package's opinion: a probe records and interprets nothing: what it writes
// are artifacts in the form people know, which formats read. It says what it
// will switch on before it does, prefers switches that expire by themselves, and
// leaves nothing on, whatever ends it.
package probe

import (
	"context"
	"io"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
)

// Probe is a kind of endpoint of a target and how it is recorded.
type Probe struct {
	Name  string // as printed: "gopprof"
	About string // one line

	// General says that it records what any process of a host has, and tells nothing of its
	// runtime.
	General bool

	// Find says what of the target this probe can record, without switching
	// anything on. A target it has nothing for gives none.
	Find func(ctx context.Context, t discover.Target) []Access

	// Tidy switches off what earlier recorders left on in any process ([Notes]), and
	// says so, a line for each. It is quick where there is nothing. Nil: nothing of
	// this probe can be left.
	Tidy func(ctx context.Context, say func(string))
}

// Access is one endpoint that can be recorded.
type Access struct {
	Probe string // its probe's name
	Where string // as shown: "http://127.0.0.1:6060/debug/pprof", "/proc/4711"

	// SwitchesOn is what recording switches on in the target, each as people
	// call it: "CPU profile", "execution trace". Empty: it only reads.
	SwitchesOn []string

	// Lacks is what cannot be recorded as this user, and what would help:
	// "environment: needs the user app or root".
	Lacks []Lack

	// Missing says, in one line with what to do, why nothing can be recorded of
	// what the user named; Record returns it. Nil: it can be tried.
	Missing error

	// Alone says that the user named what is missing and nothing else, so that nothing
	// is recorded without it.
	Alone bool

	// Record writes artifacts until the context ends or, if the plan has a
	// duration, until that has passed. What it wrote stays when it fails. The end
	// of the context is no error; what was switched on is off when it returns. Its
	// cause is context.DeadlineExceeded where the recording ends as planned.
	Record func(ctx context.Context, plan Plan, sink Sink) error
}

// Lack is something an access cannot see.
type Lack = capture.Lack

// Plan is how long and how gently to record.
type Plan struct {
	For      time.Duration // > 0
	Passive  bool          // switch nothing on: only read
	Always   bool          // it goes on for as long as the process does: look less often, and only at what is cheap
	Flight   bool          // a JVM's flight recorder as well, which costs more than the rest
	NoFlight bool          // never, not even where thread dumps leave waits unseen
	Heap     bool          // what lies on the heap of .NET and what dies there old, too: it lengthens collections, and ends with one

	Latencies *Latencies // of the requests that are sent beside; nil: none
}

// OwnFile is what files begin with that probes make where the target keeps its own,
// so that they are not taken for the target's.
const OwnFile = ".unstall-"

// Sink takes what a probe records. Safe for concurrent use.
type Sink interface {
	// Create starts an artifact. What is written to it is kept at most 5 s in
	// memory; Close ends it. An artifact nothing is written to is not kept.
	// Its writer returns an error once when nothing more can be stored (disk full).
	Create(capture.Meta) (io.WriteCloser, error)

	// Known says whether some format reads text or data that begins like this.
	Known(head []byte) bool

	// Warnf says something the user should know; it is stored as well.
	Warnf(format string, args ...any)

	// Lack adds something that turned out not to be seen.
	Lack(Lack)
}
