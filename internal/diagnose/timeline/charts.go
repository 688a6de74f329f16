package timeline

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
)

// addCharts lays out the figures over time, as far as the bundle has them.
func (l *layout) addCharts() {
	pool := l.addPoolCharts()
	l.addRequestCharts()
	l.addMechanismCharts()
	l.addAssistChart()
	if !pool {
		l.addProcessCPUChart()
	}
	l.addHostCPUCharts()
	l.addRedisCharts()
	l.addCounterCharts()
	l.addHeapChart()
	l.addCollectionCharts()
	l.addCycleCharts()
	l.addMemoryChart()
	l.addSeriesChart("faults", "page faults", "1/s", false, figures{
		{evidence.SeriesProcessMinorFaults, "minor", "minor"}, {evidence.SeriesProcessMajorFaults, "major", "major"}})
	l.addGoroutineCharts()
	l.addSeriesChart("delay", "threads waiting for a CPU of the host", "s/s", false, figures{
		{evidence.SeriesProcessRunDelay, "threads", "all threads"}, {evidence.SeriesProcessMainThreadRunDelay, "main", "main thread"}})
	l.addNonzeroChart("reclaim", "memory reclaimed, and swap", "pages/s", figures{
		{evidence.SeriesHostReclaimDirect, "direct", "by allocating threads"}, {evidence.SeriesHostReclaimBackground, "kswapd", "by the kernel in the background"},
		{evidence.SeriesHostSwapIn, "swap-in", "read back from swap"}, {evidence.SeriesHostSwapOut, "swap-out", "swapped out"}})
	l.addDiskChart()
	l.addPressureChart()
}

// addPressureChart adds the pressure on the container and on the host; where both are one line, once.
func (l *layout) addPressureChart() {
	c := Chart{ID: "pressure", Title: "pressure: some thread waited", Unit: "share"}
	for _, f := range []struct{ what, id, group, host string }{
		{"CPU", "cpu", evidence.SeriesCgroupPressureCPUSome, evidence.SeriesHostPressureCPUSome},
		{"memory", "memory", evidence.SeriesCgroupPressureMemorySome, evidence.SeriesHostPressureMemorySome},
		{"I/O", "io", evidence.SeriesCgroupPressureIOSome, evidence.SeriesHostPressureIOSome},
	} {
		group, host := l.findSeries(f.group), l.findSeries(f.host)
		if len(group) == 1 && len(host) == 1 && areOneLine(group[0], host[0]) {
			c.addCurve(l.buildCurve("host-"+f.id, f.what+", container and host", host[0]))
			continue
		}
		for _, s := range group {
			c.addCurve(l.buildCurve("cgroup-"+f.id, f.what+", container", s))
		}
		for _, s := range host {
			c.addCurve(l.buildCurve("host-"+f.id, f.what+", host", s))
		}
	}
	l.addChart(c)
}

// apart is the difference of two shares below which their lines are one.
const apart = .01

// areOneLine says whether two series of shares are one line.
func areOneLine(x, y *evidence.Series) bool {
	if len(x.T) != len(y.T) {
		return false
	}
	for i := range x.T {
		if math.Abs(x.V[i]-y.V[i]) > apart {
			return false
		}
	}
	return true
}

// figures are series that share a chart.
type figures []struct{ series, id, title string }

// addSeriesChart adds a chart of series as they are.
func (l *layout) addSeriesChart(id, title, unit string, stacked bool, all figures) {
	c := Chart{ID: id, Title: title, Unit: unit, Stacked: stacked}
	for _, f := range all {
		for _, s := range l.findSeries(f.series) {
			c.addCurve(l.buildCurve(f.id, f.title, s))
		}
	}
	l.addChart(c)
}

// addNonzeroChart adds a chart of those series that are above zero at any time: most hosts never
// reclaim memory.
func (l *layout) addNonzeroChart(id, title, unit string, all figures) {
	c := Chart{ID: id, Title: title, Unit: unit}
	for _, f := range all {
		for _, s := range l.findSeries(f.series) {
			if slices.Max(s.V) > 0 {
				c.addCurve(l.buildCurve(f.id, f.title, s))
			}
		}
	}
	l.addChart(c)
}

// Thresholds for shown disks: busy ones, and no more than a reader can tell apart.
const (
	busyDisk  = .05 // of the time, at some moment
	mostDisks = 4
)

// addDiskChart adds how busy each disk of the host was, the busiest first.
func (l *layout) addDiskChart() {
	var names []string
	most := make(map[string]float64)
	for i := range l.b.Series {
		s := &l.b.Series[i]
		name, ok := strings.CutPrefix(s.Name, evidence.SeriesDiskBusy+":")
		if !ok || len(s.V) == 0 || slices.Max(s.V) < busyDisk {
			continue
		}
		if _, seen := most[name]; !seen {
			names = append(names, name)
		}
		most[name] = max(most[name], slices.Max(s.V))
	}
	sorting.Short(names, func(a, b string) int { return cmp.Compare(most[b], most[a]) })
	var all figures
	for _, name := range names[:min(len(names), mostDisks)] {
		all = append(all, struct{ series, id, title string }{evidence.SeriesDiskBusy + ":" + name, "disk-" + name, name})
	}
	l.addSeriesChart("disks", "disks busy", "share", false, all)
}

// addChart adds a chart if it has any curve.
func (l *layout) addChart(c Chart) {
	if c.dropRepeated(); len(c.Curves) > 0 {
		l.t.Charts = append(l.t.Charts, c)
	}
}

// dropRepeated drops curves that another recording of the same figure covers: two sessions of one process have the same counters, read
// at other moments.
func (c *Chart) dropRepeated() {
	covers := func(x, y *Curve) bool {
		return x.ID == y.ID && x.Title == y.Title && x.T[0] <= y.T[0] && x.T[len(x.T)-1] >= y.T[len(y.T)-1]
	}
	for i := len(c.Curves) - 1; i >= 0; i-- {
		if slices.ContainsFunc(c.Curves, func(x Curve) bool { return x.Source != c.Curves[i].Source && covers(&x, &c.Curves[i]) }) {
			c.Curves = slices.Delete(c.Curves, i, i+1)
		}
	}
}

// addCurve adds a curve if it has any known value.
func (c *Chart) addCurve(x Curve) {
	if slices.ContainsFunc(x.V, func(v float64) bool { return !math.IsNaN(v) }) {
		c.Curves = append(c.Curves, x)
	}
}

// addProcessCPUChart adds the CPU time of the process by mode.
func (l *layout) addProcessCPUChart() {
	c := Chart{ID: "cpu", Title: "CPU of the process", Unit: "cores", Stacked: true}
	for _, s := range l.findSeries(evidence.SeriesProcessCPU) {
		user := *s
		if system := l.siblingSeries(s, evidence.SeriesProcessCPUSystem); system != nil && len(system.T) == len(s.T) {
			user.V = make([]float64, len(s.V))
			for i := range s.V {
				user.V[i] = max(0, s.V[i]-system.V[i])
			}
			c.addCurve(l.buildCurve("user", "user", &user))
			c.addCurve(l.buildCurve("system", "system", system))
		} else {
			c.addCurve(l.buildCurve("user", "user and system", s))
		}
	}
	l.addChart(c)
}

// addHostCPUCharts adds the CPU time of the host by mode, and what a quota withheld.
func (l *layout) addHostCPUCharts() {
	l.addSeriesChart("cpu-host", "CPU of the host", "cores", true, figures{
		{evidence.SeriesHostCPUUser, "user", "user"}, {evidence.SeriesHostCPUSystem, "system", "system"}, {evidence.SeriesHostCPUSoftirq, "softirq", "interrupts"},
		{evidence.SeriesHostCPUSteal, "steal", "stolen"}, {evidence.SeriesHostCPUIowait, "iowait", "idle, waiting for I/O"}})
	l.addSeriesChart("cpu-quota", "throttled by the CPU quota", "cores", false, figures{{evidence.SeriesCgroupCPUThrottled, "throttled", "all threads"}})
}

// addHeapChart adds the heap against its goal: from traces as it grew, from the collector's log at
// each cycle where no trace watched, and from memory statistics at the moments they were written.
func (l *layout) addHeapChart() {
	c := Chart{ID: "heap", Title: "heap", Unit: "bytes"}
	traced := make(map[evidence.ArtifactID]bool)
	var looked spans
	for _, s := range l.findSeries(evidence.SeriesGoHeap) {
		c.addCurve(l.buildCurve("used", "heap", s))
		if a, ok := s.Origin.Artifact(); ok {
			for _, p := range l.piecesOf(a) {
				traced[p] = true
				looked.add(l.watchedSpans(p, evidence.CoverGC)...)
			}
		}
	}
	used, goal := l.atCycles(looked)
	c.addCurve(used)
	for _, s := range l.findSeries(evidence.SeriesGoHeapSnapshot) {
		c.addCurve(l.buildReadings("snapshot", "heap, when read", s))
	}
	for _, s := range l.findSeries(evidence.SeriesManagedHeap) {
		c.addCurve(l.buildCurve("used", "heap", s))
	}
	for _, s := range l.findSeries(evidence.SeriesGoGoal) {
		if a, ok := s.Origin.Artifact(); ok && traced[a] {
			c.addCurve(l.buildCurve("goal", "goal", withoutZero(s)))
		} else {
			c.addCurve(l.buildReadings("goal-snapshot", "goal, when read", withoutZero(s)))
		}
	}
	c.addCurve(goal)
	l.addChart(c)
}

// withoutZero replaces zeros by NaN: the runtime writes 0 where there is no goal.
func withoutZero(s *evidence.Series) *evidence.Series {
	out := *s
	out.V = slices.Clone(s.V)
	for i, v := range out.V {
		if v == 0 {
			out.V[i] = math.NaN()
		}
	}
	return &out
}

// atCycles returns the heap when each cycle began and ended, and the goal it had.
func (l *layout) atCycles(looked spans) (used, goal Curve) {
	v := &l.b.Intervals
	rows, _, _ := l.listIntervals(evidence.GCCycle, evidence.CoverGC)
	used = Curve{ID: "used", Title: "heap, at each cycle", Sloped: true}
	goal = Curve{ID: "goal", Title: "goal, of each cycle"}
	put := func(c *Curve, at int64, x float64) {
		if n := len(c.T); n > 0 && c.T[n-1] >= at {
			at = c.T[n-1] + 1
		}
		c.T, c.V = append(c.T, at), append(c.V, x)
	}
	seen := make(map[evidence.ArtifactID]bool)
	var from []evidence.ArtifactID
	gap := false
	for _, i := range rows {
		start, end := v.Start[i], v.End[i]
		if looked.containsTime(start) {
			gap = len(used.T) > 0
			continue
		}
		if end < l.t.From || start > l.t.To {
			continue
		}
		a, _ := v.Origin.At(i).Artifact()
		if !seen[a] {
			seen[a] = true
			from = append(from, a)
		}
		if gap { // a trace shows the time in between
			end := used.T[len(used.T)-1] + 1
			put(&used, end, math.NaN())
			put(&goal, end, math.NaN())
			gap = false
		}
		if x, ok := v.Get(i, evidence.HeapBefore); ok {
			put(&used, start, x)
		}
		if x, ok := v.Get(i, evidence.HeapLive); ok {
			put(&used, end, x)
		}
		if x, ok := v.Get(i, evidence.HeapGoal); ok && x > 0 {
			put(&goal, start, x)
		}
	}
	used.Source = l.nameOf(from)
	goal.Source = used.Source
	return l.decimateCurve(used), l.decimateCurve(goal)
}

// addMemoryChart adds what the process takes of the host's memory, and its limits.
func (l *layout) addMemoryChart() {
	c, container := Chart{ID: "memory", Title: "memory", Unit: "bytes"}, Chart{ID: "container-memory", Title: "memory of the container", Unit: "bytes"}
	taken := figures{{evidence.SeriesProcessRSS, "rss", "resident (RSS)"}, {evidence.SeriesCgroupMemory, "cgroup", "container"}, {evidence.SeriesGoSys, "runtime", "taken from the kernel by the runtime"}}
	for _, f := range taken {
		for _, s := range l.findSeries(f.series) {
			curve := l.buildCurve(f.id, f.title, s)
			if alone := (Chart{Curves: []Curve{curve}}); f.id == "cgroup" && len(c.Curves) > 0 && highestValue(&alone) > farAbove*highestValue(&c) { // most of it is of other processes
				container.addCurve(curve)
				continue
			}
			c.addCurve(curve)
		}
	}
	if len(l.findSeries(evidence.SeriesProcessRSS)) == 0 {
		for _, s := range l.findSeries(evidence.SeriesWorkingSet) {
			c.addCurve(l.buildCurve("rss", "working set", s))
		}
	}
	if len(c.Curves) == 0 {
		return
	}
	for _, f := range []struct{ key, id, title string }{{evidence.FactContainerLimit, "limit", "the container's limit"}, {evidence.FactGOMEMLIMIT, "memory-limit", "GOMEMLIMIT"}} {
		x, ok := l.b.Fact(l.subject, f.key)
		of := &c
		if f.key == evidence.FactContainerLimit && len(container.Curves) > 0 {
			of = &container
		}
		if ok && x.Number > farAbove*highestValue(of) && x.Number < 1<<60 {
			of.Title += ", " + f.title + " " + units.Size(x.Number)
			continue
		}
		if ok && x.Number > 0 && x.Number < 1<<60 && l.t.To > l.t.From {
			of.addCurve(Curve{ID: f.id, Title: f.title, Source: l.originName(x.Origin), T: []int64{l.t.From, l.t.To}, V: []float64{x.Number, x.Number}})
		}
	}
	l.addChart(c)
	l.addChart(container)
}

// farAbove × what is used is a line that would press the others flat: a limit is told in the title instead, and a container that
// holds much more than the process has a chart of its own.
const farAbove = 6

// highestValue returns the largest value of a chart.
func highestValue(c *Chart) (most float64) {
	for i := range c.Curves {
		for k, v := range c.Curves[i].V {
			if v > most {
				most = v
			}
			if all := c.Curves[i].Max; all != nil && all[k] > most {
				most = all[k]
			}
		}
	}
	return most
}

// addGoroutineCharts adds how many goroutines and threads there were.
func (l *layout) addGoroutineCharts() {
	l.addSeriesChart("threads", "threads", "1", false, figures{{evidence.SeriesProcessThreads, "threads", "threads"}, {evidence.SeriesGoProcs, "gomaxprocs", "GOMAXPROCS"}})
	c := Curve{ID: "goroutines", Title: "goroutines", Readings: true}
	typ := l.b.Names.Lookup("goroutine")
	if typ == 0 {
		return
	}
	counts := make(map[evidence.ArtifactID]int64)
	s := &l.b.Samples
	for i := range s.Len() {
		if a, ok := s.Origin[i].Artifact(); ok && s.Type[i] == typ && s.Subject[i] == l.subject {
			counts[a] += s.Value[i]
		}
	}
	type reading struct {
		at int64
		n  int64
	}
	var all []reading
	var from []evidence.ArtifactID
	for a, n := range counts {
		for _, x := range l.b.Coverage {
			if o, ok := x.Origin.Artifact(); ok && o == a && x.Kind == evidence.CoverGoroutines && l.placed[x.Clock] && max(x.From, x.Until) != 0 {
				all = append(all, reading{max(x.From, x.Until), n})
				from = append(from, a)
				break
			}
		}
	}
	sorting.Short(all, func(a, b reading) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.n, a.n)) }) // of several at once, the highest
	slices.Sort(from)
	for _, x := range all {
		if n := len(c.T); x.at >= l.t.From && x.at <= l.t.To && (n == 0 || c.T[n-1] < x.at) {
			c.T, c.V = append(c.T, x.at), append(c.V, float64(x.n))
		}
	}
	c.Source = l.nameOf(from)
	chart := Chart{ID: "goroutines", Title: "goroutines", Unit: "1"}
	chart.addCurve(l.decimateCurve(c))
	l.addChart(chart)
}
