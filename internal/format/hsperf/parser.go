package hsperf

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/java"
)

// Bounds on the names of a damaged file.
const (
	mostCounters  = 4096
	mostPoints    = 1 << 20
	mostOf        = 16 // collectors, generations, spaces of one
	mostSnapshots = 1 << 20
)

type parser struct {
	b      *evidence.Builder
	now    map[string]value
	number int64

	at      int64 // of the snapshot being read, 0: unknown
	line    int64 // its first
	pid     int
	started bool // one of its counters was read

	snapshots   int
	from, until int64
	begun       map[int]int64 // collections of each collector in the first snapshot

	tracks    map[string]*track
	order     []*track
	points    int
	dropped   int64
	strange   int64
	first     int64
	backwards int64
}

// track is one figure over time.
type track struct {
	name, unit string
	total      bool    // it becomes a rate
	scale      float64 // of the rate
	line       int64
	t          []int64
	v          []float64
}

func (p *parser) setCounter(name string, v value) {
	if _, ok := p.now[name]; !ok && len(p.now) == mostCounters {
		p.dropped++
		return
	}
	p.now[name] = v
	p.started = true
}

func (p *parser) counterNumber(name string) (int64, bool) {
	v, ok := p.now[name]
	return v.number, ok && !v.isText
}

func (p *parser) counterText(name string) string { return p.now[name].text }

// counterSeconds returns a counter of ticks in seconds.
func (p *parser) counterSeconds(name string) (float64, bool) {
	v, ok := p.counterNumber(name)
	hz, known := p.counterNumber("sun.os.hrt.frequency")
	if !ok || !known || hz <= 0 {
		return 0, false
	}
	return float64(v) / float64(hz), true
}

// endSnapshot ends a snapshot: its counters become points.
func (p *parser) endSnapshot() {
	if !p.started {
		return
	}
	p.started = false
	at := p.at
	if at == 0 && p.b.Recorded() {
		at = p.b.Modified()
	}
	if p.snapshots > 0 && at <= p.until || p.snapshots == mostSnapshots {
		p.backwards++
		return
	}
	if p.snapshots == 0 {
		p.from = at
	}
	p.until = at
	p.snapshots++
	p.addCollectors(at)
	p.addHeap(at)
	for _, x := range plain {
		if v, ok := p.counterNumber(x.counter); ok {
			p.addPoint(at, x.name, x.unit, x.total, 1, float64(v))
		}
	}
	for _, x := range times {
		if v, ok := p.counterSeconds(x.counter); ok {
			p.addPoint(at, x.name, "%", true, 100, v)
		}
	}
}

// plain are counters that become series unchanged.
var plain = []struct {
	counter, name, unit string
	total               bool
}{
	{"java.threads.live", "threads/live", "count", false},
	{"sun.gc.metaspace.used", "metaspace/used", "bytes", false},
	{"sun.gc.metaspace.capacity", "metaspace/capacity", "bytes", false},
	{"sun.rt.safepoints", "safepoints/count", "1/s", true},
	{"sun.rt._sync_ContendedLockAttempts", "locks/contended", "1/s", true},
	{"java.cls.loadedClasses", "classes/loaded", "1/s", true},
	{"java.cls.unloadedClasses", "classes/unloaded", "1/s", true},
}

// times are counters of ticks that become percent of the elapsed time.
var times = []struct{ counter, name string }{
	{"sun.rt.safepointTime", "safepoints/time"},
	{"sun.rt.safepointSyncTime", "safepoints/sync"},
	{"java.ci.totalTime", "compiler/time"},
}

// addCollectors adds how often each collector collected and how long that took. Some collectors
// have gaps in their numbering.
func (p *parser) addCollectors(at int64) {
	var all float64
	known := false
	if p.begun == nil {
		p.begun = map[int]int64{}
	}
	for i := range mostOf {
		base := "sun.gc.collector." + strconv.Itoa(i)
		name := p.counterText(base + ".name")
		n, ok := p.counterNumber(base + ".invocations")
		if !ok || name == "" {
			continue
		}
		if _, seen := p.begun[i]; !seen {
			p.begun[i] = n
		}
		p.addPoint(at, "gc/collections:"+name, "1/s", true, 1, float64(n))
		if t, ok := p.counterSeconds(base + ".time"); ok {
			p.addPoint(at, "gc/time:"+name, "%", true, 100, t)
			all, known = all+t, true
		}
	}
	if known {
		p.addPoint(at, evidence.SeriesGCTime, "%", true, 100, all)
	}
}

// addHeap adds the parts of the heap: used and committed sizes.
func (p *parser) addHeap(at int64) {
	for g := range mostOf {
		generation := "sun.gc.generation." + strconv.Itoa(g)
		title := p.counterText(generation + ".name")
		n, _ := p.counterNumber(generation + ".spaces")
		for s := range min(n, mostOf) {
			base := fmt.Sprintf("%s.space.%d", generation, s)
			name := p.counterText(base + ".name")
			if n == 1 {
				name = title // "space" of "old"
			}
			if used, ok := p.counterNumber(base + ".used"); ok && name != "" {
				p.addPoint(at, "heap/used:"+name, "bytes", false, 1, float64(used))
			}
		}
		if capacity, ok := p.counterNumber(generation + ".capacity"); ok && title != "" {
			p.addPoint(at, "heap/capacity:"+title, "bytes", false, 1, float64(capacity))
		}
	}
}

func (p *parser) addPoint(at int64, name, unit string, total bool, scale, v float64) {
	t := p.tracks[name]
	if t == nil {
		t = &track{name: name, unit: unit, total: total, scale: scale, line: p.line}
		p.tracks[name] = t
		p.order = append(p.order, t)
	}
	if n := len(t.t); n > 0 && (at <= t.t[n-1] || total && v < t.v[n-1]) {
		p.backwards++
		return
	}
	if p.points == mostPoints {
		p.dropped++
		return
	}
	p.points++
	t.t, t.v = append(t.t, at), append(t.v, v)
}

// emitTracks writes what was read.
func (p *parser) emitTracks() error {
	if p.snapshots == 0 {
		return errors.New("hsperf: it holds no counters: give the output of jcmd PID PerfCounter.print")
	}
	clock := p.b.Clock()
	if p.from == 0 {
		*clock = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	} else {
		*clock = evidence.Clock{Name: "unix", Error: 1e6, Resolution: 1}
	}
	id := p.b.Subject(evidence.Subject{Runtime: "jvm", PID: p.pid, Version: java.Version(p.counterText("java.property.java.version"))})
	for _, t := range p.order {
		if t.total && !t.toRates() {
			continue
		}
		p.b.Series(evidence.Series{Subject: id, Name: t.name, Unit: t.unit, T: t.t, V: t.v, Origin: p.b.Origin(t.line)})
	}
	p.emitFacts(id)
	if p.wasIdle() {
		p.b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverGC, From: p.from, Until: p.until, Origin: p.b.Origin(p.line)})
	}
	p.addTable()
	p.addWarnings()
	return nil
}

// toRates turns a total into rates in place; false if there are fewer than two points.
func (t *track) toRates() bool {
	last := len(t.t) - 1
	if last < 1 {
		return false
	}
	for i := range last {
		t.v[i] = t.scale * (t.v[i+1] - t.v[i]) / (float64(t.t[i+1]-t.t[i]) / 1e9)
	}
	t.v[last] = t.v[last-1]
	return true
}

// wasIdle says whether no collector ran between the first snapshot and the last: then all
// collections are known.
func (p *parser) wasIdle() bool {
	if len(p.begun) == 0 || p.until <= p.from {
		return false
	}
	for i, n := range p.begun {
		if now, ok := p.counterNumber(fmt.Sprintf("sun.gc.collector.%d.invocations", i)); !ok || now != n {
			return false
		}
	}
	return true
}

func (p *parser) addTable() {
	var rows [][]string
	for _, i := range slices.Sorted(maps.Keys(p.begun)) {
		base := "sun.gc.collector." + strconv.Itoa(i)
		n, _ := p.counterNumber(base + ".invocations")
		took := "unknown"
		if s, ok := p.counterSeconds(base + ".time"); ok {
			took = strconv.FormatFloat(s, 'f', 3, 64) + " s"
		}
		rows = append(rows, []string{p.counterText(base + ".name"), strconv.FormatInt(n-p.begun[i], 10), strconv.FormatInt(n, 10), took})
	}
	if len(rows) > 0 {
		p.b.Table(evidence.Table{Title: "GC by collector, from the JVM's counters", Columns: []string{"collector", "collections recorded", "since JVM start", "took"}, Rows: rows})
	}
}

func (p *parser) addWarnings() {
	if p.strange > 0 {
		p.b.Warnf(p.first, "lines that are not counters: %d", p.strange)
	}
	if p.backwards > 0 {
		p.b.Warnf(0, "readings that decrease or go back in time, left out: %d", p.backwards)
	}
	if p.dropped > 0 {
		p.b.Warnf(0, "more counters than a JVM has, left out: %d", p.dropped)
	}
}
