package jvmtext

import (
	"fmt"
	"math"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
)

// emitFacts writes the facts, and the settings as a table.
func (p *parser) emitFacts() {
	b := p.b
	p.deriveEden()
	if young, ok := p.heap["young"]; ok && young.how == "" && young.capacity >= 0 { // HotSpot and jmap leave one survivor space out
		young.capacity += max(0, p.heap["survivor"].capacity)
		p.heap["young"] = young
	}
	b.Describe(p.subject, func(s *evidence.Subject) {
		if s.PID == 0 {
			s.PID = p.about.PID
		}
		if len(p.about.Version) > len(s.Version) {
			s.Version = p.about.Version
		}
	})
	t := evidence.Table{Title: "settings", Columns: []string{"setting", "value"}}
	for _, name := range p.order {
		f := p.flags[name]
		if !f.set && !isTelling(name) {
			continue
		}
		b.FactAt(p.subject, name, f.value, parseNumber(f.value), f.line)
		if f.set {
			t.Rows = append(t.Rows, []string{name, f.value})
		}
	}
	var at int64
	if b.Recorded() {
		at = b.Modified()
	}
	for _, name := range p.parts {
		s := p.heap[name]
		for _, x := range []struct {
			what  string
			value float64
		}{{"capacity", s.capacity}, {"used", s.used}} {
			if x.value < 0 {
				continue
			}
			key, value := "heap."+name+"."+x.what, strconv.FormatFloat(x.value, 'f', 0, 64)
			if name == "heap" || name == "metaspace" {
				key = name + "." + x.what
			}
			if s.how != "" {
				value += " = " + s.how
			}
			f := evidence.Fact{Subject: p.subject, Key: key, Value: value, Number: x.value, Origin: b.Origin(s.line)}
			if x.what == "used" {
				f.From, f.Until = at, at
			}
			b.Fact(f)
			t.Rows = append(t.Rows, []string{key, value})
		}
	}
	if c := p.collectorName(); c != "" {
		b.FactAt(p.subject, evidence.FactCollector, c, math.NaN(), p.line)
		t.Rows = append(t.Rows, []string{evidence.FactCollector, c})
	}
	if p.command != "" {
		b.FactAt(p.subject, evidence.FactCommand, p.command, math.NaN(), p.line)
		t.Rows = append(t.Rows, []string{evidence.FactCommand, p.command})
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	if at == 0 {
		*b.Clock() = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	}
	if p.more > 0 {
		b.Warnf(0, "there are more than %d flags: the rest was left out", maxFlags)
	}
}

// deriveEden computes the size of eden if the text lacks it and it is constant: G1
// and the collectors without generations resize it, and so does Parallel unless a flag
// forbids it. NewSize and MaxNewSize override NewRatio; a generation of the ratio r has r parts
// of eden and two of survivor spaces
// (https://docs.oracle.com/en/java/javase/17/gctuning/factors-affecting-garbage-collection-performance.html).
func (p *parser) deriveEden() {
	if _, measured := p.heap["eden"]; measured {
		return
	}
	switch adaptive, told := p.flagNumber("UseAdaptiveSizePolicy"); p.collectorName() {
	case "Serial", "ParNew+CMS", "Serial+CMS":
	case "Parallel":
		if !told || adaptive != 0 {
			return
		}
	case "":
		if region, ok := p.flagNumber(evidence.FactG1HeapRegionSize); ok && region > 0 {
			return
		}
	default:
		return
	}
	young, how := p.youngSize()
	ratio, ok := p.flagNumber(evidence.FactSurvivorRatio)
	if young == 0 || !ok || ratio < 1 {
		return
	}
	line := p.flags[evidence.FactSurvivorRatio].line
	if _, measured := p.heap["young"]; !measured {
		p.setPart("young", size{young, -1, line, how})
	}
	p.setPart("eden", size{math.Floor(young * ratio / (ratio + 2)), -1, line, fmt.Sprintf("%s × %v/(%v + 2) by SurvivorRatio", how, ratio, ratio)})
}

// youngSize returns the largest size of the young generation, and its source; 0 unknown.
func (p *parser) youngSize() (bytes float64, how string) {
	heap, _ := p.flagNumber(evidence.FactMaxHeapSize)
	if most, ok := p.flagNumber(evidence.FactMaxNewSize); ok && most > 0 && (heap == 0 || most < heap) {
		return most, evidence.FactMaxNewSize
	}
	if size, ok := p.flagNumber(evidence.FactNewSize); ok && p.flags[evidence.FactNewSize].set && heap == 0 {
		return size, evidence.FactNewSize
	}
	if ratio, ok := p.flagNumber("NewRatio"); ok && heap > 0 && ratio >= 1 {
		return math.Floor(heap / (ratio + 1)), fmt.Sprintf("MaxHeapSize/(%v + 1) by NewRatio", ratio)
	}
	return 0, ""
}
