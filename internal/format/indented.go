package format

import "bytes"

// Code in a page or a mail is often indented by four blanks or a tab.

// indentWidth returns how many blanks and tabs a line begins with.
func indentWidth(l []byte) int {
	n := 0
	for n < len(l) && (l[n] == ' ' || l[n] == '\t') {
		n++
	}
	return n
}

// asCode says whether a line is indented like code.
func asCode(l []byte) bool { return len(l) > 0 && (l[0] == '\t' || indentWidth(l) >= 4) }

// dedentLines removes the indentation that all lines share. It returns nil if they are not
// indented like code.
func dedentLines(lines []Line) (out []Line) {
	least := -1
	for _, l := range lines {
		switch {
		case len(bytes.TrimSpace(l.Text)) == 0:
		case !asCode(l.Text):
			return nil
		case least < 0 || indentWidth(l.Text) < least:
			least = indentWidth(l.Text)
		}
	}
	if least < 0 {
		return nil
	}
	for _, l := range lines {
		l.Text = l.Text[min(least, len(l.Text)):]
		out = append(out, l)
	}
	return out
}

// indentedRuns returns the stretches of lines that are indented like code, including blank lines within them, if other lines stand between.
func indentedRuns(lines []Line) (runs [][]Line) {
	from, other := -1, false
	for i := range lines {
		blank := len(bytes.TrimSpace(lines[i].Text)) == 0
		switch {
		case blank:
		case asCode(lines[i].Text):
			if from < 0 {
				from = i
			}
		default:
			other = true
			if from >= 0 {
				runs = append(runs, trimBlank(lines[from:i]))
				from = -1
			}
		}
	}
	if from >= 0 {
		runs = append(runs, trimBlank(lines[from:]))
	}
	if !other {
		return nil
	}
	return runs
}

// unwrapLines removes the envelope of a log collector from lines. It returns nil if they have none.
func unwrapLines(text []byte, lines []Line) (out []Line) {
	if len(lines) == 0 {
		return nil
	}
	e := findEnvelope(text, 0)
	if e == nil {
		return nil
	}
	u := newUnwrapper(e, 0)
	for _, l := range lines {
		if l, whole := u.unwrapLine(l); whole {
			l.Text = bytes.Clone(l.Text)
			out = append(out, l)
		}
	}
	u.flushPending(func(l Line) bool {
		l.Text = bytes.Clone(l.Text)
		out = append(out, l)
		return true
	})
	return out
}

// countEntities returns how many HTML entities of a line stand for characters of a dump.
func countEntities(l []byte) (n int) {
	if bytes.IndexByte(l, '&') < 0 {
		return 0
	}
	for _, e := range []string{"&lt;", "&gt;", "&quot;", "&#39;", "&#34;", "&nbsp;", "&#x27;"} {
		n += bytes.Count(l, []byte(e))
	}
	return n
}
