package sysstat

import (
	"bytes"
	"strings"
)

// notation reads the output of iostat and mpstat with -o JSON. In sysstat 11.5 to 12.7 it is often invalid JSON: iostat -y has a comma
// before the first report, a stopped tool prints no end, and users copy the middle. So signs are read one after the other,
// and each object with figures is a row: rows become those of the text, whose columns have the same names.
//
//	{"disk_device": "sdc", "r/s": 282.50, …, "util": 100.00}
//	"avg-cpu":  {"user": 6.75, "nice": 0.00, …, "idle": 93.00}
//	{"cpu": "all", "usr": 1.01, …, "idle": 98.49}                 "-1" for "all" before 12.1.3
type notation struct {
	on     bool
	inside bool // of a string
	escape bool
	token  []byte
	text   bool   // token was a string
	key    string // of the value that follows
	pairs  []pair // of the innermost object
	object string // the key it stands behind
	fresh  bool   // a report begins
	time   string // of day of the report
	about  greeting
	date   string
	under  []string // keys that objects and lists stand behind, outermost first
	titles string   // of the heading in force
	empty  bool     // a list began, and nothing came yet
	later  bool     // the report since boot was left out (iostat -y), as a comma before the first says
}

type pair struct{ key, value string }

// Bounds of a row and of its depth; strings beyond a length are none of sysstat's.
const (
	mostPairs  = 64
	mostToken  = 128
	mostNested = 16
)

// isNotation says whether text begins like, or goes on as, such output: by the keys of a row.
func isNotation(text string) bool {
	return strings.Contains(text, `"disk_device"`) || strings.Contains(text, `"avg-cpu"`) && strings.Contains(text, `"idle"`) ||
		strings.Contains(text, `"cpu"`) && strings.Contains(text, `"usr"`) && strings.Contains(text, `"idle"`)
}

// isNotationLine says whether a line is the first of it: which keys it has is not known yet.
func isNotationLine(l []byte) bool {
	l = bytes.TrimLeft(l, " \t,`[")
	for _, key := range []string{`{"sysstat"`, `"sysstat"`, `"hosts"`, `"nodename"`, `"statistics"`, `"timestamp"`, `"avg-cpu"`, `"cpu-load"`, `"disk"`, `{"disk_device"`, `"disk_device"`, `{"cpu"`, `"cpu"`} {
		if bytes.HasPrefix(l, []byte(key)) {
			return true
		}
	}
	return false
}

// parseNotation reads a line of JSON.
func (p *parser) parseNotation(line string) {
	n := &p.notation
	for i := 0; i < len(line); i++ {
		c := line[i]
		if n.inside {
			switch {
			case n.escape:
				n.escape = false
			case c == '\\':
				n.escape = true
				continue
			case c == '"':
				n.inside, n.text = false, true
				continue
			}
			if len(n.token) < mostToken {
				n.token = append(n.token, c)
			}
			continue
		}
		switch c {
		case '"':
			n.inside, n.empty, n.token = true, false, n.token[:0]
		case ':':
			if n.text {
				n.key, n.text, n.token = string(n.token), false, n.token[:0]
				p.tableBegins(n.key)
			}
		case '{', '[':
			if len(n.under) < mostNested {
				n.under = append(n.under, n.key)
			}
			if c == '{' {
				n.object, n.pairs = n.key, n.pairs[:0]
			}
			n.key, n.token, n.text = "", n.token[:0], false
			n.empty = c == '['
			continue
		case '}', ']', ',':
			p.endValue()
			if c == ',' {
				if n.empty && len(n.under) > 0 && n.under[len(n.under)-1] == "statistics" {
					n.later = true
				}
				continue
			}
			if c == '}' {
				p.endObject()
			}
			if k := len(n.under); k > 0 {
				n.under = n.under[:k-1]
			}
		case ' ', '\t', '`':
		default:
			if len(n.token) < mostToken {
				n.token = append(n.token, c)
			}
		}
	}
	if n.inside { // no string goes over the end of a line
		n.inside, n.escape, n.token = false, false, n.token[:0]
	}
}

// tableBegins takes the key of a list of rows, with which a report of its kind begins.
func (p *parser) tableBegins(key string) {
	switch key {
	case "disk", "cpu-load", "avg-cpu":
		p.notation.fresh = true
	case "statistics":
		g := p.notation.about
		g.date = p.notation.date
		if g.release != "" || g.host != "" {
			p.takeBanner(g)
		}
	}
}

// endValue takes a value of JSON that ended.
func (p *parser) endValue() {
	n := &p.notation
	if n.key == "" || len(n.token) == 0 && !n.text {
		return
	}
	key, v := n.key, string(n.token)
	n.key, n.text, n.token = "", false, n.token[:0]
	switch key {
	case "nodename":
		n.about.host = v
	case "release":
		n.about.release = v
	case "date":
		n.date = v
	case "number-of-cpus":
		if c, ok := parseNumber(v); ok && c.v >= 1 && c.v <= 1<<16 {
			n.about.cpus = int(c.v)
		}
	case "timestamp":
		n.time = ""
		if !p.clock.parseReportTime(v) {
			n.time = v
		}
		p.h, n.fresh = nil, true
	default:
		if len(n.pairs) < mostPairs {
			n.pairs = append(n.pairs, pair{key, v})
		}
	}
}

// endObject takes an object of JSON that ended as a row.
func (p *parser) endObject() {
	n := &p.notation
	defer func() { n.pairs, n.object = n.pairs[:0], "" }()
	if len(n.pairs) < 3 {
		return
	}
	var titles, row []string
	of := func(kind int, first string, rest []pair, name func(string) string) {
		if first != "" {
			titles = append(titles, first)
		}
		for _, x := range rest {
			titles, row = append(titles, name(x.key)), append(row, x.value)
		}
		stamp := []string(nil)
		if kind == processor && first == "CPU" {
			stamp = strings.Fields(n.time)
			if len(stamp) == 0 {
				stamp = []string{"00:00:00"}
			}
		}
		heads := append(stamp[:len(stamp):len(stamp)], titles...)
		if line := strings.Join(titles, " "); n.fresh || p.h == nil || p.h.kind != kind || line != n.titles {
			h := headingOf(heads)
			if h == nil || h.kind != kind {
				return
			}
			if len(stamp) > 0 {
				h.begins -= int64(1e9) // the time is that of the end, which headings of the text do not tell
			}
			p.setHeading(h)
			n.titles, n.fresh = line, false
		}
		if p.parseRow(append(stamp[:len(stamp):len(stamp)], row...)) {
			p.used++
		} else {
			p.countUnparsed()
		}
	}
	percent := func(k string) string { return "%" + k }
	switch {
	case n.pairs[0].key == "disk_device":
		row = append(row, n.pairs[0].value)
		of(disk, "Device", n.pairs[1:], func(k string) string {
			switch k {
			case "util", "rrqm", "wrqm", "drqm":
				return "%" + k
			}
			return k
		})
	case n.object == "avg-cpu":
		of(processor, "avg-cpu:", n.pairs, percent)
	case n.pairs[0].key == "cpu" && len(n.pairs) > 4:
		row = append(row, n.pairs[0].value)
		of(processor, "CPU", n.pairs[1:], percent)
	}
}
