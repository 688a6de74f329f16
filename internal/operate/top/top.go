// Package top shows the counters of one running process as they change: those of its runtime (.NET's EventCounters,
// HotSpot's hsperfdata, Go's memory statistics) and those in /proc.
//
// Its opinion: a counter is useful if the reader knows what to look for. So each counter that matters has a rule;
// when the rule holds, the row says what it found, in one line. All other counters are shown as they are. A total is
// shown as a rate, because a growing sum cannot be read.
//
// A [Source] gives readings. A runtime is a file in this package with its source, its counters' names and its rules.
// A [Board] keeps the readings; [Plain] and [Screen] draw it.
package top

import (
	"context"
	"errors"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Kind says what the values of a counter mean.
type Kind uint8

// Kinds of counters.
const (
	Gauge Kind = iota // the current value
	Rate              // per second, over the time since the value before
	Total             // a sum since some start; the growth per second is shown
)

// Reading is one value of a counter at one moment.
type Reading struct {
	ID    string // of the counter, always the same: "System.Runtime/cpu-usage"
	Group string // the heading: "System.Runtime"
	Title string // "CPU usage"
	Unit  string // of the shown value: "%", "bytes", "bytes/s", "1/s", "count", "ms"; [units.Of] knows them
	Kind  Kind
	Scale float64 // factor from the value to the unit; 0: 1
	At    time.Time
	Value float64
}

// Source gives the readings of a process.
type Source interface {
	// Read returns the readings since the last call, in order of time. An error that wraps [ErrEnded] says
	// that no more will come; the readings returned with it count.
	Read(ctx context.Context) ([]Reading, error)

	// Close ends what it has switched on in the process, and returns an error if that failed.
	Close() error
}

// Counters are the counters that a runtime keeps about itself.
type Counters struct {
	Runtime string // its ID: "go"

	Open  func(ctx context.Context, t discover.Target, every time.Duration, now func() time.Time) (Source, error)
	Rules []Rule // the rule that decides first comes first
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

// Subject is the process that the counters are of.
type Subject struct {
	Text  string  // "gateway  pid 4711 · go1.26.8"
	Cores float64 // processors the process may use; 0 unknown
	Rules []Rule  // rules of its runtime's counters
}
