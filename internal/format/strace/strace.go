// Package strace reads the system calls of a program as strace prints them: the summary of -c, and calls with their duration (-T):
//
//	% time     seconds  usecs/call     calls    errors syscall                                       -c
//	 57.02    0.018390           0    444306           getdents
//	[pid    30] 20:35:13.546883 fsync(31) = 0 <0.003412>                                             -f -tt -T
//	1660163713.553121 fdatasync(29) = 0 <0.003118>                                                   -ttt -T
//	[pid    30] 20:35:13.546883 <... fsync resumed>) = 0 <0.003412>                                  of several threads
//	poll([{fd=3, events=POLLIN}], 1, 4983) = 0 (Timeout)                                             without -T, see timeout.go
//
// https://man7.org/linux/man-pages/man1/strace.1.html, versions 4 to 6.
//
// Where it misleads: seconds of -c are CPU time within the calls unless -w is given, so that waiting is mostly not in them; calls of
// threads that wait for work (futex, epoll_wait) take most of the time of any quiet program; and strace itself makes
// each call slower by 10 to 100 µs.
package strace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the output of strace.
var Format = format.Format{
	Name:  "strace",
	About: "system calls as strace prints them: the summary of -c, and calls with their duration (-T)",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine    = 64 << 10
	mostCalls   = 1000 // names
	mostThreads = 10_000
	mostSyncs   = 1 << 20
	mostShown   = 20
	leastTimed  = 3 // calls that identify a trace
)

var heading = []byte("usecs/call")

func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, heading) {
		inside := false
		for l := range bytes.Lines(head) {
			if isHeading(string(l[:min(len(l), 256)])) {
				inside = true
			} else if _, ok := summaryRow(string(l[:min(len(l), 256)])); ok && inside {
				return format.Sure
			}
		}
		return format.No
	}
	if !bytes.Contains(head, []byte(") = ")) && !bytes.Contains(head, []byte(")  = ")) && !bytes.Contains(head, []byte(" resumed>")) {
		return format.No
	}
	n, bare, over := 0, 0, false
	for l := range bytes.Lines(head) {
		if len(l) > mostLine {
			continue
		}
		if text, ok := bareCall(string(l)); ok && isResult(text) {
			_, expires := expiredPoll(text)
			over = over || expires
			if bare++; bare >= leastTimed && over {
				return format.Sure
			}
		}
		if _, ok := parseCall(string(l)); ok {
			if n++; n == leastTimed {
				return format.Sure
			}
		}
	}
	return format.No
}

func isHeading(line string) bool {
	return strings.Contains(line, "% time") && strings.Contains(line, "usecs/call") && strings.Contains(line, "syscall")
}

// row is a line of a summary.
type row struct {
	name                   string
	seconds, calls, errors float64
}

// summaryRow reads " 57.02    0.018390           0    444306           getdents", with or without errors.
func summaryRow(line string) (r row, ok bool) {
	f := strings.Fields(line)
	if len(f) > 5 && isNumbered(f) {
		f = f[1:]
	}
	if len(f) != 5 && len(f) != 6 {
		return r, false
	}
	var v [5]float64
	for i, s := range f[:len(f)-1] {
		x, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64) // by the locale
		if err != nil || !(x >= 0 && x < 1e15) {
			return r, false
		}
		v[i] = x
	}
	r = row{name: f[len(f)-1], seconds: v[1], calls: v[3], errors: v[4]}
	return r, v[0] <= 100.01 && strings.ContainsAny(f[1], ".,") && isName(r.name) && r.name != "total"
}

// isResult says whether a call's text ends with what it returned.
func isResult(text string) bool {
	i := strings.LastIndex(text, ") ")
	return i > 0 && strings.HasPrefix(strings.TrimLeft(text[i+1:], " "), "= ") || strings.HasSuffix(text, "= 0 (Timeout)")
}

// isNumbered says whether the fields of a row begin with the number of its line, as an editor shows it: a share has decimals.
func isNumbered(f []string) bool {
	return strings.Trim(f[0], "0123456789") == "" && strings.ContainsAny(f[1], ".,") && strings.ContainsAny(f[2], ".,")
}

// isName says whether a word may be the name of a system call.
func isName(s string) bool {
	if s == "" || len(s) > 40 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for _, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// call is a call with its duration.
type call struct {
	name  string
	pid   string
	began float64 // s, of the day or since the epoch; of a resumed call when it went on; -1 unknown
	took  float64 // s
}

// parseCall reads a line of a trace whose call has a duration.
func parseCall(line string) (c call, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasSuffix(line, ">") {
		return c, false
	}
	open := strings.LastIndexByte(line, '<')
	if open < 0 {
		return c, false
	}
	digits := line[open+1 : len(line)-1]
	took, err := strconv.ParseFloat(digits, 64)
	if err != nil || !strings.Contains(digits, ".") || !(took >= 0 && took < 1e6) {
		return c, false
	}
	c.took, c.began = took, -1
	text := line
	if rest, is := strings.CutPrefix(text, "[pid "); is {
		pid, after, closed := strings.Cut(rest, "]")
		c.pid = strings.TrimSpace(pid)
		if _, err := strconv.ParseUint(c.pid, 10, 31); !closed || err != nil {
			return c, false
		}
		text = strings.TrimLeft(after, " ")
	}
	for range 2 { // "1234 20:35:13.546883 fsync(…": of -o with -f
		word, rest, found := strings.Cut(text, " ")
		if !found || word == "" || (word[0] < '0' || word[0] > '9') {
			break
		}
		if at, is := timeOf(word); is {
			c.began = at
		} else if _, err := strconv.ParseUint(word, 10, 31); err == nil && c.pid == "" {
			c.pid = word
		} else {
			return c, false
		}
		text = strings.TrimLeft(rest, " ")
	}
	if rest, is := strings.CutPrefix(text, "<... "); is {
		name, _, found := strings.Cut(rest, " resumed>")
		c.name = name
		return c, found && isName(name)
	}
	name, _, found := strings.Cut(text, "(")
	c.name = name
	return c, found && isName(name) && strings.Contains(line[:open], "= ")
}

// timeOf reads "20:35:13.546883" of -tt and "1660163713.553121" of -ttt in seconds.
func timeOf(word string) (s float64, ok bool) {
	if len(word) > 9 && word[2] == ':' && word[5] == ':' {
		var v [3]float64
		for i, part := range []string{word[:2], word[3:5], word[6:]} {
			x, err := strconv.ParseFloat(part, 64)
			if err != nil || !(x >= 0 && x < 61) {
				return 0, false
			}
			v[i] = x
		}
		return v[0]*3600 + v[1]*60 + v[2], true
	}
	v, err := strconv.ParseFloat(word, 64)
	return v, err == nil && strings.Contains(word, ".") && v > 1e8 && v < 1e10
}

// syncs are calls that return when data is on the disk.
var syncs = map[string]bool{"fsync": true, "fdatasync": true, "msync": true, "sync": true, "syncfs": true}

// figures is all calls of a name.
type figures struct {
	name                 string
	n                    int64
	total, longest, errs float64
}

// thread is the time that a thread was watched, and that it waited for syncs.
type thread struct {
	first, last, synced float64
	line                int64
	n                   int64
}

type parser struct {
	by      map[string]*figures
	all     []*figures
	threads map[string]*thread
	order   []*thread
	syncs   []float64
	line    int64 // the first
	syncAt  int64
	summary bool // of -c
	inside  bool // below its heading
	calls   int64
	dropped int64

	// of calls without a duration, see timeout.go
	lookups                      map[string]bool // descriptors that are connected to a name server
	unanswered, unansweredMost   float64         // polls of these in which no answer came; s
	unansweredAt, expiredUntimed int64           // line; calls that have no duration but their own
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{by: make(map[string]*figures), threads: make(map[string]*thread), lookups: make(map[string]bool)}
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) <= mostLine {
			p.parseLine(string(l.Text), l.Number)
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(p.all) > 0, "the trace", "strace: no call with a duration (-T), and no summary (-c), in it"); err != nil {
		return err
	}
	p.emit(b)
	return nil
}

func (p *parser) parseLine(text string, line int64) {
	switch {
	case isHeading(text):
		p.inside, p.summary = true, true
		return
	case p.inside:
		if r, ok := summaryRow(text); ok {
			if x := p.ensure(r.name, line); x != nil {
				x.n += int64(r.calls)
				x.total += r.seconds
				x.errs += r.errors
			}
			return
		}
	}
	over, expires := p.parseUntimed(text, line)
	c, ok := parseCall(text)
	if !ok && expires {
		c, ok = call{name: "poll", began: -1, took: over.took}, true
		p.expiredUntimed++
	}
	if !ok {
		return
	}
	p.calls++
	x := p.ensure(c.name, line)
	if x == nil {
		return
	}
	x.n++
	x.total += c.took
	x.longest = max(x.longest, c.took)
	p.addToThread(c, line)
}

// addToThread notes what a call was of the time of its thread.
func (p *parser) addToThread(c call, line int64) {
	t := p.threads[c.pid]
	if t == nil {
		if len(p.order) == mostThreads {
			return
		}
		t = &thread{first: c.began, line: line}
		p.threads[c.pid] = t
		p.order = append(p.order, t)
	}
	if c.began >= t.first && t.first >= 0 {
		t.last = max(t.last, c.began+c.took)
	}
	if !syncs[c.name] {
		return
	}
	if p.syncAt == 0 {
		p.syncAt = line
	}
	t.n++
	t.synced += c.took
	if len(p.syncs) < mostSyncs {
		p.syncs = append(p.syncs, c.took)
	}
}

func (p *parser) ensure(name string, line int64) *figures {
	x := p.by[name]
	if x == nil {
		if len(p.all) == mostCalls {
			p.dropped++
			return nil
		}
		x = &figures{name: name}
		p.by[name] = x
		if p.all = append(p.all, x); p.line == 0 {
			p.line = line
		}
	}
	return x
}

func (p *parser) emit(b *evidence.Builder) {
	*b.Clock() = evidence.Clock{Name: "one trace", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process})
	slices.SortStableFunc(p.all, func(x, y *figures) int { return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(x.name, y.name)) })
	t := evidence.Table{Title: "system calls, by strace", Columns: []string{"", "calls", "errors", "total s", "mean µs", "longest ms"}}
	for _, x := range p.all[:min(len(p.all), mostShown)] {
		t.Rows = append(t.Rows, []string{x.name, strconv.FormatInt(x.n, 10), formatFigure(x.errs), formatFigure(x.total), formatFigure(1e6 * x.total / float64(max(1, x.n))), formatFigure(1e3 * x.longest)})
	}
	b.Table(t)
	if p.summary {
		b.Warnf(p.line, "the seconds of strace -c are CPU time within the calls, unless -w was given: waiting is mostly not in them, and calls that wait for work are among them")
	}
	if p.expiredUntimed > 0 {
		b.Warnf(p.line, "calls without a duration (strace -T), of which only those are shown that waited until their own time was over: %d", p.expiredUntimed)
	}
	p.emitUnanswered(b, subject)
	if len(p.syncs) > 0 {
		p.emitSyncs(b, subject)
	}
	if p.dropped > 0 {
		b.Warnf(0, "calls beyond the first %d names: %d", mostCalls, p.dropped)
	}
}

// emitSyncs writes how long syncs took, and the part of its time that the thread with most of them waited for
// them.
func (p *parser) emitSyncs(b *evidence.Builder, subject evidence.SubjectID) {
	fact := func(key, value string, v float64, line int64) {
		b.FactAt(subject, key, value, v, line)
	}
	slices.Sort(p.syncs)
	fact(evidence.FactSyncs, "", float64(len(p.syncs)), p.syncAt)
	fact(evidence.FactSyncMedian, "", 1e9*p.syncs[len(p.syncs)/2], p.syncAt)
	fact(evidence.FactSyncMost, "", 1e9*p.syncs[len(p.syncs)-1], p.syncAt)
	most := &thread{}
	for _, t := range p.order {
		if t.synced > most.synced {
			most = t
		}
	}
	if over := most.last - most.first; most.first >= 0 && over > 0 {
		fact(evidence.FactSyncsShare, strconv.FormatInt(most.n, 10), min(1, most.synced/over), most.line)
	}
}

func formatFigure(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g", v)
}
