// Package jfrtext reads waits for memory from the text that jfr print makes of a flight recording:
//
//	jdk.ZAllocationStall {
//	  startTime = 01:25:30.989 (2024-03-11)
//	  duration = 503 ms
//	  type = "Small"
//	  size = 2.0 MB
//	  eventThread = "Thread-278" (javaThreadId = 318)
//
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/jfr.html, JDK 15 to 25: older ones print no date. Other events are in the recording
// itself, which package jfr reads whole.
//
// Stalls become lines of a GC log (package hotspotgc), in the order of their ends, since the beginning of the first.
package jfrtext

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/hotspotgc"
)

// Format reads such a text.
var Format = format.Format{
	Name:  "jfr-text",
	About: "waits for memory of ZGC (ZAllocationStall) as jfr print writes them",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, event) {
			return format.No
		}
		for l := range bytes.Lines(head) {
			if bytes.HasPrefix(bytes.TrimSpace(l), event) && bytes.HasSuffix(bytes.TrimSpace(l), []byte("{")) {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

var event = []byte("jdk.ZAllocationStall")

// Bounds of what is kept.
const (
	mostLine   = 4096
	mostStalls = 1 << 20
	mostName   = 100
)

// stall is an event.
type stall struct {
	start, took time.Duration // start since midnight of the first
	thread      string
	line        int64
}

type parser struct {
	all     []stall
	now     stall
	open    bool
	timed   bool
	dropped int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)])), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.end()
	if err := format.EndReading(ctx, b, err, len(p.all) > 0, "the text", "jfr-text: no wait for memory with its start and duration in it"); err != nil {
		return err
	}
	if err := hotspotgc.Format.Parse(ctx, format.Rewritten(a, p.buildLog()), b); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "since the first event", Error: evidence.Unanchored, Resolution: 1e6}
	if p.dropped > 0 {
		b.Warnf(0, "events beyond the first %d: %d", mostStalls, p.dropped)
	}
	return nil
}

func (p *parser) parseLine(text string, line int64) {
	switch {
	case strings.HasSuffix(text, " {"):
		p.end()
		p.open, p.timed, p.now = strings.HasPrefix(text, string(event)), false, stall{took: -1, line: line}
		return
	case !p.open:
		return
	case text == "}":
		p.end()
		return
	}
	key, value, ok := strings.Cut(text, " = ")
	if !ok {
		return
	}
	switch key {
	case "startTime":
		p.now.start, p.timed = parseStart(value)
	case "duration":
		if took, ok := parseDuration(value); ok {
			p.now.took = took
		}
	case "eventThread":
		name, _, _ := strings.Cut(strings.TrimPrefix(value, `"`), `"`)
		p.now.thread = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
	}
}

// end ends an event.
func (p *parser) end() {
	complete := p.open && p.timed && p.now.took >= 0
	p.open = false
	switch {
	case !complete:
	case len(p.all) == mostStalls:
		p.dropped++
	default:
		p.all = append(p.all, p.now)
	}
}

// parseStart reads "01:25:30.989", with or without " (2024-03-11)", as the time since a midnight.
func parseStart(s string) (time.Duration, bool) {
	clock, rest, _ := strings.Cut(s, " ")
	t, err := time.Parse("15:04:05.999999999", clock)
	if err != nil {
		return 0, false
	}
	of := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	if day, err := time.Parse("(2006-01-02)", strings.TrimSpace(rest)); err == nil {
		of += time.Duration(day.Unix()) * time.Second
	}
	return of, true
}

// parseDuration reads "503 ms", "1.5 s", "12.3 us" and "1 m 2 s".
func parseDuration(s string) (sum time.Duration, ok bool) {
	f := strings.Fields(s)
	for i := 0; i+1 < len(f); i += 2 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(f[i], ",", "."), 64)
		unit := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}[f[i+1]]
		if err != nil || unit == 0 || !(v >= 0 && v*unit < 86400e9) {
			return 0, false
		}
		sum += time.Duration(v * unit)
	}
	return sum, len(f) >= 2 && len(f)%2 == 0 && sum < 24*time.Hour
}

// buildLog makes a GC log of the stalls.
func (p *parser) buildLog() (out []format.Line) {
	first := p.all[0].start
	for _, x := range p.all {
		first = min(first, x.start)
	}
	slices.SortStableFunc(p.all, func(x, y stall) int { return cmp.Compare(x.start+x.took, y.start+y.took) })
	for _, x := range p.all {
		thread := x.thread
		if thread == "" || strings.ContainsAny(thread, "()\r\n") {
			thread = "thread"
		}
		out = append(out, format.Line{Number: x.line, Text: fmt.Appendf(nil, "[%.6fs][info][gc] Allocation Stall (%s) %.3fms", (x.start - first + x.took).Seconds(), thread, x.took.Seconds()*1e3)})
	}
	return out
}
