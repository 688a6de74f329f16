// Package openj9gc reads the verbose GC log of OpenJ9 and IBM J9 (-verbose:gc, -Xverbosegclog), XML of version 2.6 and
// later, and of J9 before it, whole or cut out of the middle:
//
//	<exclusive-start id="14" timestamp="2021-04-07T10:12:30.000" intervalms="28800.100">
//	<sys-start reason="explicit" id="15" …/>
//	<gc-end id="20" type="global" contextid="16" durationms="4101.220" …>
//	  <mem-info id="21" free="2112334112" total="4294967296" percent="49">
//	<exclusive-end id="24" timestamp="2021-04-07T10:12:34.103" durationms="4102.900" />
//
// Source: https://eclipse.dev/openj9/docs/vgclog/ and
// https://github.com/eclipse-openj9/openj9/tree/master/runtime/gc_verbose_handler_vlhgc.
//
// Metronome (-Xgcpolicy:metronome) collects in quanta, of which only a summary is logged: of each kind, how many there were and the longest.
//
//	<quanta quantumCount="170" quantumType="mark" minTimeMs="1.006" meanTimeMs="1.100" maxTimeMs="1.609" maxTimestampMs="0.000" />
//
// A pause is the time from an exclusive-start to its exclusive-end, in which no thread of the program runs; the
// collection within decides its kind. Times have no zone, and are read as UTC. A pause that the end of a log
// cuts is left out: its length is unknown.
package openj9gc

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a verbose GC log of OpenJ9.
var Format = format.Format{
	Name:  "openj9gc",
	About: "verbose GC logs of OpenJ9 and IBM J9 (-Xverbosegclog)",
	Match: matchHead,
	Parse: parseArtifact,
}

// marks are elements that no other log has.
var marks = [][]byte{[]byte("<exclusive-start "), []byte("<exclusive-end "), []byte("<gc-end "), []byte("<verbosegc "), []byte(`<af type="`), []byte("<gc-op "), []byte("<quanta quantumCount=")}

func matchHead(head []byte) format.Confidence {
	for _, m := range marks {
		if bytes.Contains(head, m) {
			return format.Sure
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, subject: b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})}
	p.clearPause()
	long := false
	err := a.Lines(func(l format.Line) bool {
		p.line, long = l.Number, long || l.Long
		p.parseLine(string(l.Text))
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	open := p.from != 0
	p.endCollected()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.pauses == 0 && err != nil:
		return err
	case p.pauses == 0:
		return errors.New("openj9gc: no pause with its beginning and its end: give more of the log")
	case err != nil:
		b.Warnf(p.line, "the log is incomplete after this line: %v", err)
	}
	if err != nil || long || open {
		b.Cut()
	}
	p.emitSummary()
	return nil
}

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	line    int64

	from        int64 // of the open pause, ns; 0 none
	opened      int64 // line
	kind        evidence.Pause
	collected   bool
	name        string
	trigger     string
	before      float64 // bytes of the heap, NaN not told
	after       float64
	total       float64
	inOld       bool    // within an element of J9 before 2.6
	oldTook     float64 // ms
	policy      string
	cpus        int
	heap        float64
	pauses      int64
	partial     bool    // the open pause is known by its collection alone
	ended       float64 // ms, of the collection whose pause is open, NaN if it goes on
	collecting  float64 // ms, of all collections in the open pause
	rests       int     // pauses that were long beside their collections
	quantaAt    int64   // ns: where the next quantum is put, 0 unknown
	quanta      []quanta
	cut         int64
	first, last int64
	strange     int64
	strangeLine int64
}

func (p *parser) clearPause() {
	p.from, p.kind, p.collected, p.name, p.trigger = 0, evidence.PauseOther, false, "", ""
	p.before, p.after, p.total, p.inOld, p.oldTook, p.ended, p.collecting, p.partial = math.NaN(), math.NaN(), math.NaN(), false, 0, math.NaN(), 0, false
}

// parseAttribute returns the value of name="value" of an element, "" without it.
func parseAttribute(line, name string) string {
	_, rest, ok := strings.Cut(line, " "+name+`="`)
	if !ok {
		return ""
	}
	v, _, ok := strings.Cut(rest, `"`)
	if !ok || len(v) > 200 {
		return ""
	}
	return v
}

func parseFigure(line, name string) float64 {
	v, err := strconv.ParseFloat(parseAttribute(line, name), 64)
	if err != nil || v < 0 || v > 1e15 {
		return math.NaN()
	}
	return v
}

// layouts of times: since 2.6, and before.
var layouts = []string{"2006-01-02T15:04:05.000", "Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 2006"}

func parseTimestamp(line string) int64 {
	s := parseAttribute(line, "timestamp")
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1990 && t.Year() < 2200 {
			return t.UnixNano()
		}
	}
	return 0
}

// maxPause is the longest plausible pause, ms: an hour.
const maxPause = 3600e3

func (p *parser) parseLine(text string) {
	text = strings.TrimLeft(text, " \t")
	if len(text) < 3 || text[0] != '<' {
		return
	}
	switch element, _, _ := strings.Cut(text[1:], " "); strings.TrimRight(element, "/>") {
	case "exclusive-start":
		p.endCollected()
		if p.from != 0 {
			p.cut++
		}
		p.clearPause()
		p.from, p.opened = parseTimestamp(text), p.line
	case "af-start", "allocation-taxation":
		p.setTrigger("Allocation Failure")
	case "sys-start":
		if parseAttribute(text, "reason") == "explicit" {
			p.setTrigger("System.gc()")
		} else {
			p.setTrigger(parseAttribute(text, "reason"))
		}
	case "concurrent-global-final", "concurrent-collection-start":
		p.setTrigger("concurrent collection")
	case "gc-start":
		if p.from == 0 { // the beginning of its pause was not copied
			p.from, p.opened, p.partial = parseTimestamp(text), p.line, true
		}
		p.setCollection(parseAttribute(text, "type"))
	case "/gc-end":
		if p.partial {
			p.endCollected()
		}
	case "gc-end":
		p.setCollection(parseAttribute(text, "type"))
		p.before, p.after = p.after, math.NaN() // the next mem-info is of the end
		p.ended = parseFigure(text, "durationms")
		p.collecting += p.ended
	case "mem-info":
		if free, total := parseFigure(text, "free"), parseFigure(text, "total"); total >= free {
			p.after, p.total = total-free, total
		}
	case "exclusive-end":
		p.endPause(parseFigure(text, "durationms"))
	case "cycle-start":
		p.quantaAt = parseTimestamp(text)
	case "gc-op":
		switch parseAttribute(text, "type") {
		case "heartbeat":
			p.quantaAt = parseTimestamp(text)
		case "syncgc": // Metronome's, in which the program stands until it ends
			p.clearPause()
			p.opened, p.kind, p.collected, p.name = p.line, evidence.PauseFull, true, "synchronous collection"
			if ms := parseFigure(text, "timems"); ms <= maxPause {
				if at := parseTimestamp(text); at > 0 {
					p.from = at - int64(ms*1e6)
				}
				p.endPause(ms)
			}
			p.clearPause()
		}
	case "quanta":
		p.addQuanta(text)
	case "cycle-end":
		if at := parseTimestamp(text); p.quantaAt > 0 && len(p.quanta) > 0 {
			p.last = max(p.last, at)
		}
		p.quantaAt = 0
	case "attribute":
		p.parseSetting(parseAttribute(text, "name"), parseAttribute(text, "value"))
	case "af", "sys", "con": // before 2.6
		p.clearPause()
		p.inOld, p.from, p.opened = true, parseTimestamp(text), p.line
		switch {
		case strings.HasPrefix(text, "<sys"):
			p.setTrigger("System.gc()")
		case strings.HasPrefix(text, "<af"):
			p.setTrigger("Allocation Failure")
		}
	case "gc":
		if p.inOld {
			p.setCollection(parseAttribute(text, "type"))
		}
	case "time":
		if ms := parseFigure(text, "totalms"); p.inOld && ms > 0 {
			p.oldTook = ms
		}
	case "timesms":
		if ms := parseFigure(text, "total"); p.inOld && ms > p.oldTook {
			p.oldTook = ms
		}
	}
	if p.inOld && (strings.HasPrefix(text, "</af>") || strings.HasPrefix(text, "</sys>") || strings.HasPrefix(text, "</con>")) {
		if p.oldTook > 0 {
			p.endPause(p.oldTook)
		}
		p.clearPause()
	}
}

func (p *parser) setTrigger(trigger string) {
	if p.trigger == "" && trigger != "" {
		p.trigger = trigger
	}
}

// setCollection sets the collection of the pause. One of the whole heap takes precedence.
func (p *parser) setCollection(kind string) {
	p.collected = true
	switch {
	case strings.HasPrefix(kind, "global") && !strings.Contains(kind, "mark"), kind == "nursery global":
		p.kind, p.name = evidence.PauseFull, "global collection"
	case p.kind == evidence.PauseFull:
	case strings.HasPrefix(kind, "scav"):
		p.kind, p.name = evidence.PauseYoung, "scavenge"
	case strings.HasPrefix(kind, "partial"):
		p.kind, p.name = evidence.PauseMixed, "partial collection"
	case strings.Contains(kind, "mark"):
		p.kind, p.name = evidence.PauseOther, "global mark increment"
	}
}

// endCollected writes the pause around a collection whose end was read and whose pause's end was not: it lasted at least until then.
func (p *parser) endCollected() {
	if p.from != 0 && !math.IsNaN(p.ended) {
		p.endPause(p.ended)
	}
}

// endPause writes the pause.
func (p *parser) endPause(ms float64) {
	from := p.from
	defer p.clearPause()
	if from == 0 || !(ms >= 0) || ms > maxPause {
		if p.strange++; p.strangeLine == 0 {
			p.strangeLine = p.line
		}
		return
	}
	if !p.collected {
		p.name = "stop for another reason"
	}
	until, end := from+int64(ms*1e6), from+int64(ms*1e6)
	if rest := ms - p.collecting; p.collected && p.collecting > 0 && rest >= longRest && rest >= p.collecting {
		until = from + int64(p.collecting*1e6)
		p.b.Interval(evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.Safepoint, Start: until, End: end, Cause: p.b.Name(evidence.StopAroundCollection), Origin: p.b.Origin(p.line)})
		p.rests++
	}
	x := evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: until, Cause: p.b.Name(p.name), Origin: p.b.Origin(p.opened)}
	add := func(k evidence.Key, v float64) {
		if !math.IsNaN(v) {
			x.Extra = append(x.Extra, evidence.Extra{Key: k, Value: v})
		}
	}
	if p.collected {
		add(evidence.HeapBefore, p.before)
		add(evidence.HeapAfter, p.after)
		add(evidence.HeapCapacity, p.total)
		add(evidence.PauseOf, float64(p.kind))
		trigger := p.trigger
		if trigger == "" {
			trigger = evidence.TriggerUntold
		}
		add(evidence.Trigger, float64(p.b.Name(trigger)))
	}
	p.b.Interval(x)
	p.pauses++
	if p.first == 0 || from < p.first {
		p.first = from
	}
	p.last = max(p.last, end)
}

// longRest is how long (ms) threads stand still around a collection, and longer than it takes, from which on that is told apart. The rest of a pause is
// its way to the stop, and the writing of this very log, which the program waits for.
const longRest = 100

// quanta are the pauses of one kind in which Metronome collects.
type quanta struct {
	kind         string
	count        float64
	sum, longest float64 // ms
}

// mostKinds bounds the kinds of quanta.
const mostKinds = 20

// addQuanta adds a line about quanta. Of them only the longest is written as a pause: when the others were is not told, and the log's time of the longest
// has an origin that differs between versions, so that it stands at the beginning of what it was logged with.
func (p *parser) addQuanta(text string) {
	count, mean, longest := parseFigure(text, "quantumCount"), parseFigure(text, "meanTimeMs"), parseFigure(text, "maxTimeMs")
	kind := parseAttribute(text, "quantumType")
	if !(count > 0) || !(mean >= 0) || !(longest <= maxPause) || kind == "" || p.quantaAt == 0 {
		if p.strange++; p.strangeLine == 0 {
			p.strangeLine = p.line
		}
		return
	}
	i := slices.IndexFunc(p.quanta, func(q quanta) bool { return q.kind == kind })
	if i < 0 && len(p.quanta) < mostKinds {
		i = len(p.quanta)
		p.quanta = append(p.quanta, quanta{kind: kind})
	}
	if i >= 0 {
		q := &p.quanta[i]
		q.count, q.sum, q.longest = q.count+count, q.sum+count*mean, max(q.longest, longest)
	}
	until := p.quantaAt + int64(longest*1e6)
	p.b.Interval(evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: p.quantaAt, End: until, Cause: p.b.Name("longest quantum of Metronome, " + kind),
		Origin: p.b.Origin(p.line), Extra: []evidence.Extra{{Key: evidence.PauseOf, Value: float64(evidence.PauseOther)}, {Key: evidence.Trigger, Value: float64(p.b.Name(evidence.TriggerUntold))}}})
	p.pauses++
	if p.first == 0 || p.quantaAt < p.first {
		p.first = p.quantaAt
	}
	p.last = max(p.last, until)
	p.quantaAt = until
}

// emitQuanta writes what is known of all quanta.
func (p *parser) emitQuanta() {
	if len(p.quanta) == 0 {
		return
	}
	t := evidence.Table{Title: "pauses of Metronome, by kind", Columns: []string{"", "times", "total ms", "longest ms"}}
	for _, q := range p.quanta {
		t.Rows = append(t.Rows, []string{q.kind, strconv.FormatFloat(q.count, 'f', 0, 64), strconv.FormatFloat(q.sum, 'f', 1, 64), strconv.FormatFloat(q.longest, 'f', 3, 64)})
	}
	p.b.Table(t)
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactLongAlone, Number: float64(p.pauses), Origin: p.b.Origin(0)})
}

// parseSetting reads an attribute of the configuration at the beginning.
func (p *parser) parseSetting(name, value string) {
	switch name {
	case "gcPolicy":
		p.policy = strings.TrimPrefix(value, "-Xgcpolicy:")
	case "maxHeapSize":
		if v, err := strconv.ParseUint(strings.TrimPrefix(value, "0x"), 16, 62); err == nil {
			p.heap = float64(v)
		}
	case "numCPUs":
		if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 1<<16 {
			p.cpus = n
		}
	}
}

func (p *parser) emitSummary() {
	b := p.b
	*b.Clock() = evidence.Clock{Name: "times of the log", Error: 1e9, Resolution: 1e6}
	b.Warnf(0, "the times of this log have no time zone and were read as UTC: check them against the other files")
	b.Describe(p.subject, func(s *evidence.Subject) { s.CPUs = p.cpus })
	if p.policy != "" {
		b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactCollector, Value: "OpenJ9 " + p.policy, Origin: b.Origin(0)})
	}
	if p.heap > 0 {
		b.FactAt(p.subject, evidence.FactMaxHeapSize, strconv.FormatFloat(p.heap, 'f', 0, 64), p.heap, 0)
	}
	p.emitQuanta()
	b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverGC, From: p.first, Until: p.last, Origin: b.Origin(p.line)})
	if p.rests > 0 {
		b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverSafepoints, From: p.first, Until: p.last, Origin: b.Origin(p.line)})
	}
	if p.cut > 0 {
		b.Warnf(0, "pauses whose end is not there: %d", p.cut)
	}
	if p.strange > 0 {
		b.Warnf(p.strangeLine, "ends of pauses whose beginning is not there: %d", p.strange)
	}
}
