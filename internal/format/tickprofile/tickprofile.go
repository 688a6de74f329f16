// Package tickprofile reads the summary of a CPU profile of V8, as node --prof-process and the tick processors of V8 print it:
//
//	Statistical profiling result from isolate-0x102001600-v8.log, (451 ticks, 7 unaccounted, 0 excluded).
//
//	 [JavaScript]:
//	   ticks  total  nonlib   name
//	     44    9.8%    9.9%  Function: *parse /srv/app/parse.js:12:10
//
//	 [Summary]:
//	   ticks  total  nonlib   name
//	     12    2.6%    2.7%  GC
//
// https://nodejs.org/en/learn/getting-started/profiling, V8 3.1 (Node.js 0.6) to 13. A tick is 1 ms, unless --prof-sampling-interval was given;
// shares are right in any case. Ticks while the program waits are in libraries, mostly in those of the kernel.
package tickprofile

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a summary.
var Format = format.Format{
	Name:  "tick-profile",
	About: "CPU profiles of Node.js as node --prof-process prints them",
	Match: func(head []byte) format.Confidence {
		summary := false
		for l := range bytes.Lines(head) {
			if len(l) <= mostLine {
				if _, ok := totalOf(string(l)); ok || summary && isHeading(string(l)) {
					return format.Sure
				}
				if text := bytes.TrimSpace(l); len(text) > 0 {
					summary = string(text) == "[Summary]:"
				}
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine  = 4096
	mostRows  = 20_000
	mostName  = 200
	mostShown = 15
)

const opening = "Statistical profiling result from "

// totalOf reads how many ticks there are.
func totalOf(text string) (n float64, ok bool) {
	_, rest, ok := strings.Cut(text, opening)
	_, rest, ok2 := strings.Cut(rest, ", (")
	digits, rest, ok3 := strings.Cut(rest, " ticks")
	v, err := strconv.ParseUint(digits, 10, 40)
	return float64(v), ok && ok2 && ok3 && err == nil && strings.HasSuffix(strings.TrimSpace(rest), ").")
}

// isHeading says whether a line is that of a section's columns.
func isHeading(text string) bool {
	return slices.Equal(strings.Fields(text), []string{"ticks", "total", "nonlib", "name"})
}

// sumTicks adds up a summary whose first line is not there. GC is in the others, too.
func sumTicks(summary map[string]row) (n float64) {
	for _, name := range []string{"JavaScript", "C++", "Shared libraries", "Unaccounted"} {
		n += summary[name].ticks
	}
	return n
}

// row is a line of a section.
type row struct {
	ticks float64
	name  string
	line  int64
	ours  bool // code of the program, of Node.js or of V8: what is in a library may be a wait
}

// functionOf returns the function of a row, without what nm calls its kind, its arguments and how it was compiled.
func functionOf(name string) string {
	if len(name) > 2 && name[1] == ' ' { // "T node::crypto::PBKDF2(…)"
		name = strings.ReplaceAll(name[2:], "(anonymous namespace)::", "")
		name, _, _ = strings.Cut(name, "(")
		return name
	}
	for _, kind := range []string{"LazyCompile: ", "Function: ", "Script: ", "Eval: ", "JS: "} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			return strings.TrimLeft(rest, "*~^+")
		}
	}
	return name
}

// isOwnCode says whether a row of JavaScript is in a file of the program or of a package, and not in Node.js' own.
func isOwnCode(name string) bool {
	f := functionOf(name)
	return f != name && strings.Contains(f, "/") && !strings.Contains(f, " internal/") && !strings.Contains(f, " node:")
}

// rowOf reads "44    9.8%    9.9%  name", where a share may be missing.
func rowOf(text string) (r row, ok bool) {
	f := strings.Fields(text)
	if len(f) < 3 || !strings.HasSuffix(f[1], "%") {
		return r, false
	}
	n, err := strconv.ParseUint(f[0], 10, 40)
	f = f[2:]
	if len(f) > 1 && strings.HasSuffix(f[0], "%") {
		f = f[1:]
	}
	name := strings.Join(f, " ")
	return row{ticks: float64(n), name: strings.ToValidUTF8(name[:min(len(name), mostName)], "?")}, err == nil
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	total, profiles, section := 0., 0, ""
	var rows []row
	var heavy []row // of the section bottom up, until a file of the program
	summary := make(map[string]row)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine {
			return true
		}
		text := strings.TrimSpace(string(l.Text))
		if n, ok := totalOf(text); ok {
			total, section, rows, heavy = n, "", nil, nil
			clear(summary)
			profiles++
			return true
		}
		if name, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(text, "]:") && (profiles > 0 || text == "[Summary]:") {
			section = strings.TrimSuffix(name, "]:")
			profiles = max(profiles, 1) // of one without its first line the rest is read from the summary on
			return true
		}
		r, ok := rowOf(text)
		if !ok || profiles == 0 {
			return true
		}
		r.line = l.Number
		switch section {
		case "Bottom up (heavy) profile":
			if len(heavy) < mostShown {
				heavy = append(heavy, r)
			}
		case "JavaScript", "C++", "Shared libraries":
			r.ours = section == "JavaScript" || section == "C++" && strings.Contains(r.name, "::")
			if len(rows) < mostRows {
				rows = append(rows, r)
			}
		case "Summary":
			if len(summary) < 20 {
				summary[r.name] = r
			}
		case "GC": // of its own before Node.js 4
			r.name = "GC"
			summary[r.name] = r
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, profiles > 0, "the profile", "tickprofile: no profile of V8 in it"); err != nil {
		return err
	}
	if total == 0 {
		total = sumTicks(summary)
	}
	*b.Clock() = evidence.Clock{Name: "one profile", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "node"})
	t := evidence.Table{Title: "CPU profile of V8", Columns: []string{"", "ticks", "% of all"}}
	share := func(n float64) string {
		if total == 0 {
			return ""
		}
		return strconv.FormatFloat(100*n/total, 'f', 1, 64)
	}
	add := func(name string, n float64) {
		t.Rows = append(t.Rows, []string{name, strconv.FormatFloat(n, 'f', 0, 64), share(n)})
	}
	add("all", total)
	for _, name := range []string{"JavaScript", "C++", "GC", "Shared libraries", "Unaccounted"} {
		if r, ok := summary[name]; ok {
			add(name, r.ticks)
		}
	}
	sorting.Short(rows, func(x, y row) int { return cmp.Compare(y.ticks, x.ticks) })
	for _, r := range rows[:min(len(rows), mostShown)] {
		add(r.name, r.ticks)
	}
	b.Table(t)
	if len(rows) > 0 && rows[0].ours && total > 0 {
		top := rows[0]
		value := evidence.WallRun + evidence.Link + functionOf(top.name)
		if len(heavy) > 0 && heavy[0].name == top.name {
			if i := slices.IndexFunc(heavy[1:], func(r row) bool { return isOwnCode(r.name) }); i >= 0 {
				value += " for " + functionOf(heavy[1+i].name)
			}
		}
		b.FactAt(subject, evidence.FactWallProfile, value, min(1, top.ticks/total), top.line)
		b.FactAt(subject, evidence.FactWallProfileTime, "", total*tick, top.line)
	}
	if r, ok := summary["GC"]; ok && total >= leastTicks && r.ticks >= muchGC*total {
		b.Warnf(r.line, "GC has %s %% of the ticks: node --trace-gc shows which collections, and a heap snapshot what is kept", share(r.ticks))
	}
	if profiles > 1 {
		b.Warnf(0, "of %d profiles the last is shown", profiles)
	}
	return nil
}

// tick (ns) is how long one is, unless --prof-sampling-interval says otherwise.
const tick = 1e6

// The least number of ticks for a share, and the share from which GC is reported.
const (
	leastTicks = 100
	muchGC     = .2
)
