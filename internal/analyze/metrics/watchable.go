package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Watchable is a series of a process or a host under the name that watch rules use (internal/operate/watch/series). Counts and
// intervals are converted to per second, or to percent of the time.
type Watchable struct {
	ID     string
	T      []int64 // ns, ascending: each value is of the time up to it
	V      []float64
	Origin evidence.Origin
}

// watchedProcess are the process series that are watched as recorded, apart from a factor.
var watchedProcess = []struct {
	name, id string
	scale    float64
}{
	{evidence.SeriesProcessCPU, "proc/cpu", 100},
	{evidence.SeriesProcessCPUSystem, "proc/system", 100},
	{evidence.SeriesProcessRSS, "proc/rss", 1},
	{evidence.SeriesProcessPrivate, "proc/private", 1},
	{evidence.SeriesProcessThreads, "proc/threads", 1},
	{evidence.SeriesProcessMajorFaults, "proc/major-faults", 1},
	{evidence.SeriesProcessMinorFaults, "proc/minor-faults", 1},
	{evidence.SeriesProcessInvoluntarySwitches, "proc/involuntary", 1},
	{"safepoints/time", "jvm/safepoint-time", 1},
	{"threads/live", "jvm/threads", 1},
	{"locks/contended", "jvm/contended", 1},
	{evidence.SeriesGoHeapSnapshot, "go/heap", 1},
	{evidence.SeriesGoGoal, "go/goal", 1},
	{evidence.SeriesGoGoroutines, "go/goroutines", 1},
	{evidence.SeriesRedisPing, evidence.SeriesRedisPing, 1e-6},
	{evidence.SeriesRedisConnected, "redis/connected", 1},
	{evidence.SeriesRedisUsedMemory, "redis/used", 1},
	{evidence.SeriesRedisLatestFork, "redis/fork", 1e-3},
}

// watchedCounts are the series that are recorded as counts since some start.
var watchedCounts = []struct {
	names []string // their sum
	id    string
	scale float64
}{
	{[]string{evidence.SeriesGoCycles}, "go/gc-cycles", 1},
	{[]string{evidence.SeriesGoForced}, "go/forced", 1},
	{[]string{evidence.SeriesGoAllocated}, "go/alloc", 1},
	{[]string{evidence.SeriesRedisMainUser, evidence.SeriesRedisMainSystem}, "redis/main-cpu", 100},
	{[]string{evidence.SeriesRedisCommands}, "redis/ops", 1},
	{[]string{evidence.SeriesRedisConnections}, "redis/connections", 1},
	{[]string{evidence.SeriesRedisRejected}, "redis/rejected", 1},
	{[]string{evidence.SeriesRedisEvicted}, "redis/evicted", 1},
	{[]string{evidence.SeriesRedisErrors}, "redis/errors", 1},
	{[]string{evidence.SeriesRedisAOFDelayed}, "redis/aof-delayed", 1},
}

// watchedHost are the series of a host; cores become percent of all CPUs.
var watchedHost = []struct {
	name, id string
	cores    bool
	scale    float64
}{
	{evidence.SeriesHostCPUUser, "host/user", true, 100},
	{evidence.SeriesHostCPUSystem, "host/system", true, 100},
	{evidence.SeriesHostCPUSoftirq, "host/softirq", true, 100},
	{evidence.SeriesHostCPUIowait, "host/iowait", true, 100},
	{evidence.SeriesHostCPUSteal, "host/steal", true, 100},
	{evidence.SeriesHostPressureCPUSome, "host/pressure-cpu", false, 100},
	{evidence.SeriesHostPressureMemorySome, "host/pressure-memory", false, 100},
	{evidence.SeriesHostPressureIOSome, "host/pressure-io", false, 100},
	{evidence.SeriesHostCompactStalls, "host/compact-stalls", false, 1},
	{evidence.SeriesHostAllocStalls, "host/alloc-stalls", false, 1},
	{evidence.SeriesHostSwapIn, "host/swap-in", false, 1},
	{evidence.SeriesHostMemoryAvailable, "host/available", false, 1},
}

// WatchablesOf returns all series of a process or host that rules can check, however they were recorded. Requests are rows of the
// bundle, each request once; slow tells which are slow, nil: unknown. Series of a recording without a watch name keep their own.
func WatchablesOf(b *evidence.Bundle, s evidence.SubjectID, own OwnWatchables, requests []int, slow func(row int) bool) []Watchable {
	w := &watching{b: b, s: s, seen: make(map[string]bool), taken: make(map[string]bool)}
	if b.Subjects[s].Kind == evidence.Host {
		w.addHost()
	} else {
		w.addProcess()
		w.addCounts()
		if own != nil {
			own(w)
		}
		w.addRequests(requests, slow)
	}
	w.addRest()
	return w.out
}

// OwnWatchables adds a runtime's own series that have no general name, nil: none.
type OwnWatchables func(*watching)

// Series that only some runtimes have.
var (
	WatchablesOfJVM OwnWatchables = (*watching).addJVM
	WatchablesOfGo  OwnWatchables = (*watching).addGo
)

type watching struct {
	b     *evidence.Bundle
	s     evidence.SubjectID
	out   []Watchable
	seen  map[string]bool // IDs
	taken map[string]bool // names of series
}

// takeCurve returns a series as a curve and marks it as taken: its converted form has another name.
func (w *watching) takeCurve(name string) *Curve {
	w.taken[name] = true
	if c := CurveOf(w.b, w.s, name, Whole); c.Known() {
		return c
	}
	return nil
}

func (w *watching) addWatchable(x Watchable) {
	if len(x.T) > 0 && !w.seen[x.ID] {
		w.seen[x.ID] = true
		w.out = append(w.out, x)
	}
}

func scaleValues(v []float64, by float64) []float64 {
	if by == 1 {
		return v
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by
	}
	return out
}

func (w *watching) addHost() {
	cpus := float64(w.b.Subjects[w.s].CPUs)
	for _, x := range watchedHost {
		c := w.takeCurve(x.name)
		if c == nil {
			continue
		}
		by := x.scale
		if x.cores {
			if by = x.scale / cpus; cpus < 1 {
				continue
			}
		}
		w.addWatchable(Watchable{x.id, c.T, scaleValues(c.V, by), c.Origin})
	}
}

func (w *watching) addProcess() {
	for _, x := range watchedProcess {
		if c := w.takeCurve(x.name); c != nil {
			w.addWatchable(Watchable{x.id, c.T, scaleValues(c.V, x.scale), c.Origin})
		}
	}
	cpu, of := w.takeCurve(evidence.SeriesProcessCPU), float64(w.countCPUs())
	if cpu != nil && of > 0 {
		w.addWatchable(Watchable{"proc/busy", cpu.T, scaleValues(cpu.V, 100/of), cpu.Origin})
	} else if c := w.takeCurve(evidence.SeriesCPU); c != nil { // percent of all processors
		w.addWatchable(Watchable{"proc/busy", c.T, c.V, c.Origin})
		w.taken[evidence.SeriesCPU] = false
	}
}

// countCPUs returns how many CPUs the process may use: the host's, limited by its quota.
func (w *watching) countCPUs() float64 {
	n := float64(w.b.CPUsOf(w.s))
	if f, ok := w.b.Fact(w.s, evidence.FactContainerCPU); ok && f.Number > 0 && (n == 0 || f.Number < n) {
		n = f.Number
	}
	if n == 0 {
		for _, s := range w.b.Subjects {
			if s.Kind == evidence.Host && s.CPUs > 0 {
				n = float64(s.CPUs)
			}
		}
	}
	return n
}

func (w *watching) addCounts() {
	for _, x := range watchedCounts {
		var sum *Curve
		whole := true
		for _, name := range x.names {
			c := w.takeCurve(name)
			switch {
			case c == nil:
				whole = false
			case sum == nil:
				sum = &Curve{T: c.T, V: slices.Clone(c.V), Origin: c.Origin}
			case len(c.V) == len(sum.V):
				for i := range c.V {
					sum.V[i] += c.V[i]
				}
			}
		}
		if sum != nil && whole {
			w.addWatchable(Watchable{x.id, sum.T, scaleValues(growthRates(sum), x.scale), sum.Origin}.withoutUnknown())
		}
	}
	used, most := w.takeCurve(evidence.SeriesRedisUsedMemory), w.takeCurve(evidence.SeriesRedisMaxMemory)
	if used != nil && most != nil && most.Last() > 0 {
		w.addWatchable(Watchable{"redis/used-share", used.T, scaleValues(used.V, 100/most.Last()), used.Origin})
	}
}

// growthRates returns a count's growth per second up to each point; NaN at the first, and where the count fell because the
// process restarted.
func growthRates(c *Curve) []float64 {
	out := make([]float64, len(c.V))
	out[0] = math.NaN()
	for i := 1; i < len(c.V); i++ {
		out[i] = math.NaN()
		if d := float64(c.T[i]-c.T[i-1]) / 1e9; d > 0 && c.V[i] >= c.V[i-1] {
			out[i] = (c.V[i] - c.V[i-1]) / d
		}
	}
	return out
}

// withoutUnknown leaves out the points that are NaN.
func (x Watchable) withoutUnknown() Watchable {
	out := Watchable{ID: x.ID, Origin: x.Origin}
	for i, v := range x.V {
		if !math.IsNaN(v) {
			out.T, out.V = append(out.T, x.T[i]), append(out.V, v)
		}
	}
	return out
}

// addJVM adds what a JVM's counters tell of its collections, else its log.
func (w *watching) addJVM() {
	var young, full *Curve
	for i := range w.b.Series {
		s := &w.b.Series[i]
		name, is := strings.CutPrefix(s.Name, "gc/collections:")
		if s.Subject != w.s || !is || len(s.T) == 0 {
			continue
		}
		w.taken[s.Name] = true
		switch name = strings.ToLower(name); {
		case strings.Contains(name, "full"), name == "msc", strings.HasPrefix(name, "psparallelcompact"), strings.HasPrefix(name, "psmarksweep"):
			full = &Curve{T: s.T, V: s.V, Origin: s.Origin}
		case strings.Contains(name, "concurrent"), strings.Contains(name, "conc"), strings.Contains(name, "cms"), strings.Contains(name, "major"), strings.Contains(name, "old"):
		case young == nil:
			young = &Curve{T: s.T, V: s.V, Origin: s.Origin}
		}
	}
	if young != nil {
		w.addWatchable(Watchable{"jvm/young-gc", young.T, young.V, young.Origin})
	}
	if full != nil {
		w.addWatchable(Watchable{"jvm/full-gc", full.T, full.V, full.Origin})
	}
	w.taken[evidence.SeriesGCTime] = true
	gc := w.takeCurve(evidence.SeriesGCTime)
	if gc != nil {
		w.addWatchable(Watchable{"jvm/gc-time", gc.T, gc.V, gc.Origin})
	}
	if stopped := w.takeCurve("safepoints/time"); stopped != nil && gc != nil && len(stopped.T) == len(gc.T) {
		rest := make([]float64, len(gc.V))
		for i := range rest {
			rest[i] = max(0, stopped.V[i]-gc.V[i])
		}
		w.addWatchable(Watchable{"jvm/safepoint-other", gc.T, rest, gc.Origin})
	}
	w.addPauses()
}

// addPauses adds the pauses of a GC log where no counter has them.
func (w *watching) addPauses() {
	v := &w.b.Intervals
	var young, full, time events
	for i := range v.Start {
		if v.Subject.At(i) != w.s || v.Kind[i] != evidence.StopTheWorld {
			continue
		}
		p, ok := v.PauseOf(i)
		if !ok {
			continue
		}
		seconds := float64(v.End[i]-v.Start[i]) / 1e9
		time.addEvent(v.Start[i], 100*seconds, v.Origin.At(i))
		n := float64(v.Repeats(i))
		switch p {
		case evidence.PauseYoung, evidence.PauseMixed:
			young.addEvent(v.Start[i], n, v.Origin.At(i))
		case evidence.PauseFull, evidence.PauseDegenerated:
			full.addEvent(v.Start[i], n, v.Origin.At(i))
		}
	}
	if len(time.at) == 0 {
		return
	}
	cover := w.coveredSpans(evidence.CoverGC)
	w.addWatchable(young.perSecond("jvm/young-gc", cover))
	w.addWatchable(full.perSecond("jvm/full-gc", cover))
	w.addWatchable(time.perSecond("jvm/gc-time", cover))
}

// addGo adds what a Go process's own figures and traces tell of its collector.
func (w *watching) addGo() {
	if c, born := w.takeCurve(evidence.SeriesGoCPUFraction), w.b.Subjects[w.s].StartTime; c != nil && born > 0 {
		w.addWatchable(Watchable{"go/gc-share", c.T, SinceLast(c.T, c.V, born), c.Origin}.withoutUnknown())
	}
	w.addCycles()
}

// brief is the longest recording whose mean stands for each of its seconds.
const brief = 2 * 60

// addCycles adds the cycles of a trace or a log, where the process does not count them: their share of the CPU time is the
// recording's mean.
func (w *watching) addCycles() {
	g := GoCollector(w.b, w.s, Scope{})
	if g == nil || g.Seconds() > brief || !(g.Processors.Number > 0) {
		return
	}
	all := g.Background.Number
	if g.Assist.Known() {
		all += g.Assist.Number
	}
	for _, x := range []struct {
		id string
		v  float64
	}{{"go/gc-cycles", g.Rate.Number}, {"go/gc-share", 100 * all / g.Processors.Number}, {"go/assist", 100 * g.Assist.Number}} {
		if math.IsNaN(x.v) {
			continue
		}
		out := Watchable{ID: x.id, Origin: g.Origin}
		for t := g.From + 1e9; t <= g.Until; t += 1e9 {
			out.T, out.V = append(out.T, t), append(out.V, x.v)
		}
		w.addWatchable(out)
	}
}

// SinceLast turns a share of the time since the start (0…1) into percent of the time since the previous point; NaN at the first,
// and where two points are so close that rounding dominates.
func SinceLast(t []int64, share []float64, born int64) []float64 {
	out := make([]float64, len(t))
	for i := range t {
		out[i] = math.NaN()
		if i == 0 || t[i]-t[i-1] < 5e8 {
			continue
		}
		was, is := share[i-1]*float64(t[i-1]-born), share[i]*float64(t[i]-born)
		out[i] = min(100, max(0, 100*(is-was)/float64(t[i]-t[i-1])))
	}
	return out
}

// coveredSpans returns when something was watched, in order.
func (w *watching) coveredSpans(kind string) (of Spans) {
	cover := w.b.Covered(w.s, kind)
	sorting.Short(cover, func(a, b evidence.Coverage) int { return cmp.Compare(a.From, b.From) })
	for _, c := range cover {
		if c.Until > c.From {
			of = of.Add(c.From, c.Until)
		}
	}
	return of
}

// events are occurrences with a size each.
type events struct {
	at     []int64
	v      []float64
	origin evidence.Origin
}

func (e *events) addEvent(at int64, v float64, o evidence.Origin) {
	if len(e.at) == 0 {
		e.origin = o
	}
	e.at, e.v = append(e.at, at), append(e.v, v)
}

// mostSeconds bounds a series of one point a second: a month.
const mostSeconds = 31 * 24 * 3600

// perSecond returns their sum per watched second, or per longer step where that would be too many points.
func (e *events) perSecond(id string, watched Spans) (out Watchable) {
	out.ID, out.Origin = id, e.origin
	total := int64(0)
	for _, s := range watched {
		total += s.To - s.From
	}
	width := int64(1e9)
	for total/width > mostSeconds {
		width *= 10
	}
	sums := make(map[int64]float64)
	for i, at := range e.at {
		sums[at/width] += e.v[i]
	}
	for _, s := range watched {
		for k := s.From / width; k <= (s.To-1)/width; k++ {
			until := min((k+1)*width, s.To)
			long := float64(until-max(k*width, s.From)) / 1e9
			if n := len(out.T); long < .2*float64(width)/1e9 || n > 0 && until <= out.T[n-1] {
				continue // too short to tell
			}
			out.T, out.V = append(out.T, until), append(out.V, sums[k]/long)
		}
	}
	return out
}

// addRequests adds the service's requests per second: rate, slow ones, errors and the longest.
func (w *watching) addRequests(rows []int, slow func(row int) bool) {
	r := &w.b.Requests
	var all, late, failed events
	worst := make(map[int64]float64)
	var from, until int64 = math.MaxInt64, math.MinInt64
	for _, i := range rows {
		if !r.Timed(i) || r.Outcome.At(i) == evidence.Unfinished {
			continue
		}
		at := r.End.At(i)
		from, until = min(from, at), max(until, at)
		all.addEvent(at, 1, r.Origin.At(i))
		worst[at/1e9] = max(worst[at/1e9], float64(r.Latency(i))/1e6)
		if slow != nil && slow(i) {
			late.addEvent(at, 1, r.Origin.At(i))
		}
		if r.Outcome.At(i) == evidence.Failed || r.Outcome.At(i) == evidence.TimedOut {
			failed.addEvent(at, 1, r.Origin.At(i))
		}
	}
	if len(all.at) == 0 || until <= from {
		return
	}
	span := Spans{{from, until + 1}}
	rate, lates, fails := all.perSecond("requests/rate", span), late.perSecond("requests/slow", span), failed.perSecond("requests/errors", span)
	w.addWatchable(rate)
	if slow != nil {
		lates.Origin = rate.Origin
		w.addWatchable(lates)
		w.addWatchable(percentOf("requests/slow-share", lates, rate))
	}
	w.addWatchable(percentOf("requests/errors", fails, rate))
	longest := Watchable{ID: "requests/worst", Origin: rate.Origin}
	for _, t := range rate.T {
		if v, ok := worst[(t-1)/1e9]; ok {
			longest.T, longest.V = append(longest.T, t), append(longest.V, v)
		}
	}
	w.addWatchable(longest)
}

// percentOf returns one of two series of the same times in percent of the other, 0 where the other
// is 0.
func percentOf(id string, of, all Watchable) Watchable {
	out := Watchable{ID: id, T: all.T, V: make([]float64, len(all.V)), Origin: all.Origin}
	for i := range all.V {
		if all.V[i] > 0 && i < len(of.V) {
			out.V[i] = 100 * of.V[i] / all.V[i]
		}
	}
	return out
}

// addRest adds the other series by their recorded names.
func (w *watching) addRest() {
	for i := range w.b.Series {
		s := &w.b.Series[i]
		if s.Subject == w.s && len(s.T) > 0 && !w.taken[s.Name] {
			w.addWatchable(Watchable{s.Name, s.T, s.V, s.Origin})
		}
	}
}
