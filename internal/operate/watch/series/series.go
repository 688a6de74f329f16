// Package series has the names of watched series. Rules, unstall top, recordings and monitoring systems all use them. A row
// of [All] is one series: its name, its unit, and its names by the conventions of monitoring systems.
//
// Its opinion: one vocabulary. A rule written for a live process also holds for a recording of it and for a store's data of
// it.
//
// The names for stores are those that existing dashboards use. Series of .NET and JVMs follow OpenTelemetry's conventions
// (https://opentelemetry.io/docs/specs/semconv/runtime/) in the form of Prometheus, series of Go and processes follow
// client_golang, of Redis redis_exporter, and of hosts node_exporter. All other names begin with unstall_.
package series

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/suggest"
)

// Series is one watched figure.
type Series struct {
	ID      string // name in rules
	Unit    string // one that [units.Of] knows: "%", "bytes", "1/s", "count", "ms", "bytes/s"
	About   string // one line
	Runtime string // runtime that has the series; "" any
	Host    bool   // of the machine, not of a process
	Metric  Metric
}

// Metric is the name of a series in monitoring systems.
type Metric struct {
	Name    string  // "process_cpu_seconds_total"
	Part    string  // "count" or "sum" of a summary; "" it is none
	Labels  string  // "gc_heap_generation=loh", separated by commas; "" none
	Help    string  // "": the series' About
	Counter bool    // the metric is a growing sum, the series its growth per second
	Scale   float64 // factor from the metric, or its growth per second, to the series; 0: 1
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

// Own says whether an ID is one of a program's own variables, which are unknown until they are seen.
func Own(id string) bool { return strings.HasPrefix(id, "expvar/") }

// IDs returns the IDs of all series.
func IDs() (ids []string) {
	for _, s := range All {
		ids = append(ids, s.ID)
	}
	return ids
}

// Nearest returns the ID of the series that was probably meant, "" if none is similar.
func Nearest(id string) string { return suggest.Nearest(id, IDs()) }
