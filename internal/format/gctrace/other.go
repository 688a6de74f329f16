package gctrace

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// oldCycle is a line of Go 1.4 and before, all of it one stop: mgc0.c printed
//
//	gc%d(%d): %D+%D+%D+%D us, %D -> %D MB, %D (%D-%D) objects, …     1.3, 1.4
//	gc%d(%d): %D+%D+%D ms, %D -> %D MB %D -> %D (%D-%D) objects, …   1.0 to 1.2
type oldCycle struct {
	number, procs int64
	pause         int64 // ns
	before, after int64 // MiB
	stamp, line   int64
}

type oldForm struct {
	cycles  int64
	pauses  []int64
	stamped []oldCycle
}

func parseOld(b []byte) (v oldCycle, ok bool) {
	var pause int64
	i := skipLiteral(b, 0, "gc")
	v.number, i = parseInteger(b, i)
	v.procs, i = parseInteger(b, skipLiteral(b, i, "("))
	i = skipLiteral(b, i, "): ")
	for more := true; more; {
		if i < 0 || i > 200 {
			return v, false
		}
		pause, i = parseInteger(b, i)
		v.pause += min(pause, maxDecimal*1e3)
		i, more = skipOptional(b, i, "+")
	}
	i, micros := skipOptional(b, i, " us, ")
	if micros {
		v.pause *= 1e3
	} else {
		i = skipLiteral(b, i, " ms, ")
		v.pause *= 1e6
	}
	v.before, i = parseInteger(b, i)
	v.after, i = parseInteger(b, skipLiteral(b, i, " -> "))
	i = skipLiteral(b, i, " MB")
	return v, i >= 0 && v.procs > 0 && v.procs <= maxProcs && v.pause < maxInt
}

// oldLine is called only until the first line of the newer form: one process never
// prints both.
func (p *parser) oldLine(l format.Line) bool {
	i := bytes.Index(l.Text, []byte("gc"))
	if i < 0 {
		return false
	}
	v, ok := parseOld(l.Text[i:])
	if !ok {
		return false
	}
	p.old.cycles++
	p.prefix = i
	if len(p.old.pauses) >= maxCycles {
		p.countDropped(l.Number)
		return true
	}
	p.old.pauses = append(p.old.pauses, v.pause)
	if v.stamp, v.line = l.Stamp, l.Number; v.stamp != 0 {
		p.old.stamped = append(p.old.stamped, v)
	}
	return true
}

// emitOld places the cycles whose lines have a stamp.
func (p *parser) emitOld() {
	clock := p.b.Clock()
	s := p.b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
	p.subject = s
	n := len(p.old.stamped)
	if n == 0 {
		clock.Name, clock.Error = "none", evidence.Unanchored
		p.b.Warnf(0, "gc lines of Go 1.4 and before have no time: their pauses are added up but cannot be placed in time; log with time stamps, or use a newer Go")
		return
	}
	clock.Resolution = p.stampResolution(func(yield func(int64)) {
		for _, v := range p.old.stamped {
			yield(v.stamp)
		}
	})
	cause := p.b.Name("GC")
	for _, v := range p.old.stamped {
		from, o := v.stamp-v.pause, p.b.Origin(v.line)
		p.b.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: from, End: v.stamp, Origin: o, Extra: []evidence.Extra{
			{Key: evidence.CycleNumber, Value: float64(v.number)},
			{Key: evidence.HeapBefore, Value: float64(v.before << 20)},
			{Key: evidence.HeapAfter, Value: float64(v.after << 20)},
			{Key: evidence.STWTime, Value: float64(v.pause)},
			{Key: evidence.Processors, Value: float64(v.procs)},
		}})
		p.b.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: v.stamp, Cause: cause, Origin: o})
	}
	first, last := p.old.stamped[0], p.old.stamped[n-1]
	p.b.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: first.stamp - first.pause, Until: max(first.stamp, last.stamp), Origin: p.b.Origin(first.line)})
}

type known uint8

const (
	notKnown known = iota
	knownTrace
	gcForcedLine
)

// knownTraces are other lines that the runtime prints, under gctrace itself or beside it:
// the scavenger, gcpacertrace, gctrace=2, checkfinalizers, schedtrace.
var knownTraces = []struct {
	prefix string
	is     known
}{
	{"GC forced", gcForcedLine},
	{"scvg", knownTrace},
	{"scav ", knownTrace},
	{"pacer: ", knownTrace},
	{"scan: ", knownTrace},
	{"checkfinalizers: ", knownTrace},
	{"SCHED ", knownTrace},
}

// knownLine checks the beginning of a line, and the text after a prefix as long as that
// of the last gc line.
func knownLine(b []byte, prefix int) known {
	if k := knownAt(b); k != notKnown || prefix == 0 || prefix >= len(b) {
		return k
	}
	return knownAt(b[prefix:])
}

func knownAt(b []byte) known {
	if len(b) < 5 || b[0] != 'G' && b[0] != 'S' && b[0] != 's' && b[0] != 'p' && b[0] != 'c' {
		return notKnown
	}
	for _, k := range knownTraces {
		if len(b) >= len(k.prefix) && string(b[:len(k.prefix)]) == k.prefix {
			return k.is
		}
	}
	return notKnown
}
