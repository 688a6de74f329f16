package metricspage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Runtime reads what a Go program printed of runtime/metrics (https://pkg.go.dev/runtime/metrics), as programs without a page of
// metrics do: a name and a value per line, or an object of JSON.
//
//	/sched/goroutines:goroutines: 61
//	{"/gc/cycles/total:gc-cycles": 41200, "/cpu/classes/gc/total:cpu-seconds": 410.7}
//
// It is read like a page of Go's Prometheus client, whose names are made from these. Histograms are left out. A repeated name begins
// the next page.
var Runtime = format.Format{
	Name:  "go-runtime-metrics",
	About: "values of Go's runtime/metrics, as text or JSON",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte("/sched/")) && !bytes.Contains(head, []byte("/gc/")) && !bytes.Contains(head, []byte("/memory/classes/")) && !bytes.Contains(head, []byte("/cpu/classes/")) {
			return format.No
		}
		n := 0
		for line := range bytes.Lines(head) {
			if runtimeValues(line, func(string, float64) { n++ }); n >= 2 {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseRuntime,
}

// runtimeGroups are the beginnings of the names of runtime/metrics.
var runtimeGroups = []string{"cgo", "cpu", "gc", "godebug", "memory", "sched", "sync"}

// mostRuntimeLine is how many bytes of a line are read: JSON is often one line.
const mostRuntimeLine = 64 << 10

// runtimeValues calls f for each name of runtime/metrics in a line with a number behind it.
func runtimeValues(line []byte, f func(name string, v float64)) {
	line = line[:min(len(line), mostRuntimeLine)]
	for at := 0; at < len(line); {
		i := bytes.IndexByte(line[at:], '/')
		if i < 0 {
			return
		}
		i += at
		at = i + 1
		if i > 0 && strings.IndexByte("\" \t,{|", line[i-1]) < 0 {
			continue
		}
		group := false
		for _, g := range runtimeGroups {
			group = group || bytes.HasPrefix(line[i+1:], []byte(g+"/"))
		}
		if !group {
			continue
		}
		colon, end := 0, i
		for end < len(line) && (line[end] >= 'a' && line[end] <= 'z' || line[end] >= '0' && line[end] <= '9' || strings.IndexByte("/-_:", line[end]) >= 0) {
			if line[end] == ':' {
				if colon > 0 || end+1 == len(line) || line[end+1] < 'a' || line[end+1] > 'z' {
					break
				}
				colon = end
			}
			end++
		}
		at = end
		if colon == 0 || end-i > 120 {
			continue
		}
		value := bytes.TrimLeft(line[end:], "\":= \t|")
		n := 0
		for n < len(value) && n < 40 && (value[n] >= '0' && value[n] <= '9' || strings.IndexByte("+-.eE", value[n]) >= 0) {
			n++
		}
		if v, err := strconv.ParseFloat(string(value[:n]), 64); err == nil {
			f(string(line[i:end]), v)
		}
	}
}

// isCounter says whether a metric only grows: Prometheus' client appends _total to its name.
func isCounter(name string) bool {
	return strings.HasPrefix(name, "/cpu/classes/") || strings.HasPrefix(name, "/gc/cycles/") || strings.HasSuffix(name, "-calls:calls") || strings.HasPrefix(name, "/sync/") ||
		strings.HasPrefix(name, "/gc/heap/allocs") || strings.HasPrefix(name, "/gc/heap/frees") || strings.HasPrefix(name, "/gc/heap/tiny/")
}

func parseRuntime(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var lines []format.Line
	var stamp int64
	dropped := 0
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if at, ok := format.Dated(bytes.TrimSpace(l.Text)); ok {
			lines = append(lines, format.Line{Text: []byte("# " + stampText(at)), Number: l.Number})
			return true
		}
		if l.Stamp != 0 && l.Stamp/1e9 != stamp {
			stamp = l.Stamp / 1e9
			lines = append(lines, format.Line{Text: []byte("# " + stampText(stamp)), Number: l.Number})
		}
		runtimeValues(l.Text, func(name string, v float64) {
			if len(lines) >= maxSamples {
				dropped++
				return
			}
			metric := "go" + strings.NewReplacer("/", "_", "-", "_", ":", "_").Replace(name)
			if isCounter(name) {
				metric += "_total"
			}
			lines = append(lines, format.Line{Text: []byte(fmt.Sprintf("%s %g", metric, v)), Number: l.Number})
		})
		return true
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(lines) == 0 && err != nil:
		return err
	case len(lines) == 0:
		return errors.New("go-runtime-metrics: no name with a value in it")
	case err != nil:
		b.Cut()
		b.Warnf(0, "the text is incomplete: %v", err)
	}
	if dropped > 0 {
		b.Warnf(0, "%s not kept: too many", format.Count(dropped, "value was", "values were"))
	}
	return Go.Parse(ctx, format.Rewritten(a, lines), b)
}
