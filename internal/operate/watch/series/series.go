// Package series has the names of what is watched: those that rules name, unstall top reads
// live, recordings hold, and monitoring systems are told. A row of [All] is one series: its
// name, its unit, and what it is called by the conventions that monitoring systems follow.
//
// Its opinion: one vocabulary. A rule that is written for a live process holds for a
// recording of it, and for what a store has of it, or it is no rule.
//
// The names for stores are those people's dashboards already ask for: of .NET and JVMs by
// OpenTelemetry's conventions (https://opentelemetry.io/docs/specs/semconv/runtime/) as Prometheus
// writes them, of Go and processes by client_golang, of Redis by redis_exporter, of hosts by
// node_exporter. What none of them has begins with unstall_.
package series

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/suggest"
)

// Series is one thing that is watched.
type Series struct {
	ID      string // as rules name it
	Unit    string // as [figure.Of] knows it: "%", "bytes", "1/s", "count", "ms", "bytes/s"
	About   string // one line
	Runtime string // that has it; "" any
	Host    bool   // of the machine, not of a process
	Metric  Metric
}

// Metric is what monitoring systems call a series.
type Metric struct {
	Name    string  // "process_cpu_seconds_total"
	Part    string  // "count" or "sum" of a summary; "" it is none
	Labels  string  // "gc_heap_generation=loh", several by commas; "" none
	Help    string  // "" the series' About
	Counter bool    // a sum that grows: the series is how much it does each second
	Scale   float64 // the series is the metric, or what it grows by each second, times this; 0: 1
}

// Full returns the name that a store has the metric under.
func (m Metric) Full() string {
	if m.Part == "" {
		return m.Name
	}
	return m.Name + "_" + m.Part
}

// Factor returns Scale, 1 where it is not set.
func (m Metric) Factor() float64 {
	if m.Scale == 0 {
		return 1
	}
	return m.Scale
}

// Of returns the series with an ID; false if it is unknown.
func Of(id string) (Series, bool) {
	i := slices.IndexFunc(All, func(s Series) bool { return s.ID == id })
	if i < 0 {
		return Series{}, false
	}
	return All[i], true
}

// Own says whether an ID is of a program's own variables, which are not known before they are
// seen.
func Own(id string) bool { return strings.HasPrefix(id, "expvar/") }

// IDs returns the IDs of all series.
func IDs() (ids []string) {
	for _, s := range All {
		ids = append(ids, s.ID)
	}
	return ids
}

// Nearest returns the ID of the series that was probably meant, "" if none is near.
func Nearest(id string) string { return suggest.Nearest(id, IDs()) }
