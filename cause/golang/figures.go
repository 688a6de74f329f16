package golang

import (
	"math"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
)

// Figures are what a process's collector did, for who compares recordings. NaN is
// not known.
type Figures struct {
	Span       float64 // s that were watched
	Rate       float64 // cycles started by the pacer, per second
	Marked     float64 // share of the time a cycle was marking
	Assist     float64 // mark assists, s of processors per second
	Background float64 // dedicated and fractional workers, s of processors per second
	Stopped    float64 // the world, for the collector, s per second
	Alloc      float64 // bytes/s
	Live       float64 // bytes, median of what cycles marked
	Goal       float64 // bytes, median
}

// FiguresOf reads the cycles of a process from the recording that watched it for
// longest: a log, a trace, or several short traces that are one recording. No cycle
// in all that time is a figure, too. False if cycles were not watched.
func FiguresOf(b *evidence.Bundle, subject evidence.SubjectID) (f Figures, ok bool) {
	c := &cause.Case{Bundle: b, Subject: subject}
	type recording struct {
		covers []evidence.Coverage
		span   int64
	}
	recordings := make(map[string]*recording)
	var best *recording
	for _, w := range b.Covered(subject, evidence.CoverGC) {
		a, known := w.Origin.Artifact()
		if !known || w.Until <= w.From {
			continue
		}
		name := b.Artifacts[a].Series
		if name == "" {
			name = b.Artifacts[a].Name
		}
		r := recordings[name]
		if r == nil {
			r = &recording{}
			recordings[name] = r
		}
		r.covers = append(r.covers, w)
		r.span += w.Until - w.From
		if best == nil || r.span > best.span {
			best = r
		}
	}
	if best == nil {
		return f, false
	}
	f.Alloc, f.Live, f.Goal = math.NaN(), math.NaN(), math.NaN()
	all := b.Intervals.Select(evidence.GCCycle, subject)
	for _, w := range best.covers {
		a, _ := w.Origin.Artifact()
		var rows []int
		for _, i := range all {
			if o, _ := b.Intervals.Origin[i].Artifact(); o == a {
				rows = append(rows, i)
			}
		}
		g := &collector{origin: cause.From(a)}
		g.read(c, rows, w.From, w.Until)
		f.add(g)
	}
	return f, true
}

// add weighs a piece of a recording by its length.
func (f *Figures) add(g *collector) {
	w := g.span / (f.Span + g.span)
	mean := func(to *float64, v float64) { *to += w * (v - *to) }
	mean(&f.Rate, g.rate)
	mean(&f.Marked, g.marked)
	mean(&f.Assist, g.assist)
	mean(&f.Background, g.background)
	mean(&f.Stopped, g.stopped/g.span)
	known := func(to *float64, v float64) {
		if v > 0 && math.IsNaN(*to) {
			*to = v
		} else if v > 0 {
			mean(to, v)
		}
	}
	known(&f.Alloc, g.alloc)
	known(&f.Live, g.live)
	known(&f.Goal, g.goal)
	f.Span += g.span
}

// CPUTime is what CPU profiles show of a process, in ns.
type CPUTime struct {
	All    int64
	GC     int64 // background and idle marking, assists, sweeping
	Assist int64 // the part of it that goroutines of the program had to do
	Origin evidence.Origin
}

// CPUOf adds up a process's CPU profiles; false without any.
func CPUOf(b *evidence.Bundle, subject evidence.SubjectID) (t CPUTime, ok bool) {
	s := &b.Samples
	cpu := b.Names.Lookup("cpu")
	if cpu == 0 {
		return t, false
	}
	for i := range s.Len() {
		if s.Subject[i] != subject || s.Type[i] != cpu {
			continue
		}
		t.All += s.Value[i]
		a, _ := s.Origin[i].Artifact()
		t.Origin = cause.From(a)
		if class := b.Names.Text(s.Class[i]); strings.HasPrefix(class, "gc ") {
			t.GC += s.Value[i]
			if class == "gc assist" {
				t.Assist += s.Value[i]
			}
		}
	}
	return t, t.All > 0
}
