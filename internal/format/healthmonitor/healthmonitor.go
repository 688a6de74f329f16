// Package healthmonitor reads what Hazelcast logs of its own process, on one line or, as some layouts break it, one value a line:
//
//	… [HealthMonitor] … - [10.0.0.91]:5701 [dev] [4.2.1] processors=72, …, heap.memory.used/max=58.20%, minor.gc.count=528,
//	minor.gc.time=123687ms, major.gc.count=8, major.gc.time=11438ms, load.process=6.67%, load.system=100.00%, load.systemAverage=4655.66, …
//
// https://github.com/hazelcast/hazelcast/blob/master/hazelcast/src/main/java/com/hazelcast/internal/diagnostics/HealthMonitor.java (3.4 to 5.5). It logs an entry where memory or
// CPUs are short (level SILENT), or always (NOISY).
//
// Collections are counted since the JVM's start, as the JVM's own beans count them: no entry says when they were. Where far more tasks want to run than the host has CPUs,
// their time is mostly a wait for CPUs, and their mean says nothing of the heap: then it is shown and no fact, and what is told of is the host.
package healthmonitor

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such entries.
var Format = format.Format{
	Name:  "hazelcast-health",
	About: "what Hazelcast's HealthMonitor logs: collections since the start of the JVM, memory, load",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, processors) {
			return format.No
		}
		var x entry
		for l := range bytes.Lines(head) {
			if x.addLine(string(l[:min(len(l), mostLine)])); x.isWhole() {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// mostLine bounds a line.
const mostLine = 8 << 10

// overloaded is how many tasks for each CPU want to run from which on the time of a collection is mostly a wait.
const overloaded = 2

var processors = []byte("processors=")

// figures are the names that are kept.
var figures = []string{"processors", "minor.gc.count", "minor.gc.time", "major.gc.count", "major.gc.time", "heap.memory.used/max", "load.process", "load.system", "load.systemAverage", "thread.count"}

// entry is the figures of one look.
type entry struct {
	of    map[string]float64
	shown map[string]string
}

// addLine takes the figures of a line. An entry begins with the number of processors.
func (x *entry) addLine(text string) (begins bool) {
	if at := strings.Index(text, "processors="); at >= 0 {
		text, begins = text[at:], true
		*x = entry{make(map[string]float64), make(map[string]string)}
	}
	if x.of == nil {
		return false
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			continue
		}
		for _, f := range figures {
			if f != name {
				continue
			}
			if v, err := strconv.ParseFloat(strings.TrimRight(value, "ms%. "), 64); err == nil && v >= 0 && v < 1e15 {
				x.of[name], x.shown[name] = v, value
			}
		}
	}
	return begins
}

// isWhole says whether the entry tells of collections.
func (x *entry) isWhole() bool {
	_, minor := x.of["minor.gc.time"]
	_, major := x.of["major.gc.time"]
	return minor && major && x.of["processors"] > 0
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var x, last entry
	var line, begun int64
	entries := 0
	err := a.Lines(func(l format.Line) bool {
		before, had := x, x.isWhole()
		if x.addLine(string(l.Text[:min(len(l.Text), mostLine)])) {
			if had {
				last, line = before, begun
			}
			begun = l.Number
		}
		if !had && x.isWhole() {
			entries++
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if x.isWhole() {
		last, line = x, begun
	}
	if err := format.EndReading(ctx, b, err, entries > 0, "the log", "healthmonitor: no entry with the times of collections"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "since process start", Error: evidence.Unanchored}
	cpus := int(min(last.of["processors"], 1<<16))
	t := evidence.Table{Title: "Hazelcast's HealthMonitor, its last entry", Columns: []string{"", "value"}}
	for _, f := range figures {
		if s := last.shown[f]; s != "" {
			t.Rows = append(t.Rows, []string{f, strings.ToValidUTF8(s[:min(len(s), 40)], "?")})
		}
	}
	t.Rows = append(t.Rows, []string{"entries", strconv.Itoa(entries)})
	b.Table(t)
	if load := last.of["load.systemAverage"]; load > overloaded*last.of["processors"] {
		b.Warnf(line, "%.0f tasks want to run, or wait in the kernel, on a host of %.0f CPUs: whatever this process does takes long then; top and mpstat -P ALL 1 of the host show what runs", load, last.of["processors"])
		host := b.Subject(evidence.Subject{Kind: evidence.Host, CPUs: cpus})
		series := func(name, unit string, v float64) { // for the second that the entry speaks of: a mean is of some time
			b.Series(evidence.Series{Subject: host, Name: name, Unit: unit, T: []int64{1e9, 2e9}, V: []float64{v, v}, Origin: b.Origin(line)})
		}
		series(evidence.SeriesHostLoad1, "1", load)
		if busy, told := last.of["load.system"]; told {
			series(evidence.SeriesHostCPUBusy, "cores", min(busy, 100)/100*float64(cpus))
			b.Cover(evidence.Coverage{Subject: host, Kind: evidence.CoverHostCPU, From: 1e9, Until: 2e9, Origin: b.Origin(line)})
		}
		return nil
	}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm", CPUs: cpus})
	fact := func(key string, v float64) {
		b.FactAt(subject, key, fmt.Sprintf("%.4g", v), v, line)
	}
	if n := last.of["minor.gc.count"]; n > 0 {
		fact(evidence.FactYoungCollected, n)
	}
	if n := last.of["major.gc.count"]; n > 0 {
		fact(evidence.FactFullCollections, n)
		fact(evidence.FactFullMean, last.of["major.gc.time"]*1e6/n)
	}
	return nil
}
