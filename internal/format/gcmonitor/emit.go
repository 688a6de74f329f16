package gcmonitor

import (
	"bytes"
	"math"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/format"
)

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	line    int64

	last        entry // the last one with a line of its own
	lastAt      int64 // ns
	waiting     []undatedEntry
	byLook      bool  // they were placed by the numbers of their checks
	monitor     entry // a pause of a JvmPauseMonitor, which the next line explains
	monitorAt   int64
	monitorLine int64
	none        bool  // that line says that there was no collection
	pools       int   // lines that tell of a pool's collections in it
	poolMost    int64 // ns of the pool that took longest
	told        bool  // such lines give the time of collections
	collected   int64 // ns of it, of all pools
	still       int64 // pauses that GC did not cause
	unexplained int64 // pauses of which nothing tells whether they were collections
	longest     int64 // ns of one of these
	longestLine int64
	lines       int64
	from, until int64
	unzoned     bool // some time names no zone
	dateless    bool // lines have the time of day alone
	undated     int64
	beside      int64 // concurrent collections
	strange     int64
	strangeLine int64
}

// undatedEntry is a line without a time, which the number of its check places among others.
type undatedEntry struct {
	entry
	line int64
}

// mostWaiting bounds lines without a time that are kept.
const mostWaiting = 100_000

// placeUndated places the lines of a log whose times are lost by the numbers of their checks, of which there is one each second.
func (p *parser) placeUndated() {
	if p.lines > 0 || len(p.waiting) == 0 {
		return
	}
	first := p.waiting[0].look
	p.byLook = true
	for _, w := range p.waiting {
		if w.look < first || w.look-first > mostLooks {
			continue
		}
		p.undated--
		p.line = w.line
		p.addEntry(w.entry, w.within+(w.look-first+1)*everyLook, format.Line{Number: w.line})
	}
}

// mostLooks bounds the checks between two lines: a year.
const mostLooks = 366 * 86400

// everyLook is the interval of the service's checks, ns: monitor.jvm.gc.refresh_interval.
const everyLook = int64(1e9)

// parseLine reads a line and skips lines that are not about collections.
func (p *parser) parseLine(l format.Line) {
	if p.monitor.took > 0 && isReason(l.Text) {
		p.parseReason(l.Text)
		return
	}
	e, ok := parseEntry(l.Text)
	if !ok {
		if bytes.Contains(l.Text, mark) {
			if p.strange++; p.strangeLine == 0 {
				p.strangeLine = l.Number
			}
		}
		return
	}
	if e.mark == fromDetector {
		p.unexplained++
		if e.took > p.longest {
			p.longest, p.longestLine = e.took, l.Number
		}
		return
	}
	at, zoned, dated := findTime(l.Text)
	if !dated && l.Stamp != 0 {
		at, zoned = l.Stamp, true
	}
	p.unzoned = p.unzoned || !zoned
	if at == 0 && e.mark == fromInspector {
		if at = timeOfDay(l.Text); at > 0 {
			p.dateless = true
		}
	}
	if at == 0 {
		p.undated++
		if len(p.waiting) < mostWaiting && e.mark == fromService && e.look > 0 {
			p.waiting = append(p.waiting, undatedEntry{e, l.Number})
		}
		return
	}
	p.addEntry(e, at, l)
}

// timeOfDay reads the time behind the level, "WARN  22:26:52 ", in ns; 0 if there is none.
func timeOfDay(line []byte) int64 {
	f := bytes.Fields(line[:min(len(line), maxHead)])
	for _, x := range f[:min(len(f), 2)] {
		if t, err := time.Parse("15:04:05", string(x)); err == nil {
			return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Nanoseconds() + 1
		}
	}
	return 0
}

// addEntry adds a line about collections.
func (p *parser) addEntry(e entry, at int64, l format.Line) {
	p.flushPause()
	p.lines++
	if p.from == 0 || at-e.within < p.from {
		p.from = at - e.within
	}
	p.until = max(p.until, at)
	if e.generation == "" && p.last.generation != "" && (e.look > 0 && p.last.look == e.look || e.look == 0 && at-p.lastAt < everyLook/2) {
		return // it was told already
	}
	if e.mark == fromMonitor { // the next line explains it
		p.monitor, p.monitorAt, p.monitorLine = e, at, l.Number
		if isReason(l.Text) {
			p.parseReason(l.Text)
		}
		return
	}
	if e.generation != "" {
		p.last, p.lastAt = e, at
	}
	p.emitPauses(e, at)
}

// isReason says whether a line tells what was collected in the pause of a JvmPauseMonitor.
func isReason(line []byte) bool {
	return bytes.Contains(line, poolHad) || bytes.Contains(line, noneAtAll) || bytes.Contains(line, withoutAny)
}

// parseReason reads the line below one of a JvmPauseMonitor: the collections in the pause.
func (p *parser) parseReason(line []byte) {
	if bytes.Contains(line, noneAtAll) || bytes.Contains(line, withoutAny) {
		p.none = true
	} else if _, rest, ok := bytes.Cut(line, []byte("GC pool '")); ok {
		name, _, _ := bytes.Cut(rest, []byte("'"))
		took := int64(0)
		if _, text, ok := bytes.Cut(rest, []byte(" time=")); ok {
			p.told = true
			took = parseMilliseconds(text)
			p.collected += took
		}
		// The pool that took longest made the pause; of two alike, and where no time is told, the old generation's.
		of := generationOf(name)
		if p.pools++; p.pools == 1 || took > p.poolMost || took == p.poolMost && of == "old" {
			p.monitor.generation, p.poolMost = of, took
		}
	}
}

// flushPause writes the open pause of a JvmPauseMonitor. It counts as a collection unless
// the log says that there was none, or that collections took less than half of it: then something else
// stopped the JVM or its host.
func (p *parser) flushPause() {
	if p.monitor.took == 0 {
		return
	}
	e, at, line := p.monitor, p.monitorAt, p.line
	other := p.none || p.told && p.collected < e.took/2
	p.monitor, p.none, p.told, p.collected, p.pools, p.poolMost = entry{}, false, false, 0, 0, 0
	if other {
		p.still++
		return
	}
	p.line = p.monitorLine
	p.emitPauses(e, at)
	p.line = line
}

// emitPauses writes the pauses of a check, which end at the time of its line.
func (p *parser) emitPauses(e entry, at int64) {
	if e.beside || e.took > e.within || e.mark == fromService && e.generation == "old" && e.took >= everyLook && e.within-everyLook < e.took/2 {
		p.beside++
		return
	}
	name, of := "young collection", evidence.PauseYoung
	n := max(1, e.count)
	x := evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Origin: p.b.Origin(p.line)}
	figure := func(k evidence.Key, v float64) {
		if !math.IsNaN(v) {
			x.Extra = append(x.Extra, evidence.Extra{Key: k, Value: v})
		}
	}
	switch e.generation {
	case "old":
		name, of = "collection of the old generation", evidence.PauseFull
		figure(evidence.HeapBefore, e.before)
		figure(evidence.HeapAfter, e.after)
		figure(evidence.HeapCapacity, e.capacity)
	case "":
		name = "one or more collections"
	}
	if e.generation != "" {
		figure(evidence.PauseOf, float64(of))
	}
	figure(evidence.Trigger, float64(p.b.Name(evidence.TriggerUntold)))
	x.Cause = p.b.Name(name)
	if n > 1 {
		figure(evidence.Repeated, float64(n))
	}
	x.Start, x.End = at-e.took/n*n, at
	p.b.Interval(x)
}

// emitSummary writes the coverage of the log and the warnings. It covers long collections only.
func (p *parser) emitSummary() {
	p.flushPause()
	*p.b.Clock() = evidence.Clock{Name: "dates of the log", Error: 1e9, Resolution: 1e6}
	if p.byLook {
		*p.b.Clock() = evidence.Clock{Name: "numbers of the checks, one each second", Error: evidence.Unanchored, Resolution: 1e9}
		p.b.Warnf(0, "its lines have no time: they are placed by the numbers of the checks, one each second")
	} else if p.dateless {
		*p.b.Clock() = evidence.Clock{Name: "times of day", Error: evidence.Unanchored, Resolution: 1e9}
	} else if p.unzoned {
		p.b.Warnf(0, "the times of this log have no time zone and were read as UTC: check them against the other files")
	}
	if p.unexplained > 0 {
		p.b.Table(evidence.Table{Title: "pauses of the JVM whose reason is not told", Columns: []string{"", "count", "longest"}, Rows: [][]string{{"pauses", units.Num(float64(p.unexplained)), units.Time(float64(p.longest))}}})
		p.b.Warnf(p.longestLine, "the JVM or its host stood still for up to %s, and nothing tells why: a GC log of that time (-Xlog:gc*,safepoint) shows whether it was a collection", units.Time(float64(p.longest)))
	}
	if p.lines == 0 {
		return
	}
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactLongAlone, Number: float64(p.lines), Origin: p.b.Origin(0)})
	p.b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverGC, From: p.from, Until: p.until, Origin: p.b.Origin(p.line)})
	if p.still > 0 {
		p.b.Warnf(0, "pauses in which the JVM collected nothing, or hardly: %d; the JVM or its host stood still: safepoints (-Xlog:safepoint), steal and swapping of the host (vmstat 1) tell why", p.still)
	}
	if p.beside > 0 {
		p.b.Warnf(0, "lines about collections that ran beside the program for most of their time: %d", p.beside)
	}
	if p.undated > 0 {
		p.b.Warnf(0, "lines about collections without a time: %d", p.undated)
	}
	if p.strange > 0 {
		p.b.Warnf(p.strangeLine, "lines about collections that were not understood: %d", p.strange)
	}
}
