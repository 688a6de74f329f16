package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// findProcess returns the process that the figures of a runtime are about: the one whose GC or CPU profile was
// recorded for longest, else the one with the requests, else the one of which anything else was recorded for longest, as
// of a program without a runtime of its own that serves no requests. A host's recording lists other processes, too.
func (m *measurement) findProcess(top *ledger.Ledger) (evidence.SubjectID, bool) {
	s, ok := m.findLongestRecorded(func(kind string) bool { return kind == evidence.CoverGC || kind == evidence.CoverCPUProfile })
	if !ok && top != nil {
		return top.Subject, true
	}
	if !ok {
		s, ok = m.findLongestRecorded(func(string) bool { return true })
	}
	return s, ok
}

// findLongestRecorded returns the process of which some kinds of evidence were recorded for longest.
func (m *measurement) findLongestRecorded(counts func(kind string) bool) (evidence.SubjectID, bool) {
	best, most := evidence.SubjectID(-1), int64(0)
	for i, s := range m.b.Subjects {
		id := evidence.SubjectID(i)
		if s.Kind != evidence.Process {
			continue
		}
		var watched int64
		for _, c := range m.b.Coverage {
			if c.Subject == id && counts(c.Kind) {
				watched = max(watched, c.Until-c.From)
			}
		}
		if watched > most {
			best, most = id, watched
		}
	}
	return best, best >= 0
}

// findProcessByPID returns the process with a PID. Where several artifacts list it under different subjects, it
// returns the one that was recorded for longest.
func findProcessByPID(b *evidence.Bundle, pid int) (evidence.SubjectID, bool) {
	best, most := evidence.SubjectID(-1), int64(-1)
	for i, s := range b.Subjects {
		id := evidence.SubjectID(i)
		if pid == 0 || s.Kind != evidence.Process || s.PID != pid {
			continue
		}
		if w := metrics.WatchedTime(b, id); w.Until-w.From > most {
			best, most = id, w.Until-w.From
		}
	}
	return best, best >= 0
}

// measureCollector adds the metrics of GC. It adds no metric for what the runtime does not have or what was not
// recorded.
func (m *measurement) measureCollector(s evidence.SubjectID, top *ledger.Ledger) {
	if p, ok := metrics.ProfileOf(m.b, s); ok && p.Span > 0 {
		m.setMetric("cpu_cores", float64(p.All)/1e9/p.Span) // /proc, if recorded, replaces it
	}
	read := platform.ByID(m.b.Subjects[s].Runtime).ReadCollector
	if read == nil {
		return
	}
	g := read(m.b, s, metrics.Scope{Beside: top.RequestsOf(), Whole: true})
	if g == nil {
		return
	}
	m.setMetric("gc_cycles_per_s", g.Rate.Number)
	m.setMetric("full_collections_per_s", g.Full.Number)
	m.setMetric("gc_cpu_share", g.Share.Number)
	if used := metrics.ProcessOf(m.b, s, g.Window).CPU; used.MostlyKnown() {
		m.setMetric("gc_pause_cpu_share", g.PauseCPU.Number/used.Number)
	}
	m.setMetric("assist_ms_per_s", 1e3*g.Assist.Number)
	m.perRequest("assist_us_per_request", 1e6*g.Assist.Number)
	m.setMetric("stopped_ms_per_s", 1e3*g.Stopped.Number)
	if g.Longest.MostlyKnown() { // a part of the run says nothing about the rest
		m.setMetric("longest_pause_ms", 1e3*g.Longest.Number)
	}
	m.setMetric("alloc_mib_per_s", g.Alloc.Number/(1<<20))
	m.setMetric("promoted_mib_per_s", g.Promoted.Number/(1<<20))
	m.setMetric("live_heap_mib", g.Live.Number/(1<<20))
	m.setMetric("heap_goal_mib", g.Goal.Number/(1<<20))
	m.setBlockIntervals(g)
}

// measureSystem adds the metrics of the process and of its host from /proc.
func (m *measurement) measureSystem(s evidence.SubjectID) {
	w := metrics.Window{From: m.from, Until: m.until}
	p, h := metrics.ProcessOf(m.b, s, w), metrics.HostOf(m.b, s, w)
	set := func(metric string, v metrics.Value, unit float64) {
		if v.Known() {
			m.setMetric(metric, v.Number/unit)
		}
	}
	set("cpu_cores", p.CPU, 1)
	if c, ok := m.run.Metrics["cpu_cores"]; ok {
		m.perRequest("cpu_ms_per_request", 1e3*c)
	}
	set("system_cores", p.System, 1)
	if p.CPU.Known() && p.System.Known() {
		m.setMetric("user_cores", max(0, p.CPU.Number-p.System.Number))
	}
	set("run_queue_ms_per_s", p.RunDelay, 1e-3)
	m.setMetric("throttled_share", metrics.QuotaOf(m.b, s, -1, w).Share())
	m.setMetric("pool_waiters", poolWaiters(m.b, s, w))
	set("rss_mib", p.RSS, 1<<20)
	set("minor_faults_per_s", p.MinorFaults, 1)
	set("major_faults_per_s", p.MajorFaults, 1)
	set("cpu_pressure", h.Pressure, 1)
	memory := metrics.HostMemoryOf(m.b, w)
	set("memory_pressure", memory.Pressure, 1)
	if h.Others.Known() && h.CPUs > 0 {
		others := min(1, h.Others.Number/h.CPUs)
		m.run.Load.Others = &others
	}
}

// poolWaiters returns how many wait for a connection of any pool of a process on average; NaN: no gauge tells.
func poolWaiters(b *evidence.Bundle, s evidence.SubjectID, w metrics.Window) float64 {
	all, known := 0., false
	for _, p := range metrics.ConnectionPools(b, s, w) {
		if !math.IsNaN(p.Waiting) {
			all, known = all+p.Waiting, true
		}
	}
	if !known {
		return math.NaN()
	}
	return all
}

// settings are the facts of a process that are set from outside and stay while it runs.
var settings = []string{evidence.FactCommand, evidence.FactGoModule, evidence.FactContainerImage, evidence.FactContainerCPU, evidence.FactContainerLimit,
	evidence.FactGOGC, evidence.FactGOMEMLIMIT, evidence.FactGODEBUG, evidence.FactGOMAXPROCS,
	evidence.FactCollector, evidence.FactInitialHeapSize, evidence.FactMaxHeapSize, evidence.FactMaxNewSize, evidence.FactNewSize, evidence.FactUseTHP,
	evidence.FactForcedPoolMinimum, evidence.FactForcedPoolMaximum}

// addSettings notes under which settings and version a process ran.
func (m *measurement) addSettings(s evidence.SubjectID) {
	m.run.Settings = make(map[string]string)
	if v := m.b.Subjects[s].Version; v != "" {
		m.run.Settings["version"] = v
	}
	for i := range m.b.Facts {
		f := &m.b.Facts[i]
		if _, known := m.run.Settings[f.Key]; !known && f.Subject == s && slices.Contains(settings, f.Key) {
			m.run.Settings[f.Key] = fmt.Sprint(f.Number, " ", f.Value)
		}
	}
}
