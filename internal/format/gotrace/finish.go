package gotrace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// finish emits what is known only at the end of the trace.
func (w *world) finish() {
	w.leftOver()
	w.gc.leftOver(w)
	for _, id := range slices.SortedFunc(maps.Keys(w.tasks.open), cmp.Compare) {
		w.taskEnds(w.tasks.open[id], w.now, evidence.Unfinished)
	}
	if w.held.total > 0 {
		w.b.Describe(w.subject, func(s *evidence.Subject) { s.CPUs = w.held.total })
	}
	w.b.Fact(evidence.Fact{Subject: w.subject, Key: evidence.FactVersionAtLeast, Value: fmt.Sprintf("go1.%d", w.minor), Number: math.NaN(), Origin: w.b.Origin(0)})
	if n := len(w.gc.goalT.V); n > 0 && w.gc.goalT.V[n-1] == 0 && w.gc.begun > 0 {
		// The runtime writes 0 if GOGC sets no goal. Then only the memory limit or the program starts cycles.
		w.b.Fact(evidence.Fact{Subject: w.subject, Key: evidence.FactGOGC, Value: "off", Number: -1, From: w.first, Until: w.now, Origin: w.b.Origin(0)})
	}
	w.anchorEnd()
	w.processorsEnd()
	w.plausibilityFacts()
	w.goroutinesLeft()
	for _, s := range []evidence.Series{w.gc.heapT, w.gc.goalT, w.gomaxprocsSeries()} {
		if len(s.T) > 0 {
			s.Subject, s.Origin = w.subject, w.b.Origin(0)
			w.b.Series(s)
		}
	}
	for _, kind := range []string{evidence.CoverStates, evidence.CoverGC} {
		w.b.Cover(evidence.Coverage{Subject: w.subject, Kind: kind, From: w.first, Until: w.now, Origin: w.b.Origin(0)})
	}
	if w.countRequests() > 0 {
		w.b.Cover(evidence.Coverage{Subject: w.subject, Kind: evidence.CoverRequests, From: w.first, Until: w.now, Origin: w.b.Origin(0)})
	}
	w.crossCheck()
	w.emitTables()
}

// recordedWithin is how far the end of a trace that was recorded live may be from
// when the last of it was stored.
const recordedWithin = 250e6

// anchorEnd places a trace of before Go 1.22, which does not know the time of day,
// by when it was recorded.
func (w *world) anchorEnd() {
	if c := w.b.Clock(); !c.Anchored() && w.b.Recorded() && w.b.Modified() != 0 {
		c.Name, c.Error, c.Offset = "unix, from when it was recorded", recordedWithin, w.b.Modified()-w.now
	}
}

func (w *world) countRequests() int64 {
	return w.serve.recovered + w.serve.unfinished + w.serve.beforeTrace + w.tasks.count
}

func (w *world) gomaxprocsSeries() evidence.Series {
	w.procs.Name, w.procs.Unit = evidence.SeriesGoProcs, "threads"
	return w.procs
}

// crossCheck compares the requests with what net/http starts once for each of
// them that has no body left to read.
func (w *world) crossCheck() {
	n, bg := w.serve.recovered+w.serve.unfinished+w.serve.beforeTrace, w.serve.background-w.serve.streams-w.serve.probes
	if bg > 20 && (float64(n) < .95*float64(bg)) {
		w.b.Warnf(0, "net/http began %[2]d requests but only %[1]d were recovered: %.1[3]f %% are missing from the figures", n, bg, 100*(1-float64(n)/float64(bg)))
	}
	if w.serve.streams > 0 {
		w.b.Warnf(0, "%s upgraded or hijacked (WebSocket, HTTP/2 over TLS): what happens on them is not counted as requests", format.Count(w.serve.streams, "connection was", "connections were"))
	}
}

func (w *world) emitTables() {
	span := float64(w.now-w.first) / 1e9
	row := func(cells ...string) []string { return cells }
	num := func(f string, v ...any) string { return fmt.Sprintf(f, v...) }
	rows := [][]string{
		row("trace format", num("Go 1.%d", w.minor)),
		row("span", num("%.3f s", span)),
		row("events", num("%d", w.events)),
		row("GOMAXPROCS", num("%d", w.held.total)),
		row("goroutines at the end", num("%d", w.gs.Len())),
		row("tasks begun, ended", num("%d, %d", w.tasks.count, w.tasks.ended)),
		row("regions", num("%d", w.tasks.regions)),
	}
	w.b.Table(evidence.Table{Title: "Execution trace", Columns: []string{"", ""}, Rows: rows})

	c := &w.gc
	gc := [][]string{
		row("cycles begun, finished", num("%d, %d", c.begun, c.cycles)),
		row("cycles per second", num("%.2f", float64(c.begun)/max(span, 1e-9))),
		row("concurrent mark", num("%.1f ms (%.1f %% of the time)", float64(c.total.mark)/1e6, float64(c.total.mark)/1e7/max(span, 1e-9))),
		row("assist ranges", num("%d", c.assists)),
		row("P-time of assists", num("%.1f ms", float64(c.total.assist)/1e6)),
		row("P-time of dedicated and fractional workers", num("%.1f ms", float64(c.total.background)/1e6)),
		row("P-time of idle workers", num("%.1f ms", float64(c.total.idle)/1e6)),
		row("allocated", num("%.1f MiB/s", float64(c.allocated)/max(span, 1e-9)/(1<<20))),
	}
	if w.host.stops.n > 0 {
		gc = append(gc, row("stop-the-world", num("%d, %.2f ms in all", w.host.stops.n, float64(w.host.stops.sum)/1e6)))
	}
	w.b.Table(evidence.Table{Title: "Collector", Columns: []string{"", ""}, Rows: gc})

	s := &w.serve
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(s.kinds)) {
		kinds = append(kinds, num("%s %d", k, s.kinds[k]))
	}
	w.b.Table(evidence.Table{Title: "Requests recovered", Columns: []string{"", ""}, Rows: [][]string{
		row("complete", num("%d", s.recovered)),
		row("unfinished at the end", num("%d", s.unfinished)),
		row("began before the trace", num("%d", s.beforeTrace)),
		row("by server", strings.Join(kinds, ", ")),
		row("for net/http/pprof, not counted", num("%d", s.probes)),
		row("background reads of net/http (cross-check)", num("%d", s.background)),
	}})
}

// goroutinesLeft looks for goroutines that were started and wait without an end
// in sight, grouped by where they wait.
func (w *world) goroutinesLeft() {
	type group struct{ n, early int64 }
	groups := make(map[string]group)
	half := w.first + (w.now-w.first)/2
	for g := range w.gs.All() {
		if g.born == 0 || g.state != wire.GoWaiting || g.conn.server != nil || g.role == roleRuntime || g.role == roleWorker || g.where == nil {
			continue
		}
		x := groups[g.where.root]
		x.n++
		if g.born < half {
			x.early++
		}
		groups[g.where.root] = x
	}
	most, where := group{}, ""
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		if x := groups[k]; x.n > most.n {
			most, where = x, k
		}
	}
	for _, f := range []struct {
		key string
		n   int64
	}{{evidence.FactGoroutinesLeft, most.n}, {evidence.FactGoroutinesLeftEarly, most.early}} {
		w.b.Fact(evidence.Fact{Subject: w.subject, Key: f.key, Value: where, Number: float64(f.n), From: w.first, Until: w.now, Origin: w.b.Origin(0)})
	}
}
