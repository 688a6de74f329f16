// Package exporter gives watched figures to monitoring systems. Prometheus asks for them (prometheus.go); the package
// sends them to stores by remote write, by OTLP, and to Zabbix.
//
// Its opinion: a figure has one name and one meaning in all systems, that of internal/operate/watch/series. A store
// that does not answer costs a bounded buffer, then figures, which are counted, and never the watch.
package exporter

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Kind is the kind of a sample.
type Kind uint8

// Kinds of samples.
const (
	Gauge   Kind = iota
	Counter      // a sum that grows
	Untyped      // a sum or a gauge whose name is older than the naming conventions
)

// Label is a label of a sample.
type Label struct{ Name, Value string }

// Sample is one figure as it is given to stores.
type Sample struct {
	Name   string
	Part   string // "count" or "sum" of a summary, "" if it is no summary
	Kind   Kind
	Help   string
	Labels []Label // sorted by name
	Value  float64
	At     time.Time
}

// Full returns the name with its part.
func (s *Sample) Full() string {
	if s.Part == "" {
		return s.Name
	}
	return s.Name + "_" + s.Part
}

// Sort sorts labels by name, as stores require, and returns them.
func Sort(l []Label) []Label {
	sorting.Short(l, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	return l
}

// Of returns the sample of a series.
func Of(s series.Series, v float64, at time.Time, labels ...Label) Sample {
	out := Sample{Name: s.Metric.Name, Part: s.Metric.Part, Help: cmp.Or(s.Metric.Help, s.About), Value: v, At: at, Labels: slices.Clone(labels)}
	if s.Metric.Counter {
		out.Kind = Counter
	}
	// Others define names with these endings: OpenTelemetry's gauges that count things, and what node_exporter
	// copies from /proc/vmstat.
	if out.Part == "" && (strings.HasSuffix(out.Name, "_count") || strings.HasPrefix(out.Name, "node_vmstat_")) {
		out.Kind = Untyped
	}
	for pair := range strings.SplitSeq(s.Metric.Labels, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			out.Labels = append(out.Labels, Label{name, value})
		}
	}
	Sort(out.Labels)
	return out
}

// Figure is a value of a series in the unit that rules use, for systems whose rules are made from ours.
type Figure struct {
	Runtime string // as in [State.Runs]
	Service string
	Series  string
	Value   float64
	At      time.Time
}

// Bound is the current bound of a rule for a service, if the rule has no fixed one.
type Bound struct {
	Runtime, Service, Rule string
	Value                  float64
}

// State is all that stores get at one time.
type State struct {
	At      time.Time
	Samples []Sample
	Figures []Figure
	Bounds  []Bound
	Runs    map[string][]string // services by runtime: jvm, dotnet, go, redis; process is any other, host the machine
}
