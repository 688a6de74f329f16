// Package schedlatency reads how long tasks waited for a CPU, as perf sched latency prints it:
//
//	Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | Max delay start           | Max delay end          |
//	gateway:(38)          |  18211.402 ms |    41127 | avg:  21.402 ms | max: 412.811 ms | max start: 81220.112031 s | max end: 81220.524842 s
//
// tools/perf/builtin-sched.c of Linux 2.6.32 to 6.18; before 5.4 the last columns are "max at: 81220.5 s". A task is a thread, or all threads of a name.
package schedlatency

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a table.
var Format = format.Format{
	Name:  "sched-latency",
	About: "how long tasks waited for a CPU: perf sched latency (Linux perf 2.6.32 to 6)",
	Match: func(head []byte) format.Confidence {
		if bytes.Contains(head, []byte("avg:")) {
			for l := range bytes.Lines(head) {
				if _, ok := rowOf(string(l[:min(len(l), mostLine)])); ok {
					return format.Sure
				}
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

const (
	mostLine  = 1024
	mostRows  = 20_000
	mostName  = 100
	mostShown = 20
	// leastSwitches is how many waits a task must have for their mean to count.
	leastSwitches = 100
)

// row is a task; times are ns.
type row struct {
	name            string
	ran, mean, most float64
	switches        float64
	line            int64
}

func rowOf(text string) (r row, ok bool) {
	f := strings.Split(text, "|")
	if len(f) < 5 {
		return r, false
	}
	number := func(s, before, after string) (v float64) {
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), before))
		s, found := strings.CutSuffix(s, after)
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if ok = ok && found && err == nil && v >= 0 && v < 1e12; ok {
			return v
		}
		return 0
	}
	ok = strings.Contains(f[3], "avg:")
	r.ran = 1e6 * number(f[1], "", "ms")
	r.switches = number(f[2], "", "")
	r.mean = 1e6 * number(f[3], "avg:", "ms")
	r.most = 1e6 * number(f[4], "max:", "ms")
	name := strings.TrimSpace(f[0])
	name, _, _ = strings.Cut(name, ":")
	r.name = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
	return r, ok && r.name != ""
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var rows []row
	err := a.Lines(func(l format.Line) bool {
		if r, ok := rowOf(string(l.Text[:min(len(l.Text), mostLine)])); ok && len(rows) < mostRows {
			r.line = l.Number
			rows = append(rows, r)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(rows) > 0, "the table", "sched-latency: no task in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one recording", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Host})
	sorting.Short(rows, func(x, y row) int { return cmp.Compare(y.mean*y.switches, x.mean*x.switches) })
	t := evidence.Table{Title: "tasks by the time for which they waited for a CPU", Columns: []string{"", "waited s", "waits", "mean ms", "longest ms", "ran s"}}
	var top *row
	for i := range rows {
		r := &rows[i]
		if r.switches >= leastSwitches && (top == nil || r.mean > top.mean) {
			top = r
		}
		if i < mostShown {
			t.Rows = append(t.Rows, []string{r.name, fmt.Sprintf("%.4g", r.mean*r.switches/1e9), fmt.Sprintf("%.0f", r.switches), fmt.Sprintf("%.4g", r.mean/1e6), fmt.Sprintf("%.4g", r.most/1e6), fmt.Sprintf("%.4g", r.ran/1e9)})
		}
	}
	b.Table(t)
	if top == nil {
		return nil
	}
	fact := func(key, value string, v float64) {
		b.FactAt(subject, key, value, v, top.line)
	}
	fact(evidence.FactReadyDelay, top.name, top.mean)
	fact(evidence.FactReadyDelayMost, "", top.most)
	fact(evidence.FactReadyDelays, "", top.switches)
	return nil
}
