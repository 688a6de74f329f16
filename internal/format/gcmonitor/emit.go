package gcmonitor

import (
	"bytes"
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	line    int64

	last        entry // that has a line of its own
	lines       int64
	from, until int64
	unzoned     bool // some time names no zone
	undated     int64
	beside      int64 // collections that ran beside the program
	strange     int64
	strangeLine int64
}

// everyLook is how often the service looks, ns: monitor.jvm.gc.refresh_interval.
const everyLook = int64(1e9)

// take reads a line; others of the log are none of its business.
func (p *parser) take(l format.Line) {
	e, ok := read(l.Text)
	if !ok {
		if bytes.Contains(l.Text, mark) {
			if p.strange++; p.strangeLine == 0 {
				p.strangeLine = l.Number
			}
		}
		return
	}
	at, zoned, dated := stamp(l.Text)
	if !dated && l.Stamp != 0 {
		at, zoned = l.Stamp, true
	}
	p.unzoned = p.unzoned || !zoned
	if at == 0 {
		p.undated++
		return
	}
	p.lines++
	if p.from == 0 || at-e.within < p.from {
		p.from = at - e.within
	}
	p.until = max(p.until, at)
	if e.generation == "" && p.last.look == e.look && p.last.generation != "" {
		return // it was told already
	}
	if e.generation != "" {
		p.last = e
	}
	p.emit(e, at)
}

// emit writes the pauses of a look, which end when it came.
func (p *parser) emit(e entry, at int64) {
	if e.took > e.within || e.generation == "old" && e.took >= everyLook && e.within-everyLook < e.took/2 {
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
	each := e.took / n
	for i := range n {
		x.Start = at - (n-i)*each
		x.End = x.Start + each
		p.b.Interval(x)
	}
}

// finish says what was watched: what took long.
func (p *parser) finish() {
	*p.b.Clock() = evidence.Clock{Name: "dates of the log", Error: 1e9, Resolution: 1e6}
	if p.unzoned {
		p.b.Warnf(0, "the times of this log have no time zone and were read as UTC: check them against the other files")
	}
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactLongAlone, Number: float64(p.lines), Origin: p.b.Origin(0)})
	p.b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverGC, From: p.from, Until: p.until, Origin: p.b.Origin(p.line)})
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
