package format

import (
	"bytes"
	"slices"
	"strings"
)

// Loggers write text of several lines as one, with its line ends as escapes: level=info msg="=== BEGIN goroutine stack dump ===\ngoroutine 1 [select]:\n\tmain.main()".

// leastEscaped is how many escaped line ends a line has that holds several.
const leastEscaped = 4

// splitEscapedLines splits lines at the line ends that are escaped in them, and restores tabs and quotes. Objects of JSON are unpacked by their keys.
func (p *paste) splitEscapedLines() {
	some := false
	for _, l := range p.lines {
		some = some || hasEscapedLines(l.Text)
	}
	if !some {
		return
	}
	var out []Line
	for _, l := range p.lines {
		if !hasEscapedLines(l.Text) {
			out = append(out, l)
			continue
		}
		p.changed = true
		for part := range bytes.SplitSeq(unescapeText(l.Text), newLine) {
			if len(out) >= mostPasted {
				break
			}
			x := l
			x.Text = part
			out = append(out, x)
		}
	}
	p.lines = out
}

func hasEscapedLines(l []byte) bool {
	return bytes.Count(l, []byte(`\n`)) >= leastEscaped && !isOfJSON(bytes.TrimLeft(l, " \t>"))
}

// isOfJSON says whether a line begins as one of JSON does: with an object, a key or a text.
func isOfJSON(l []byte) bool {
	l = bytes.TrimLeft(bytes.TrimPrefix(l, []byte("[")), " ")
	return len(l) > 0 && (l[0] == '{' || l[0] == '"')
}

// escapes are what stands behind a backslash, and what it stands for.
var escapes = map[byte]byte{'n': '\n', 't': '\t', '"': '"', '\\': '\\'}

// unescapeText returns text without escapes.
func unescapeText(l []byte) []byte {
	out := make([]byte, 0, len(l))
	for i := 0; i < len(l); i++ {
		if l[i] == '\\' && i+1 < len(l) {
			if c, ok := escapes[l[i+1]]; ok {
				out = append(out, c)
				i++
				continue
			}
		}
		out = append(out, l[i])
	}
	return out
}

// unescapeMarkdown removes the backslashes that an editor of Markdown puts before characters which mean something in it: "\* Background", "\_\_libc". It
// returns nil for lines without any.
func unescapeMarkdown(lines []Line) (out []Line) {
	some := false
	for _, l := range lines {
		if bytes.IndexByte(l.Text, '\\') >= 0 {
			text := make([]byte, 0, len(l.Text))
			for i, c := range l.Text {
				if c == '\\' && i+1 < len(l.Text) && strings.IndexByte("*_#[]()<>`~|+-.!{}", l.Text[i+1]) >= 0 {
					some = true
					continue
				}
				text = append(text, c)
			}
			l.Text = text
		}
		out = append(out, l)
	}
	if !some {
		return nil
	}
	return out
}

// joinArrows joins lines that a terminal broke within the arrow between two sizes, "[16.9gb]-" and ">[14.5gb]/[23.2gb]", whose rest looks like a quotation.
func (p *paste) joinArrows() {
	out := p.lines[:0]
	for _, l := range p.lines {
		if n := len(out); n > 0 && bytes.HasSuffix(out[n-1].Text, []byte("-")) && len(l.Text) > 1 && l.Text[0] == '>' && (l.Text[1] == '[' || isDigit(l.Text[1])) {
			out[n-1].Text = append(slices.Clip(out[n-1].Text), l.Text...)
			p.changed = true
			continue
		}
		out = append(out, l)
	}
	p.lines = out
}

// stripCodeMarks takes the single marks of code in a sentence off lines that begin or end with one: `[pool www] server reached …`, and "`{" to "}`".
func (p *paste) stripCodeMarks() {
	for i := range p.lines {
		text := bytes.TrimSpace(p.lines[i].Text)
		n := bytes.Count(text, codeMark)
		if n == 0 || n > 2 || len(text) < 2 {
			continue
		}
		begins, ends := text[0] == '`', text[len(text)-1] == '`'
		if n == 1 && (begins || ends) || n == 2 && begins && ends {
			p.lines[i].Text = bytes.ReplaceAll(p.lines[i].Text, codeMark, nil)
			p.changed = true
			if n == 2 {
				if p.coded == nil {
					p.coded = make(map[int64]bool)
				}
				p.coded[p.lines[i].Number] = true
			}
		}
	}
}

var codeMark = []byte("`")

// isMarkedAsCode says whether a line begins with the mark of code in a sentence.
func isMarkedAsCode(l []byte) bool {
	return len(l) > 2 && l[0] == '`' && l[1] != '`'
}
