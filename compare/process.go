package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/cause/golang"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
)

// process picks whom the figures of a runtime are about: the process whose
// collector was watched for longest, or that was profiled; else the one with the
// requests. A host's recording lists others, too.
func (m *measurement) process(top *ledger.Ledger) (evidence.SubjectID, bool) {
	best, most := evidence.SubjectID(-1), int64(0)
	for i, s := range m.b.Subjects {
		id := evidence.SubjectID(i)
		if s.Kind != evidence.Process {
			continue
		}
		var watched int64
		for _, c := range m.b.Coverage {
			if c.Subject == id && (c.Kind == evidence.CoverGC || c.Kind == evidence.CoverCPUProfile) {
				watched = max(watched, c.Until-c.From)
			}
		}
		if watched > most {
			best, most = id, watched
		}
	}
	if best < 0 && top != nil {
		best = top.Subject
	}
	return best, best >= 0
}

// collector reads what the garbage collector did: counted over the whole run by
// runtime.MemStats at its ends where they were taken, else over the recording that
// watched it for longest.
func (m *measurement) collector(s evidence.SubjectID) {
	f, watched := golang.FiguresOf(m.b, s)
	if watched {
		m.set("gc_cycles_per_s", f.Rate)
		m.set("stopped_ms_per_s", 1e3*f.Stopped)
		m.set("alloc_mib_per_s", f.Alloc/(1<<20))
		m.set("live_heap_mib", f.Live/(1<<20))
		m.set("heap_goal_mib", f.Goal/(1<<20))
	}
	assist, known := f.Assist, watched
	if t, ok := golang.CPUOf(m.b, s); ok {
		m.set("gc_cpu_share", float64(t.GC)/float64(t.All))
		var span float64 // s
		for _, c := range m.b.Covered(s, evidence.CoverCPUProfile) {
			span += float64(c.Until-c.From) / 1e9
		}
		if span > 0 {
			m.set("cpu_cores", float64(t.All)/1e9/span) // until /proc says better
		}
		if span > f.Span {
			assist, known = float64(t.Assist)/1e9/span, true
		}
	}
	if known {
		m.set("assist_ms_per_s", 1e3*assist)
		m.perRequest("assist_us_per_request", 1e6*assist)
	}
	if cycles, span := m.grown(s, evidence.FactNumGC); span > 0 {
		forced, _ := m.grown(s, evidence.FactNumForcedGC)
		m.set("gc_cycles_per_s", max(0, cycles-forced)/span)
	}
	if bytes, span := m.grown(s, evidence.FactTotalAlloc); span > 0 {
		m.set("alloc_mib_per_s", bytes/span/(1<<20))
	}
}

// grown is by how much a counter of runtime.MemStats grew between the first time
// it was read and the last, and how long that took (s); 0, 0 if it was not read
// twice, or began again.
func (m *measurement) grown(s evidence.SubjectID, key string) (by, span float64) {
	var read []evidence.Fact
	for _, f := range m.b.Facts {
		if f.Subject == s && f.Key == key && f.From > 0 && !math.IsNaN(f.Number) {
			read = append(read, f)
		}
	}
	if len(read) < 2 {
		return 0, 0
	}
	slices.SortStableFunc(read, func(a, b evidence.Fact) int { return cmp.Compare(a.From, b.From) })
	first, last := read[0], read[len(read)-1]
	if last.From <= first.From || last.Number < first.Number {
		return 0, 0
	}
	return last.Number - first.Number, float64(last.From-first.From) / 1e9
}

// system reads what /proc said of the process and of its host.
func (m *measurement) system(s evidence.SubjectID) {
	w := reading.Window{From: m.from, Until: m.until}
	p, h := reading.ProcessOf(m.b, s, w), reading.HostOf(m.b, s, w)
	set := func(metric string, v reading.Value, unit float64) {
		if v.Known() {
			m.set(metric, v.Number/unit)
		}
	}
	set("cpu_cores", p.CPU, 1)
	if c, ok := m.run.Metrics["cpu_cores"]; ok {
		m.perRequest("cpu_ms_per_request", 1e3*c)
	}
	set("rss_mib", p.RSS, 1<<20)
	set("minor_faults_per_s", p.MinorFaults, 1)
	if h.Others.Known() && h.CPUs > 0 {
		others := min(1, h.Others.Number/h.CPUs)
		m.run.Load.Others = &others
	}
}
