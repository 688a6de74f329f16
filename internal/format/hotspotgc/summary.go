package hotspotgc

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// countUnderstood returns how many lines were understood, without those of other programs and
// empty ones.
func (o *output) countUnderstood() (n int64) {
	for k, c := range o.ignored {
		if lineKind(k) != otherLine && lineKind(k) != emptyLine {
			n += c
		}
	}
	return n
}

// emitSummary writes the results of the whole log.
func (o *output) emitSummary(lines int64) {
	spaced := o.spaced && o.collections == 0
	o.clock.writeTo(o.b.Clock(), spaced)
	o.b.Shift(o.clock.lead)
	o.writeFacts()
	o.emitCoverage()
	o.b.Table(o.linesTable(lines))
	if o.clock.basis == noStamps && o.events > 0 && !spaced {
		o.b.Warnf(0, "the log has no time stamps: the sum of its pauses is right, but no rate can be computed: add uptime or time to the decorators of -Xlog (JDK 8: -XX:+PrintGCDateStamps)")
	}
	if n := len(o.clock.processes); n > 1 {
		if o.clock.isMixed() {
			o.b.Warnf(0, "%d JVMs wrote to this log one after the other and are separated as far as the time stamps allow: give every JVM its own log (-Xlog:…:file=gc-%%p.log)", n)
		} else {
			o.b.Warnf(0, "the log holds %d runs of a JVM, one after the other: the uptime restarts with each", n)
		}
	}
	if o.disorder >= 3 && !o.clock.isMixed() {
		o.b.Warnf(0, "the collection numbers go back %s: several JVMs wrote to this log at once and are added up as one: give every JVM its own log (-Xlog:…:file=gc-%%p.log)", format.Times(o.disorder))
	}
	if o.unexplained > 0 {
		o.b.Warnf(o.exampleLine, "lines not understood: %d of %d; the first: %q", o.unexplained, lines, o.example)
	}
}

func (o *output) writeFacts() {
	keys := make([]string, 0, len(o.facts))
	for k := range o.facts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		f := o.facts[k]
		o.b.Fact(evidence.Fact{Subject: o.subject, Key: k, Value: f.value, Number: f.number, Origin: o.b.Origin(f.line)})
	}
	var ignored int64
	for k, n := range o.ignored {
		if ignored += n; n > 0 {
			o.b.Fact(evidence.Fact{Subject: o.subject, Key: evidence.FactLinesIgnored + ": " + lineKinds[k], Number: float64(n), Origin: o.b.Origin(0)})
		}
	}
	o.b.Fact(evidence.Fact{Subject: o.subject, Key: evidence.FactLinesIgnored, Number: float64(ignored), Origin: o.b.Origin(0)})
	o.b.Fact(evidence.Fact{Subject: o.subject, Key: evidence.FactLinesUnexplained, Number: float64(o.unexplained), Origin: o.b.Origin(0)})
}

// emitCoverage writes what the log covers, and from when to when.
func (o *output) emitCoverage() {
	for i := range o.clock.processes {
		p := &o.clock.processes[i]
		if !p.seen {
			continue
		}
		s := evidence.Stretch{Subject: o.subjectOf(i), From: p.up, Until: p.uptime, First: p.number, Last: p.latest}
		if p.started {
			s.Began = p.start
		}
		o.b.Stretch(s)
		c := evidence.Coverage{Subject: o.subjectOf(i), From: p.from + o.clock.lead, Until: p.until + o.clock.lead, Kind: evidence.CoverGC}
		if o.collections > 0 || !o.hidden { // else it is a log of safepoints alone, and collections are logged elsewhere
			o.b.Cover(c)
		}
		if o.safepoints > 0 {
			c.Kind = evidence.CoverSafepoints
			o.b.Cover(c)
		}
		if name := o.facts[evidence.FactCollector].value; name == "ZGC" || name == "generational ZGC" || o.paced {
			c.Kind = evidence.CoverStalls
			o.b.Cover(c)
		}
	}
}

// linesTable shows how many lines were read as what.
func (o *output) linesTable(lines int64) evidence.Table {
	t := evidence.Table{Title: "Lines of the GC log", Columns: []string{"", "lines"}}
	row := func(name string, n int64) {
		if n > 0 {
			t.Rows = append(t.Rows, []string{name, strconv.FormatInt(n, 10)})
		}
	}
	rest := lines - o.unexplained
	for _, n := range o.ignored {
		rest -= n
	}
	row("of pauses, phases, stalls and safepoints", rest)
	for k, n := range o.ignored {
		row("ignored: "+lineKinds[k], n)
	}
	row("not understood", o.unexplained)
	if o.unexplained > 0 {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("  the first, line %d: %s", o.exampleLine, o.example), ""})
	}
	return t
}
