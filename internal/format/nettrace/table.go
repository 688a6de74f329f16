package nettrace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// maxTableRows of a table are shown.
const maxTableRows = 100

// table is one being made; the first column is text.
type table struct{ evidence.Table }

func newTable(title string, columns ...string) *table {
	return &table{evidence.Table{Title: title, Columns: columns}}
}

func (t *table) addRow(cells ...string) { t.Rows = append(t.Rows, cells) }

func (t *table) emitTo(b *evidence.Builder) {
	if n := len(t.Rows) - maxTableRows; n > 0 {
		more := make([]string, len(t.Columns))
		more[0] = fmt.Sprintf("%d more", n)
		t.Rows = append(t.Rows[:maxTableRows], more)
	}
	if len(t.Rows) > 0 {
		b.Table(t.Table)
	}
}

// emitTables emits tables of the first stream of a file, and a row for each of those that follow
// it.
func emitTables(all []*parser) {
	p := all[0]
	p.streamTable().emitTo(p.b)
	for _, q := range p.order {
		title := func(what string) string {
			if len(p.order) > 1 {
				return what + " of pid " + strconv.Itoa(int(q.pid))
			}
			return what
		}
		q.processTable(title("Process")).emitTo(p.b)
		q.gc.suspensionTable(title("Suspensions by reason")).emitTo(p.b)
		q.allocs.toTable(title("Allocations by type")).emitTo(p.b)
		q.pool.toTable(title("Thread pool")).emitTo(p.b)
		q.looks.toTable(title("Threads")).emitTo(p.b)
		q.waits.toTable(title("Waits")).emitTo(p.b)
		q.counters.toTable(title("Counters")).emitTo(p.b)
	}
	p.eventTable().emitTo(p.b)
	t := newTable("Streams that follow", "from", "s", "events", "thread samples")
	for _, p := range all[1:] {
		var samples int64
		for _, q := range p.order {
			samples += q.looks.count
		}
		t.addRow(time.Unix(0, p.first).UTC().Format("15:04:05.000"), formatSeconds(p.last-p.first), formatCount(p.events), formatCount(samples))
	}
	t.emitTo(p.b)
}

func (p *parser) streamTable() *table {
	h := p.r.Header()
	t := newTable("Stream", "", "")
	t.addRow("format", fmt.Sprintf("nettrace %d, %d-bit", h.Major, 8*h.PointerBytes))
	t.addRow("from", time.Unix(0, p.first).UTC().Format("2006-01-02 15:04:05.000 UTC"))
	t.addRow("events", fmt.Sprintf("%d in %s s", p.events, formatSeconds(p.last-p.first)))
	t.addRow("lost", formatCount(p.r.Lost()))
	u := p.r.Unknown()
	if n := u.Blocks + u.Tags + u.Types + u.Events + u.Stacks; n > 0 {
		t.addRow("not understood", fmt.Sprintf("%d blocks, %d tags, %d types, %d events, %d stacks", u.Blocks, u.Tags, u.Types, u.Events, u.Stacks))
	}
	return t
}

// eventTable counts events of each type by provider and name, as TraceEvent prints
// them, and those of the runtime that its tables do not have.
func (p *parser) eventTable() *table {
	type key struct{ provider, name string }
	counts := make(map[key]int64)
	unknown := make(map[string]int64)
	for _, e := range p.types {
		if e == nil {
			continue
		}
		counts[key{e.provider, e.name}] += e.count
		if e.unknown {
			unknown[e.provider] += e.count
		}
	}
	t := newTable("Events", "provider/event", "count")
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.name, b.name))
	}) {
		t.addRow(cleanText(k.provider+"/"+k.name), formatCount(counts[k]))
	}
	for _, provider := range slices.Sorted(maps.Keys(unknown)) {
		t.addRow(cleanText(provider)+", unknown", formatCount(unknown[provider]))
	}
	return t
}

func (q *process) processTable(title string) *table {
	t := newTable(title, "", "")
	for _, r := range []struct{ name, value string }{
		{"pid", strconv.Itoa(int(q.pid))}, {"runtime", q.version}, {"command", q.command}, {"assembly", q.assembly}, {"system", q.os + " " + q.arch},
		{"CPUs", strconv.Itoa(q.availableProcessors())},
	} {
		if r.value != "" && r.value != " " && r.value != "0" {
			t.addRow(r.name, r.value)
		}
	}
	if !q.gc.watched && !q.b.Recorded() {
		t.addRow("GC", "no events: keyword GC (0x1) of Microsoft-Windows-DotNETRuntime was off, or nothing was collected. To record them: dotnet-trace collect --profile gc-collect -p PID")
	}
	s := &q.symbols
	t.addRow("methods", fmt.Sprintf("%d, of %d modules", len(s.methods), len(s.modules)))
	if s.unresolved > 0 {
		t.addRow("addresses", fmt.Sprintf("%d without a method, of %d", s.unresolved, len(s.names)))
	}
	if q.requests.watched {
		t.addRow("requests", q.requests.describeCounts())
	}
	if k := &q.kestrel; k.waited > 0 {
		t.addRow("Kestrel's queues", fmt.Sprintf("%d waited for a thread: mean %s, max %s ms", k.waited, formatMs(k.time/k.waited), formatMs(k.longest)))
	}
	return t
}

// suspendWords are why all threads were stopped (SUSPEND_REASON in the runtime).
var suspendWords = [...]string{"other (sample profiler)", "gc", "app domain shutdown", "code pitching", "shutdown", "debugger", "gc preparation", "debugger sweep", "others"}

func (g *collector) suspensionTable(title string) *table {
	t := newTable(title, "reason", "suspensions")
	for i, n := range g.suspended {
		if n > 0 {
			t.addRow(suspendWords[i], formatCount(n))
		}
	}
	return t
}

func (a *allocations) toTable(title string) *table {
	t := newTable(title, "type", "events", "bytes", "large objects")
	type sum struct {
		events, large int64
		bytes         float64
	}
	var kinds [len(allocationKinds)]sum
	types := make(map[int32]*sum)
	for i := range a.sums.n {
		s := a.sums.at(i)
		if s.drawn && a.ticks > 0 {
			continue
		}
		y := types[s.class]
		if y == nil {
			y = new(sum)
			types[s.class] = y
		}
		for _, to := range []*sum{y, &kinds[s.kind]} {
			to.events += s.count
			to.bytes += s.bytes
			if s.kind == large {
				to.large += s.count
			}
		}
	}
	for i, k := range kinds {
		if k.events > 0 {
			t.addRow(allocationKinds[i], formatCount(k.events), formatFigure(k.bytes), formatCount(k.large))
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(types), func(x, y int32) int {
		return cmp.Or(-cmp.Compare(types[x].bytes, types[y].bytes), cmp.Compare(x, y))
	}) {
		name := a.names[c]
		if name == "" {
			name = "unknown"
		}
		t.addRow(name, formatCount(types[c].events), formatFigure(types[c].bytes), formatCount(types[c].large))
	}
	return t
}

func (p *pool) toTable(title string) *table {
	t := newTable(title, "", "count")
	for i, n := range p.byReason {
		if n > 0 {
			t.addRow("adjusted: "+reasonName(uint32(i)), formatCount(n))
		}
	}
	if n := len(p.adjustments); n > 0 {
		t.addRow("threads after the first adjustment", formatCount(int64(p.adjustments[0].threads)))
		t.addRow("threads after the last adjustment", formatCount(int64(p.adjustments[n-1].threads)))
	}
	if p.threads.count > 0 {
		t.addRow("threads begun and ended", formatCount(p.threads.count))
		t.addRow("threads at the end", formatFigure(p.threads.last))
	}
	for _, b := range p.bounds {
		t.addRow(b.key, formatCount(int64(b.value)))
	}
	return t
}

func (l *looks) toTable(title string) *table {
	t := newTable(title, "thread", "samples")
	if l.count == 0 {
		return t
	}
	t.addRow("all", formatCount(l.count))
	t.addRow("in managed code", formatCount(l.managed))
	t.addRow("ms between samples", formatMs(l.sampleInterval()))
	if l.quantum > 0 {
		t.addRow("joined within ms", formatMs(l.quantum))
	}
	for _, id := range l.sortedByLooks() {
		t.addRow(strconv.FormatInt(id, 10), formatCount(l.lanes[id].count))
	}
	return t
}

func (w *waits) toTable(title string) *table {
	t := newTable(title, "kind", "waits", "ms", "max ms", "not ended")
	for i, name := range []string{"lock", "wait handle"} {
		if s := &w.byKind[i]; s.count > 0 {
			t.addRow(name, formatCount(s.count), formatMs(s.time), formatMs(s.longest), formatCount(s.open))
		}
	}
	if w.native > 0 {
		t.addRow("lock of the runtime", formatCount(w.native), "", "", "")
	}
	if n := len(w.locks); n > 0 {
		t.addRow("locks", formatCount(int64(n)), "", "", "")
	}
	return t
}

func (c *counters) toTable(title string) *table {
	t := newTable(title, "counter", "unit", "points", "last", "mean", "max")
	for _, s := range c.sortedByName() {
		t.addRow(s.name, s.unit, formatCount(s.count), formatFigure(s.last), formatFigure(s.sum/float64(s.count)), formatFigure(s.most))
	}
	return t
}

func formatCount(n int64) string { return strconv.FormatInt(n, 10) }

func formatMs(ns int64) string      { return strconv.FormatFloat(float64(ns)/1e6, 'f', 3, 64) }
func formatSeconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

// formatFigure formats whole and large numbers without a fraction and others with four digits.
func formatFigure(v float64) string {
	if v == math.Trunc(v) || math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
