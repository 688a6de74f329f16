package format

import (
	"bytes"
	"strings"
)

// hardBlank is the non-breaking space of web pages, which replaces other blanks in text that is copied from a page.
var hardBlank = []byte("\u00a0")

// hasEntity says whether a line has an entity of HTML for a character that dumps use.
func hasEntity(l []byte) bool {
	for _, e := range []string{"&lt;", "&gt;", "&quot;", "&#39;", "&#34;", "&nbsp;", "&#x27;"} {
		if bytes.Contains(l, []byte(e)) {
			return true
		}
	}
	return false
}

// isFence says whether a line begins or ends a block of code, in Markdown, Jira, HTML or a forum.
func isFence(l []byte) bool {
	l = bytes.TrimLeft(l, " \t>")
	for _, mark := range []string{"```", "~~~", "{code", "{noformat", "<pre", "</pre", "<code", "</code", "[code", "[/code", "<details", "</details", "<summary"} {
		if bytes.HasPrefix(l, []byte(mark)) {
			return true
		}
	}
	return false
}

// isLabel says whether a line names what stands below it: in bold letters, as a heading, or with a colon behind it.
func isLabel(l []byte) bool {
	l = bytes.TrimSpace(l)
	if len(l) < 3 || len(l) > 120 {
		return false
	}
	return bytes.HasPrefix(l, []byte("**")) && bytes.HasSuffix(l, []byte("**")) || l[0] == '#' || l[len(l)-1] == ':'
}

// isRule says whether a line is a rule or a heading in one, "---- Errors ----": programs that print these may begin the lines below with a ">" of their own.
func isRule(l []byte) bool { return bytes.HasPrefix(l, []byte("----")) }

// withoutFence returns the text on the line of a fence besides it: "```gc 1 @0.1s" and "</pre>" alone.
func withoutFence(l []byte) []byte {
	l = bytes.TrimSpace(l)
	switch {
	case bytes.HasPrefix(l, []byte("```")), bytes.HasPrefix(l, []byte("~~~")):
		l = bytes.Trim(l, "`~")
		if bytes.IndexByte(l, ' ') < 0 {
			return nil // the name of a language
		}
		return l
	case l[0] == '<':
		_, rest, _ := bytes.Cut(l, []byte(">"))
		if i := bytes.IndexByte(rest, '<'); i >= 0 && isFence(rest[i:]) {
			rest = rest[:i]
		}
		return rest
	case l[0] == '{':
		_, rest, _ := bytes.Cut(l, []byte("}"))
		return rest
	}
	_, rest, _ := bytes.Cut(l, []byte("]"))
	return rest
}

// commands are what users run to examine a program or a host. Text behind a "#" or "$" is a
// command line only if it begins with one of them, or with a path.
var commands = map[string]bool{"cat": true, "tail": true, "head": true, "grep": true, "zgrep": true, "vmstat": true, "iostat": true, "mpstat": true, "sar": true, "pidstat": true, "top": true,
	"redis-cli": true, "jstack": true, "jstat": true, "jcmd": true, "jmap": true, "curl": true, "wget": true, "date": true, "free": true, "uptime": true, "kubectl": true, "oc": true, "docker": true,
	"ss": true, "netstat": true, "dmesg": true, "perf": true, "strace": true, "ps": true, "numastat": true, "sysctl": true, "echo": true, "sudo": true, "wrk": true, "wrk2": true, "hey": true, "ab": true,
	"k6": true, "dotnet-counters": true, "dotnet-stack": true, "dotnet": true, "go": true, "java": true, "ls": true, "lscpu": true, "nproc": true, "uname": true, "journalctl": true, "watch": true,
	"for": true, "while": true, "time": true, "mysql": true, "psql": true, "nstat": true, "ethtool": true, "tcpdump": true, "bombardier": true, "vegeta": true, "GODEBUG=gctrace=1": true, "turbostat": true}

// isPrompt says whether a line is a command behind the prompt of a shell, of redis-cli or of a console of Ruby.
func isPrompt(l []byte) bool {
	l = bytes.TrimLeft(l[:min(len(l), 256)], " \t>")
	if len(l) < 3 {
		return false
	}
	switch {
	case (l[0] == '$' || l[0] == '#' || l[0] == '%') && l[1] == ' ':
		word, _, _ := bytes.Cut(bytes.TrimSpace(l[2:]), []byte(" "))
		return commands[string(word)] || l[0] != '%' && isProgramPath(word)
	case bytes.HasPrefix(l, []byte("irb(")), bytes.HasPrefix(l, []byte("pry(")), bytes.HasPrefix(l, []byte("[1] pry(")):
		return bytes.Contains(l, []byte("> "))
	case bytes.HasPrefix(l, []byte("PS ")) && bytes.Contains(l, []byte(`:\`)), len(l) > 3 && l[1] == ':' && l[2] == '\\':
		return bytes.IndexByte(l, '>') > 0
	}
	// user@host:~$, [user@host dir]#, host:port>, redis host:port[2]>
	at := bytes.IndexAny(l, "$#>")
	if at <= 2 || at > 80 {
		return false
	}
	before := l[:at]
	if at+1 < len(l) && l[at+1] != ' ' {
		return false
	}
	if l[at] == '>' {
		before = bytes.TrimPrefix(before, []byte("redis "))
		host, port, ok := bytes.Cut(before, []byte(":"))
		port, _, _ = bytes.Cut(port, []byte("["))
		return ok && len(host) > 0 && bytes.IndexByte(host, ' ') < 0 && len(port) > 1 && digitsOnly(port)
	}
	name, host, ok := bytes.Cut(before, []byte("@"))
	return ok && len(name) > 0 && len(host) > 0 && bytes.IndexByte(bytes.TrimLeft(name, "["), ' ') < 0 && len(name) <= 40 && bytes.IndexByte(host, '"') < 0
}

// isProgramPath says whether a word is the path of a program, and neither "..." nor the comment of a statement.
func isProgramPath(word []byte) bool {
	if rest, ok := bytes.CutPrefix(word, []byte("/")); ok {
		return len(rest) > 0 && rest[0] != '*' && rest[0] != '/'
	}
	return bytes.HasPrefix(word, []byte("./")) || bytes.HasPrefix(word, []byte("../")) || len(word) > 1 && word[0] == '.' && word[1] != '.'
}

// stripTerminalMarks removes the marks of terminals and word processors from a line: colours,
// unusual blanks, typographic quotes and boxes.
func stripTerminalMarks(l []byte) []byte {
	plain := true
	for _, c := range l {
		if c == 0x1b || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return l
	}
	out := make([]byte, 0, len(l))
	for i := 0; i < len(l); i++ {
		if l[i] != 0x1b {
			out = append(out, l[i])
			continue
		}
		j := i + 1
		if j < len(l) && l[j] == '[' {
			for j++; j < len(l) && (l[j] >= '0' && l[j] <= '9' || l[j] == ';' || l[j] == '?'); j++ {
			}
		}
		i = j
	}
	return stripBox(leaning.replaceBytes(out))
}

// stripBox removes the sides of a terminal program's window: "│ text      │".
func stripBox(l []byte) []byte {
	rest, ok := bytes.CutPrefix(l, boxSide)
	if !ok {
		return l
	}
	rest = bytes.TrimRight(rest, " ")
	rest = bytes.TrimRight(bytes.TrimSuffix(rest, boxSide), " ")
	return bytes.TrimPrefix(rest, []byte(" "))
}

var boxSide = []byte("│")

type replacer struct{ *strings.Replacer }

func (r replacer) replaceBytes(b []byte) []byte { return []byte(r.Replace(string(b))) }

var leaning = replacer{strings.NewReplacer("\u00a0", " ", "\u200b", "", "\ufeff", "", "\u201c", `"`, "\u201d", `"`, "\u2028", "")}

// stripQuoteMarks takes the marks of quoted mail off a line.
func stripQuoteMarks(l []byte) []byte {
	for len(l) > 0 && l[0] == '>' {
		l = l[1:]
		if len(l) > 0 && l[0] == ' ' {
			l = l[1:]
		}
	}
	return l
}

// stripLineNumbers removes the numbers 1, 2, 3 … that editors and cat -n put before lines.
func (p *paste) stripLineNumbers() {
	last, n := int64(0), 0
	for _, l := range p.lines {
		if at, v := lineNumber(l.Text); at > 0 {
			if n > 0 && v != last+1 {
				return
			}
			last = v
			n++
		} else if len(bytes.TrimSpace(l.Text)) > 0 {
			return
		}
	}
	if n < 3 {
		return
	}
	p.changed = true
	for i := range p.lines {
		if at, _ := lineNumber(p.lines[i].Text); at > 0 {
			p.lines[i].Text = p.lines[i].Text[at:]
		}
	}
}

// lineNumber reads "  12: text" and "12\ttext", and returns where the text begins, 0 without a number.
func lineNumber(l []byte) (at int, v int64) {
	i := 0
	for i < len(l) && (l[i] == ' ' || l[i] == '\t') {
		i++
	}
	from := i
	for i < len(l) && isDigit(l[i]) && i-from < 7 {
		v = v*10 + int64(l[i]-'0')
		i++
	}
	if i == from || i == len(l) || l[i] != '\t' && l[i] != ':' && l[i] != '|' {
		return 0, 0
	}
	i++
	if l[i-1] != '\t' && i < len(l) && l[i] == ' ' {
		i++
	}
	return i, v
}
