package format

import "bytes"

// Prefixes and marks that programs and pages add to the lines of a paste, removed if no format knows the lines as they are.

// breaks are the ends of lines in HTML.
var breaks = [][]byte{[]byte("<br />"), []byte("<br/>"), []byte("<br>"), []byte("<BR>")}

// splitHTMLBreaks splits lines at the line breaks of HTML, and restores the dashes that an issue
// tracker turned into bullets.
func (p *paste) splitHTMLBreaks() {
	n := 0
	for _, l := range p.lines {
		for _, b := range breaks {
			n += bytes.Count(l.Text, b)
		}
	}
	if n < 2 {
		return
	}
	var out []Line
	for _, l := range p.lines {
		text := l.Text
		for _, b := range breaks {
			text = bytes.ReplaceAll(text, b, []byte("\n"))
		}
		for part := range bytes.SplitSeq(text, []byte("\n")) {
			if len(out) >= mostPasted {
				break
			}
			x := l
			x.Text = restoreDash(bytes.TrimRight(part, " "))
			out = append(out, x)
		}
	}
	p.lines, p.changed = out, true
}

// ofMonitor are words of a thread dump behind a dash.
var ofMonitor = [][]byte{[]byte("waiting on "), []byte("waiting to lock "), []byte("locked "), []byte("parking to wait "), []byte("eliminated ")}

// restoreDash writes "* locked <0x…>" in jstack's form: "- locked <0x…>".
func restoreDash(l []byte) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(l, " "), []byte("* "))
	if !ok {
		return l
	}
	for _, w := range ofMonitor {
		if bytes.HasPrefix(rest, w) {
			return append([]byte("\t- "), rest...)
		}
	}
	return l
}

// stripReturnMarks takes off "#015" and "^M", which syslog daemons and terminals write for the
// carriage return of Windows.
func (p *paste) stripReturnMarks() {
	for _, mark := range [][]byte{[]byte("#015"), []byte("^M")} {
		n := 0
		for _, l := range p.lines {
			if bytes.HasSuffix(l.Text, mark) {
				n++
			}
		}
		if n < 2 {
			continue
		}
		p.changed = true
		for i := range p.lines {
			p.lines[i].Text = bytes.TrimSuffix(p.lines[i].Text, mark)
		}
	}
}

// stripDiffMarks removes the marks of a patch from lines that were all added or all removed. It
// returns nil for other lines.
func stripDiffMarks(lines []Line) (out []Line) {
	var mark byte
	n := 0
	for _, l := range lines {
		switch {
		case len(l.Text) == 0:
		case l.Text[0] != '+' && l.Text[0] != '-' || mark != 0 && l.Text[0] != mark:
			return nil
		default:
			mark = l.Text[0]
			n++
		}
	}
	if n < leastMarked {
		return nil
	}
	for _, l := range lines {
		if len(l.Text) > 0 {
			l.Text = l.Text[1:]
		}
		out = append(out, l)
	}
	return out
}

// leastMarked is how many lines must begin alike for the beginning to be a prefix.
const leastMarked = 3

// Bounds of a program's prefix of lines.
const (
	mostPrefix  = 160
	leastPrefix = 8
)

// stripCommonPrefix removes the beginning that all lines share except for its digits, such as the
// time and the program's name in a logger's prefix. It returns nil if there is none, or no time in it.
func stripCommonPrefix(lines []Line) (out []Line) {
	var shape []byte
	n, same := 0, true
	for _, l := range lines {
		if len(bytes.TrimSpace(l.Text)) == 0 {
			continue
		}
		s := shapeOf(l.Text)
		if n++; n == 1 {
			shape = s
			continue
		}
		same = same && bytes.Equal(shape, s)
		if shape = shape[:commonShapeLength(shape, s)]; len(shape) < leastPrefix {
			return nil
		}
	}
	if same { // the text of the lines has the same shape, too
		i := bytes.LastIndex(shape, []byte(": "))
		if i < 0 {
			return nil
		}
		shape = shape[:i+len(": ")]
	}
	if n < leastMarked || len(shape) < leastPrefix || !bytes.Contains(shape, []byte("0:0")) { // a number is reduced to one digit: "00:51:27" is "0:0:0"
		return nil
	}
	for _, l := range lines {
		if at := prefixLength(l.Text, shape); at > 0 {
			l.Text = l.Text[at:]
		}
		out = append(out, l)
	}
	return out
}

// shapeOf returns the beginning of a line with 0 for each of its numbers.
func shapeOf(l []byte) (s []byte) {
	l = l[:min(len(l), mostPrefix)]
	for i := 0; i < len(l); i++ {
		if !isDigit(l[i]) {
			s = append(s, l[i])
			continue
		}
		s = append(s, '0')
		for i+1 < len(l) && isDigit(l[i+1]) {
			i++
		}
	}
	return s
}

// commonShapeLength returns how long the common beginning of two shapes is, up to the end of a
// word.
func commonShapeLength(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	if n == len(b) && n < len(a) && a[n] == ' ' || n == len(a) && n < len(b) && b[n] == ' ' {
		return n
	}
	return bytes.LastIndexByte(a[:n], ' ') + 1
}

// prefixLength returns how many bytes of a line have a shape.
func prefixLength(l, shape []byte) int {
	at := 0
	for _, c := range shape {
		if at == len(l) {
			return at
		}
		if c == '0' && isDigit(l[at]) {
			for at < len(l) && isDigit(l[at]) {
				at++
			}
			continue
		}
		if l[at] != c {
			return 0
		}
		at++
	}
	return at
}

// Bounds of the name of a process that a program puts before each line, with a bar behind it, and of how many of these there are.
const (
	mostNamed = 48
	mostNames = 8
)

// stripProcessNames takes off lines the name of the process that wrote them, which a program that runs several puts before each with a bar behind it; nil if
// not all have one. Words of a table stand before bars, too, but are not the same few in all of its lines.
//
//	12:00:01 web.1  | text                         foreman, goreman, honcho
//	jvm 1    | text                                Java Service Wrapper: its console
//	INFO   | jvm 1    | 2018/03/02 12:00:01 | text its file
//	node#17|text                                   a shell for several hosts
func stripProcessNames(lines []Line) (out []Line) {
	names := map[string]bool{}
	n := 0
	for _, l := range lines {
		at := processNameLength(l.Text)
		if at == 0 {
			if len(bytes.TrimSpace(l.Text)) == 0 {
				out = append(out, l)
				continue
			}
			return nil
		}
		n++
		if names[string(shapeOf(l.Text[:at]))] = true; len(names) > mostNames {
			return nil
		}
		l.Text = l.Text[at:]
		out = append(out, l)
	}
	if n < leastMarked || n < 2*len(names) {
		return nil
	}
	return out
}

// processNameLength is how long the name before a line is, with its bar and the blank behind that; 0 if there is none.
func processNameLength(l []byte) int {
	bar := findBar(l)
	if bar < 0 {
		return 0
	}
	if wrapperLevels[string(bytes.TrimSpace(l[:bar]))] { // the wrapper's file has the process and the time behind it
		name := findBar(l[bar+1:])
		if name < 0 {
			return 0
		}
		bar += 1 + name
	}
	if stamp := bytes.IndexByte(l[bar+1:min(len(l), bar+2+len(wrapperTime))], '|'); stamp > 0 && string(shapeOf(bytes.TrimSpace(l[bar+1:bar+1+stamp]))) == wrapperShape {
		bar += 1 + stamp
	}
	if bar+1 < len(l) && l[bar+1] == ' ' {
		return bar + 2
	}
	return bar + 1
}

// What a time in the file of the Java Service Wrapper looks like, and its shape.
const (
	wrapperTime  = " 2018/03/02 12:00:01 "
	wrapperShape = "0/0/0 0:0:0"
)

// wrapperLevels are what the file of the Java Service Wrapper begins a line with.
var wrapperLevels = map[string]bool{"INFO": true, "STATUS": true, "WARN": true, "ERROR": true, "DEBUG": true, "FATAL": true, "NOTICE": true}

// findBar is where the bar behind a name stands, -1 if there is none.
func findBar(l []byte) int {
	bar := bytes.IndexByte(l[:min(len(l), mostNamed)], '|')
	if bar <= 0 || len(bytes.TrimSpace(l[:bar])) == 0 {
		return -1
	}
	for _, c := range l[:bar] {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || bytes.IndexByte([]byte("_.-@#: "), c) >= 0) {
			return -1
		}
	}
	return bar
}

// stripPodNames takes the names of a pod and its container off lines, as stern and kubetail put them before each; nil if not all lines have one, or there
// are many.
//
//	broker-0 kafka [2023-11-20T03:12:07.114+0000][info][gc] …       stern
//	[broker-0 kafka] [2023-11-20T03:12:07.114+0000][info][gc] …     kubetail
func stripPodNames(lines []Line) (out []Line) {
	names := map[string]bool{}
	n := 0
	for _, l := range lines {
		if len(bytes.TrimSpace(l.Text)) == 0 {
			out = append(out, l)
			continue
		}
		at := podNamesLength(l.Text)
		if at == 0 {
			return nil
		}
		n++
		if names[string(l.Text[:at])] = true; len(names) > mostNames {
			return nil
		}
		l.From = bytes.TrimRight(l.Text[:at], " ")
		l.Text = l.Text[at:]
		out = append(out, l)
	}
	if n < leastMarked || n < 2*len(names) {
		return nil
	}
	return out
}

// podNamesLength is how long the two names before a line are, with the blank behind them; 0 if there are none. That of a pod has a dash.
func podNamesLength(l []byte) int {
	at, closed := 0, byte(' ')
	if len(l) > 0 && l[0] == '[' {
		at, closed = 1, ']'
	}
	for word := range 2 {
		from := at
		for at < len(l) && at-from < mostNamed && (l[at] >= 'a' && l[at] <= 'z' || isDigit(l[at]) || l[at] == '-' || l[at] == '.') {
			at++
		}
		end := byte(' ')
		if word == 1 {
			end = closed
		}
		if at == from || at >= len(l) || l[at] != end || word == 0 && bytes.IndexByte(l[from:at], '-') < 0 {
			return 0
		}
		at++
	}
	if closed == ']' && at < len(l) && l[at] == ' ' {
		at++
	}
	return at
}
