package kubepod

import (
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// probes are what a pod's events say of probes that failed, one row of kubectl describe, or of kubectl get events, each:
//
//	Warning  Unhealthy  21m (x44 over 2d1h)  kubelet  Liveness probe failed: Get "http://…": context deadline exceeded
//	21m      Warning    Unhealthy            pod/a    Readiness probe failed: HTTP probe failed with statuscode: 503
type probes struct {
	rows []probed
	line int64
}

type probed struct {
	kind  string
	late  bool // no answer in time
	times int64
}

// probeKinds are what probes are called before " probe failed: ", or " probe errored: " where they could not be run.
var probeKinds = []string{"Liveness", "Readiness", "Startup"}

// inTime are words of kubelets about an answer that did not come in time.
var inTime = []string{"deadline exceeded", "Client.Timeout", "timed out after", "i/o timeout", "DeadlineExceeded", "probe timed out"}

// parseProbe reads a row: which probe failed, and how often.
func parseProbe(text string) (p probed, ok bool) {
	_, rest, ok := strings.Cut(text, "Warning ")
	if !ok || !strings.HasPrefix(strings.TrimLeft(rest, " \t"), "Unhealthy ") {
		return p, false
	}
	before, why, ok := strings.Cut(rest, " probe failed: ")
	if !ok {
		if before, why, ok = strings.Cut(rest, " probe errored: "); !ok {
			return p, false
		}
	}
	p.kind = before[strings.LastIndexByte(before, ' ')+1:]
	if !slices.Contains(probeKinds, p.kind) {
		return p, false
	}
	p.times = 1
	if _, n, many := strings.Cut(before, "(x"); many {
		n, _, _ = strings.Cut(n, " ")
		if v, err := strconv.ParseInt(n, 10, 32); err == nil && v > 0 {
			p.times = v
		}
	}
	p.late = slices.ContainsFunc(inTime, func(words string) bool { return strings.Contains(why, words) })
	return p, true
}

func (all *probes) addRow(text string, line int64) bool {
	p, ok := parseProbe(text)
	if !ok {
		return false
	}
	if all.line == 0 {
		all.line = line
	}
	i := slices.IndexFunc(all.rows, func(x probed) bool { return x.kind == p.kind && x.late == p.late })
	if i < 0 {
		all.rows = append(all.rows, p)
		return true
	}
	all.rows[i].times += p.times
	return true
}

func (all *probes) emit(b *evidence.Builder) {
	if len(all.rows) == 0 {
		return
	}
	t := evidence.Table{Title: "probes that failed, by events", Columns: []string{"", "no answer in time", "times"}}
	late := int64(0)
	for _, p := range all.rows {
		in := "no"
		if p.late {
			in, late = "yes", late+p.times
		}
		t.Rows = append(t.Rows, []string{p.kind, in, strconv.FormatInt(p.times, 10)})
	}
	b.Table(t)
	if late > 0 {
		b.Warnf(all.line, "probes that got no answer in time, by events: %d: what the service did then is not there: unstall record PID while it happens, and cpu.stat of its cgroup", late)
	}
}
