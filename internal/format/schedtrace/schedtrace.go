// Package schedtrace reads the lines that Go's scheduler prints with GODEBUG=schedtrace=1000: how many Ps run, and how many goroutines are
// ready and wait for one (https://pkg.go.dev/runtime#hdr-Environment_Variables, schedtrace in https://go.dev/src/runtime/proc.go, Go 1.5 on):
//
//	SCHED 1009ms: gomaxprocs=4 idleprocs=0 threads=21 spinningthreads=0 needspinning=1 idlethreads=9 runqueue=812 [41 38 55 60]
//
// The runnable goroutines of the global queue and of each P are added up. The details of scheddetail are left out.
package schedtrace

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such lines.
var Format = format.Format{
	Name:  "schedtrace",
	About: "lines of Go's scheduler (GODEBUG=schedtrace): goroutines that are ready and wait for a CPU",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte("SCHED ")) || bytes.Contains(head, []byte(" ms clock, ")) { // between the lines of gctrace they are known
			return format.No
		}
		for l := range bytes.Lines(head) {
			if _, ok := parseLook(l); ok {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

const (
	mostLine = 16 << 10 // a process may have a thousand Ps
	mostKept = 100_000
)

// look is a line.
type look struct {
	at                    int64 // ns since the start
	procs, idle, runnable float64
}

func parseLook(line []byte) (x look, ok bool) {
	i := bytes.Index(line[:min(len(line), 512)], []byte("SCHED "))
	if i < 0 || !bytes.Contains(line, []byte("gomaxprocs=")) {
		return x, false
	}
	text := string(line[i+len("SCHED ") : min(len(line), mostLine)])
	ms, rest, found := strings.Cut(text, "ms: ")
	at, err := strconv.ParseInt(ms, 10, 64)
	if !found || err != nil || at < 0 || at > 1e13 {
		return x, false
	}
	x.at = at * 1e6
	x.addFigures(rest)
	return x, x.procs > 0
}

// addFigures adds "name=value" and, in brackets, how many goroutines are ready on each P.
func (x *look) addFigures(rest string) {
	queues := false
	for _, f := range strings.Fields(strings.NewReplacer("[", " [ ", "]", " ] ").Replace(rest)) {
		switch {
		case f == "[":
			queues = true
		case f == "]":
			queues = false
		default:
			name, value, named := strings.Cut(f, "=")
			if !named {
				value = name
			}
			v, err := strconv.ParseFloat(value, 64)
			switch {
			case err != nil || !(v >= 0 && v < 1e9):
			case queues, name == "runqueue":
				x.runnable += v
			case name == "gomaxprocs":
				x.procs = v
			case name == "idleprocs":
				x.idle = v
			}
		}
	}
}

// queue begins the part of a line that tells what is ready, which pages that wrap lines put on the next one.
var queue = []byte("runqueue=")

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var all []look
	var line, dropped int64
	broken := false // the last line of the scheduler has no queues yet
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		x, ok := parseLook(l.Text)
		if broken && !ok && bytes.HasPrefix(bytes.TrimSpace(l.Text), queue) {
			all[len(all)-1].addFigures(string(l.Text[:min(len(l.Text), mostLine)]))
		}
		broken = false
		switch {
		case !ok:
		case len(all) == mostKept:
			dropped++
		case len(all) > 0 && x.at <= all[len(all)-1].at: // another process, or the same line twice
		default:
			if len(all) == 0 {
				line = l.Number
			}
			all = append(all, x)
			broken = !bytes.Contains(l.Text, queue)
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0, "the log", "schedtrace: no line of the scheduler in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "since process start", Error: evidence.Unanchored, Resolution: 1e6}
	last := all[len(all)-1]
	looks := len(all)
	all = cutIdle(all)
	var sum, most, busy float64
	for _, x := range all {
		sum += x.runnable
		most = max(most, x.runnable)
		busy += (x.procs - min(x.idle, x.procs)) / x.procs
	}
	n := float64(len(all))
	b.Table(evidence.Table{Title: "Go's scheduler", Columns: []string{"", "value"}, Rows: [][]string{
		{"Ps (GOMAXPROCS)", formatFigure(last.procs)}, {"of these busy %", formatFigure(100 * busy / n)},
		{"goroutines ready to run, mean", formatFigure(sum / n)}, {"goroutines ready to run, most", formatFigure(most)}, {"lines", formatFigure(float64(looks))}, {"of these without idle ones before and behind", formatFigure(n)}}})
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: int(last.procs)})
	fact := func(key string, v float64) {
		b.FactAt(subject, key, formatFigure(v), v, line)
	}
	fact(evidence.FactGoSchedLooks, n)
	fact(evidence.FactGoReady, sum/n)
	fact(evidence.FactGoBusy, busy/n)
	if busy/n >= mostlyBusy && sum/n >= manyReady*last.procs {
		b.Warnf(line, "on average %.0f goroutines are ready and wait for one of %.0f Ps, nearly none of which is idle: a CPU profile shows what runs, and mpstat 1 whether the host has CPUs free", sum/n, last.procs)
	}
	if dropped > 0 {
		b.Warnf(0, "lines beyond the first %d were left out: %d", mostKept, dropped)
	}
	return nil
}

// cutIdle leaves out lines at the beginning and the end in which nothing is ready to run and most Ps are idle: they are from before and after the load.
func cutIdle(all []look) []look {
	idle := func(x look) bool { return x.runnable == 0 && 2*x.idle >= x.procs }
	from, until := 0, len(all)
	for from < until && idle(all[from]) {
		from++
	}
	for until > from && idle(all[until-1]) {
		until--
	}
	if from == until {
		return all
	}
	return all[from:until]
}

// From which part of busy Ps, and from how many runnable goroutines per P, waiting is reported.
const (
	mostlyBusy = .95
	manyReady  = 3
)

func formatFigure(v float64) string { return fmt.Sprintf("%.4g", v) }
