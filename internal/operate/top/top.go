// Package top shows the counters of one running process as they change: those of
// its runtime (.NET's EventCounters, HotSpot's hsperfdata, Go's memory statistics)
// and what /proc says of it.
//
// Its opinion: a counter is of use when one knows what to look for. Those that
// matter carry the rule they are read by; when a rule holds, the row says what it
// found, in one line. Everything else is shown as it is: a rate as a rate, since
// nobody can read a sum that grows.
//
// A [Source] gives readings; a runtime is a file here: its source, how its counters
// are called, its rules. A [Board] keeps what they gave; [Plain] and [Screen] draw it.
package top

import (
	"context"
	"errors"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Kind says how the values of a counter are meant.
type Kind uint8

// Kinds of counters.
const (
	Gauge Kind = iota // as it is now
	Rate              // per second, over the time since the value before
	Total             // since some start: shown is by how much it grows each second
)

// Reading is one value of a counter at one moment.
type Reading struct {
	ID    string // of the counter, the same each time: "System.Runtime/cpu-usage"
	Group string // what it is shown below: "System.Runtime"
	Title string // "CPU usage"
	Unit  string // of what is shown: "%", "bytes", "bytes/s", "1/s", "count", "ms"; [figure.Of] knows them
	Kind  Kind
	Scale float64 // what a value is multiplied by to be in the unit; 0: 1
	At    time.Time
	Value float64
}

// Source gives the readings of a process.
type Source interface {
	// Read returns what is new since it was last asked, in order of time. An error
	// that wraps [ErrEnded] says that there will be no more; what came with it counts.
	Read(ctx context.Context) ([]Reading, error)

	// Close ends what it has switched on in the process, and tells if that failed.
	Close() error
}

// Counters are the counters that a runtime keeps of itself.
type Counters struct {
	Runtime string // its ID: "go"

	Open  func(ctx context.Context, t discover.Target, every time.Duration, now func() time.Time) (Source, error)
	Rules []Rule // what decides first
}

// All are the runtimes whose counters can be watched.
var All = []*Counters{&Go, &Dotnet, &JVM, &Redis}

// CountersOf returns the counters of a runtime, nil if none are read.
func CountersOf(runtime string) *Counters {
	for _, c := range All {
		if c.Runtime == runtime {
			return c
		}
	}
	return nil
}

// ErrEnded is wrapped by errors about a process that is gone.
var ErrEnded = errors.New("the process has ended")

// Subject is whom the counters are of.
type Subject struct {
	Text  string  // "gateway  pid 4711 · go1.26.8"
	Cores float64 // processors it may use; 0 unknown
	Rules []Rule  // how its runtime's counters are read
}
