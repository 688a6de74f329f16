// Package javacore reads what OpenJ9 and IBM's JVMs write into a javacore: the threads with their locks and the history of GC, whole or cut
// out of the middle.
//
//	1TIDATETIME    Date: 2020/04/15 at 10:48:15:144
//	3XMTHREADINFO      "WebContainer : 23" J9VMThread:0x0000000006A30700, omrthread_t:0x…, java/lang/Thread:0x…, state:B, prio=5
//	3XMTHREADINFO1            (native thread ID:0x4846, native priority:0x5, native policy:UNKNOWN, vmstate:B, …)
//	3XMTHREADBLOCK     Blocked on: shop/Stock@0x00000000E0A1B2C8 Owned by: "WebContainer : 5" (J9VMThread:0x…, java/lang/Thread:0x…)
//	4XESTACKTRACE                at shop/Stock.take(Stock.java:118(Compiled Code))
//	5XESTACKTRACE                   (entered lock: shop/Stock@0x00000000E0A1B2C8, entry count: 1)
//	3STHSTTYPE     11:09:55:291666635 GMT j9mm.131 -   SystemGC start: newspace=… oldspace=… loa=…
//
// Source: https://eclipse.dev/openj9/docs/dump_javadump/ and
// https://github.com/eclipse-openj9/openj9/blob/master/runtime/rasdump/javadump.cpp, Java 6 to 21.
//
// Threads become HotSpot's text for them, which package threaddump reads. The history of GC, whose newest line stands first, becomes
// a log for package openj9gc. Without the date of the dump, the times of the history are of an unknown day.
package javacore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/openj9gc"
	"github.com/unstall/unstall/internal/format/threaddump"
)

// Format reads javacores.
var Format = format.Format{
	Name:    "javacore",
	About:   "javacores of OpenJ9 and IBM J9: threads, locks, history of GC",
	Moments: true,
	Match: func(head []byte) format.Confidence {
		for _, tag := range [][]byte{threadTag, historyTag} {
			if i := bytes.Index(head, tag); i == 0 || i > 0 && (head[i-1] == '\n' || head[i-1] == ' ') {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

var (
	threadTag  = []byte("3XMTHREADINFO ")
	historyTag = []byte("3STHSTTYPE ")
)

// Bounds of what is read.
const (
	mostLine    = 4096
	mostLines   = 4 << 20
	mostHistory = 100_000
)

type parser struct {
	date    time.Time // of the dump
	threads []format.Line
	blocked string // "- waiting to lock <…>", for the line below its innermost frame
	open    bool
	history []happened
	heap    [3]int64 // bytes of the heap, used and free; 0: unknown
}

// happened is a line of the history of GC.
type happened struct {
	at   time.Duration // of the day
	what string
	line int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(l.Number, strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)])))
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(p.threads)+len(p.history) > 0, "the javacore", "javacore: no thread and no line of GC's history in it"); err != nil {
		return err
	}
	var errs []error
	read := false
	if log := p.buildVerboseLog(); len(log) > 0 {
		if err := openj9gc.Format.Parse(ctx, format.Rewritten(a, log), b); err != nil {
			errs = append(errs, err)
		} else {
			read = true
			if p.date.IsZero() {
				*b.Clock() = evidence.Clock{Name: "time of day", Error: evidence.Unanchored}
			}
		}
	}
	if len(p.threads) > 0 {
		if err := threaddump.Format.Parse(ctx, format.Rewritten(a, p.threads), b); err != nil {
			errs = append(errs, err)
		} else {
			read = true
		}
	}
	if p.tellHeap(b) || read {
		return nil
	}
	if len(errs) == 0 {
		return errors.New("javacore: its history of GC has no collection with a beginning and an end")
	}
	return errs[0]
}

func (p *parser) addLine(line int64, text string) {
	if len(p.threads) < mostLines {
		p.threads = append(p.threads, format.Line{Number: line, Text: []byte(text)})
	}
}

func (p *parser) parseLine(line int64, text string) {
	if stamped, ok := strings.CutPrefix(text, "["); ok { // the log of a build has its own time before each line
		if _, after, ok := strings.Cut(stamped, "] "); ok {
			text = after
		}
	}
	tag, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch tag {
	case "1TIDATETIME":
		if _, at, ok := strings.Cut(rest, "Date: "); ok && p.date.IsZero() {
			if i := strings.LastIndexByte(at, ':'); i > 0 && strings.Count(at, ":") > 2 { // milliseconds
				at = at[:i]
			}
			at, _, _ = strings.Cut(at, " (")
			p.date, _ = time.Parse("2006/01/02 at 15:04:05", strings.TrimSpace(at))
		}
	case "3XMTHREADINFO":
		p.parseThread(line, rest)
	case "3XMTHREADBLOCK":
		p.parseWait(rest)
	case "4XESTACKTRACE":
		p.parseFrame(line, rest)
	case "5XESTACKTRACE":
		if _, entered, ok := strings.Cut(rest, "(entered lock: "); ok && p.open {
			entered, _, _ = strings.Cut(entered, ",")
			if o := formatObject(entered); o != "" {
				p.addLine(line, "\t- locked "+o)
			}
		}
	case "3STHSTTYPE":
		p.parseHistory(line, rest)
	case "1STHEAPTOTAL":
		p.heap[0] = bytesOf(rest)
	case "1STHEAPINUSE":
		p.heap[1] = bytesOf(rest)
	case "1STHEAPFREE":
		p.heap[2] = bytesOf(rest)
	}
}

// bytesOf reads "Total memory free:  24113150 (0x00000000016FEFFE)".
func bytesOf(rest string) int64 {
	_, rest, _ = strings.Cut(rest, ":")
	digits, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	v, err := strconv.ParseInt(digits, 10, 63)
	if err != nil || v < 0 {
		return 0
	}
	return v
}

// tellHeap shows how full the heap was; false: unknown.
func (p *parser) tellHeap(b *evidence.Builder) bool {
	if p.heap[0] == 0 || p.heap[1]+p.heap[2] == 0 {
		return false
	}
	mb := func(v int64) string { return strconv.FormatFloat(float64(v)/(1<<20), 'f', 1, 64) }
	b.Table(evidence.Table{Title: "heap when the javacore was written", Columns: []string{"", "MiB"}, Rows: [][]string{{"heap", mb(p.heap[0])}, {"in use", mb(p.heap[1])}, {"free", mb(p.heap[2])}}})
	return true
}

// states maps OpenJ9's states to HotSpot's words.
var states = map[byte]string{'R': "RUNNABLE", 'B': "BLOCKED (on object monitor)", 'P': "WAITING (parking)", 'C': "WAITING (on object monitor)", 'S': "RUNNABLE", 'Z': "RUNNABLE"}

// parseThread reads the line of a thread. Threads of the VM have no name and are left out.
func (p *parser) parseThread(line int64, rest string) {
	p.open, p.blocked = false, ""
	if len(rest) < 2 || rest[0] != '"' {
		return
	}
	end := strings.LastIndex(rest, `" J9VMThread:`)
	if end <= 0 {
		return
	}
	_, state, ok := strings.Cut(rest[end:], "state:")
	if !ok || state == "" || states[state[0]] == "" {
		return
	}
	address, _, _ := strings.Cut(rest[end+len(`" J9VMThread:`):], ",")
	if len(p.threads) == 0 {
		if !p.date.IsZero() {
			p.addLine(line-1, p.date.Format("2006-01-02 15:04:05")) // above the title, as in HotSpot's dumps
		}
		p.addLine(line, "Full thread dump OpenJ9 VM")
	}
	p.open = true
	p.addLine(line, "")
	p.addLine(line, rest[:end]+`" prio=5 tid=`+strings.ToLower(address))
	p.addLine(line, "   java.lang.Thread.State: "+states[state[0]])
}

// formatObject writes "shop/Stock@0x00000000E0A1B2C8" in HotSpot's form, "" for other text.
func formatObject(s string) string {
	class, at, ok := strings.Cut(strings.TrimSpace(s), "@0x")
	at, _, _ = strings.Cut(at, "/") // of a class: "java/lang/Class@0x…/0x…"
	if !ok || class == "" || at == "" || strings.ContainsAny(class, " <>\"") {
		return ""
	}
	if _, err := strconv.ParseUint(at, 16, 64); err != nil {
		return ""
	}
	return "<0x" + strings.ToLower(at) + "> (a " + strings.ReplaceAll(class, "/", ".") + ")"
}

// parseWait reads what a thread waits for.
func (p *parser) parseWait(rest string) {
	for _, x := range [][2]string{{"Blocked on: ", "- waiting to lock "}, {"Parked on: ", "- parking to wait for  "}, {"Waiting on: ", "- waiting on "}} {
		if of, ok := strings.CutPrefix(rest, x[0]); ok {
			of, _, _ = strings.Cut(of, " Owned by:")
			if o := formatObject(of); o != "" {
				p.blocked = "\t" + x[1] + o
			}
		}
	}
}

// parseFrame reads "at shop/Stock.take(Stock.java:118(Compiled Code))".
func (p *parser) parseFrame(line int64, rest string) {
	call, ok := strings.CutPrefix(rest, "at ")
	if !ok || !p.open {
		return
	}
	call = strings.TrimSuffix(call, "(Compiled Code))")
	if len(call)+3 != len(rest) {
		call += ")"
	}
	method, place, ok := strings.Cut(call, "(")
	if !ok {
		return
	}
	p.addLine(line, "\tat "+strings.ReplaceAll(method, "/", ".")+"("+place)
	if p.blocked != "" {
		p.addLine(line, p.blocked)
		p.blocked = ""
	}
}

// parseHistory reads "11:09:55:291666635 GMT j9mm.131 -   SystemGC start: newspace=…".
func (p *parser) parseHistory(line int64, rest string) {
	if len(rest) < 20 || len(p.history) == mostHistory {
		return
	}
	at, err := time.Parse("15:04:05", rest[:8])
	nanos, _, _ := strings.Cut(rest[9:], " ")
	n, err2 := strconv.ParseInt(nanos, 10, 32)
	_, what, ok := strings.Cut(rest, " - ")
	if err != nil || err2 != nil || !ok || rest[8] != ':' || n < 0 {
		return
	}
	day := at.Sub(time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC))
	p.history = append(p.history, happened{day + time.Duration(n), strings.TrimSpace(what), line})
}

// unknownDay is the day of a history without a date.
var unknownDay = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// buildVerboseLog makes a verbose GC log from the history, with the collections whose beginning and end are
// in it.
func (p *parser) buildVerboseLog() (out []format.Line) {
	day := unknownDay
	if !p.date.IsZero() {
		day = p.date.Truncate(24 * time.Hour)
	}
	put := func(h *happened, f string, args ...any) {
		out = append(out, format.Line{Number: h.line, Text: fmt.Appendf(nil, f, args...)})
	}
	var begun *happened
	cause, kind := "", ""
	alone := false                             // begun is a global collection itself
	for i := len(p.history) - 1; i >= 0; i-- { // the oldest first
		h := &p.history[i]
		word, _, _ := strings.Cut(h.what, ":")
		switch word {
		case "SystemGC start", "AllocationFailure start", "Allocation failure cycle start", "Concurrent collection start":
			begun, kind, alone = h, "", false
			cause = word
		case "GlobalGC start":
			if kind = "global"; begun == nil { // what it began for was written over, or is told otherwise
				begun, cause, alone = h, word, true
			}
		case "LocalGC start", "Scavenge start":
			if kind == "" {
				kind = "scavenge"
			}
		case "SystemGC end", "AllocationFailure end", "Allocation failure cycle end", "Concurrent collection end", "GlobalGC end":
			if word == "GlobalGC end" && !alone {
				continue
			}
			alone = false
			if begun == nil || h.at < begun.at {
				begun = nil
				continue
			}
			if kind == "" {
				kind = "scavenge"
				if cause == "SystemGC start" {
					kind = "global"
				}
			}
			const layout = "2006-01-02T15:04:05.000"
			ms := float64(h.at-begun.at) / 1e6
			put(begun, `<exclusive-start timestamp="%s">`, day.Add(begun.at).Format(layout))
			switch cause {
			case "SystemGC start":
				put(begun, `<sys-start reason="explicit" />`)
			case "AllocationFailure start", "Allocation failure cycle start":
				put(begun, `<af-start />`)
			}
			put(begun, `<gc-start type="%s">`, kind)
			putMemory(begun.what, begun, put)
			put(h, `<gc-end type="%s" durationms="%.3f">`, kind, ms)
			putMemory(h.what, h, put)
			put(h, `<exclusive-end timestamp="%s" durationms="%.3f" />`, day.Add(h.at).Format(layout), ms)
			begun = nil
		}
	}
	return out
}

// putMemory writes the heap of "…: newspace=221355232/253100032 oldspace=340041616/801701888
// loa=…": free and all bytes.
func putMemory(what string, h *happened, put func(*happened, string, ...any)) {
	var free, total float64
	for word := range strings.FieldsSeq(what) {
		name, sizes, ok := strings.Cut(word, "=")
		if !ok || name != "newspace" && name != "oldspace" && !(name == "memory" && total == 0) { // all of it, as GlobalGC end tells
			continue
		}
		f, t, _ := strings.Cut(sizes, "/")
		x, err := strconv.ParseFloat(f, 64)
		y, err2 := strconv.ParseFloat(t, 64)
		if err != nil || err2 != nil || x < 0 || y < x {
			return
		}
		free, total = free+x, total+y
	}
	if total > 0 {
		put(h, `<mem-info free="%.0f" total="%.0f">`, free, total)
	}
}
