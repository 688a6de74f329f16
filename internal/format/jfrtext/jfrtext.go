// Package jfrtext reads waits for memory and for locks from the text that jfr print makes of a flight recording:
//
//	jdk.ZAllocationStall {
//	  startTime = 01:25:30.989 (2024-03-11)
//	  duration = 503 ms
//	  type = "Small"
//	  size = 2.0 MB
//	  eventThread = "Thread-278" (javaThreadId = 318)
//
//	jdk.JavaMonitorEnter {
//	  startTime = 14:02:31.120
//	  duration = 1.24 s
//	  monitorClass = com.example.Ledger (classLoader = app)
//	  previousOwner = "http-nio-8080-exec-4" (javaThreadId = 31)
//	  eventThread = "http-nio-8080-exec-5" (javaThreadId = 58)
//	  stackTrace = [
//	    com.example.Ledger.post(long, int) line: 88
//
//	jdk.GarbageCollection {
//	  startTime = 11:52:18.076
//	  duration = 0.502 ms
//	  gcId = 859
//	  name = "G1New"
//	  cause = "G1 Evacuation Pause"
//	  sumOfPauses = 0.502 ms
//	  longestPause = 0.502 ms
//
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/jfr.html, JDK 11 to 25: older ones print no date. Other events are in the recording
// itself, which package jfr reads whole. Of ThreadPark those are counted that park at a lock; JavaMonitorWait is a wait that the program asks for, and no lock.
//
// A recording has waits above a bound alone, 20 ms by default. Their number and the longest are facts.
//
// Stalls and collections that stop the program become lines of a GC log (package hotspotgc), in the order of their ends, since the beginning of the first.
// Of a collection beside the program only the longest of its pauses is known, which becomes a remark.
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
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/hotspotgc"
)

// Format reads such a text.
var Format = format.Format{
	Name:  "jfr-text",
	About: "collections (GarbageCollection), waits for memory of ZGC (ZAllocationStall) and for locks (JavaMonitorEnter, ThreadPark) as jfr print writes them",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte("jdk.")) {
			return format.No
		}
		for l := range bytes.Lines(head) {
			if len(l) < mostLine && kindOf(string(bytes.TrimSpace(l))) != "" {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Events that are read.
const (
	stalled = "jdk.ZAllocationStall"
	enters  = "jdk.JavaMonitorEnter"
	waits   = "jdk.JavaMonitorWait"
	parks   = "jdk.ThreadPark"
	gathers = "jdk.GarbageCollection"
)

// kindOf returns the event that a line begins, "" for other lines.
func kindOf(text string) string {
	name, ok := strings.CutSuffix(text, " {")
	if !ok || name != stalled && name != enters && name != waits && name != parks && name != gathers {
		return ""
	}
	return name
}

// Bounds of what is kept.
const (
	mostLine   = 4096
	mostStalls = 1 << 20
	mostName   = 100

	mostClasses = 10_000
)

// stall is an event.
type stall struct {
	start, took time.Duration // start since midnight of the first
	thread      string
	line        int64
	class, at   string // of a wait for a lock: the lock, and the code that waits

	id              int64         // of a collection, from 1 on: 0 means that it is a wait for memory
	name, cause     string        // of it
	paused, longest time.Duration // of it, -1 not told
	stopped         time.Duration // what it stopped the program for
}

// young and full are the names of collections in JDK 8 to 25 whose whole length is a pause (jdk.GarbageCollection, field name).
var (
	young = []string{"G1New", "ParallelScavenge", "DefNew", "ParNew"}
	full  = []string{"G1Full", "ParallelOld", "SerialOld", "PSMarkSweep"}
)

// pauseWords are the words of a GC log for a collection.
func (x *stall) pauseWords() string {
	switch {
	case slices.Contains(young, x.name):
		return "Pause Young"
	case slices.Contains(full, x.name):
		return "Pause Full"
	}
	return "Pause Remark"
}

type parser struct {
	all     []stall
	now     stall
	kind    string // of the event that is read, "" for others
	stack   bool
	timed   bool
	dropped int64

	locks      int64 // waits for locks
	longest    stall // of these
	byClass    map[string]int64
	asked      int64 // waits that the program asks for
	askedMost  time.Duration
	locksFirst int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{byClass: make(map[string]int64)}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)])), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.end()
	if err := format.EndReading(ctx, b, err, int64(len(p.all))+p.locks+p.asked > 0, "the text", "jfr-text: no wait or collection with its start and duration in it"); err != nil {
		return err
	}
	if len(p.all) > 0 {
		if err := hotspotgc.Format.Parse(ctx, format.Rewritten(a, p.buildLog()), b); err != nil {
			return err
		}
	}
	*b.Clock() = evidence.Clock{Name: "since the first event", Error: evidence.Unanchored, Resolution: 1e6}
	p.emitWaits(b)
	if p.dropped > 0 {
		b.Warnf(0, "events beyond the first %d: %d", mostStalls, p.dropped)
	}
	return nil
}

// emitWaits writes the waits for locks.
func (p *parser) emitWaits(b *evidence.Builder) {
	if p.locks+p.asked == 0 {
		return
	}
	t := evidence.Table{Title: "waits of threads", Columns: []string{"", "waits", "longest ms"}}
	row := func(what string, n int64, most time.Duration) {
		if n > 0 {
			t.Rows = append(t.Rows, []string{what, strconv.FormatInt(n, 10), strconv.FormatFloat(most.Seconds()*1e3, 'f', -1, 64)})
		}
	}
	row("for locks", p.locks, p.longest.took)
	row("that the program asks for (Object.wait, park)", p.asked, p.askedMost)
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	b.Table(t)
	if p.locks == 0 {
		return
	}
	class := ""
	for c, n := range p.byClass {
		if n > p.byClass[class] || n == p.byClass[class] && c < class {
			class = c
		}
	}
	b.FactAt(subject, evidence.FactMonitorWaits, class, float64(p.locks), p.locksFirst)
	b.FactAt(subject, evidence.FactMonitorWaitMost, p.longest.class+evidence.Link+p.longest.at, float64(p.longest.took), p.longest.line)
}

func (p *parser) parseLine(text string, line int64) {
	switch {
	case strings.HasSuffix(text, " {"):
		p.end()
		p.kind, p.timed, p.stack, p.now = kindOf(text), false, false, stall{took: -1, line: line, paused: -1, longest: -1}
		return
	case p.kind == "":
		return
	case text == "}":
		p.end()
		return
	case p.stack && p.now.at == "" && text != "...":
		name, _, _ := strings.Cut(text, "(")
		p.now.at = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
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
	case "gcId":
		if n, err := strconv.ParseInt(value, 10, 62); err == nil && n >= 0 {
			p.now.id = n + 1
		}
	case "name":
		p.now.name = cutQuotes(value)
	case "cause":
		p.now.cause = cutQuotes(value)
	case "sumOfPauses", "longestPause":
		took, ok := parseDuration(value)
		switch {
		case !ok:
		case key == "sumOfPauses":
			p.now.paused = took
		default:
			p.now.longest = took
		}
	case "monitorClass", "parkedClass":
		name, _, _ := strings.Cut(value, " ")
		p.now.class = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
	case "stackTrace":
		p.stack = value == "["
	case "eventThread":
		name, _, _ := strings.Cut(strings.TrimPrefix(value, `"`), `"`)
		p.now.thread = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
	}
}

// cutQuotes reads "G1New" in its quotes.
func cutQuotes(value string) string {
	value = strings.Trim(value, `"`)
	return strings.ToValidUTF8(value[:min(len(value), mostName)], "?")
}

// end ends an event.
func (p *parser) end() {
	x, kind := p.now, p.kind
	complete := p.timed && x.took >= 0
	p.kind = ""
	switch {
	case kind == "" || !complete:
	case kind == enters, kind == parks && strings.Contains(x.class, "Lock$") && strings.Contains(x.class, "Sync"):
		if p.locks++; p.locks == 1 {
			p.locksFirst = x.line
		}
		if x.took > p.longest.took {
			p.longest = x
		}
		if len(p.byClass) < mostClasses || p.byClass[x.class] > 0 {
			p.byClass[x.class]++
		}
	case kind == gathers:
		x.stopped = x.longest
		if slices.Contains(young, x.name) || slices.Contains(full, x.name) {
			if x.stopped = x.paused; x.stopped < 0 {
				x.stopped = x.took
			}
		}
		if x.id == 0 || x.stopped < 0 {
			break
		}
		if len(p.all) == mostStalls {
			p.dropped++
			break
		}
		x.took = x.stopped
		p.all = append(p.all, x)
	case kind != stalled:
		p.asked++
		p.askedMost = max(p.askedMost, x.took)
	case len(p.all) == mostStalls:
		p.dropped++
	default:
		p.all = append(p.all, x)
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
	sorting.Short(p.all, func(x, y stall) int { return cmp.Compare(x.start+x.took, y.start+y.took) })
	for _, x := range p.all {
		if x.id > 0 {
			cause := ""
			if x.cause != "" && !strings.ContainsAny(x.cause, "\r\n") {
				cause = " (" + x.cause + ")"
			}
			out = append(out, format.Line{Number: x.line, Text: fmt.Appendf(nil, "[%.6fs][info][gc] GC(%d) %s%s %.3fms", (x.start - first + x.took).Seconds(), x.id-1, x.pauseWords(), cause, x.took.Seconds()*1e3)})
			continue
		}
		thread := x.thread
		if thread == "" || strings.ContainsAny(thread, "()\r\n") {
			thread = "thread"
		}
		out = append(out, format.Line{Number: x.line, Text: fmt.Appendf(nil, "[%.6fs][info][gc] Allocation Stall (%s) %.3fms", (x.start - first + x.took).Seconds(), thread, x.took.Seconds()*1e3)})
	}
	return out
}
