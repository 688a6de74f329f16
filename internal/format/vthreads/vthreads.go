// Package vthreads reads a JVM's (JDK 24 on) report about the pool of threads that virtual
// threads run on, for which internal/collect/probe/hotspot asks repeatedly:
//
//	== 1795268461318000000 Thread.vthread_scheduler of 4711 ==
//	java.util.concurrent.ForkJoinPool@64ca93b7[Running, parallelism = 2, size = 2, active = 2, running = 0, steals = 12, tasks = 0, submissions = 29]
//
// The queued tasks, in the carriers' own queues (tasks) and in the common one (submissions), are
// runnable virtual threads without a carrier. One answer without the line above it, as
// jcmd prints it, is read, too.
//
// Sources: ForkJoinPool.toString and jdk.internal.vm.JcmdVThreadCommands
// (https://github.com/openjdk/jdk/blob/master/src/java.base/share/classes/jdk/internal/vm/JcmdVThreadCommands.java).
//
// The package's opinion: the pool has as many carriers as its parallelism; carriers that
// it adds while others are blocked in the kernel only replace them.
package vthreads

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a JVM's report about its carriers.
var Format = format.Format{
	Name:  "vthreads",
	About: "carriers of a JVM's virtual threads, and how many wait for one: jcmd Thread.vthread_scheduler (JDK 24 on)",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

func matchHead(head []byte) format.Confidence {
	const most = 2 // lines before the first pool: the time, or the process's id
	for range most + 1 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		if _, _, ok := parseHeader(line); ok {
			return format.Sure
		}
		if _, ok := poolOf(line); ok {
			return format.Sure
		}
	}
	return format.No
}

// parseHeader reads the line above an answer.
func parseHeader(line []byte) (at int64, pid int, ok bool) {
	return format.Stamp(line, "Thread.vthread_scheduler")
}

// pool is the content of one answer.
type pool struct{ carriers, queued float64 }

// poolOf reads ForkJoinPool.toString.
func poolOf(line []byte) (p pool, ok bool) {
	text := strings.TrimSpace(string(line[:min(len(line), 1000)]))
	if !strings.HasPrefix(text, "java.util.concurrent.ForkJoinPool@") || !strings.HasSuffix(text, "]") {
		return p, false
	}
	_, inside, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	n := map[string]float64{}
	for field := range strings.SplitSeq(inside, ", ") {
		name, value, is := strings.Cut(field, " = ")
		if v, err := strconv.ParseUint(value, 10, 32); is && err == nil {
			n[name] = float64(v)
		}
	}
	carriers, ok1 := n["parallelism"]
	tasks, ok2 := n["tasks"]
	submissions, ok3 := n["submissions"]
	return pool{carriers, tasks + submissions}, ok1 && ok2 && ok3
}

// mostReadings bounds the readings: some days with five a second.
const mostReadings = 1 << 20

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var at, first, strange int64
	var pid int
	size := evidence.Series{Name: evidence.SeriesPoolThreads, Unit: "count"}
	queue := evidence.Series{Name: evidence.SeriesPoolQueue, Unit: "count"}
	if b.Recorded() {
		at = b.Modified()
	}
	err := a.Lines(func(l format.Line) bool {
		if t, id, ok := parseHeader(l.Text); ok {
			at, pid = t, id
			return true
		}
		p, ok := poolOf(l.Text)
		n := len(queue.T)
		switch {
		case !ok && (len(bytes.TrimSpace(l.Text)) == 0 || n == 0): // before it jcmd's "4711:"
		case !ok, n > 0 && at <= queue.T[n-1], n == mostReadings:
			if strange++; strange == 1 {
				first = l.Number
			}
		default:
			if n == 0 {
				size.Origin, queue.Origin = b.Origin(l.Number), b.Origin(l.Number)
			}
			size.T, size.V = append(size.T, at), append(size.V, p.carriers)
			queue.T, queue.V = append(queue.T, at), append(queue.V, p.queued)
		}
		return ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(queue.T) > 0, "the recording", "it says nothing of a pool: take it again with jcmd PID Thread.vthread_scheduler"); err != nil {
		return err
	}
	if strange > 0 {
		b.Warnf(first, "lines that are no answer, or go back in time, left out: %d", strange)
	}
	*b.Clock() = evidence.Clock{Name: "unix", Error: 1e6, Resolution: 1}
	if queue.T[0] == 0 {
		*b.Clock() = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	}
	subject := b.Subject(evidence.Subject{Runtime: "jvm", PID: pid})
	size.Subject, queue.Subject = subject, subject
	b.Series(size)
	b.Series(queue)
	return nil
}
