package jstat

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// parseRow reads a row, and emits the collections since the one before.
func (p *parser) parseRow(text string, line int64) {
	values := strings.Fields(text)
	if len(values) < len(p.columns) && p.columns[len(p.columns)-1] != "GCC" {
		p.countUnparsed(line) // cut, or of another heading
		return
	}
	x := row{line: line}
	p.apart = false
	for i, name := range p.columns {
		if name == "LGCC" && i < len(values) {
			x.reason = parseReason(values[i:])
		}
		if name == "LGCC" || i >= len(values) {
			break // words, which may be several
		}
		v, ok := parseFigure(values[i])
		if !ok {
			p.countUnparsed(line)
			return
		}
		switch name {
		case "Timestamp":
			x.at = int64(min(v, maxUptime) * 1e9)
		case "YGC":
			x.young = v
		case "YGCT":
			x.youngTook = v
		case "FGC":
			x.full, x.hasFull = v, true
		case "FGCT":
			x.fullTook = v
		case "CGC":
			x.con = v
			p.apart = values[i] != "-" // CMS counts them among the full ones
		case "CGCT":
			x.conTook = v
		case "OU", "O":
			x.old, x.hasOld = v, true
		case "OC":
			x.oldSize = v
		case "EC":
			x.edenSize = v
		case "EU":
			x.eden = v
		case "E":
			x.eden, x.edenSize = v, 100
		case "PC":
			x.size = v
		case "PU":
			x.permanent = v
		case "P":
			x.permanent, x.size = v, 100
		}
	}
	p.emitSinceLast(x)
}

// maxUptime is the longest plausible uptime of a JVM, s: 30 years.
const maxUptime = 1e9

// parseFigure reads a number with a point or a comma. "-" stands for a figure that this JVM lacks
// and is 0.
func parseFigure(s string) (v float64, ok bool) {
	if s == "-" || s == "NaN" {
		return 0, true
	}
	v, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	return v, err == nil && v >= 0 && v < 1e15 && !math.IsNaN(v)
}

// emitSinceLast emits the collections between the row before and this one.
func (p *parser) emitSinceLast(x row) {
	before := p.last
	p.last = x
	p.total++
	if p.rows++; p.rows == 1 {
		p.beginStretch(x)
		if p.runs++; p.runs == 1 {
			p.first, p.firstPID = x, p.pid
		}
		y := p.newest
		p.restarted = p.restarted || p.pid != p.firstPID || x.young < y.young || x.full < y.full || x.youngTook < y.youngTook || x.fullTook < y.fullTook
		p.newest = x
		return
	}
	p.newest = x
	young, full, con := x.young-before.young, x.full-before.full, x.con-before.con
	youngTook, fullTook, conTook := x.youngTook-before.youngTook, x.fullTook-before.fullTook, x.conTook-before.conTook
	if min(young, full, con, youngTook, fullTook, conTook) < 0 || x.at != 0 && x.at < before.at {
		p.backwards++ // another process, or another run of it
		p.beginStretch(x)
		return
	}
	took := int64((youngTook + fullTook + conTook) * 1e9)
	switch {
	case x.at != 0 && p.stamped:
		p.now = x.at
	case p.interval > 0:
		p.now += max(p.interval, took)
	default:
		p.now += took
	}
	at := p.now - took
	young, full, con = atLeastOne(young, youngTook), atLeastOne(full, fullTook), atLeastOne(con, conTook)
	if full > 0 {
		p.full, p.fullTook = p.full+full, p.fullTook+fullTook
	}
	p.between.young, p.between.youngTook = p.between.young+young, p.between.youngTook+youngTook
	p.between.full, p.between.fullTook = p.between.full+full, p.between.fullTook+fullTook
	p.between.con, p.between.conTook = p.between.con+con, p.between.conTook+conTook
	at = p.emitPauses(at, young, youngTook, evidence.PauseYoung, "young collections", x.line)
	at = p.emitPauses(at, con, conTook, evidence.PauseRemark, "pauses of concurrent cycles", x.line)
	kind, name := evidence.PauseFull, "full collections"
	if int64(full)%2 == 0 && x.hasOld && x.old >= before.old && !p.apart && !reasons[x.reason] && !(x.isFull() && before.isFull()) {
		kind, name = evidence.PauseRemark, "full collections, or pauses of CMS"
	}
	if kind == evidence.PauseFull && reasons[x.reason] {
		p.trigger = x.reason
	}
	p.emitPauses(at, full, fullTook, kind, name, x.line)
	p.trigger = ""
}

// atLeastOne counts the collection that ran when the row before was printed: jstat counts a collection when it begins, and its time when it
// ends.
func atLeastOne(n, took float64) float64 {
	if n == 0 && took > 0 {
		return 1
	}
	return n
}

// reasons are the reasons in -gccause of a full collection, in HotSpot's words.
var reasons = map[string]bool{"Metadata GC Threshold": true, "Metadata GC Clear Soft References": true, "Last ditch collection": true, "System.gc()": true, "Ergonomics": true, "Heap Dump Initiated GC": true,
	"Heap Inspection Initiated GC": true, "G1 Compaction Pause": true}

// parseReason returns the first of the two reasons behind the figures of -gccause, "" if it is
// unknown.
func parseReason(words []string) string {
	for n := min(len(words), 6); n > 0; n-- {
		if text := strings.Join(words[:n], " "); reasons[text] {
			return text
		}
	}
	return ""
}

// fullPart is the part of a space from which it is full, and roomyPart that up to which it has room.
const (
	fullPart  = .999
	roomyPart = .9
)

// isFull says whether eden and the old generation are in use up to their ends.
func (x row) isFull() bool {
	old := x.old / 100
	if x.oldSize > 0 {
		old = x.old / x.oldSize
	}
	return x.hasOld && old >= fullPart && x.edenSize > 0 && x.eden >= fullPart*x.edenSize
}

// A minute without a collection is no rate yet: a quiet service makes one every few minutes.
const quietMinute = int64(60e9)

// onlySinceStart says whether the rows count no more than since the JVM's start: there is one, or nothing was collected between them for a short
// while.
func (p *parser) onlySinceStart() bool {
	x := p.between
	return p.total == 1 || p.runs == 1 && p.backwards == 0 && p.now-p.from < quietMinute && x.young+x.full+x.con+x.youngTook+x.fullTook+x.conTook == 0
}

// permanentPart returns which part of the permanent generation is in use, and whether it is full while the old generation has room.
func (x row) permanentPart() (part float64, full bool) {
	old := x.old / 100
	if x.oldSize > 0 {
		old = x.old / x.oldSize
	}
	if x.size <= 0 || !x.hasOld {
		return 0, false
	}
	part = min(1, x.permanent/x.size)
	return part, part >= fullPart && old <= roomyPart
}

// beginStretch starts a stretch of rows that follow one another.
func (p *parser) beginStretch(x row) {
	if p.from == 0 && p.now == 0 {
		p.stamped = x.at != 0
		p.now = x.at
		p.from = x.at
	} else if x.at > p.now {
		p.now = x.at
	}
}

// emitPauses writes n consecutive pauses from a moment on as one row, with their total time in s, and returns when they end. A row of text
// may stand for thousands.
func (p *parser) emitPauses(at int64, n, took float64, of evidence.Pause, name string, line int64) int64 {
	if n < 1 || took <= 0 || n > maxOfOneRow || p.pauses > maxPauses {
		return at
	}
	whole := int64(n)
	p.pauses += whole
	x := evidence.Interval{Subject: p.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: at, End: at + int64(took*1e9/n)*whole, Cause: p.b.Name(name), Origin: p.b.Origin(line),
		Extra: []evidence.Extra{{Key: evidence.PauseOf, Value: float64(of)}, {Key: evidence.Trigger, Value: float64(p.b.Name(cmp.Or(p.trigger, evidence.TriggerUntold)))}}}
	if whole > 1 {
		x.Extra = append(x.Extra, evidence.Extra{Key: evidence.Repeated, Value: float64(whole)})
	}
	p.b.Interval(x)
	return x.End
}

// addTotals writes how many collections ran between the rows, and for how long, or of a single row since the start.
func (p *parser) addTotals() {
	t := evidence.Table{Title: "collections from the first to the last row", Columns: []string{"", "count", "time"}}
	x := p.between
	switch {
	case p.onlySinceStart():
		t.Title, x = "collections since the JVM's start", p.last
	case p.runs > 1 && !p.restarted: // of one process, looked at again and again
		x = row{young: p.last.young - p.first.young, full: p.last.full - p.first.full, con: max(0, p.last.con-p.first.con),
			youngTook: p.last.youngTook - p.first.youngTook, fullTook: p.last.fullTook - p.first.fullTook, conTook: max(0, p.last.conTook-p.first.conTook)}
	}
	for _, r := range []struct {
		name    string
		n, took float64
	}{{"young", x.young, x.youngTook}, {"full", x.full, x.fullTook}, {"pauses of concurrent cycles", x.con, x.conTook}, {"all", x.young + x.full + x.con, x.youngTook + x.fullTook + x.conTook}} {
		if r.n > 0 || r.took > 0 {
			t.Rows = append(t.Rows, []string{r.name, units.Num(r.n), units.Time(1e9 * r.took)})
		}
	}
	if len(t.Rows) > 0 {
		p.b.Table(t)
	}
	if p.total > 1 && p.onlySinceStart() {
		p.b.Table(evidence.Table{Title: "collections from the first to the last row", Columns: []string{"", "count"}, Rows: [][]string{{"young", "0"}, {"full", "0"}}})
	}
}

// emitSummary writes the clock, what the rows cover and the warnings.
func (p *parser) emitSummary() {
	k := p.b.Clock()
	switch {
	case p.stamped:
		*k = evidence.Clock{Name: "since JVM start", Error: evidence.Unanchored, Resolution: 1e8}
	case p.interval > 0:
		*k = evidence.Clock{Name: "rows of jstat, one each interval", Error: evidence.Unanchored, Resolution: p.interval}
	default:
		*k = evidence.Clock{Name: "collections one after another", Error: evidence.Unanchored}
		p.b.Warnf(0, "nothing tells the time between these rows, so that no rate is known: give the command that printed them, or use jstat -t")
	}
	if p.pid > 0 {
		p.b.Describe(p.subject, func(s *evidence.Subject) { s.PID = p.pid })
	}
	alone := p.onlySinceStart()
	if p.now > p.from && !alone {
		p.b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverGC, From: p.from, Until: p.now, Origin: p.b.Origin(p.last.line)})
	}
	p.addTotals()
	n, took := p.full, p.fullTook                                                                                     // of these rows, or since the start
	if (alone || !p.stamped && p.interval == 0 && p.full < 2 && p.backwards == 0 && !p.restarted) && p.last.hasFull { // a mean is of two and more
		n, took = p.last.full, p.last.fullTook
	}
	if n > 0 && n < 1e9 && (alone || !p.stamped && p.interval == 0) { // their times are unknown
		p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactFullCollections, Value: strconv.FormatFloat(n, 'f', 0, 64), Number: n, Origin: p.b.Origin(p.last.line)})
		p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactFullMean, Number: took / n * 1e9, Origin: p.b.Origin(p.last.line)})
	}
	if part, full := p.last.permanentPart(); full && n > 0 {
		p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactPermanentFull, Number: part, Origin: p.b.Origin(p.last.line)})
	}
	if alone && p.last.hasFull && p.last.young > 0 && p.last.young < 1e9 {
		p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactYoungCollected, Number: p.last.young, Origin: p.b.Origin(p.last.line)})
	}
	if alone && p.total > 1 {
		p.b.Warnf(p.last.line, "nothing was collected between these rows: they count since the JVM's start, and show no rate")
	}
	if p.total == 1 {
		p.b.Warnf(p.last.line, "one row counts since the JVM's start and shows no time of its own: give two or more")
	}
	if p.backwards > 0 {
		p.b.Warnf(0, "rows that count less than the row before, as of another process: %d", p.backwards)
	}
	if p.gaps > 0 {
		p.b.Warnf(0, "lines that stand for rows left out: %d", p.gaps)
	}
	if p.unknown > 0 {
		p.b.Warnf(p.unknownLine, "lines that are not jstat's: %d", p.unknown)
	}
}
