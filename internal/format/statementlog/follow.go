package statementlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// chain is statements of one shape that follow each other.
type chain struct {
	shape       string
	n           float64
	sum         float64 // ns
	first, last int64   // ns: when the first began, and the last ended; 0 not told
	at          int     // number of the last statement
	line        int64   // of its first
}

// Statements of other shapes that may stand between two of a chain, as loops have more than one, and the time (ns) between them.
const (
	mostBetween = 3
	longestGap  = 1e9
)

// isLoop says whether its statements take at least half of the time from the first to the last.
func (c *chain) isLoop() bool {
	return c.first == 0 || c.sum >= float64(c.last-c.first)/2
}

// shape is all statements of one.
type shape struct {
	text string
	n    int64
	sum  float64
	most float64
}

// log is what is read of one.
type log struct {
	shapes    map[string]*shape
	all       []*shape
	chains    map[string]*chain
	best      chain
	longest   statement // the slowest
	slow      int64     // that took a second and more
	slowLine  int64
	number    int
	runtime   string
	sessions  int64
	worst     session
	worstLine int64
	dropped   int64
	unzoned   bool
}

// longStatement (ns) is from when on a statement is long: people lose their thought after a second (J. Nielsen, Usability Engineering, 1993, chapter 5).
const longStatement = 1e9

// addStatement adds a statement whose line was written at that time.
func (g *log) addStatement(s statement, at int64, line int64) {
	g.number++
	g.runtime = s.runtime
	name := shapeOf(s.text)
	x := g.shapes[name]
	if x == nil {
		if len(g.all) == mostShapes {
			g.dropped++
			return
		}
		x = &shape{text: name}
		g.shapes[name] = x
		g.all = append(g.all, x)
	}
	x.n++
	x.sum += s.took
	x.most = max(x.most, s.took)
	if s.took > g.longest.took {
		g.longest = s
	}
	if s.took >= longStatement {
		if g.slow++; g.slowLine == 0 {
			g.slowLine = line
		}
	}
	c := g.chains[name]
	began := int64(0)
	if at != 0 {
		began = at - int64(s.took)
	}
	if c == nil || g.number-c.at > mostBetween+1 || (began == 0) != (c.last == 0) || began != 0 && (began < c.last-slack || began-c.last > longestGap) {
		c = &chain{shape: name, first: began, line: line}
		g.chains[name] = c
	}
	c.n++
	c.sum += s.took
	c.at, c.last = g.number, at
	if c.n > 1 && c.isLoop() && (c.sum > g.best.sum || c.sum == g.best.sum && c.n > g.best.n) {
		g.best = *c
	}
}

// slack (ns) is by how much a log's milliseconds may be off.
const slack = 2e6

// endsRequest says whether a line is the end of a request, or its begin: what follows is another's.
func endsRequest(l []byte) bool {
	return bytes.Contains(l, []byte(" HTTP/1.")) || bytes.Contains(l, []byte(" HTTP/2")) || bytes.Contains(l, []byte("Request finished")) || bytes.Contains(l, []byte("Request starting"))
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	g := &log{shapes: make(map[string]*shape), chains: make(map[string]*chain)}
	var open *statement // whose text stands in the lines below
	var openAt, openLine int64
	closeOpen := func() {
		if open != nil {
			g.addStatement(*open, openAt, openLine)
			open = nil
		}
	}
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine {
			return true
		}
		if hasMark(l.Text) {
			if s, ok := parseLine(l.Text); ok {
				closeOpen()
				at, zoned := lineTime(l)
				g.unzoned = g.unzoned || at != 0 && !zoned
				if s.text == "" && s.runtime == "dotnet" {
					open, openAt, openLine = &s, at, l.Number
					return true
				}
				g.addStatement(s, at, l.Number)
				return true
			}
			if s, ok := parseSession(l.Text); ok {
				if g.sessions++; s.took > g.worst.took || g.sessions == 1 {
					g.worst, g.worstLine = s, l.Number
				}
				return true
			}
		}
		if open != nil {
			if at, _ := lineTime(format.Line{Text: l.Text}); at == 0 && !endsRequest(l.Text) && !isLevel(l.Text) && len(open.text) < mostShape {
				open.text += " " + string(l.Text[:min(len(l.Text), mostShape)])
				return true
			}
			closeOpen()
		}
		if endsRequest(l.Text) {
			clear(g.chains)
		}
		return true
	})
	closeOpen()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if g.number == 0 && g.sessions == 0 {
		return cmp.Or(err, errors.New("statementlog: no statement with its time in it"))
	}
	if err != nil {
		b.Warnf(0, "the log is incomplete: %v", err)
		b.Cut()
	}
	g.emitFacts(b)
	return nil
}

// isLevel says whether a line begins with a level of Microsoft's console: "info: Microsoft.…".
func isLevel(l []byte) bool {
	for _, level := range []string{"info: ", "dbug: ", "warn: ", "fail: ", "trce: ", "crit: "} {
		if bytes.HasPrefix(l, []byte(level)) {
			return true
		}
	}
	return false
}

func (g *log) emitFacts(b *evidence.Builder) {
	*b.Clock() = evidence.Clock{Name: "times of the log", Error: evidence.Unanchored}
	if g.sessions > 0 && g.runtime == "" {
		g.runtime = "jvm"
	}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: g.runtime})
	if g.number > 0 {
		sorting.Short(g.all, func(x, y *shape) int { return cmp.Or(cmp.Compare(y.sum, x.sum), cmp.Compare(x.text, y.text)) })
		t := evidence.Table{Title: "statements that the program logged", Columns: []string{"", "statements", "all s", "mean ms", "longest ms"}}
		for _, x := range g.all[:min(len(g.all), mostShown)] {
			t.Rows = append(t.Rows, []string{cmp.Or(x.text, "a statement that is not shown"), strconv.FormatInt(x.n, 10), formatFigure(x.sum / 1e9), formatFigure(x.sum / float64(x.n) / 1e6), formatFigure(x.most / 1e6)})
		}
		b.Table(t)
	}
	if g.sessions > 0 {
		b.Table(evidence.Table{Title: "sessions of Hibernate", Columns: []string{"sessions", "statements of the longest", "their time s"},
			Rows: [][]string{{strconv.FormatInt(g.sessions, 10), formatFigure(g.worst.n), formatFigure(g.worst.took / 1e9)}}})
	}
	if c := g.best; c.n > 0 {
		b.FactAt(subject, evidence.FactStatementsInTurn, c.shape, c.n, c.line)
		b.FactAt(subject, evidence.FactStatementsInTurnTime, c.shape, c.sum, c.line)
	} else if g.worst.n > 1 && g.number == 0 {
		b.FactAt(subject, evidence.FactStatementsInTurn, "", g.worst.n, g.worstLine)
		b.FactAt(subject, evidence.FactStatementsInTurnTime, "", g.worst.took, g.worstLine)
	}
	if g.slow > 0 {
		store := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: "the data base"})
		b.FactAt(store, evidence.FactStatementsSlow, "", float64(g.slow), g.slowLine)
		b.FactAt(store, evidence.FactStatementMost, shapeOf(g.longest.text), g.longest.took, g.slowLine)
	}
	if g.unzoned {
		b.Warnf(0, "the times of this log have no time zone that is known, and were read as UTC: check them against the other files")
	}
	if g.dropped > 0 {
		b.Warnf(0, "statements of more than %d shapes, left out: %d", mostShapes, g.dropped)
	}
}

func formatFigure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// layouts of times at the beginning of a line.
var layouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006/01/02 15:04:05"}

// lineTime returns when a line was written, ns since the epoch, 0 unknown; and whether it names its zone.
func lineTime(l format.Line) (at int64, zoned bool) {
	text := strings.TrimLeft(string(l.Text[:min(len(l.Text), 60)]), " [`")
	i := slices.IndexFunc(layouts, func(layout string) bool { _, ok := parseTime(layout, text); return ok })
	if i < 0 {
		return l.Stamp, true
	}
	at, _ = parseTime(layouts[i], text)
	rest := text[len(layouts[i]):]
	if (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ",")) && len(rest) > 1 {
		digits := rest[1:]
		n := 0
		for n < len(digits) && n < 9 && digits[n] >= '0' && digits[n] <= '9' {
			n++
		}
		if v, err := strconv.ParseFloat("0."+digits[:n], 64); err == nil && n > 0 {
			at += int64(v * 1e9)
		}
		rest = digits[n:]
	}
	rest = strings.TrimLeft(rest, " ")
	return at, strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "UTC")
}

func parseTime(layout, text string) (ns int64, ok bool) {
	if len(text) < len(layout) {
		return 0, false
	}
	t, err := time.Parse(layout, text[:len(layout)])
	return t.UnixNano(), err == nil && t.Year() >= 1990 && t.Year() < 2200
}
