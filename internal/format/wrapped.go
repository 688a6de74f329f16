package format

import (
	"bytes"
	"encoding/json"
)

// A mail program breaks lines that are longer than about 72 columns. Lines of a JVM's unified log show a break: the
// line of a pause ends with its time, that of a safepoint with its total. A line of PHP-FPM about a pool ends with no comma.

// longestBroken bounds a part of a broken line, longestJoined the joined line, and mostBroken the number of parts.
const (
	longestBroken = 160
	longestJoined = 800
	mostBroken    = 5
)

// isBroken says whether a line is one of a unified log, or of PHP-FPM's about a pool, that goes on in the next.
func isBroken(l []byte) bool {
	if len(l) <= longestJoined && len(l) > 0 && l[0] == '[' && bytes.Contains(l, []byte("] WARNING: [pool ")) {
		return bytes.HasSuffix(bytes.TrimRight(l, " "), []byte(","))
	}
	if len(l) < 20 || len(l) > longestJoined || l[0] != '[' || bytes.IndexByte(l, ']') < 0 || !bytes.Contains(l[:min(len(l), 60)], []byte("][")) {
		return false
	}
	l = bytes.TrimRight(l, " ")
	switch {
	case bytes.Contains(l, []byte("[safepoint")):
		i := bytes.Index(l, []byte("] Safepoint"))
		if i < 0 {
			return false
		}
		rest := l[i+len("] Safepoint"):]
		if !bytes.Contains(rest, []byte("Time since last: ")) {
			return len(rest) == 0 || bytes.HasPrefix(rest, []byte(` "`))
		}
		_, total, ok := bytes.Cut(rest, []byte("Total: "))
		return !ok || !bytes.HasSuffix(total, []byte(" ns")) && !bytes.Contains(total, []byte(" ns,"))
	case bytes.Contains(l, []byte("[gc")) && bytes.Contains(l, []byte(" Pause ")):
		return !bytes.HasSuffix(l, []byte("ms")) && (!bytes.HasSuffix(l, []byte(")")) || bytes.Contains(l, []byte("->")))
	case bytes.Contains(l, []byte("[gc")) && bytes.HasSuffix(l, []byte(" Pause")):
		return true
	case bytes.Contains(l, []byte("[gc,cpu")):
		return !bytes.Contains(l, []byte("Real="))
	}
	return false
}

// goesOn says whether a line may be the rest of one that was broken.
func goesOn(l []byte) bool {
	return len(l) > 0 && len(l) <= longestBroken && l[0] != '[' && l[0] != '#' && l[0] != '>' && !isFence(l) && !isPrompt(l)
}

// joinBrokenLines joins lines that were broken.
func (p *paste) joinBrokenLines() {
	out := p.lines[:0]
	parts := 0
	for _, l := range p.lines {
		if n := len(out); n > 0 && parts < mostBroken && isBroken(out[n-1].Text) && goesOn(l.Text) {
			out[n-1].Text = append(append(bytes.TrimRight(out[n-1].Text, " "), ' '), bytes.TrimLeft(l.Text, " ")...)
			p.changed = true
			parts++
			continue
		}
		parts = 0
		out = append(out, l)
	}
	p.lines = out
	p.unwrapObjects()
}

// Bounds of an object of JSON that a terminal or a mail program broke over lines.
const (
	mostOfObject = 40
	longestJSON  = 32 << 10
)

// unwrapObjects joins lines that form one JSON object only together. A terminal breaks within words, so nothing is put between.
func (p *paste) unwrapObjects() {
	out := p.lines[:0]
	for i := 0; i < len(p.lines); i++ {
		l := p.lines[i]
		if n := objectOver(p.lines[i:]); n > 1 {
			text := bytes.Clone(l.Text)
			for _, more := range p.lines[i+1 : i+n] {
				text = append(text, more.Text...)
			}
			l.Text = text
			i += n - 1
			p.changed = true
		}
		out = append(out, l)
	}
	p.lines = out
}

// objectOver returns over how many lines an object is broken that the first line begins, 0: it is complete, or never ends.
func objectOver(lines []Line) int {
	first := lines[0].Text
	if !bytes.HasPrefix(first, []byte(`{"`)) || bytes.HasSuffix(bytes.TrimSpace(first), []byte("}")) {
		return 0
	}
	size := len(first)
	for n := 1; n < len(lines) && n < mostOfObject; n++ {
		l := lines[n].Text
		if size += len(l); size > longestJSON || len(l) == 0 || bytes.HasPrefix(l, []byte(`{"`)) {
			return 0
		}
		if !bytes.HasSuffix(bytes.TrimSpace(l), []byte("}")) {
			continue
		}
		var text []byte
		for _, x := range lines[:n+1] {
			text = append(text, x.Text...)
		}
		if json.Valid(text) {
			return n + 1
		}
	}
	return 0
}
