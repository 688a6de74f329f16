package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// stopText describes a stop of the world: what stopped it, why, and what it collected.
func (l *layout) stopText(row int) string {
	v := &l.b.Intervals
	text := []string{l.causeText(row)}
	if n := v.Repeats(row); n > 1 {
		text = append(text, fmt.Sprintf("%d, one right after another", n))
	}
	for _, k := range []evidence.Key{evidence.Trigger, evidence.Failure} {
		if n := v.NameOf(row, k); n != 0 {
			text = append(text, l.b.Names.Text(n))
		}
	}
	for _, k := range []struct {
		title         string
		before, after evidence.Key
	}{{"heap", evidence.HeapBefore, evidence.HeapAfter}, {"young", evidence.YoungBefore, evidence.YoungAfter}} {
		before, was := v.Get(row, k.before)
		after, is := v.Get(row, k.after)
		if was && is {
			text = append(text, k.title+" "+formatBytes(before)+" → "+formatBytes(after))
		}
	}
	user, told := v.Get(row, evidence.UserCPU)
	system, _ := v.Get(row, evidence.SystemCPU)
	if told && user+system > 0 {
		text = append(text, fmt.Sprintf("user %s, system %s", formatDuration(int64(user)), formatDuration(int64(system))))
	}
	if x, ok := v.Get(row, evidence.ToSafepoint); ok && x > 0 {
		text = append(text, "waiting for threads to stop "+formatDuration(int64(x)))
	}
	return strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), ", ")
}

// listCollectionPauses returns the stops of the world that say which part of a collection they
// are, as in the log of a JVM.
func (l *layout) listCollectionPauses() (rows []int, source string) {
	all, artifacts, _ := l.listIntervals(evidence.StopTheWorld, evidence.CoverGC)
	v := &l.b.Intervals
	for _, i := range all {
		if _, ok := v.PauseOf(i); ok && v.End[i] >= l.t.From && v.Start[i] <= l.t.To {
			rows = append(rows, i)
		}
	}
	return rows, l.nameOf(artifacts)
}

// addCollectionCharts adds the heap before and after each pause, how fast it filled, and how much
// of the time pauses of each kind took.
func (l *layout) addCollectionCharts() {
	rows, source := l.listCollectionPauses()
	if told, from := l.rowsWithHeapSizes(rows, source); len(told) > 0 {
		l.heapAtPauses(told, from)
		l.addAllocationChart(told, from)
	}
	if len(rows) > 0 {
		l.addPromotionChart(rows, source)
		l.pausesByKind(rows, source)
	}
}

// rowsWithHeapSizes returns the rows that have the heap before and after: pauses, else the cycles
// of a collector that works concurrently.
func (l *layout) rowsWithHeapSizes(pauses []int, source string) (rows []int, from string) {
	v := &l.b.Intervals
	tells := func(i int) bool {
		_, was := v.Get(i, evidence.HeapBefore)
		_, is := v.Get(i, evidence.HeapAfter)
		return was && is
	}
	if slices.ContainsFunc(pauses, tells) {
		return pauses, source
	}
	all, artifacts, _ := l.listIntervals(evidence.GCConcurrent, evidence.CoverGC)
	for _, i := range all {
		if tells(i) && v.End[i] >= l.t.From && v.Start[i] <= l.t.To {
			rows = append(rows, i)
		}
	}
	return rows, l.nameOf(artifacts)
}

// appendPoint appends a point, moved to just after the last one if it is not later.
func (c *Curve) appendPoint(at int64, v float64) {
	if n := len(c.T); n > 0 && c.T[n-1] >= at {
		at = c.T[n-1] + 1
	}
	c.T, c.V = append(c.T, at), append(c.V, v)
}

// heapAtPauses draws the heap before and after each pause, or cycle, as a sawtooth, and what was
// left, the old generation and the capacity as lines of their own.
func (l *layout) heapAtPauses(rows []int, source string) {
	v := &l.b.Intervals
	used := Curve{ID: "used", Title: "heap, before and after each collection", Source: source, Sloped: true}
	after := Curve{ID: "after", Title: "after a collection", Source: source}
	old := Curve{ID: "old", Title: "old generation, after", Source: source}
	capacity := Curve{ID: "limit", Title: "capacity", Source: source}
	for _, i := range rows {
		before, was := v.Get(i, evidence.HeapBefore)
		left, is := v.Get(i, evidence.HeapAfter)
		if was && is {
			used.appendPoint(v.Start[i], before)
			used.appendPoint(v.End[i], left)
			after.appendPoint(v.End[i], left)
		}
		if x, ok := v.Get(i, evidence.OldAfter); ok {
			old.appendPoint(v.End[i], x)
		} else if young, ok := v.Get(i, evidence.YoungAfter); ok && is {
			old.appendPoint(v.End[i], left-young)
		}
		if x, ok := v.Get(i, evidence.HeapCapacity); ok && x > 0 {
			capacity.appendPoint(v.Start[i], x)
		}
	}
	c := Chart{ID: "heap", Title: "heap", Unit: "bytes"}
	for _, x := range []Curve{used, after, old, capacity} {
		c.addCurve(l.decimateCurve(x))
	}
	l.addChart(c)
}

// addAllocationChart adds how fast the heap grew from one pause to the next.
func (l *layout) addAllocationChart(rows []int, source string) {
	v := &l.b.Intervals
	c := Curve{ID: "allocated", Title: "allocated", Source: source}
	for n, i := range rows[1:] {
		last := rows[n]
		c.appendPoint(v.End[last], metrics.Grown(v, last, i)/(float64(v.Start[i]-v.Start[last])/1e9)) // pauses may follow at once
	}
	if n := len(rows); n > 1 {
		c.appendPoint(v.Start[rows[n-1]], math.NaN())
	}
	chart := Chart{ID: "allocation", Title: "allocation rate", Unit: "bytes/s"}
	chart.addCurve(l.decimateCurve(c))
	l.addChart(chart)
}

// addPromotionChart adds what each young collection added to the old generation, per second since
// the one before.
func (l *layout) addPromotionChart(rows []int, source string) {
	v := &l.b.Intervals
	c := Curve{ID: "promoted", Title: "promoted", Source: source}
	last := -1
	for _, i := range rows {
		if k, _ := v.PauseOf(i); k != evidence.PauseYoung {
			continue
		}
		before, after := metrics.OldOf(v, i)
		if last >= 0 && v.Start[i] > v.End[last] {
			c.appendPoint(v.End[last], max(0, after-before)/(float64(v.Start[i]-v.Start[last])/1e9))
		}
		last = i
	}
	if len(c.T) > 0 {
		c.appendPoint(v.Start[last], math.NaN())
	}
	chart := Chart{ID: "promotion", Title: "promotion rate", Unit: "bytes/s"}
	chart.addCurve(l.decimateCurve(c))
	l.addChart(chart)
}

// pausesByKind draws how much of each second the world was stopped, by the kind of pause.
func (l *layout) pausesByKind(rows []int, source string) {
	v := &l.b.Intervals
	const most = 500
	g := newGrid(l.t.From, l.t.To, 100e6, most)
	cells := make(map[evidence.Pause][]float64)
	var order []evidence.Pause
	for _, i := range rows {
		k, _ := v.PauseOf(i)
		if cells[k] == nil {
			cells[k] = make([]float64, g.n)
			order = append(order, k)
		}
		g.spreadTime(cells[k], v.Start[i], v.End[i], 1)
	}
	slices.Sort(order)
	c := Chart{ID: "pauses", Title: "paused by GC", Unit: "share", Stacked: true}
	for _, k := range order {
		c.addCurve(g.curveOf(strings.ReplaceAll(k.String(), " ", "-"), k.String(), source, cells[k], 1/float64(g.width), l.t.To))
	}
	l.addChart(c)
}
