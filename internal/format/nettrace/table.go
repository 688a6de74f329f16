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

func (t *table) row(cells ...string) { t.Rows = append(t.Rows, cells) }

func (t *table) to(b *evidence.Builder) {
	if n := len(t.Rows) - maxTableRows; n > 0 {
		more := make([]string, len(t.Columns))
		more[0] = fmt.Sprintf("%d more", n)
		t.Rows = append(t.Rows[:maxTableRows], more)
	}
	if len(t.Rows) > 0 {
		b.Table(t.Table)
	}
}

// tables shows the first stream of a file, and a row for each of those that follow it.
func tables(all []*parser) {
	p := all[0]
	p.streamTable().to(p.b)
	for _, q := range p.order {
		title := func(what string) string {
			if len(p.order) > 1 {
				return what + " of pid " + strconv.Itoa(int(q.pid))
			}
			return what
		}
		q.processTable(title("Process")).to(p.b)
		q.gc.suspensions(title("Suspensions by reason")).to(p.b)
		q.allocs.table(title("Allocations by type")).to(p.b)
		q.pool.table(title("Thread pool")).to(p.b)
		q.looks.table(title("Threads")).to(p.b)
		q.waits.table(title("Waits")).to(p.b)
		q.counters.table(title("Counters")).to(p.b)
	}
	p.eventTable().to(p.b)
	t := newTable("Streams that follow", "from", "s", "events", "thread samples")
	for _, p := range all[1:] {
		var samples int64
		for _, q := range p.order {
			samples += q.looks.count
		}
		t.row(time.Unix(0, p.first).UTC().Format("15:04:05.000"), seconds(p.last-p.first), count(p.events), count(samples))
	}
	t.to(p.b)
}

func (p *parser) streamTable() *table {
	h := p.r.Header()
	t := newTable("Stream", "", "")
	t.row("format", fmt.Sprintf("nettrace %d, %d-bit", h.Major, 8*h.PointerBytes))
	t.row("from", time.Unix(0, p.first).UTC().Format("2006-01-02 15:04:05.000 UTC"))
	t.row("events", fmt.Sprintf("%d in %s s", p.events, seconds(p.last-p.first)))
	t.row("lost", count(p.r.Lost()))
	u := p.r.Unknown()
	if n := u.Blocks + u.Tags + u.Types + u.Events + u.Stacks; n > 0 {
		t.row("not understood", fmt.Sprintf("%d blocks, %d tags, %d types, %d events, %d stacks", u.Blocks, u.Tags, u.Types, u.Events, u.Stacks))
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
		t.row(clean(k.provider+"/"+k.name), count(counts[k]))
	}
	for _, provider := range slices.Sorted(maps.Keys(unknown)) {
		t.row(clean(provider)+", unknown", count(unknown[provider]))
	}
	return t
}

func (q *process) processTable(title string) *table {
	t := newTable(title, "", "")
	for _, r := range []struct{ name, value string }{
		{"pid", strconv.Itoa(int(q.pid))}, {"runtime", q.version}, {"command", q.command}, {"assembly", q.assembly}, {"system", q.os + " " + q.arch},
		{"CPUs", strconv.Itoa(q.processors())},
	} {
		if r.value != "" && r.value != " " && r.value != "0" {
			t.row(r.name, r.value)
		}
	}
	if !q.gc.watched && !q.b.Recorded() {
		t.row("GC", "no events: keyword GC (0x1) of Microsoft-Windows-DotNETRuntime was off, or nothing was collected. To record them: dotnet-trace collect --profile gc-collect -p PID")
	}
	s := &q.symbols
	t.row("methods", fmt.Sprintf("%d, of %d modules", len(s.methods), len(s.modules)))
	if s.unresolved > 0 {
		t.row("addresses", fmt.Sprintf("%d without a method, of %d", s.unresolved, len(s.names)))
	}
	if q.requests.watched {
		t.row("requests", q.requests.counts())
	}
	if k := &q.kestrel; k.waited > 0 {
		t.row("Kestrel's queues", fmt.Sprintf("%d waited for a thread: mean %s, max %s ms", k.waited, ms(k.time/k.waited), ms(k.longest)))
	}
	return t
}

// suspendWords are why all threads were stopped (SUSPEND_REASON in the runtime).
var suspendWords = [...]string{"other (sample profiler)", "gc", "app domain shutdown", "code pitching", "shutdown", "debugger", "gc preparation", "debugger sweep", "others"}

func (g *collector) suspensions(title string) *table {
	t := newTable(title, "reason", "suspensions")
	for i, n := range g.suspended {
		if n > 0 {
			t.row(suspendWords[i], count(n))
		}
	}
	return t
}

func (a *allocations) table(title string) *table {
	t := newTable(title, "type", "events", "bytes", "large objects")
	type sum struct {
		events, large int64
		bytes         float64
	}
	var kinds [len(allocationKinds)]sum
	types := make(map[int32]*sum)
	for i := range a.sums {
		s := &a.sums[i]
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
			t.row(allocationKinds[i], count(k.events), figure(k.bytes), count(k.large))
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(types), func(x, y int32) int {
		return cmp.Or(-cmp.Compare(types[x].bytes, types[y].bytes), cmp.Compare(x, y))
	}) {
		name := a.names[c]
		if name == "" {
			name = "unknown"
		}
		t.row(name, count(types[c].events), figure(types[c].bytes), count(types[c].large))
	}
	return t
}

func (p *pool) table(title string) *table {
	t := newTable(title, "", "count")
	for i, n := range p.byReason {
		if n > 0 {
			t.row("adjusted: "+reasonName(uint32(i)), count(n))
		}
	}
	if n := len(p.adjustments); n > 0 {
		t.row("threads after the first adjustment", count(int64(p.adjustments[0].threads)))
		t.row("threads after the last adjustment", count(int64(p.adjustments[n-1].threads)))
	}
	if p.threads.count > 0 {
		t.row("threads begun and ended", count(p.threads.count))
		t.row("threads at the end", figure(p.threads.last))
	}
	for _, b := range p.bounds {
		t.row(b.key, count(int64(b.value)))
	}
	return t
}

func (l *looks) table(title string) *table {
	t := newTable(title, "thread", "samples")
	if l.count == 0 {
		return t
	}
	t.row("all", count(l.count))
	t.row("in managed code", count(l.managed))
	t.row("ms between samples", ms(l.every()))
	if l.quantum > 0 {
		t.row("joined within ms", ms(l.quantum))
	}
	for _, id := range l.threads() {
		t.row(strconv.FormatInt(id, 10), count(l.lanes[id].count))
	}
	return t
}

func (w *waits) table(title string) *table {
	t := newTable(title, "kind", "waits", "ms", "max ms", "not ended")
	for i, name := range []string{"lock", "wait handle"} {
		if s := &w.byKind[i]; s.count > 0 {
			t.row(name, count(s.count), ms(s.time), ms(s.longest), count(s.open))
		}
	}
	if w.native > 0 {
		t.row("lock of the runtime", count(w.native), "", "", "")
	}
	if n := len(w.locks); n > 0 {
		t.row("locks", count(int64(n)), "", "", "")
	}
	return t
}

func (c *counters) table(title string) *table {
	t := newTable(title, "counter", "unit", "points", "last", "mean", "max")
	for _, s := range c.sorted() {
		t.row(s.name, s.unit, count(s.count), figure(s.last), figure(s.sum/float64(s.count)), figure(s.most))
	}
	return t
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func ms(ns int64) string      { return strconv.FormatFloat(float64(ns)/1e6, 'f', 3, 64) }
func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

// figure shows whole and large numbers without a fraction and others with four digits.
func figure(v float64) string {
	if v == math.Trunc(v) || math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
