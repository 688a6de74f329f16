// Package safepointstats reads the table of -XX:+PrintSafepointStatistics, which JDK 6 to 16 print to the standard output: for each safepoint
// how long threads took to reach it, and how long its operation:
//
//	         vmop                    [threads: total initially_running wait_to_block]    [time: spin block sync cleanup vmop] page_trap_count
//	3021.118: RevokeBias             [     412          1              2    ]      [     0  8120  8121     1     0    ]  0
//
// A terminal breaks the rows before the second bracket, and writers split the table there: the parts belong together in their order.
//
// Source: SafepointSynchronize::print_statistics (https://github.com/openjdk/jdk8u/blob/master/hotspot/src/share/vm/runtime/safepoint.cpp). Times
// are ms. sync is how long it took until all threads stood: spin and block are parts of it. Rows become lines of the unified log, which package
// hotspotgc reads.
package safepointstats

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/hotspotgc"
)

// Format is such a table.
var Format = format.Format{
	Name:  "safepointstats",
	About: "the table of -XX:+PrintSafepointStatistics, JDK 6 to 16",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte("initially_running")) && !bytes.Contains(head, []byte("vmop")) {
			return format.No
		}
		var p parts
		for l := range bytes.Lines(head) {
			if _, ok := p.parseLine(l); ok {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// maxRows bounds what is kept.
const maxRows = 1_000_000

// row is a safepoint.
type row struct {
	at                  float64 // s since the start
	name                string
	sync, cleanup, vmop float64 // ms
}

func parseRow(line []byte) (r row, ok bool) {
	if len(line) > 512 || bytes.Count(line, []byte("[")) != 2 || bytes.Count(line, []byte("]")) != 2 {
		return r, false
	}
	text := strings.TrimSpace(string(line))
	at, rest, found := strings.Cut(text, ": ")
	v, err := strconv.ParseFloat(strings.Replace(at, ",", ".", 1), 64)
	if !found || err != nil || !(v >= 0 && v < 1e9) {
		return r, false
	}
	name, rest, _ := strings.Cut(rest, "[")
	threads, rest, ok := strings.Cut(rest, "]")
	_, rest, ok2 := strings.Cut(rest, "[")
	times, _, ok3 := strings.Cut(rest, "]")
	f := strings.Fields(times)
	if !ok || !ok2 || !ok3 || len(strings.Fields(threads)) != 3 || len(f) != 5 {
		return r, false
	}
	var ms [5]float64
	for i := range f {
		if ms[i], err = strconv.ParseFloat(f[i], 64); err != nil || !(ms[i] >= 0 && ms[i] < 1e8) {
			return r, false
		}
	}
	r = row{at: v, name: strings.TrimSpace(name), sync: ms[2], cleanup: ms[3], vmop: ms[4]}
	return r, r.name != "" && !strings.ContainsAny(r.name, "\",")
}

// mostParts bounds the first parts of rows that wait for their second.
const mostParts = 1000

// parts reads rows, whole or in two parts: the first parts of rows of which the second has not come yet.
type parts struct{ firsts []string }

// parseLine reads a line, and says whether it ends a row.
func (p *parts) parseLine(line []byte) (r row, ok bool) {
	if r, ok = parseRow(line); ok {
		return r, true
	}
	if len(line) > 512 || bytes.Count(line, []byte("[")) != 1 || bytes.Count(line, []byte("]")) != 1 {
		return r, false
	}
	text := strings.TrimSpace(string(line))
	if text[0] == '[' && len(p.firsts) > 0 {
		if r, ok = parseRow([]byte(p.firsts[0] + " " + text)); ok {
			p.firsts = p.firsts[1:]
		}
		return r, ok
	}
	if _, is := parseRow([]byte(text + " [0 0 0 0 0] 0")); is && len(p.firsts) < mostParts {
		p.firsts = append(p.firsts, text)
	}
	return r, false
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var lines []format.Line
	var p parts
	dropped, last := 0, 0.
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		r, ok := p.parseLine(l.Text)
		switch {
		case !ok:
		case len(lines) == maxRows:
			dropped++
		default:
			since := max(0, r.at-last)
			last = r.at
			took := r.sync + r.cleanup + r.vmop
			lines = append(lines, format.Line{Number: l.Number, Text: []byte(fmt.Sprintf("[%.3fs][info][safepoint] Safepoint \"%s\", Time since last: %.0f ns, Reaching safepoint: %.0f ns, Cleanup: %.0f ns, At safepoint: %.0f ns, Total: %.0f ns",
				r.at+took/1e3, r.name, since*1e9, r.sync*1e6, r.cleanup*1e6, r.vmop*1e6, took*1e6))})
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(lines) > 0, "the table", "safepointstats: no row of a safepoint in it"); err != nil {
		return err
	}
	if dropped > 0 {
		b.Warnf(0, "rows beyond the first %d: %d", maxRows, dropped)
	}
	return hotspotgc.Format.Parse(ctx, format.Rewritten(a, lines), b)
}
