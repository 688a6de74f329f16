// Package sos reads the output of the debugger extension SOS, dotnet-dump analyze and dotnet-gcdump about a .NET program, as users paste it:
//
//	!threadpool            how many threads the pool has, how many of them have work, and what waits for one
//	!syncblk               monitors, who holds them, and how many wait (MonitorHeld counts the holder once and each that waits twice)
//	!dumpheap -stat        objects and bytes by type
//	dotnet-gcdump report   likewise
//	!threads, clrthreads   how many threads the runtime has, and how many of these ended
//
// https://learn.microsoft.com/dotnet/core/diagnostics/sos-debugging-extension, and the sources of SOS
// (https://github.com/dotnet/diagnostics/tree/main/src/SOS), .NET Framework 4 to .NET 10. All of them are of one moment, which they do not
// tell. Of objects only types are there.
package sos

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such output.
var Format = format.Format{
	Name:  "sos",
	About: "what SOS and dotnet-gcdump print of a .NET program: !threadpool, !syncblk, !threads, !dumpheap -stat, dotnet-gcdump report",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	maxTypes = 50_000
	maxLocks = 10_000
	maxShown = 40
	mostLine = 2048
)

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte("Worker Thread:")) && !bytes.Contains(head, []byte("Workers Running:")) && !bytes.Contains(head, []byte("MonitorHeld")) &&
		!bytes.Contains(head, []byte("TotalSize")) && !bytes.Contains(head, []byte("GC Heap bytes")) &&
		!bytes.Contains(head, []byte("DeadThread:")) {
		return format.No
	}
	p := &parser{}
	for l := range bytes.Lines(head) {
		p.parseLine(string(bytes.TrimRight(l[:min(len(l), mostLine)], "\r\n")), 1)
		if p.hasFindings() {
			return format.Sure
		}
	}
	return format.No
}

// monitor is a row of !syncblk.
type monitor struct {
	waiting int64
	holder  string // the debugger's number of the thread
	of      string // type of the object
	line    int64
}

// kind is a type of objects.
type kind struct {
	name           string
	objects, bytes int64
}

type parser struct {
	pool   map[string]float64
	poolAt int64
	locks  []monitor
	held   int64
	kinds  []kind
	heap   [2]float64 // bytes and objects, by dotnet-gcdump
	line   int64

	threads  map[string]string // by what !threads calls their number
	threadAt int64

	table   string // "syncblk", "dumpheap" or "gcdump" below its heading
	dropped int64
}

func (p *parser) hasFindings() bool {
	return len(p.threads) > 2 || p.pool["running"] > 0 || len(p.pool) > 2 || p.held > 0 || len(p.kinds) > 0
}

// poolWords are what !threadpool calls its figures, of the runtime's own pool and of the portable one (.NET 6 on).
var poolWords = []struct{ words, key string }{
	{"CPU utilization: ", "cpu"}, {"CPU utilization:", "cpu"}, {"Work Request in Queue: ", "queue"}, {"Workers Total:", "total"}, {"Workers Running:", "running"}, {"Workers Idle:", "idle"},
	{"Worker Min Limit:", "min"}, {"Worker Max Limit:", "max"},
}

// threadWords are what !threads, and clrthreads in other debuggers, calls its figures.
var threadWords = []string{"ThreadCount", "UnstartedThread", "BackgroundThread", "PendingThread", "DeadThread"}

func (p *parser) parseLine(text string, line int64) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		if p.table != "gcdump" {
			p.table = ""
		}
		return
	case strings.HasPrefix(trimmed, "Worker Thread:"):
		if p.pool == nil {
			p.pool, p.poolAt = make(map[string]float64), line
		}
		for _, x := range [][2]string{{"Total: ", "total"}, {"Running: ", "running"}, {"Idle: ", "idle"}, {"MaxLimit: ", "max"}, {"MinLimit: ", "min"}} {
			if v, ok := parseFigureAfter(trimmed, x[0]); ok {
				p.pool[x[1]] = v
			}
		}
		return
	case strings.HasPrefix(trimmed, "Index") && strings.Contains(trimmed, "MonitorHeld"):
		p.table = "syncblk"
		return
	case strings.HasPrefix(trimmed, "MT") && strings.Contains(trimmed, "TotalSize"):
		p.table = "dumpheap"
		return
	case strings.HasSuffix(trimmed, "GC Heap bytes"):
		p.heap[0], _ = parseGrouped(strings.Fields(trimmed)[0])
		return
	case strings.HasSuffix(trimmed, "GC Heap objects"):
		p.heap[1], _ = parseGrouped(strings.Fields(trimmed)[0])
		return
	case strings.HasPrefix(trimmed, "Object Bytes") && strings.Contains(trimmed, "Type"):
		p.table = "gcdump"
		return
	}
	for _, x := range poolWords {
		if strings.HasPrefix(trimmed, x.words) {
			if v, ok := parseFigureAfter(trimmed, x.words); ok && (p.pool != nil || x.key == "cpu" || x.key == "total") {
				if p.pool == nil {
					p.pool, p.poolAt = make(map[string]float64), line
				}
				p.pool[x.key] = v
			}
			return
		}
	}
	if key, value, ok := strings.Cut(trimmed, ":"); ok && slices.Contains(threadWords, key) {
		if n, ok := parseGrouped(strings.TrimSpace(value)); ok {
			if p.threads == nil {
				p.threads, p.threadAt = make(map[string]string), line
			}
			p.threads[key] = strconv.FormatFloat(n, 'f', 0, 64)
		}
		return
	}
	f := strings.Fields(trimmed)
	switch p.table {
	case "syncblk":
		p.syncBlock(f, line)
	case "dumpheap":
		if len(f) < 4 || !isHex(f[0]) {
			return
		}
		p.addKind(strings.Join(f[3:], " "), f[1], f[2], line)
	case "gcdump":
		if len(f) < 3 {
			return
		}
		name := strings.Join(f[2:], " ")
		if i := strings.Index(name, " (Bytes > "); i > 0 {
			name = name[:i]
		}
		p.addKind(name, f[1], f[0], line)
	}
}

// syncBlock reads "   12 000001b2c4e8a8d0          121         1 000001b2c4e7b1c0 2f41  41   000001b2a81203f0 System.Object". A free monitor
// has no thread.
func (p *parser) syncBlock(f []string, line int64) {
	if len(f) < 6 || strings.Trim(f[0], "0123456789") != "" || !isHex(f[1]) {
		return
	}
	held, err := strconv.ParseInt(f[2], 10, 32)
	if err != nil || held < 0 {
		return
	}
	p.held++
	if p.line == 0 {
		p.line = line
	}
	m := monitor{waiting: max(0, (held-1)/2), of: f[len(f)-1], line: line}
	if len(f) >= 9 {
		m.holder = f[6]
		m.of = strings.Join(f[8:], " ")
	}
	if m.waiting > 0 && len(p.locks) < maxLocks {
		p.locks = append(p.locks, m)
	}
}

func (p *parser) addKind(name, objects, bytes string, line int64) {
	n, ok := parseGrouped(objects)
	size, ok2 := parseGrouped(bytes)
	if !ok || !ok2 || name == "" || len(name) > mostLine {
		return
	}
	if p.line == 0 {
		p.line = line
	}
	if len(p.kinds) == maxTypes {
		p.dropped++
		return
	}
	p.kinds = append(p.kinds, kind{name, int64(n), int64(size)})
}

// parseGrouped reads a whole number that may have separators between its thousands.
func parseGrouped(s string) (float64, bool) {
	v, err := strconv.ParseInt(strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "").Replace(s), 10, 62)
	return float64(v), err == nil && v >= 0
}

func parseFigureAfter(text, words string) (float64, bool) {
	_, rest, ok := strings.Cut(text, words)
	if !ok {
		return 0, false
	}
	rest = strings.TrimLeft(rest, " ")
	n := 0
	for n < len(rest) && n < 12 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseFloat(rest[:n], 64)
	return v, err == nil
}

func isHex(s string) bool {
	return len(s) >= 8 && strings.Trim(strings.ToLower(s), "0123456789abcdefx`") == ""
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, p.hasFindings(), "the text", "sos: no figure of the thread pool, of monitors or of types in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet"})
	p.emitPool(b, subject)
	p.emitLocks(b, subject)
	p.emitKinds(b, subject)
	p.emitThreads(b)
	return nil
}

func (p *parser) emitThreads(b *evidence.Builder) {
	if len(p.threads) == 0 {
		return
	}
	t := evidence.Table{Title: "threads of the runtime", Columns: []string{"", "threads"}}
	for _, key := range threadWords {
		if n, ok := p.threads[key]; ok {
			t.Rows = append(t.Rows, []string{key, n})
		}
	}
	b.Table(t)
	b.Warnf(p.threadAt, "these are numbers of threads, not what they do: dotnet-stack report, or clrstack -all in the debugger, shows that, and syncblk which threads wait for a lock")
}

func (p *parser) emitPool(b *evidence.Builder, subject evidence.SubjectID) {
	if len(p.pool) == 0 {
		return
	}
	origin := b.Origin(p.poolAt)
	series := func(key, name, unit string) {
		if v, ok := p.pool[key]; ok {
			b.Series(evidence.Series{Subject: subject, Name: name, Unit: unit, T: []int64{1e9}, V: []float64{v}, Origin: origin})
		}
	}
	series("queue", evidence.SeriesPoolQueue, "count")
	series("total", evidence.SeriesPoolThreads, "count")
	series("cpu", evidence.SeriesCPU, "percent")
	for _, x := range [][2]string{{"min", evidence.FactPoolMinimum}, {"max", evidence.FactPoolMaximum}, {"running", evidence.FactPoolBusy}} {
		if v, ok := p.pool[x[0]]; ok {
			b.Fact(evidence.Fact{Subject: subject, Key: x[1], Value: fmt.Sprintf("%.0f", v), Number: v, Origin: origin})
		}
	}
	b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverThreadPool, From: 1e9, Until: 1e9 + 1, Origin: origin})
}

func (p *parser) emitLocks(b *evidence.Builder, subject evidence.SubjectID) {
	if p.held == 0 {
		return
	}
	sort.SliceStable(p.locks, func(i, j int) bool { return p.locks[i].waiting > p.locks[j].waiting })
	t := evidence.Table{Title: "monitors that threads wait for", Columns: []string{"object", "held by thread", "waiting"}}
	for _, m := range p.locks[:min(len(p.locks), maxShown)] {
		t.Rows = append(t.Rows, []string{m.of, m.holder, strconv.FormatInt(m.waiting, 10)})
	}
	if len(t.Rows) > 0 {
		b.Table(t)
		m := p.locks[0]
		b.FactAt(subject, evidence.FactMonitorWaiting, m.of, float64(m.waiting), m.line)
		holders, all := make(map[string]bool), int64(0)
		for _, m := range p.locks {
			if m.holder != "" && m.holder != "XXX" { // a thread that has ended
				holders[m.holder] = true
				all += m.waiting
			}
		}
		if len(holders) > 1 {
			b.FactAt(subject, evidence.FactMonitorsWaiting, strconv.Itoa(len(holders)), float64(all), m.line)
		}
		return
	}
	b.FactAt(subject, evidence.FactMonitorWaiting, "", 0, p.line)
}

func (p *parser) emitKinds(b *evidence.Builder, subject evidence.SubjectID) {
	if len(p.kinds) == 0 {
		return
	}
	sort.SliceStable(p.kinds, func(i, j int) bool { return p.kinds[i].bytes > p.kinds[j].bytes })
	t := evidence.Table{Title: "objects by type, most bytes first", Columns: []string{"type", "objects", "MiB"}}
	if p.heap[0] > 0 {
		t.Rows = append(t.Rows, []string{"all of them", fmt.Sprintf("%.0f", p.heap[1]), fmt.Sprintf("%.1f", p.heap[0]/(1<<20))})
	}
	for _, k := range p.kinds[:min(len(p.kinds), maxShown)] {
		t.Rows = append(t.Rows, []string{k.name, strconv.FormatInt(k.objects, 10), fmt.Sprintf("%.1f", float64(k.bytes)/(1<<20))})
	}
	b.Table(t)
	b.Warnf(p.line, "objects by type at one moment: what grows shows a second one, some minutes later (dotnet-gcdump collect, or dumpheap -stat of another dump)")
	if p.dropped > 0 {
		b.Warnf(0, "types that were not kept: %d", p.dropped)
	}
}
