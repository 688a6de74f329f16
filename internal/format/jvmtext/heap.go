package jvmtext

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format/java"
)

// parseLabelled reads lines that begin with a label.
func (p *parser) parseLabelled(text string) bool {
	if strings.HasPrefix(text, "-XX:") {
		p.parseOptions(text)
		return true
	}
	if _, v, ok := strings.Cut(text, " VM version "); ok {
		p.parseVersion(v)
		return true
	}
	for _, x := range []struct {
		prefix string
		read   func(string)
	}{
		{"VM Flags:", p.parseOptions}, {"Non-default VM flags:", p.parseOptions}, {"Command line:", p.parseOptions}, {"jvm_args:", p.parseOptions},
		{"java_command:", func(s string) { // the text behind the class may hold secrets
			if f := strings.Fields(s); len(f) > 0 && !strings.HasPrefix(f[0], "<") {
				p.command = cleanValue(f[0])
			}
		}},
		{"JVM version is ", p.parseVersion}, {"JDK ", p.parseVersion},
	} {
		if rest, ok := strings.CutPrefix(text, x.prefix); ok {
			x.read(rest)
			return true
		}
	}
	for prefix, collector := range map[string]string{"Concurrent Mark-Sweep GC": "ParNew+CMS", "Parallel GC with ": "Parallel", "Garbage-First (G1) GC": "G1", "Mark Sweep Compact GC": "Serial"} {
		if strings.HasPrefix(text, prefix) {
			p.said = collector
			return true
		}
	}
	if pid, ok := strings.CutSuffix(text, ":"); ok && p.line == 1 {
		if n, err := strconv.ParseUint(pid, 10, 31); err == nil {
			p.about.PID = int(n)
			return true
		}
	}
	return false
}

func (p *parser) parseVersion(text string) {
	if v := java.Version(strings.TrimSpace(text)); len(v) > len(p.about.Version) {
		p.about.Version = v
	}
}

// generations are the collectors' names for the parts of their heap in GC.heap_info, until
// JDK 23 and later.
var generations = []struct{ prefix, part, collector string }{
	{"PSYoungGen", "young", "Parallel"}, {"ParOldGen", "old", "Parallel"}, {"PSOldGen", "old", "Parallel"},
	{"par new generation", "young", "ParNew+CMS"}, {"concurrent mark-sweep generation", "old", "ParNew+CMS"},
	{"def new generation", "young", "Serial"}, {"DefNew", "young", "Serial"}, {"tenured generation", "old", "Serial"}, {"Tenured", "old", "Serial"},
	{"garbage-first heap", "", "G1"}, {"ZHeap", "", ""},
	{"eden space", "eden", ""}, {"from space", "survivor", ""}, {"Metaspace", "metaspace", ""},
}

// findGeneration finds the part of the heap that a line of GC.heap_info is about. ok says that an
// answer may begin with this line.
func findGeneration(l []byte) (n int, ok bool) {
	for i := range generations {
		g := &generations[i]
		if bytes.HasPrefix(l, []byte(g.prefix)) && (g.collector != "" || g.part == "") {
			return i, bytes.Contains(l, []byte(" total ")) || bytes.Contains(l, []byte("used "))
		}
	}
	return 0, bytes.Equal(l, []byte("Shenandoah Heap"))
}

// parseGeneration reads a line of GC.heap_info:
//
//	PSYoungGen      total 38400K, used 30750K [0x…        without one of its survivor spaces
//	 eden space 33280K, 92% used [0x…
//	garbage-first heap   total reserved 65536K, committed 17408K, used 4548K [0x…
//	ZHeap           used 24M, capacity 128M, max capacity 128M
//	 128M max, 128M soft max, 128M committed, 22288K used    Shenandoah
func (p *parser) parseGeneration(text string) bool {
	if text == "Shenandoah Heap" {
		p.said = "Shenandoah"
		return true
	}
	if strings.Contains(text, " soft max, ") && strings.HasSuffix(text, " used") {
		s := size{-1, -1, p.line, ""}
		for part := range strings.SplitSeq(text, ", ") {
			amount, what, _ := strings.Cut(part, " ")
			switch n, ok := bytesOf(amount); {
			case ok && what == "committed":
				s.capacity = n
			case ok && what == "used":
				s.used = n
			}
		}
		p.setPart("heap", s)
		return true
	}
	for _, g := range generations {
		rest, ok := strings.CutPrefix(text, g.prefix)
		if !ok {
			continue
		}
		if p.said == "" && g.collector != "" {
			p.said = g.collector
		}
		s := parseAmounts(rest)
		s.line = p.line
		switch part := g.part; part {
		case "":
			p.setPart("heap", s)
		case "metaspace":
			s.capacity = -1 // the committed size does not show its limit
			p.setPart(part, s)
		default:
			p.setPart(part, s)
		}
		return s.capacity >= 0 || s.used >= 0
	}
	return false
}

// parseAmounts reads "total 38400K, used 30750K", "33280K, 92% used", "used 24M, capacity 128M".
func parseAmounts(text string) size {
	s := size{capacity: -1, used: -1}
	if i := strings.IndexByte(text, '['); i >= 0 {
		text = text[:i]
	}
	percent := -1.0
	before := ""
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, ok := bytesOf(f)
		if !ok && f == "0K" {
			n, ok = 0, true
		}
		switch {
		case strings.HasSuffix(f, "%"):
			if v, err := strconv.ParseFloat(f[:len(f)-1], 64); err == nil && v >= 0 && v <= 100 {
				percent = v
			}
		case ok && before == "used":
			s.used = n
		case ok && (before == "total" || before == "" || before == "committed" || before == "capacity" && s.capacity < 0):
			s.capacity = n
		}
		before = f
	}
	if s.used < 0 && percent >= 0 && s.capacity > 0 {
		s.used = s.capacity * percent / 100 // whole percents
	}
	return s
}

// parseUsage reads jmap -heap's lines about one space:
//
//	Eden Space:
//	   capacity = 33554432 (32.0MB)
//	   used     = 30750000 (29.3MB)
func (p *parser) parseUsage(text string) {
	if name, ok := strings.CutSuffix(text, ":"); ok {
		p.space = spaces[name]
		if strings.HasSuffix(name, "Generation") || strings.HasSuffix(name, "generation") || name == "G1 Heap" {
			p.young = strings.Contains(name, "Young") || strings.Contains(name, "New")
		}
		return
	}
	name, rest, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || !isIdentifier([]byte(name)) {
		if text == "PS Old Generation" || text == "PS Perm Generation" {
			p.space = spaces[text]
		}
		return
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return
	}
	value := fields[0]
	if len(fields) > 1 && fields[1] == "MB" { // not set: 17592186044415 MB
		value += "m"
	}
	n, sized := bytesOf(value)
	if !sized && value != "0" {
		return
	}
	switch {
	case name[0] >= 'A' && name[0] <= 'Z':
		p.setFlag(name, setting{strconv.FormatFloat(n, 'f', -1, 64), p.line, true})
	case p.space == "":
	case name == "capacity":
		p.setPart(p.space, size{n, p.usedBytes(p.space), p.line, ""})
	case name == "used":
		if s, has := p.heap[p.space]; has {
			s.used = n
			p.heap[p.space] = s
		}
	}
}

// spaces are jmap's names of the parts of a heap.
var spaces = map[string]string{"Eden Space": "eden", "From Space": "survivor", "Survivor Space": "survivor", "G1 Heap": "heap", "G1 Old Generation": "old", "PS Old Generation": "old",
	"concurrent mark-sweep generation": "old", "tenured generation": "old", "New Generation (Eden + 1 Survivor Space)": "young"}

func (p *parser) usedBytes(part string) float64 {
	if s, ok := p.heap[part]; ok {
		return s.used
	}
	return -1
}

func (p *parser) setPart(name string, s size) {
	if _, known := p.heap[name]; !known {
		p.parts = append(p.parts, name)
	}
	p.heap[name] = s
}
