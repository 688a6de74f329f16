package dotnetcounters

import (
	"bytes"
	"context"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// parseScreens reads the screens of dotnet-counters monitor, as copied from a terminal: one, or several
// below each other.
//
//	Press p to pause, r to resume, q to quit.
//	    Status: Running
//
//	[System.Runtime]
//	    % Time in GC since last GC (%)                                 1
//	    ThreadPool Queue Length                                    1,912
//
// Since .NET 9 a counter with tags has its values below it, each with its tag before it:
//
//	dotnet.gc.collections ({collection})
//	    gc.heap.generation
//	    ------------------
//	    gen0                                             2
//
// From 9.0.6 on a second figure may stand behind a value, under "Last Delta": the change since the screen before.
//
// Some copy the lines of the runtime's counters alone, without the provider's, and with a colon behind the names.
//
// A screen has no time: several count as 1 s apart, the tool's refresh interval.
func (p *parser) parseScreens(ctx context.Context, a *format.Artifact) error {
	x := screen{p: p}
	return a.Lines(func(l format.Line) bool {
		p.rows = l.Number
		x.parseLine(strings.TrimRight(unquoteScreen(string(l.Text)), " \t"))
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
}

type screen struct {
	p        *parser
	provider string
	seen     map[string]bool
	name     string // of a counter whose values stand below it
	indent   int
	tag      string
	deltas   bool // a second figure stands behind the first: how much it changed
}

// unquoteScreen removes the quotation marks of mails and keeps blanks, as indentation shows the structure.
func unquoteScreen(line string) string {
	return strings.TrimPrefix(strings.TrimPrefix(line, "\ufeff"), "> ")
}

// mostScreens is how many screens are read.
const mostScreens = 100_000

func (x *screen) beginScreen() {
	p := x.p
	x.seen = make(map[string]bool)
	if len(p.stamps) < mostScreens {
		p.stamps = append(p.stamps, stamp{ns: int64(len(p.stamps)+1) * 1e9, date: true, zoned: true})
	}
}

func (x *screen) parseLine(text string) {
	trimmed := strings.TrimLeft(text, " \t")
	switch {
	case strings.HasPrefix(trimmed, "Name ") && strings.Contains(trimmed, "Current Value"):
		x.deltas = strings.Contains(trimmed, "Last Delta")
		return
	case trimmed == "", strings.HasPrefix(trimmed, "Press p to"), strings.HasPrefix(trimmed, "Status:"), strings.Trim(trimmed, "-") == "":
		return
	case trimmed[0] == '[' && strings.HasSuffix(trimmed, "]"):
		x.provider, x.name, x.tag = trimmed[1:len(trimmed)-1], "", ""
		return
	}
	indent := len(text) - len(trimmed)
	name, v, ok := splitScreen(trimmed)
	if ok && x.deltas {
		if before, value, two := splitScreen(name); two {
			name, v = before, value
		}
	}
	if x.provider == "" {
		if !ok || !isOfRuntime(name) {
			x.p.countUnparsed()
			return
		}
		x.addValue(strings.TrimSuffix(runtime, "/"), perSeconds(name), "", v)
		return
	}
	switch {
	case !ok && x.name != "" && indent > x.indent: // the name of a tag
		x.tag = trimmed
		return
	case !ok && strings.Contains(trimmed, "."):
		x.name, x.indent, x.tag = trimmed, indent, ""
		return
	case !ok:
		x.p.countUnparsed()
		return
	}
	display, tags := name, ""
	if x.name != "" && indent > x.indent {
		display, tags = x.name, name
		if tag := strings.Fields(x.tag); len(tag) == 1 {
			tags = tag[0] + "=" + name
		}
	} else {
		x.name, x.tag = "", ""
	}
	x.addValue(x.provider, perSeconds(display), tags, v)
}

// addValue adds a counter's value. One that comes again begins the next screen.
func (x *screen) addValue(provider, display, tags string, v float64) {
	key := provider + "/" + display + "[" + tags
	if x.seen == nil || x.seen[key] {
		x.beginScreen()
	}
	x.seen[key] = true
	x.p.addReading(int32(len(x.p.stamps)-1), rawKey{provider, display, tags, strings.HasSuffix(display, " sec)")}, v)
}

// perSeconds converts "Allocation Rate / 1 sec (B)", "Gen 0 GC Count / 60 sec" and "Exceptions / sec" of tools before 5.0 to the form of later
// ones, and the names of those tools to theirs. "Gen 0 GC Count / 0 sec" of their first versions is per interval of the tool, 1 s unless it was
// told another.
func perSeconds(display string) string {
	name, rest, ok := strings.Cut(display, " / ")
	if ok && rest == "sec" {
		rest = "1 sec"
	}
	number, unit, found := strings.Cut(rest, " sec")
	if !ok || !found || strings.Trim(number, "0123456789.,") != "" || strings.Contains(name, " (") {
		return findLaterName(display)
	}
	if unit = strings.Trim(unit, " ()"); unit == "" {
		unit = "Count"
	}
	if number == "0" {
		number = "1"
	}
	return findLaterName(name) + " (" + unit + " / " + number + " sec)"
}

// earlier are the names that tools before 5.0 show, and the later ones.
var earlier = map[string]string{
	"Gen 0 GC":                        "Gen 0 GC Count",
	"Gen 1 GC":                        "Gen 1 GC Count",
	"Gen 2 GC":                        "Gen 2 GC Count",
	"Exceptions":                      "Exception Count",
	"ThreadPool Threads Count":        "ThreadPool Thread Count",
	"ThreadPool Completed Work Items": "ThreadPool Completed Work Item Count",
	"% Time in GC (since last GC)":    "% Time in GC since last GC (%)",
	"# of Assemblies Loaded":          "Number of Assemblies Loaded",
}

// withoutUnit are the units of counters that tools before 5.0 show without one.
var withoutUnit = map[string]string{"CPU Usage": "%", "Working Set": "MB", "GC Heap Size": "MB"}

// findLaterName returns the later name of a counter, with its unit.
func findLaterName(display string) string {
	if later, ok := earlier[display]; ok {
		return later
	}
	if unit, ok := withoutUnit[display]; ok {
		return display + " (" + unit + ")"
	}
	if name, unit, ok := strings.Cut(display, " ("); ok && earlier[name] != "" {
		return earlier[name] + " (" + unit
	}
	return display
}

// splitScreen reads "ThreadPool Queue Length                1,912": the figure stands behind at least two blanks, with any
// culture's separators between thousands.
func splitScreen(text string) (name string, v float64, ok bool) {
	if before, after, colon := format.CutLast(text, ":"); colon { // copied by hand, or printed by a script
		if v, ok = parseGrouped(strings.TrimSpace(after)); ok && before != "" {
			return strings.TrimSpace(before), v, true
		}
	}
	i := strings.LastIndex(text, "  ")
	if i < 0 {
		i = strings.LastIndexByte(text, '\t')
	}
	if i <= 0 {
		return "", 0, false
	}
	digits := strings.TrimSpace(text[i:])
	v, ok = parseGrouped(digits)
	return strings.TrimSpace(text[:i]), v, ok
}

// parseGrouped reads a number with separators between its thousands: "1,912.5", "1.912,5", "1
// 912", "0,25".
func parseGrouped(s string) (float64, bool) {
	s = strings.NewReplacer("\u00a0", "", "\u202f", "", " ", "", "'", "").Replace(s)
	comma, point := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.')
	thousands := func(sign string) bool { // as in 1,912 and 1,912,004
		parts := strings.Split(s, sign)
		for _, p := range parts[1:] {
			if len(p) != 3 {
				return false
			}
		}
		return len(parts) > 1 && len(parts[0]) <= 3 && parts[0] != "0" && parts[0] != "-0"
	}
	switch {
	case comma >= 0 && point > comma:
		s = strings.ReplaceAll(s, ",", "")
	case point >= 0 && comma > point:
		s = strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1)
	case comma >= 0 && thousands(","):
		s = strings.ReplaceAll(s, ",", "")
	case comma >= 0:
		s = strings.Replace(s, ",", ".", 1)
	case strings.Count(s, ".") > 1 && thousands("."):
		s = strings.ReplaceAll(s, ".", "")
	}
	return parseFigure(s)
}

// isOfRuntime says whether a name is that of one of the runtime's counters, which tell what they are without their provider above them.
func isOfRuntime(name string) bool {
	s := parseDisplay(perSeconds(name))
	_, known := displays[runtime+s.name]
	return known && strings.Contains(s.name, " ")
}

// areCounters says whether text is such counters alone.
func areCounters(head []byte) bool {
	n := 0
	for l := range bytes.Lines(head) {
		text := strings.TrimSpace(unquoteScreen(string(l[:min(len(l), 512)])))
		if text == "" {
			continue
		}
		name, _, ok := splitScreen(text)
		if !ok || !isOfRuntime(name) {
			break
		}
		n++
	}
	return n >= 2
}

// isScreen recognises a screen, cut anywhere.
func isScreen(head []byte) bool {
	if areCounters(head) {
		return true
	}
	if !bytes.Contains(head, []byte("[System.Runtime]")) && !bytes.Contains(head, []byte("[Microsoft")) {
		return false
	}
	provider, rows := false, 0
	for l := range bytes.Lines(head) {
		text := strings.TrimRight(unquoteScreen(string(l[:min(len(l), 512)])), " \t\r\n")
		trimmed := strings.TrimLeft(text, " \t")
		switch {
		case trimmed == "[System.Runtime]", strings.HasPrefix(trimmed, "[Microsoft.AspNetCore.") && strings.HasSuffix(trimmed, "]"), trimmed == "[Microsoft-AspNetCore-Server-Kestrel]":
			provider = true
		case provider && trimmed != text:
			if _, _, ok := splitScreen(trimmed); ok {
				if rows++; rows == 2 {
					return true
				}
			}
		}
	}
	return false
}
