package redisreply

import (
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// figures are series that get a point per answer. A series that gets too long keeps every second point: of two levels the
// higher, of two sums the first, so that extremes and growth remain.
type figures struct {
	series map[string]*figure
	first  int64 // ns: of INFO
	last   int64
	line   int64
	looks  int
	over   int64
}

type figure struct {
	t    []int64
	v    []float64
	use  use
	line int64
}

func newFigures() *figures { return &figures{series: make(map[string]*figure)} }

// addInfo adds the figures of an answer to INFO.
func (f *figures) addInfo(at, line int64, values []told) {
	if f.looks == 0 {
		f.first, f.line = at, line
	}
	if f.looks > 0 && at <= f.last {
		return // the file's answers are out of order, and an earlier one is newer
	}
	f.last = at
	f.looks++
	for _, x := range values {
		f.addPoint(at, line, x)
	}
}

// mostSeries bounds the series: a server has about 250 commands, of which a service uses twenty.
const mostSeries = 20 * mostNames

func (f *figures) addPoint(at, line int64, x told) {
	g := f.series[x.series]
	if g == nil {
		if len(f.series) == mostSeries {
			f.over++
			return
		}
		g = &figure{use: x.use, line: line}
		f.series[x.series] = g
	}
	n := len(g.t)
	switch {
	case n > 0 && at <= g.t[n-1]:
		return
	case n > 0 && g.use == changes && g.v[n-1] == x.value:
		return
	case n >= 2*mostLooks:
		g.thinOut()
	}
	g.t, g.v = append(g.t, at), append(g.v, x.value)
}

func (g *figure) thinOut() {
	n := 0
	for i := 0; i+1 < len(g.t); i += 2 {
		g.t[n], g.v[n] = g.t[i], g.v[i]
		if g.use == level {
			g.v[n] = max(g.v[i], g.v[i+1])
		}
		n++
	}
	g.t, g.v = g.t[:n], g.v[:n]
}

// newestTime returns the time of the newest point, ns.
func (f *figures) newestTime() (at int64) {
	for _, g := range f.series {
		at = max(at, g.t[len(g.t)-1])
	}
	return at
}

// shift moves all points by ns.
func (f *figures) shift(ns int64) {
	for _, g := range f.series {
		for i := range g.t {
			g.t[i] += ns
		}
	}
	f.first, f.last = f.first+ns, f.last+ns
}

// emitSeries writes the figures as series.
func (f *figures) emitSeries(b *evidence.Builder, id evidence.SubjectID) {
	for _, name := range slices.Sorted(maps.Keys(f.series)) {
		g := f.series[name]
		b.Series(evidence.Series{Subject: id, Name: name, Unit: unitOf(name), T: g.t, V: g.v, Origin: b.Origin(g.line)})
	}
	if f.looks > 0 {
		b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedis, From: f.first, Until: max(f.last, f.first+1), Origin: b.Origin(f.line)})
	}
	if f.over > 0 {
		b.Warnf(0, "it holds more than %d figures: %d left out", mostSeries, f.over)
	}
}

// unitOf returns the unit of a figure, by its name.
func unitOf(name string) string {
	field, _, _ := strings.Cut(strings.TrimPrefix(name, evidence.RedisInfo), ":")
	switch {
	case name == evidence.SeriesRedisPing:
		return "ns"
	case strings.HasSuffix(field, "usec"), strings.HasPrefix(field, "latencystats"), strings.HasPrefix(field, "eventloop_duration"):
		return "us"
	case strings.HasSuffix(field, "_milliseconds"), strings.HasSuffix(field, "_time"):
		return "ms"
	case strings.HasPrefix(field, "used_cpu"), strings.HasSuffix(field, "_seconds"):
		return "s"
	case strings.HasPrefix(field, "used_memory"), strings.HasSuffix(field, "memory"), strings.HasSuffix(field, "_bytes"), strings.HasSuffix(field, "_buffer"),
		strings.Contains(field, "_cow_"), strings.HasPrefix(field, "mem_") && field != "mem_fragmentation_ratio", strings.HasPrefix(field, "clients.output"), strings.HasPrefix(field, "clients.query"),
		field == "aof_buffer_length", field == "aof_current_size":
		return "bytes"
	}
	return "1"
}
