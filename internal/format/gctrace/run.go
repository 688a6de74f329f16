package gctrace

import (
	"bytes"
	"strings"
)

// run is one process: it counts its cycles from 1, and its @ from its start.
type run struct {
	id     int32
	source source
	label  string // the lines' prefix, if it identifies processes

	first, latest     *cycle
	lastEnd           int64
	firstIndex        int // among all cycles
	used              int // how many cycles of any run came before its latest
	cycles, missing   int64
	backwards         int64 // cycles that start before the one before them
	firstBackwards    int64
	firstMissing      int64
	los, his          []int64 // bounds of its offset from the stamped lines between its lines
	zoneless          bool
	anchor            anchor
	shift             int64 // ns to add to its times to get the artifact's clock
	leakChecks, timed int64
}

func (r *run) addCycle(c *cycle) {
	if r.cycles == 0 {
		r.first = c
	} else {
		if d := c.number - r.latest.number - 1; d > 0 {
			r.missing += d
			if r.firstMissing == 0 {
				r.firstMissing = c.line
			}
		}
		if c.start < r.latest.start {
			r.backwards++
			if r.firstBackwards == 0 {
				r.firstBackwards = c.line
			}
		}
	}
	if c.leakCheck {
		r.leakChecks++
	}
	if c.timer {
		r.timed++
	}
	r.cycles++
	r.latest = c
	r.lastEnd = max(r.lastEnd, c.end())
}

// maxOpen is how many processes may take turns in one log; maxStale is the number
// of other processes' gc lines after which a process counts as ended.
const (
	maxOpen  = 16
	maxStale = 64
)

// runOf finds the process of a line: by the prefix, if collectors
// write one; otherwise by the number, as a process counts without gaps, and a
// number that falls together with @ is a new process. nil: there are too many processes, or
// the line is a duplicate.
func (p *parser) runOf(c *cycle, prefix []byte) (r *run, fresh bool) {
	s := sourceOf(prefix)
	var next, later, back *run
	for i := len(p.open) - 1; i >= 0; i-- {
		r := p.open[i]
		if s != anySource && r.source != anySource && r.source != s {
			continue
		}
		l := r.latest
		forward := c.start >= l.start && c.start >= r.lastEnd-2e6
		switch {
		case c.number == l.number && c.start == l.start && c.hasSameFigures(l):
			p.twice++
			if p.firstTwice == 0 {
				p.firstTwice = c.line
			}
			return nil, false
		case c.number == l.number+1 && forward && next == nil:
			next = r
		case c.number > l.number && forward && later == nil:
			later = r
		case c.number == l.number+1 && back == nil:
			back = r
		}
	}
	for _, r := range []*run{next, later, back} {
		if r != nil {
			c.run = r.id
			p.markUsed(r)
			return r, false
		}
	}
	if len(p.runs) >= maxRuns {
		p.countDropped(c.line)
		return nil, false
	}
	r = &run{id: int32(len(p.runs)), source: s, firstIndex: p.cycles.n}
	if s != anySource {
		r.label = prefixLabel(prefix)
	}
	c.run = r.id
	p.runs = append(p.runs, r)
	p.markUsed(r)
	return r, true
}

// markUsed makes r the run used last, and drops runs that ended long ago.
func (p *parser) markUsed(r *run) {
	r.used = p.cycles.n
	if n := len(p.open); n > 0 && p.open[n-1] == r {
		return
	}
	kept := p.open[:0]
	for _, o := range p.open {
		if o != r && p.cycles.n < o.used+maxStale {
			kept = append(kept, o)
		}
	}
	if len(kept) >= maxOpen {
		kept = append(kept[:0], kept[1:]...)
	}
	p.open = append(kept, r)
}

// source identifies the constant part of a prefix: "svc-1  | " and
// "server[12]: ", but not the time before it.
type source uint64

const (
	bare      source = iota // nothing is constant
	anySource               // unknown: the prefix is another line's text, or a record
)

func sourceOf(prefix []byte) source {
	if len(prefix) == 0 {
		return bare
	}
	if isGlued(prefix) {
		return anySource
	}
	h := uint64(14695981039346656037) // FNV-1a
	steady := false
	for rest := prefix; len(rest) > 0; {
		var f []byte
		f, rest = cutField(rest)
		if len(f) == 0 || timeLike(f) {
			continue
		}
		steady = true
		for _, c := range f {
			if c == '"' || c == '{' || c == '=' {
				return anySource
			}
			h = (h ^ uint64(c)) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	if !steady {
		return bare
	}
	return source(h | 2)
}

// isGlued says whether the text before a gc line is no prefix but another line without an end.
func isGlued(prefix []byte) bool {
	switch prefix[len(prefix)-1] {
	case ' ', '\t', '|', ':', ']', '>', ')', '"':
		return false
	}
	return true
}

func cutField(b []byte) (f, rest []byte) {
	i := bytes.IndexByte(b, ' ')
	if i < 0 {
		return b, nil
	}
	return b[:i], b[i+1:]
}

// timeLike says whether a field is a date, a time, a zone or a counter.
func timeLike(f []byte) bool {
	if len(f) == 3 && strings.Contains("JanFebMarAprMayJunJulAugSepOctNovDec", string(f)) {
		return true
	}
	for _, c := range f {
		if !isDigit(c) && !strings.ContainsRune(":.,-/+TZ[]()|", rune(c)) {
			return false
		}
	}
	return true
}

// prefixLabel returns a prefix without its times, for a table's cell.
func prefixLabel(prefix []byte) string {
	var words []string
	for rest := prefix; len(rest) > 0; {
		var f []byte
		if f, rest = cutField(rest); len(f) > 0 && !timeLike(f) {
			words = append(words, strings.ToValidUTF8(string(f), "?"))
		}
	}
	s := strings.TrimRight(strings.Join(words, " "), "|:> \t")
	if r := []rune(s); len(r) > 40 {
		s = string(r[:39]) + "…"
	}
	return s
}
