package text

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is an ANSI colour or weight.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	alarm  style = "1;31"
	calm   style = "1;32"
	advice style = "1;36"
	bar    style = "36"
)

// page lays text out in lines of a width.
type page struct {
	Options
	out     strings.Builder
	sources []source        // what origins are in
	cited   map[string]bool // numbers of the sources that the report refers to
	at      limits
}

// source is an artifact and its number in the header, "" if it is the only one.
type source struct{ name, number string }

// shortenOrigin returns an origin as the number of the file and the line: "[2:5394]"; "" where
// there is only one file, and no line in it.
func (p *page) shortenOrigin(o string) string {
	for _, s := range p.sources {
		rest, ok := strings.CutPrefix(o, s.name)
		switch {
		case !ok || rest != "" && rest[0] != ':':
		case s.number != "":
			p.noteCited(s.number)
			return "[" + s.number + rest + "]"
		case rest != "":
			return "[line " + rest[1:] + "]"
		default:
			return ""
		}
	}
	return "[" + o + "]"
}

// noteCited notes that the report refers to a source by its number.
func (p *page) noteCited(number string) {
	if p.cited != nil {
		p.cited[number] = true
	}
}

// ascii is what stands for the characters the report uses.
var ascii = strings.NewReplacer("·", "-", "×", "x", "−", "-", "–", "-", "—", "-", "→", "->", "←", "<-", "≥", ">=", "≤", "<=", "≈", "~", "±", "+-",
	"µ", "u", "…", "...", "’", "'", "“", `"`, "”", `"`, "\u00a0", " ")

// cleanText makes a text from outside safe to print: what was logged may hold escape sequences.
func (p *page) cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Cf, r):
			return '?'
		}
		return r
	}, s)
	if !p.ASCII {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, ascii.Replace(s))
}

func (p *page) applyStyle(s style, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// writeLine writes one finished line.
func (p *page) writeLine(s string) {
	p.out.WriteString(strings.TrimRight(s, " "))
	p.out.WriteByte('\n')
}

func (p *page) writeBlank() {
	if s := p.out.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.out.WriteByte('\n')
	}
}

// writeBlock writes lines beside a label, the first one on the label's line.
func (p *page) writeBlock(label string, s style, indent int, lines []string) {
	for i, l := range lines {
		lead := strings.Repeat(" ", indent)
		if i == 0 && label != "" {
			lead = p.applyStyle(s, label) + strings.Repeat(" ", max(1, indent-textWidth(label)))
		}
		p.writeLine(lead + l)
	}
}

// wrapText breaks a text at spaces, but not between a number and its unit. A word longer than a
// line, such as a path, is left whole, so that it can be copied; the name of a function is
// shortened and then broken between its parts. A command has a line of its own, however long,
// and is never wrapped.
func (p *page) wrapText(text string, indent int) []string {
	return p.wrapWords(text, indent, func(w string) (string, bool) {
		if !isFunction(w) {
			return w, false
		}
		return shortenFunction(w), true
	})
}

// wrapWords breaks a text at spaces. A word that is longer than a line is replaced, and broken if it is to be.
func (p *page) wrapWords(text string, indent int, replace func(string) (string, bool)) []string {
	room := max(20, p.Width-indent)
	var lines []string
	line := ""
	for _, w := range splitWords(p.cleanText(text)) {
		if textWidth(w) > room {
			short, breaks := replace(w)
			if w = cmp.Or(short, w); breaks && textWidth(w) > room {
				if line != "" {
					lines = append(lines, line)
				}
				parts := p.foldLines([]string{w}, indent)
				lines, line = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
				continue
			}
		}
		switch {
		case line == "":
			line = w
		case textWidth(line)+1+textWidth(w) <= room:
			line += " " + w
		default:
			lines = append(lines, line)
			line = w
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// isFunction says whether a word is the name of a function: with its assembly, its receiver or its parameters.
func isFunction(word string) bool {
	name := strings.TrimLeft(word, "([\"")
	return !strings.Contains(word, "://") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, ".") && (strings.ContainsAny(name, "!(") || strings.Contains(name, "::"))
}

// shortenFunction drops from a function's name the path of its package, and the namespace and assembly of its type.
func shortenFunction(word string) string {
	word = importPath().ReplaceAllString(word, "$1")
	name := strings.TrimLeft(word, "(\"")
	lead := word[:len(word)-len(name)]
	own, params := name, ""
	if i := strings.IndexByte(name, '('); i >= 0 {
		own, params = name[:i], name[i:]
	}
	if i := strings.LastIndexByte(own, '!'); i >= 0 {
		own = own[i+1:]
	}
	return lead + own + params
}

// shortenNames drops from the names of functions in a headline what a ledger has no room for either: the path of a package, the namespace
// and the assembly of a type.
func (p *page) shortenNames(text string) string {
	if p.Verbose {
		return text
	}
	words := strings.Split(text, " ")
	for i, w := range words {
		if isFunction(w) {
			words[i] = shortenFunction(w)
		}
	}
	return strings.Join(words, " ")
}

// foldText is wrapText with words that are longer than a line broken where their parts begin.
func (p *page) foldText(text string, indent int) []string {
	return p.wrapWords(text, indent, func(w string) (string, bool) { return w, true })
}

// foldLines breaks lines that are longer than the page: words of a path or a name.
func (p *page) foldLines(lines []string, indent int) (out []string) {
	room := max(20, p.Width-indent)
	for _, line := range lines {
		for textWidth(line) > room {
			r := []rune(line)
			at := room
			for i := room; i > room/2; i-- {
				if r[i-1] == ',' || strings.ContainsRune(" ./$:(", r[i]) { // a comma stays with what it ends
					at = i
					break
				}
			}
			out = append(out, strings.TrimRight(string(r[:at]), " "))
			line = strings.TrimLeft(string(r[at:]), " ")
		}
		out = append(out, line)
	}
	return out
}

// flowItems sets items beside each other, separated by dots, breaking between them where it can.
func (p *page) flowItems(items []string, indent int) []string {
	room := max(20, p.Width-indent)
	dot := p.cleanText(" · ")
	var lines []string
	line := ""
	for _, item := range items {
		item = p.cleanText(item)
		switch {
		case line == "":
		case textWidth(line)+textWidth(dot)+textWidth(item) <= room:
			line += dot + item
			continue
		default:
			lines = append(lines, line)
			line = ""
		}
		parts := p.wrapText(item, indent)
		if len(parts) > 0 {
			lines = append(lines, parts[:len(parts)-1]...)
			line = parts[len(parts)-1]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// flowCommands is flowItems for commands behind their label ("a page: -o report.html"): one that does not fit a line stands alone on its own.
func (p *page) flowCommands(items []string, indent int) (lines []string) {
	for i, item := range items {
		label, command, _ := strings.Cut(item, ": ")
		if textWidth(p.cleanText(item)) > p.Width-indent {
			return append(append(p.flowItems(append(items[:i:i], label+":"), indent), p.cleanText(command)), p.flowCommands(items[i+1:], indent)...)
		}
	}
	return p.flowItems(items, indent)
}

var unitWords = map[string]bool{"ns": true, "us": true, "µs": true, "ms": true, "s": true, "B": true, "KiB": true, "MiB": true, "GiB": true,
	"TiB": true, "MB": true, "GB": true, "MB/s": true, "MiB/s": true, "GiB/s": true, "%": true, "/s": true, "CPUs": true, "CPU": true, "min": true, "h": true, "days": true}

func splitWords(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		bare := strings.TrimRight(w, ".,;:)")
		if n := len(out); n > 0 && unitWords[bare] {
			if last := out[n-1]; last[len(last)-1] >= '0' && last[len(last)-1] <= '9' {
				out[n-1] += " " + w
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

func textWidth(s string) int { return utf8.RuneCountInString(s) }

func padRight(s string, n int) string { return s + strings.Repeat(" ", max(0, n-textWidth(s))) }

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-textWidth(s))) + s }
