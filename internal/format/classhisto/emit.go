package classhisto

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
)

// mostLeftOut is the part of a heap, one in so many bytes, from which it is told that its smallest classes were left out.
const mostLeftOut = 100

// emitHistograms writes the histograms as samples, and a table of the largest classes.
func (p *parser) emitHistograms() {
	b := p.b
	subject := b.Subject(evidence.Subject{Runtime: "jvm"})
	space, objects := b.Name("inuse_space"), b.Name("inuse_objects")
	inBytes, inCount := b.Name("bytes"), b.Name("count")
	dated := false
	for _, h := range p.done {
		if h.at == 0 && b.Recorded() {
			h.at = b.Modified()
		}
		dated = dated || h.at != 0
		for i, r := range h.rows {
			class, origin := b.Name(r.class), b.Origin(h.lines[i])
			stack := b.Stack([]evidence.Frame{{Func: class}})
			s := evidence.Sample{Subject: subject, Time: h.at, Stack: stack, Class: class, Type: space, Unit: inBytes, Value: r.bytes, Origin: origin}
			b.Sample(s)
			s.Type, s.Unit, s.Value = objects, inCount, r.instances
			b.Sample(s)
		}
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverClasses, From: h.at, Until: h.at, Origin: b.Origin(h.line)})
	}
	if !dated {
		*b.Clock() = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	}
	b.Table(p.classTable())
	var all int64
	for _, h := range p.done {
		all += h.total.bytes
	}
	if p.small > 0 && p.smallBytes*mostLeftOut >= all {
		b.Warnf(0, "a histogram has more than %d classes: the %d smallest, with %s, were left out", maxClasses, p.small, units.Size(float64(p.smallBytes)))
	}
	if p.more > 0 {
		b.Warnf(0, "there are more than %d histograms: of the later ones only the last is used", maxKept)
	}
}

// classTable returns the largest classes of the last histogram; of several, those that grew most
// since the first.
func (p *parser) classTable() evidence.Table {
	const most = 15
	first, last := p.done[0], p.done[len(p.done)-1]
	t := evidence.Table{Title: "largest classes", Columns: []string{"class", "objects", "bytes"}}
	rows := slices.Clone(last.rows)
	grown := func(r row) int64 {
		if i, ok := first.names[r.class]; ok {
			return r.bytes - first.rows[i].bytes
		}
		return r.bytes
	}
	by := func(r row) int64 { return r.bytes }
	if len(p.done) > 1 {
		t.Title = "classes that grew most, of " + strconv.Itoa(len(p.done)) + " histograms"
		t.Columns = append(t.Columns, "bytes since the first")
		by = grown
	}
	sorting.Short(rows, func(x, y row) int { return cmp.Compare(by(y), by(x)) })
	for _, r := range rows[:min(len(rows), most)] {
		cells := []string{r.class, strconv.FormatInt(r.instances, 10), strconv.FormatInt(r.bytes, 10)}
		if len(p.done) > 1 {
			cells = append(cells, strconv.FormatInt(grown(r), 10))
		}
		t.Rows = append(t.Rows, cells)
	}
	if last.total.instances > 0 {
		cells := []string{"all classes", strconv.FormatInt(last.total.instances, 10), strconv.FormatInt(last.total.bytes, 10)}
		if len(p.done) > 1 {
			cells = append(cells, strconv.FormatInt(last.total.bytes-first.total.bytes, 10))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
