package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// legacy reads the output of JDK 1.4 to 8: TraceTime objects open a bracket when
// something begins and close it when it ends. Brackets nest, and other output
// may stand within them, on the same line or on others. So this reads brackets and not
// lines: a stack of the open ones, wherever lines break. Formats, by version:
// hotspot/src/share/vm/gc_implementation/*, memory/*, runtime/safepoint.cpp of jdk8u.
type legacy struct {
	pauses int // written so far

	o      *output
	number int64

	stack [maxDepth]frame
	depth int

	date, uptime int64 // of a stamp whose event has not come yet

	whole *wholePause // the line that e is from
	e     *event      // the open pause, or one that has ended and waits for its details
	held  bool        // e has ended
	inner int64       // duration of the young collection within the open remark
	conc  event       // a concurrent phase that has ended and waits for its CPU times
	concs bool        // there is one

	trigger string // of the latest pause that had one
	day     dateCache

	last timed // what the next [Times: …] belongs to

	heads   map[string]*head // of Shenandoah's brackets
	opened  int64            // stamp of the open one
	started string           // the one whose beginning had a line of its own

	concStart int64 // when G1's concurrent mark began, unknown outside of it
	pauseEnd  int64 // of the latest pause, for stops without a stamp
	stopped   int64 // end of the latest stop

	seen    collectors
	begun   [maxExample]byte // of the line an open pause began on
	begunN  int
	begunAt int64

	// Of the line being read.
	gave    bool     // the line gave something
	strange bool     // a part of it was not understood
	kind    lineKind // what it is if it gave nothing
	kinded  bool
}

// timed says what the following CPU times belong to.
type timed uint8

const (
	timedNothing timed = iota
	timedPause
	timedPhase
)

func newLegacy(o *output) *legacy {
	own := new(wholePause)
	return &legacy{o: o, whole: own, e: &own.e, inner: unknown, heads: make(map[string]*head), date: unknown, uptime: unknown, concStart: unknown, pauseEnd: unknown, stopped: unknown}
}

// parseLine reads one line, without its end.
func (l *legacy) parseLine(text []byte, s *looked, number int64) {
	if l.strange { // a stamp of other text stamps nothing here
		l.date, l.uptime = unknown, unknown
	}
	l.number, l.gave, l.strange, l.kinded = number, false, false, false
	if s.whole && l.takePause(s, number) {
		return
	}
	first := skipSpace(text, 0)
	switch {
	case first == len(text):
		l.o.countIgnored(emptyLine)
		return
	case l.isDetail(text, first):
		l.o.countIgnored(detailLine)
		return
	case isDigit(text[first]) && histogramRow(text[first:]):
		l.o.countIgnored(classLine)
		return
	case first >= 4 && isDigit(text[first]) && setRow(text[first:]):
		l.o.countIgnored(statsLine)
		return
	}
	l.scanText(text, first)
	switch {
	case l.strange && !l.gave && isStatistics(text):
		l.o.countIgnored(statsLine)
	case l.strange:
		l.o.unknownLine(text, number)
	case l.gave:
	case l.kinded:
		l.o.countIgnored(l.kind)
	}
	if l.depth > 0 && l.begunAt == number {
		l.begunN = copy(l.begun[:], text)
	}
}

// isDetail says whether a line is one of the details that G1 prints below a collection, except its
// sizes. They are indented deeper than all else, and are most of a log.
func (l *legacy) isDetail(text []byte, first int) bool {
	if first < 3 || first+4 >= len(text) {
		return false
	}
	switch s := text[first:]; s[0] {
	case '[':
		return (isUpper(s[1]) || s[1] == 'G') && !hasPrefix(s, "[Eden") && !hasPrefix(s, "[GC c") && !hasPrefix(s, "[GC p") && !hasPrefix(s, "[Full")
	case 'A', 'M', 'S', 'D':
		return hasPrefix(s, "Avg:") || hasPrefix(s, "Min:") || hasPrefix(s, "Sum:") || hasPrefix(s, "Diff:")
	}
	return false
}

// histogramRow says whether a line is "   1:     123456    12345678  [C": its bracket is
// never closed.
func histogramRow(s []byte) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return hasPrefix(s[n:], ":  ") && n < len(s)-4 && isDigit(s[skipSpace(s, n+1)%len(s)])
}

// setRow says whether a line is a row of G1SummarizeRSetStats, "89K (  5.9%) by 25 Young
// regions", or the rest of a list of worker threads' times: they stand within a pause.
func setRow(s []byte) bool {
	for i, c := range s {
		switch {
		case isDigit(c), c == ' ', c == '.', c == ',', c == ']':
		case c == '(', c == 'K', c == 'B', c == 'M', c == 'o', c == 'c':
			return bytes.Contains(s[i:], []byte("%) ")) || bytes.Contains(s[i:], []byte(" represented"))
		default:
			return false
		}
	}
	return true
}

// scanText reads brackets and their content from position i on.
func (l *legacy) scanText(text []byte, i int) {
	for i < len(text) {
		c := text[i]
		switch {
		case c == ' ' || c == ',' || c == ':' || c == '\t' || c == ';':
			i++
		case c == '[':
			i = l.openBracket(text, i)
		case c == ']':
			l.closeBracket()
			i++
		case l.depth > 0 && l.stack[l.depth-1].kind == detailFrame:
			i = skipTo(text, i)
		case c >= '0' && c <= '9':
			i = l.scanFigure(text, i)
		case c == '(':
			i = l.scanParentheses(text, i)
		case c == '-':
			i = l.scanDashes(text, i)
		case c == '#' && l.depth == 0 && i+1 < len(text) && text[i+1] == ' ': // of -XX:+SafepointTimeout
			i = l.scanWords(text, i)
		case c == '#': // PrintGCID
			for i++; i < len(text) && isDigit(text[i]); i++ {
			}
		default:
			i = l.scanWords(text, i)
		}
	}
}

// close ends the log.
func (l *legacy) close() {
	l.abandonPause()
	l.flushPause()
	l.flushPhase()
	l.seen.emitCollector(l.o, l.number)
	if l.pauses > 0 {
		l.o.setFact(evidence.FactLegacyLog, "", float64(l.pauses), 0)
	}
}

// abandonPause drops a pause whose end is not in the log.
func (l *legacy) abandonPause() {
	for i := range l.depth {
		if !l.stack[i].isPause() {
			continue
		}
		l.o.unknownLine(l.begun[:l.begunN], l.begunAt)
		if i == 0 && l.inner != unknown {
			l.e.end, l.e.pause, l.e.line = l.e.start+l.inner, evidence.PauseYoung, l.begunAt
			l.held = true
		}
		break
	}
	l.depth = 0
}

// flushPause writes the pause that waits for its details.
func (l *legacy) flushPause() {
	if l.held {
		l.held = false
		l.pauses++
		l.e.end = l.e.start + l.e.stoodFor(l.e.end-l.e.start)
		l.o.emitEvent(l.e)
	}
	if l.last == timedPause {
		l.last = timedNothing
	}
}

func (l *legacy) flushPhase() {
	if l.concs {
		l.concs = false
		l.o.emitEvent(&l.conc)
	}
	if l.last == timedPhase {
		l.last = timedNothing
	}
}

// takeTime returns the time of the last stamp, and clears it.
func (l *legacy) takeTime() int64 {
	date, uptime := l.date, l.uptime
	l.date, l.uptime = unknown, unknown
	return l.o.clock.timeAt(date, uptime)
}

// setKind sets the kind of this line in case it gives nothing else. The first kind counts.
func (l *legacy) setKind(k lineKind) {
	if !l.kinded {
		l.kind, l.kinded = k, true
	}
}

// legacyMatch says whether a line is surely of a log of JDK 1.4 to 8.
func legacyMatch(line []byte) bool {
	i := skipSpace(line, 0)
	for range 2 {
		if _, n := parseStamp(line[i:]); n > 0 {
			i += n
		} else if _, n, ok := parseUptime(line[i:]); ok {
			i += n
		} else {
			break
		}
		for i < len(line) && (line[i] == ':' || line[i] == ' ') {
			i++
		}
	}
	if i < len(line) && line[i] == '#' {
		for i++; i < len(line) && (isDigit(line[i]) || line[i] == ':' || line[i] == ' '); i++ {
		}
	}
	s := line[i:]
	if len(s) < len("[GC") {
		return false
	}
	switch s[0] {
	case '[':
		return hasPrefix(s, "[Full GC") || hasPrefix(s, "[GC") && (len(s) == 3 || pauseFollows(s[3:]) || s[3] == ' ') ||
			hasPrefix(s, "[CMS-concurrent-") || i > 0 && (hasPrefix(s, "[Pause ") || hasPrefix(s, "[Concurrent ")) || hasPrefix(s, "[ParNew") || hasPrefix(s, "[Inc GC")
	case 'T':
		return hasPrefix(s, stoppedText)
	case 'A':
		return hasPrefix(s, "Application time: ")
	case '{':
		return hasPrefix(s, "{Heap before ")
	}
	return false
}

func hasPrefix(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && string(s[:len(prefix)]) == prefix
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func skipSpace(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// skipTo returns the position of the next bracket.
func skipTo(s []byte, i int) int {
	if n := bytes.IndexAny(s[i:], "[]"); n >= 0 {
		return i + n
	}
	return len(s)
}
