// Package redistimeout reads the messages in which StackExchange.Redis, the client of .NET programs, reports that an
// answer came too late, from logs and exceptions, of versions 1.0 to 2.8:
//
//	Timeout awaiting response (outbound=0KiB, inbound=0KiB, 5120ms elapsed, timeout is 5000ms), command=HMGET, …, qs: 12, …, in: 4120, …,
//	IOCP: (Busy=1,Free=999,Min=8,Max=1000), WORKER: (Busy=54,Free=32713,Min=8,Max=32767), POOL: (Threads=54,QueuedItems=812,CompletedItems=9182334), Local-CPU: 3%
//
// Source: ExceptionFactory and PerfCounterHelper
// (https://github.com/StackExchange/StackExchange.Redis/blob/main/src/StackExchange.Redis/ExceptionFactory.cs),
// https://stackexchange.github.io/StackExchange.Redis/Timeouts.
//
// A message's figures of the thread pool are the program's own, from the moment when the client gave up. More busy threads than the
// minimum mean that the pool adds threads slowly (two a second before .NET 6), and that unread answers wait for one. Keys
// are not kept.
package redistimeout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a log with such messages.
var Format = format.Format{
	Name:  "redistimeout",
	About: "messages of StackExchange.Redis about answers that came too late, with the state of the .NET thread pool",
	Match: matchHead,
	Parse: parseArtifact,
}

// message is what one says.
type message struct {
	command                      string
	elapsed, timeout             float64 // ms
	queued, sent, bytesWaiting   float64 // qu, qs, in
	ioBusy, ioMin, busy, minimum float64
	threads, items, cpu          float64
}

var worker = []byte("WORKER: (Busy=")

// spaceNames puts the blank behind the names of the pool's parts that some programs' reports lose: "WORKER:(Busy=52,".
func spaceNames(text []byte) []byte {
	if !bytes.Contains(text, []byte(":(Busy=")) {
		return text
	}
	return bytes.ReplaceAll(text, []byte(":(Busy="), []byte(": (Busy="))
}

func matchHead(head []byte) format.Confidence {
	head = spaceNames(head)
	if bytes.Contains(head, worker) && bytes.Contains(head, []byte("IOCP: (Busy=")) {
		return format.Sure
	}
	if len(head) < format.HeadSize && bytes.Contains(head, []byte("WORKER:")) && bytes.Contains(head, []byte("IOCP:")) { // wrapped by a mail program or a page
		if flat := bytes.Join(bytes.Fields(head), []byte(" ")); bytes.Contains(flat, worker) && bytes.Contains(flat, []byte("IOCP: (Busy=")) {
			return format.Sure
		}
	}
	return format.No
}

// wrapped joins a message whose lines were broken by a mail program or a page.
type wrapped struct {
	text  []byte
	line  int64
	stamp int64
	n     int
}

// mostWrapped is how many lines a message may be broken into.
const mostWrapped = 24

// addLine adds a line, and returns a message once it is complete.
func (w *wrapped) addLine(l format.Line) (message format.Line, ok bool) {
	l.Text = spaceNames(l.Text)
	_, complete := parseMessage(l.Text)
	begins := bytes.Contains(l.Text, []byte("Timeout performing ")) || bytes.Contains(l.Text, []byte("Timeout awaiting response"))
	switch {
	case complete && (begins || w.n == 0):
		w.n = 0
		return l, true
	case begins:
		w.text, w.line, w.stamp, w.n = append(w.text[:0], l.Text...), l.Number, l.Stamp, 1
	case w.n > 0:
		w.text = append(append(w.text, ' '), bytes.TrimSpace(l.Text)...)
		w.n++
	default:
		return l, false
	}
	_, after, found := bytes.Cut(w.text, worker)
	told := found && (bytes.Contains(after, []byte("Local-CPU")) || bytes.Contains(after, []byte("(Please ")) || bytes.Contains(after, []byte(" v: ")))
	if told || w.n == mostWrapped || len(w.text) > 16<<10 {
		whole := format.Line{Text: w.text, Number: w.line, Stamp: w.stamp}
		w.n = 0
		return whole, found
	}
	return l, false
}

// flushRest returns a message that the text ends within.
func (w *wrapped) flushRest() (format.Line, bool) {
	return format.Line{Text: w.text, Number: w.line, Stamp: w.stamp}, w.n > 0 && bytes.Contains(w.text, []byte("WORKER: ("))
}

// parseNumberAfter reads the number behind words, NaN without.
func parseNumberAfter(text, words string) float64 {
	_, rest, ok := strings.Cut(text, words)
	if !ok {
		return math.NaN()
	}
	n := 0
	for n < len(rest) && n < 15 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.' && n > 0) {
		n++
	}
	v, err := strconv.ParseFloat(strings.TrimRight(rest[:n], "."), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// parseMessage reads the figures of a message about a timeout.
func parseMessage(line []byte) (m message, ok bool) {
	if !bytes.Contains(line, worker) {
		return m, false
	}
	text := string(line[:min(len(line), 16<<10)])
	_, pool, _ := strings.Cut(text, "IOCP: (")
	io, workers, ok := strings.Cut(pool, "WORKER: (")
	if !ok {
		return m, false
	}
	m = message{elapsed: parseNumberAfter(text, "inbound=0KiB, "), timeout: parseNumberAfter(text, "timeout is "), queued: parseNumberAfter(text, "qu: "), sent: parseNumberAfter(text, "qs: "), bytesWaiting: parseNumberAfter(text, ", in: "),
		ioBusy: parseNumberAfter(io, "Busy="), ioMin: parseNumberAfter(io, "Min="), busy: parseNumberAfter(workers, "Busy="), minimum: parseNumberAfter(workers, "Min="), threads: parseNumberAfter(workers, "(Threads="), items: parseNumberAfter(workers, "QueuedItems="),
		cpu: parseNumberAfter(workers, "Local-CPU: ")}
	if before, _, found := strings.Cut(text, "ms elapsed"); found {
		if i := strings.LastIndexByte(before, ' '); i >= 0 {
			if v, err := strconv.ParseFloat(strings.TrimPrefix(before[i+1:], "("), 64); err == nil {
				m.elapsed = v
			}
		}
	}
	for _, words := range []string{"command=", "Timeout performing "} {
		if _, rest, found := strings.Cut(text, words); found && m.command == "" {
			end := 0
			for end < len(rest) && end < 24 && rest[end] >= 'A' && rest[end] <= 'Z' {
				end++
			}
			m.command = rest[:end]
		}
	}
	return m, !math.IsNaN(m.busy)
}

// layouts of the times that lines begin with.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05"}

// parseTime reads the time a line begins with, ns; 0 without one.
func parseTime(line []byte) int64 {
	text := strings.TrimLeft(string(line[:min(len(line), 64)]), " [")
	for _, layout := range layouts {
		if len(text) < len(layout) {
			continue
		}
		t, err := time.Parse(layout, text[:len(layout)])
		if err != nil || t.Year() < 1990 || t.Year() > 2199 {
			continue
		}
		at := t.UnixNano()
		if rest := text[len(layout):]; len(rest) > 3 && (rest[0] == '.' || rest[0] == ',') {
			if ms, err := strconv.ParseInt(rest[1:4], 10, 64); err == nil {
				at += ms * 1e6
			}
		}
		return at
	}
	return 0
}

const maxMessages = 200_000

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet"})
	var at []int64
	var all []message
	var lines []int64
	strange, strangeLine := int64(0), int64(0)
	timed, last := true, int64(0)
	var broken wrapped
	take := func(l format.Line) bool {
		m, ok := parseMessage(l.Text)
		if !ok {
			if bytes.Contains(l.Text, []byte("WORKER: (")) {
				if strange++; strangeLine == 0 {
					strangeLine = l.Number
				}
			}
			return true
		}
		t := parseTime(l.Text)
		if t == 0 {
			t = l.Stamp
		}
		if t == 0 && last == 0 || t != 0 && t < last {
			timed = false
		}
		if t == 0 { // within a stack trace, below the line with the time
			t = last
		}
		last = t
		if len(all) < maxMessages {
			at, all, lines = append(at, t), append(all, m), append(lines, l.Number)
		}
		return true
	}
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if whole, ok := broken.addLine(l); ok {
			return take(whole)
		}
		l.Text = spaceNames(l.Text)
		return broken.n > 0 || take(l)
	})
	if l, ok := broken.flushRest(); ok {
		take(l)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(all) == 0 && err != nil:
		return err
	case len(all) == 0:
		return errors.New("redistimeout: no message with the state of the thread pool")
	case err != nil:
		b.Warnf(lines[len(lines)-1], "the log is incomplete: %v", err)
		b.Cut()
	}
	*b.Clock() = evidence.Clock{Name: "times of the log", Error: 1e9, Resolution: 1e6}
	if !timed {
		*b.Clock() = evidence.Clock{Name: "messages, one after the other", Error: evidence.Unanchored}
		for i := range at {
			at[i] = int64(i+1) * 1e9
		}
	} else {
		b.Warnf(0, "the times of this log have no time zone and were read as UTC: check them against the other files")
	}
	series := func(name string, of func(*message) float64) {
		s := evidence.Series{Subject: subject, Name: name, Unit: "count", Origin: b.Origin(lines[0])}
		for i := range all {
			v := of(&all[i])
			switch n := len(s.T); {
			case math.IsNaN(v):
			case n > 0 && s.T[n-1] == at[i]:
				s.V[n-1] = max(s.V[n-1], v)
			default:
				s.T, s.V = append(s.T, at[i]), append(s.V, v)
			}
		}
		if len(s.T) > 0 {
			b.Series(s)
		}
	}
	series(evidence.SeriesPoolQueue, func(m *message) float64 { return m.items })
	series(evidence.SeriesPoolThreads, func(m *message) float64 {
		if math.IsNaN(m.threads) {
			return m.busy
		}
		return m.threads
	})
	if cpu := func(m *message) float64 { return m.cpu }; true {
		s := evidence.Series{Subject: subject, Name: evidence.SeriesCPU, Unit: "percent", Origin: b.Origin(lines[0])}
		for i := range all {
			if v := cpu(&all[i]); v <= 100 && (len(s.T) == 0 || at[i] > s.T[len(s.T)-1]) {
				s.T, s.V = append(s.T, at[i]), append(s.V, v)
			}
		}
		if len(s.T) > 0 {
			b.Series(s)
		}
	}
	worst := 0
	for i := range all {
		if all[i].busy-all[i].minimum > all[worst].busy-all[worst].minimum {
			worst = i
		}
	}
	w := &all[worst]
	origin := b.Origin(lines[worst])
	fact := func(key, value string, v float64) {
		if !math.IsNaN(v) {
			b.Fact(evidence.Fact{Subject: subject, Key: key, Value: value, Number: v, Origin: origin})
		}
	}
	fact(evidence.FactPoolMinimum, formatFigure(w.minimum), w.minimum)
	fact(evidence.FactPoolBusy, formatFigure(w.busy), w.busy)
	fact(evidence.FactPoolIOBusy, formatFigure(w.ioBusy), w.ioBusy)
	fact(evidence.FactPoolIOMinimum, formatFigure(w.ioMin), w.ioMin)
	fact(evidence.FactRedisTimeouts, w.command, float64(len(all)))
	t := evidence.Table{Title: "time-outs of StackExchange.Redis, the first 20", Columns: []string{"command", "waited ms", "sent, not answered", "bytes unread", "workers busy", "minimum", "I/O threads busy", "minimum", "queued work"}}
	for i := range all[:min(len(all), 20)] {
		m := &all[i]
		t.Rows = append(t.Rows, []string{m.command, formatFigure(m.elapsed), formatFigure(m.sent), formatFigure(m.bytesWaiting), formatFigure(m.busy), formatFigure(m.minimum), formatFigure(m.ioBusy), formatFigure(m.ioMin), formatFigure(m.items)})
	}
	b.Table(t)
	b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverThreadPool, From: at[0], Until: at[len(at)-1] + 1, Origin: b.Origin(lines[0])})
	if strange > 0 {
		b.Warnf(strangeLine, "messages that were not understood: %d", strange)
	}
	return nil
}

func formatFigure(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.6g", v)
}
