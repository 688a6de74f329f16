package metricspage

import (
	"cmp"
	"context"
	"fmt"
	"sort"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/procfs"
)

// quota is what cAdvisor counts of a container's CPU quota at a moment
// (https://github.com/google/cadvisor/blob/master/docs/storage/prometheus.md).
type quota struct {
	t, line                     int64
	periods, throttled, seconds float64
}

// quotas are those of a container. Its samples have a time of their own, others than those of the next container, so that each stands on a
// page of its own.
type quotas struct {
	name string
	all  []quota
}

const mostContainers = 10_000

// countGrowth returns what was counted between the first moment and the last, or since the start.
func (x *quotas) countGrowth() quota {
	first, last := x.all[0], x.all[len(x.all)-1]
	if len(x.all) == 1 || first.periods > last.periods {
		return last
	}
	return quota{periods: last.periods - first.periods, throttled: last.throttled - first.throttled, seconds: last.seconds - first.seconds}
}

// parseContainers reads the container that was throttled in most periods, as the cpu.stat of its group, which package procfs reads.
func parseContainers(r *reading, a *format.Artifact, b *evidence.Builder, ctx context.Context) error {
	by := make(map[string]*quotas)
	for i := range r.pages {
		p := &r.pages[i]
		t := cmp.Or(p.t, int64(i+1)*1e9)
		for k := range p.samples {
			s := &p.samples[k]
			id := cmp.Or(s.label("id"), s.label("container_id"), s.label("name"))
			x := by[id]
			if x == nil {
				if id == "" || len(by) == mostContainers {
					continue
				}
				x = &quotas{name: cmp.Or(s.label("container"), s.label("name"), s.label("container_label_io_kubernetes_container_name"), id)}
				by[id] = x
			}
			if n := len(x.all); n == 0 || x.all[n-1].t != t {
				x.all = append(x.all, quota{t: t, line: s.line})
			}
			q := &x.all[len(x.all)-1]
			switch s.name {
			case "container_cpu_cfs_periods_total":
				q.periods = s.v
			case "container_cpu_cfs_throttled_periods_total":
				q.throttled = s.v
			case "container_cpu_cfs_throttled_seconds_total":
				q.seconds = s.v
			}
		}
	}
	ids := make([]string, 0, len(by))
	for id := range by {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	var worst *quotas
	t := evidence.Table{Title: "CPU quotas of containers", Columns: []string{"", "periods", "throttled in", "throttled s"}}
	for _, id := range ids {
		x := by[id]
		g := x.countGrowth()
		if g.periods > 0 && (worst == nil || g.throttled > worst.countGrowth().throttled) {
			worst = x
		}
		if len(t.Rows) < 60 {
			t.Rows = append(t.Rows, []string{x.name, fmt.Sprintf("%.0f", g.periods), fmt.Sprintf("%.0f", g.throttled), fmt.Sprintf("%.4g", g.seconds)})
		}
	}
	b.Table(t)
	if worst == nil {
		*b.Clock() = evidence.Clock{Name: "one page", Error: evidence.Unanchored}
		return nil
	}
	var lines []format.Line
	for _, q := range worst.all {
		for _, text := range []string{fmt.Sprintf("-- %d /sys/fs/cgroup/cpu.stat --", q.t), "nr_periods " + formatPlain(q.periods), "nr_throttled " + formatPlain(q.throttled), fmt.Sprintf("throttled_usec %.0f", q.seconds*1e6)} {
			lines = append(lines, format.Line{Text: []byte(text), Number: q.line})
		}
	}
	b.Warnf(worst.all[0].line, "of %s, the one with most throttled periods is judged: %s", format.Count(len(by), "container", "containers"), worst.name)
	return procfs.Format.Parse(ctx, format.Rewritten(a, lines), b)
}
