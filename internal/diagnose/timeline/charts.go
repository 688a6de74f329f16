package timeline

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// charts lays out the figures over time, as far as the bundle has them.
func (l *layout) charts() {
	pool := l.pool()
	l.rates()
	l.mechanisms()
	l.assists()
	if !pool {
		l.processor()
	}
	l.host()
	l.redis()
	l.counters()
	l.heap()
	l.collections()
	l.cycled()
	l.memory()
	l.simple("faults", "page faults", "1/s", false, figures{
		{evidence.SeriesProcessMinorFaults, "minor", "minor"}, {evidence.SeriesProcessMajorFaults, "major", "major"}})
	l.goroutines()
	l.simple("delay", "threads waiting for a CPU of the host", "s/s", false, figures{
		{evidence.SeriesProcessRunDelay, "threads", "all threads"}, {evidence.SeriesProcessMainThreadRunDelay, "main", "main thread"}})
	l.nonzero("reclaim", "memory reclaimed, and swap", "pages/s", figures{
		{evidence.SeriesHostReclaimDirect, "direct", "by allocating threads"}, {evidence.SeriesHostReclaimBackground, "kswapd", "by the kernel in the background"},
		{evidence.SeriesHostSwapIn, "swap-in", "read back from swap"}, {evidence.SeriesHostSwapOut, "swap-out", "swapped out"}})
	l.disks()
	l.simple("pressure", "pressure: some thread waited", "share", false, figures{
		{evidence.SeriesCgroupPressureCPUSome, "cgroup-cpu", "CPU, container"}, {evidence.SeriesCgroupPressureMemorySome, "cgroup-memory", "memory, container"},
		{evidence.SeriesCgroupPressureIOSome, "cgroup-io", "I/O, container"}, {evidence.SeriesHostPressureCPUSome, "host-cpu", "CPU, host"},
		{evidence.SeriesHostPressureMemorySome, "host-memory", "memory, host"}, {evidence.SeriesHostPressureIOSome, "host-io", "I/O, host"}})
}

// figures are series that share a chart.
type figures []struct{ series, id, title string }

// simple adds a chart of series as they are.
func (l *layout) simple(id, title, unit string, stacked bool, all figures) {
	c := Chart{ID: id, Title: title, Unit: unit, Stacked: stacked}
	for _, f := range all {
		for _, s := range l.series(f.series) {
			c.add(l.curve(f.id, f.title, s))
		}
	}
	l.chart(c)
}

// nonzero adds a chart of those of the series that are above zero at any time: most hosts never
// take memory back.
func (l *layout) nonzero(id, title, unit string, all figures) {
	c := Chart{ID: id, Title: title, Unit: unit}
	for _, f := range all {
		for _, s := range l.series(f.series) {
			if slices.Max(s.V) > 0 {
				c.add(l.curve(f.id, f.title, s))
			}
		}
	}
	l.chart(c)
}

// Disks that are shown: not those that idle, nor more than one can tell apart.
const (
	busyDisk  = .05 // at some time
	mostDisks = 4
)

// disks adds how busy each disk of the host was, the busiest first.
func (l *layout) disks() {
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
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(most[b], most[a]) })
	var all figures
	for _, name := range names[:min(len(names), mostDisks)] {
		all = append(all, struct{ series, id, title string }{evidence.SeriesDiskBusy + ":" + name, "disk-" + name, name})
	}
	l.simple("disks", "disks busy", "share", false, all)
}

// chart adds a chart that has anything to show.
func (l *layout) chart(c Chart) {
	if len(c.Curves) > 0 {
		l.t.Charts = append(l.t.Charts, c)
	}
}

// add adds a curve that has at least one value.
func (c *Chart) add(x Curve) {
	if slices.ContainsFunc(x.V, func(v float64) bool { return !math.IsNaN(v) }) {
		c.Curves = append(c.Curves, x)
	}
}

// processor adds the CPU time of the process by mode.
func (l *layout) processor() {
	c := Chart{ID: "cpu", Title: "CPU of the process", Unit: "cores", Stacked: true}
	for _, s := range l.series(evidence.SeriesProcessCPU) {
		user := *s
		if system := l.like(s, evidence.SeriesProcessCPUSystem); system != nil && len(system.T) == len(s.T) {
			user.V = make([]float64, len(s.V))
			for i := range s.V {
				user.V[i] = max(0, s.V[i]-system.V[i])
			}
			c.add(l.curve("user", "user", &user))
			c.add(l.curve("system", "system", system))
		} else {
			c.add(l.curve("user", "user and system", s))
		}
	}
	l.chart(c)
}

// host adds the CPU time of the host by mode, and what a quota withheld.
func (l *layout) host() {
	l.simple("cpu-host", "CPU of the host", "cores", true, figures{
		{evidence.SeriesHostCPUUser, "user", "user"}, {evidence.SeriesHostCPUSystem, "system", "system"}, {evidence.SeriesHostCPUSoftirq, "softirq", "interrupts"},
		{evidence.SeriesHostCPUSteal, "steal", "stolen"}, {evidence.SeriesHostCPUIowait, "iowait", "idle, waiting for I/O"}})
	l.simple("cpu-quota", "throttled by the CPU quota", "cores", false, figures{{evidence.SeriesCgroupCPUThrottled, "throttled", "all threads"}})
}

// heap adds the heap against its goal: from traces as it grew, from a log of the
// collector as it was at each cycle where no trace looked, from memory statistics
// as it was when they were written.
func (l *layout) heap() {
	c := Chart{ID: "heap", Title: "heap", Unit: "bytes"}
	traced := make(map[evidence.ArtifactID]bool)
	var looked spans
	for _, s := range l.series(evidence.SeriesGoHeap) {
		c.add(l.curve("used", "heap", s))
		if a, ok := s.Origin.Artifact(); ok {
			for _, p := range l.pieces(a) {
				traced[p] = true
				looked.add(l.watched(p, evidence.CoverGC)...)
			}
		}
	}
	used, goal := l.atCycles(looked)
	c.add(used)
	for _, s := range l.series(evidence.SeriesGoHeapSnapshot) {
		c.add(l.readings("snapshot", "heap, when read", s))
	}
	for _, s := range l.series(evidence.SeriesManagedHeap) {
		c.add(l.curve("used", "heap", s))
	}
	for _, s := range l.series(evidence.SeriesGoGoal) {
		if a, ok := s.Origin.Artifact(); ok && traced[a] {
			c.add(l.curve("goal", "goal", withoutZero(s)))
		} else {
			c.add(l.readings("goal-snapshot", "goal, when read", withoutZero(s)))
		}
	}
	c.add(goal)
	l.chart(c)
}

// withoutZero takes out what says that there is no goal: the runtime writes 0 then.
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

// atCycles gives the heap when each cycle began and ended, and the goal it had.
func (l *layout) atCycles(looked spans) (used, goal Curve) {
	v := &l.b.Intervals
	rows, _, _ := l.intervals(evidence.GCCycle, evidence.CoverGC)
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
		if looked.has(start) {
			gap = len(used.T) > 0
			continue
		}
		if end < l.t.From || start > l.t.To {
			continue
		}
		a, _ := v.Origin[i].Artifact()
		if !seen[a] {
			seen[a] = true
			from = append(from, a)
		}
		if gap { // a trace shows what was between
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
	return l.decimate(used), l.decimate(goal)
}

// memory adds what the process takes of the host's memory, and its limits.
func (l *layout) memory() {
	c := Chart{ID: "memory", Title: "memory", Unit: "bytes"}
	taken := figures{{evidence.SeriesProcessRSS, "rss", "resident (RSS)"}, {evidence.SeriesCgroupMemory, "cgroup", "container"}, {evidence.SeriesGoSys, "runtime", "taken from the kernel by the runtime"}}
	for _, f := range taken {
		for _, s := range l.series(f.series) {
			c.add(l.curve(f.id, f.title, s))
		}
	}
	if len(l.series(evidence.SeriesProcessRSS)) == 0 {
		for _, s := range l.series(evidence.SeriesWorkingSet) {
			c.add(l.curve("rss", "working set", s))
		}
	}
	if len(c.Curves) == 0 {
		return
	}
	for _, f := range []struct{ key, id, title string }{{evidence.FactContainerLimit, "limit", "the container's limit"}, {evidence.FactGOMEMLIMIT, "memory-limit", "GOMEMLIMIT"}} {
		if x, ok := l.b.Fact(l.subject, f.key); ok && x.Number > 0 && x.Number < 1<<60 && l.t.To > l.t.From {
			c.add(Curve{ID: f.id, Title: f.title, Source: l.originName(x.Origin), T: []int64{l.t.From, l.t.To}, V: []float64{x.Number, x.Number}})
		}
	}
	l.chart(c)
}

// goroutines adds how many goroutines and threads there were.
func (l *layout) goroutines() {
	l.simple("threads", "threads", "1", false, figures{{evidence.SeriesProcessThreads, "threads", "threads"}, {evidence.SeriesGoProcs, "gomaxprocs", "GOMAXPROCS"}})
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
	slices.SortStableFunc(all, func(a, b reading) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.n, a.n)) }) // of several at once the highest
	slices.Sort(from)
	for _, x := range all {
		if n := len(c.T); x.at >= l.t.From && x.at <= l.t.To && (n == 0 || c.T[n-1] < x.at) {
			c.T, c.V = append(c.T, x.at), append(c.V, float64(x.n))
		}
	}
	c.Source = l.nameOf(from)
	chart := Chart{ID: "goroutines", Title: "goroutines", Unit: "1"}
	chart.add(l.decimate(c))
	l.chart(chart)
}
