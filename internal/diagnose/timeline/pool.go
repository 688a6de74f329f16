package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// The thread pool of a runtime in which each request needs a thread: .NET's. It decides how long requests wait.

// addPoolCharts adds how many threads the pool has and what waits for one. The CPU chart stands
// between the two: a pool that grows while the CPUs are idle grows because its threads block.
func (l *layout) addPoolCharts() (found bool) {
	c := Chart{ID: "pool-threads", Title: "threads of the pool", Unit: "1"}
	for _, s := range l.findSeries(evidence.SeriesPoolThreads) {
		c.addCurve(l.buildCurve("pool", "pool", s))
	}
	if len(c.Curves) == 0 {
		return false
	}
	if n := l.b.Subjects[l.subject].CPUs; n > 0 && l.t.To > l.t.From {
		many := float64(metrics.ManyThreads * n)
		c.addCurve(Curve{ID: "limit", Title: fmt.Sprintf("%d × CPUs", metrics.ManyThreads), T: []int64{l.t.From, l.t.To}, V: []float64{many, many}})
	}
	l.addChart(c)
	before := len(l.t.Charts)
	l.addProcessCPUChart()
	if n := l.b.Subjects[l.subject].CPUs; n > 0 && len(l.t.Charts) > before {
		l.t.Charts[before].Title += fmt.Sprintf(", which may use %d CPUs", n) // idle CPUs are not drawn
	}
	if len(l.t.Charts) == before {
		l.addSeriesChart("cpu-percent", "CPU, of all CPUs", "%", false, figures{{evidence.SeriesCPU, "cpu", "process"}})
	}
	l.addSeriesChart("pool-queue", "work queued for a pool thread", "1", false, figures{{evidence.SeriesPoolQueue, "queue", "work items"}})
	l.addSeriesChart("pool-completed", "work items completed", "1/s", false, figures{{evidence.SeriesPoolCompleted, "completed", "completed"}})
	return true
}

// addCounterCharts adds what only a runtime's counters show.
func (l *layout) addCounterCharts() {
	l.addSeriesChart("contentions", "contended locks", "1/s", false, figures{{evidence.SeriesContentions, "contentions", "contentions"}})
	l.addSeriesChart("gc-time", "time in GC since the last one", "%", false, figures{{evidence.SeriesGCTime, "gc", "GC"}})
}

// addPoolAdjustments lays out the moments at which the pool's size was changed, a row for each
// reason, starvation first.
func (l *layout) addPoolAdjustments() {
	rows, artifacts, watched := l.listIntervals(evidence.PoolAdjusted, evidence.CoverThreadPool)
	byReason := make(map[string][]bandSpan)
	v := &l.b.Intervals
	for _, i := range rows {
		if at := v.Start[i]; at >= l.t.From && at <= l.t.To {
			reason := l.causeText(i)
			byReason[reason] = append(byReason[reason], bandSpan{from: at, to: at, row: i})
		}
	}
	reasons := slices.Sorted(maps.Keys(byReason))
	sorting.Short(reasons, func(a, b string) int { return cmp.Compare(starvingRank(b), starvingRank(a)) })
	for _, reason := range reasons {
		id := bandPoolAdjusted
		if starvingRank(reason) > 0 {
			id = bandPoolStarving
		}
		title := "pool adjusted"
		if reason != "" {
			title += ": " + splitCamelCase(reason)
		}
		l.addBand(id, title, l.nameOf(artifacts), byReason[reason], watched, l.adjustmentText)
	}
}

// starvingRank is 1 for reasons that say that work waits while threads block, else 0.
func starvingRank(reason string) int {
	switch reason {
	case "Starvation", "CooperativeBlocking":
		return 1
	}
	return 0
}

func (l *layout) adjustmentText(row int) string {
	if n, ok := l.b.Intervals.Get(row, evidence.PoolThreads); ok {
		return fmt.Sprintf("to %.0f threads", n)
	}
	return ""
}

// splitCamelCase writes a name like CooperativeBlocking as lowercase words.
func splitCamelCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				b.WriteByte(' ')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// addLockWaits lays out when threads waited for a lock that another held.
func (l *layout) addLockWaits() {
	rows, artifacts, watched := l.listIntervals(evidence.LockWait, evidence.CoverWaits)
	var bandSpans []bandSpan
	v := &l.b.Intervals
	for _, i := range rows {
		if v.End[i] >= l.t.From && v.Start[i] <= l.t.To {
			bandSpans = append(bandSpans, bandSpan{from: v.Start[i], to: v.End[i], row: i})
		}
	}
	l.addBand(bandLockWait, "waits for a lock", l.nameOf(artifacts), bandSpans, watched, l.lockWaitText)
}

func (l *layout) lockWaitText(row int) string {
	v := &l.b.Intervals
	text := fmt.Sprintf("%s %d", l.laneNoun(), v.Lane.At(row))
	if c := l.causeText(row); c != "" {
		text += ", " + c
	}
	if h := v.Holder.At(row); h > 0 {
		text += fmt.Sprintf(", held by %s %d", l.laneNoun(), h)
	}
	if where := l.frames.describeStack(l.b, v.Stack.At(row)); where != "" {
		text += ", " + where
	}
	return text
}
