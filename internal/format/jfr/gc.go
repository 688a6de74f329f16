package jfr

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// collection is the content of the events with one collection number.
type collection struct {
	id         int64
	name       string // "G1New", "ParallelOld"
	cause      string // "G1 Evacuation Pause"
	way        string // of G1's young collections: "Mixed"
	failure    string
	start, end int64 // 0: GarbageCollection was not recorded
	paused     int64 // ns, in one pause; 0 unknown
	pauses     []phase

	heap, young, old, meta span
	committed              float64
	cpu                    bool
	user, system, real     int64
}

// phase is a pause of a collection.
type phase struct {
	name       string // "GC Pause", "Remark"
	start, end int64
}

// span is a size before and after, NaN unknown.
type span struct{ before, after float64 }

func (s *span) setSize(when string, v float64) {
	if strings.HasPrefix(when, "Before") {
		s.before = v
	} else {
		s.after = v
	}
}

// collections are those of a recording, by number.
type collections struct {
	all     map[int64]*collection
	watched bool
}

func newCollections() *collections { return &collections{all: make(map[int64]*collection)} }

func (g *collections) collectionOf(e *recording.Record) *collection {
	id := e.Int("gcId")
	c := g.all[id]
	if c == nil {
		nan := math.NaN()
		unknown := span{nan, nan}
		c = &collection{id: id, heap: unknown, young: unknown, old: unknown, meta: unknown, committed: nan}
		g.all[id] = c
	}
	return c
}

func (p *parser) garbageCollection(e *recording.Record) {
	c := p.gc.collectionOf(e)
	c.name, c.cause, c.start = e.Text("name"), e.Text("cause"), e.Start()
	c.end = c.start + e.Duration()
	if sum := e.Int("sumOfPauses"); sum > 0 && sum == e.Int("longestPause") && sum <= e.Duration() {
		c.paused = sum
	}
}

func (p *parser) gcPause(e *recording.Record) {
	c := p.gc.collectionOf(e)
	from := e.Start()
	c.pauses = append(c.pauses, phase{e.Text("name"), from, from + e.Duration()})
}

func (p *parser) g1Collection(e *recording.Record) { p.gc.collectionOf(e).way = e.Text("type") }

func (p *parser) heapSummary(e *recording.Record) {
	c, when := p.gc.collectionOf(e), e.Text("when")
	c.heap.setSize(when, float64(e.Int("heapUsed")))
	if space, ok := e.Struct("heapSpace"); ok && !strings.HasPrefix(when, "Before") {
		c.committed = float64(space.Int("committedSize"))
	}
}

func (p *parser) g1Summary(e *recording.Record) {
	c, when := p.gc.collectionOf(e), e.Text("when")
	c.young.setSize(when, float64(e.Int("edenUsedSize")+e.Int("survivorUsedSize")))
	if e.Has("oldGenUsedSize") { // JDK 21 on
		c.old.setSize(when, float64(e.Int("oldGenUsedSize")))
	}
}

func (p *parser) parallelSummary(e *recording.Record) {
	c, when := p.gc.collectionOf(e), e.Text("when")
	if s, ok := e.Struct("oldObjectSpace"); ok {
		c.old.setSize(when, float64(s.Int("used")))
	}
	var young int64
	for _, name := range []string{"edenSpace", "fromSpace", "toSpace"} {
		s, ok := e.Struct(name)
		if !ok {
			return
		}
		young += s.Int("used")
	}
	c.young.setSize(when, float64(young))
}

func (p *parser) metaSummary(e *recording.Record) {
	if s, ok := e.Struct("metaspace"); ok {
		p.gc.collectionOf(e).meta.setSize(e.Text("when"), float64(s.Int("used")))
	}
}

func (p *parser) gcCPU(e *recording.Record) {
	c := p.gc.collectionOf(e)
	c.cpu, c.user, c.system, c.real = true, e.Int("userTime"), e.Int("systemTime"), e.Int("realTime")
}

// Failures, in the words of GC logs.
func (p *parser) promotionFailed(e *recording.Record) {
	p.gc.collectionOf(e).failure = "promotion failed"
}
func (p *parser) evacuationFailed(e *recording.Record) {
	p.gc.collectionOf(e).failure = "evacuation failure"
}
func (p *parser) modeFailed(e *recording.Record) {
	p.gc.collectionOf(e).failure = "concurrent mode failure"
}

// gcPauses maps a word in the names of pauses that are a part of a collection to that part.
var gcPauses = []struct {
	word  string
	pause evidence.Pause
}{
	{"Degenerated", evidence.PauseDegenerated}, {"Full", evidence.PauseFull},
	{"Initial Mark", evidence.PauseInitialMark}, {"Init Mark", evidence.PauseInitialMark}, {"Mark Start", evidence.PauseInitialMark},
	{"Remark", evidence.PauseRemark}, {"Final Mark", evidence.PauseRemark}, {"Mark End", evidence.PauseRemark},
	{"Cleanup", evidence.PauseCleanup},
}

// collectors maps collectors that stop the world for a whole collection to the part of GC that this is, and to its name in GC logs
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/gc/shared/gcName.hpp).
var collectors = map[string]struct {
	pause evidence.Pause
	title string
}{
	"ParallelScavenge": {evidence.PauseYoung, "Pause Young"}, "DefNew": {evidence.PauseYoung, "Pause Young"}, "ParNew": {evidence.PauseYoung, "Pause Young"},
	"G1New":       {evidence.PauseYoung, "Pause Young"},
	"ParallelOld": {evidence.PauseFull, "Pause Full"}, "SerialOld": {evidence.PauseFull, "Pause Full"}, "PSMarkSweep": {evidence.PauseFull, "Pause Full"},
	"G1Full": {evidence.PauseFull, "Pause Full"}, "ConcurrentMarkSweep": {evidence.PauseFull, "Pause Full"},
}

// classifyPause returns the part of GC that a pause is, and its name.
func (c *collection) classifyPause(x *phase) (evidence.Pause, string) {
	for _, k := range gcPauses {
		if strings.Contains(x.name, k.word) {
			name := x.name
			if !strings.HasPrefix(name, "Pause ") {
				name = "Pause " + name
			}
			return k.pause, name
		}
	}
	k, known := collectors[c.name]
	switch {
	case !known && x.name != "":
		return evidence.PauseOther, x.name
	case !known:
		return evidence.PauseOther, c.name
	case c.name == "G1New" && c.way == "Mixed":
		return evidence.PauseMixed, "Pause Young (Mixed)"
	case c.name == "G1New" && c.way != "":
		return k.pause, "Pause Young (" + strings.NewReplacer("Initial Mark", "Concurrent Start").Replace(c.way) + ")"
	}
	return k.pause, k.title
}

// emitPauses emits the pauses. Figures of the whole collection, such as the heap, go
// with its longest pause.
func (g *collections) emitPauses(p *parser) {
	for _, id := range slices.Sorted(maps.Keys(g.all)) {
		c := g.all[id]
		if _, whole := collectors[c.name]; whole && len(c.pauses) == 0 && p.counts["jdk.GCPhasePause"] == 0 && c.paused > 0 {
			c.pauses = []phase{{"", c.start, c.start + c.paused}} // settings may omit the phases
		}
		longest := -1
		for i := range c.pauses {
			if longest < 0 || c.pauses[i].end-c.pauses[i].start > c.pauses[longest].end-c.pauses[longest].start {
				longest = i
			}
		}
		for i := range c.pauses {
			x := &c.pauses[i]
			if p.gc.watched = true; x.end < x.start {
				continue
			}
			part, name := c.classifyPause(x)
			v := evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: x.start, End: x.end, Cause: p.b.Name(name), Origin: p.b.Origin(0)}
			v.Extra = append(v.Extra, evidence.Extra{Key: evidence.PauseOf, Value: float64(part)}, evidence.Extra{Key: evidence.CycleNumber, Value: float64(c.id)})
			if c.cause != "" {
				v.Extra = append(v.Extra, evidence.Extra{Key: evidence.Trigger, Value: float64(p.b.Name(c.cause))})
			}
			if i == longest {
				v.Extra = append(v.Extra, c.pauseExtras(p)...)
			}
			p.b.Interval(v)
		}
	}
}

func (c *collection) pauseExtras(p *parser) (out []evidence.Extra) {
	add := func(k evidence.Key, v float64) {
		if !math.IsNaN(v) {
			out = append(out, evidence.Extra{Key: k, Value: v})
		}
	}
	if c.failure != "" {
		add(evidence.Failure, float64(p.b.Name(c.failure)))
	}
	add(evidence.HeapBefore, c.heap.before)
	add(evidence.HeapAfter, c.heap.after)
	add(evidence.HeapCapacity, c.committed)
	add(evidence.YoungBefore, c.young.before)
	add(evidence.YoungAfter, c.young.after)
	add(evidence.OldBefore, c.old.before)
	add(evidence.OldAfter, c.old.after)
	add(evidence.MetaBefore, c.meta.before)
	add(evidence.MetaAfter, c.meta.after)
	if c.cpu {
		add(evidence.UserCPU, float64(c.user))
		add(evidence.SystemCPU, float64(c.system))
		add(evidence.RealTime, float64(c.real))
	}
	return out
}

// stop is a safepoint.
type stop struct {
	start, end int64
	reached    int64 // ns until all threads had stopped
	operation  string
}

func (p *parser) safepointBegin(e *recording.Record) {
	s := p.ensureStop(e)
	s.start, s.reached = e.Start(), e.Duration()
	s.end = max(s.end, s.start+s.reached)
}

func (p *parser) safepointEnd(e *recording.Record) {
	s := p.ensureStop(e)
	s.end = max(s.end, e.Start()+e.Duration())
}

// vmOperation names the operation of a safepoint. Operations that stop no thread are none.
func (p *parser) vmOperation(e *recording.Record) {
	if !e.Bool("safepoint") || !e.Has("safepointId") {
		return
	}
	s := p.ensureStop(e)
	s.operation = e.Text("operation")
	s.end = max(s.end, e.Start()+e.Duration())
}

func (p *parser) ensureStop(e *recording.Record) *stop {
	id := e.Int("safepointId")
	s := p.stops[id]
	if s == nil {
		s = &stop{}
		p.stops[id] = s
	}
	return s
}

// emitSafepoints emits the safepoints whose beginning is known.
func (p *parser) emitSafepoints() {
	some := false
	for _, id := range slices.Sorted(maps.Keys(p.stops)) {
		s := p.stops[id]
		if s.start == 0 || s.operation == "" {
			continue
		}
		some = true
		p.b.Interval(evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.Safepoint, Start: s.start, End: s.end, Cause: p.b.Name(strings.ToValidUTF8(s.operation, "?")),
			Origin: p.b.Origin(0), Extra: []evidence.Extra{{Key: evidence.ToSafepoint, Value: float64(s.reached)}}})
	}
	if some {
		p.addCoverage(evidence.CoverSafepoints)
	}
}

// allocationStall emits that a thread waited until a concurrent collector has freed memory.
func (p *parser) allocationStall(e *recording.Record) {
	t := p.symbols.fieldThread(e, "eventThread")
	from := e.Start()
	p.b.Interval(evidence.Interval{Subject: p.subject, Lane: t.lane, Kind: evidence.AllocStall, Start: from, End: from + e.Duration(), Stack: p.symbols.eventStack(e, t),
		Cause: p.b.Name("Allocation Stall"), Origin: p.b.Origin(p.number)})
}
