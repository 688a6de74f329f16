package gopprof

import (
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// metric is a runtime/metrics name and the runtime.MemStats field with the
// same meaning.
type metric struct {
	field, name, unit string
}

// snapshotMetrics become series of one point, at the time of the snapshot,
// so that several texts of one process can be joined.
var snapshotMetrics = []metric{
	{evidence.FactNumGC, evidence.SeriesGoCycles, "count"},
	{evidence.FactNumForcedGC, evidence.SeriesGoForced, "count"},
	{evidence.FactTotalAlloc, evidence.SeriesGoAllocated, "bytes"},
	{"Mallocs", evidence.SeriesGoObjects, "count"},
	{"HeapAlloc", evidence.SeriesGoHeapSnapshot, "bytes"}, // not the runtime's name: traces have every change under that name
	{"NextGC", evidence.SeriesGoGoal, "bytes"},
	{"Sys", evidence.SeriesGoSys, "bytes"},
	{"HeapReleased", evidence.SeriesGoReleased, "bytes"},
	{"GCCPUFraction", evidence.SeriesGoCPUFraction, "1"},
}

// ring is the last 256 cycles as runtime.MemStats has them
// (https://pkg.go.dev/runtime#MemStats): entry (n−1) mod 256 is cycle n's.
// PauseEnd is wall-clock time, PauseNs the sum of the cycle's pauses. They are
// series and not intervals: the part of sweep termination, at the
// cycle's beginning, is unknown, and the same cycles stand in the next text,
// in a trace and in a gctrace log.
type ring struct {
	pauses, ends []int64
	first        int64 // the number of the first cycle in them
}

// ringOf puts the ring in order. It uses the ring only if its newest end equals
// LastGC: the runtime writes both from one reading of the clock.
func ringOf(pauses, ends string, cycles, last int64) (ring, bool) {
	p, ok := parseIntegers(pauses)
	e, also := parseIntegers(ends)
	n := int64(len(e))
	if !ok || !also || n == 0 || int64(len(p)) != n || cycles <= 0 || last <= 0 || e[(cycles-1)%n] != last {
		return ring{}, false
	}
	r := ring{first: max(cycles-n, 0) + 1}
	for c := r.first; c <= cycles; c++ {
		at, pause := e[(c-1)%n], p[(c-1)%n]
		if at <= 0 || pause < 0 || len(r.ends) > 0 && at < r.ends[len(r.ends)-1] {
			// Not filled in, or the clock was set back: only later cycles count.
			r = ring{first: c + 1}
			continue
		}
		r.ends, r.pauses = append(r.ends, at), append(r.pauses, pause)
	}
	return r, len(r.ends) > 0
}

func parseIntegers(list string) ([]int64, bool) {
	fields := strings.Fields(strings.Trim(list, "[]"))
	if len(fields) > maxRing {
		return nil, false
	}
	out := make([]int64, len(fields))
	for i, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, false
		}
		out[i] = n
	}
	return out, true
}

const maxRing = 1024 // the runtime has 256

// snapshotTime returns when a heap text was written, ns since the epoch; 0 unknown. Only a live
// recording has a date other than that of copying, and it cannot be before the last cycle in
// the text.
func (r *recording) snapshotTime(b *evidence.Builder) int64 {
	if at := b.Modified(); r.lines != nil && b.Recorded() && at >= r.lastGC {
		return at
	}
	return 0
}

// emitMemory writes the series of runtime.MemStats.
func (r *recording) emitMemory(b *evidence.Builder, subject evidence.SubjectID, at int64) {
	origin := b.Origin(r.statsLine)
	if at > 0 {
		for _, m := range snapshotMetrics {
			if v, ok := r.findStat(m.field); ok && m.name != evidence.SeriesGoCycles {
				b.Series(evidence.Series{Subject: subject, Name: m.name, Unit: m.unit, T: []int64{at}, V: []float64{v}, Origin: origin})
			}
		}
	}
	cycles := evidence.Series{Subject: subject, Name: evidence.SeriesGoCycles, Unit: "count", Origin: origin}
	pauses := evidence.Series{Subject: subject, Name: evidence.SeriesGoPauses, Unit: "ns", Origin: origin}
	for i, t := range r.ring.ends {
		cycles.T, cycles.V = append(cycles.T, t), append(cycles.V, float64(r.ring.first+int64(i)))
		pauses.T, pauses.V = append(pauses.T, t), append(pauses.V, float64(r.ring.pauses[i]))
	}
	if n, ok := r.findStat(evidence.FactNumGC); ok && at > 0 {
		cycles.T, cycles.V = append(cycles.T, at), append(cycles.V, n) // that there was no cycle since is known, too
	}
	if len(cycles.T) > 0 {
		b.Series(cycles)
	}
	if len(pauses.T) > 0 {
		b.Series(pauses)
	}
}

// statsTable shows what runtime.MemStats tells of collections and memory.
func (r *recording) statsTable() evidence.Table {
	t := evidence.Table{Title: "runtime.MemStats", Columns: []string{"", ""}}
	row := func(name, key string, format func(v float64) string) {
		if v, ok := r.findStat(key); ok {
			t.Rows = append(t.Rows, []string{name, format(v)})
		}
	}
	count := func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
	size := func(v float64) string { return formatQuantity(int64(v), "bytes") }
	ms := func(v float64) string { return strconv.FormatFloat(v/1e6, 'g', 8, 64) }
	row("collections", evidence.FactNumGC, count)
	row("pauses in all ms", "PauseTotalNs", ms)
	if r.longestPause > 0 {
		t.Rows = append(t.Rows, []string{"longest of the last 256 pauses ms", ms(float64(r.longestPause))})
	}
	row("share of CPU time in GC", "GCCPUFraction", func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) })
	row("heap", "HeapAlloc", size)
	row("heap at which GC begins next", "NextGC", size)
	row("allocated in all", evidence.FactTotalAlloc, size)
	row("memory from the system", "Sys", size)
	return t
}

// findStat finds a value of runtime.MemStats as a finite number.
func (r *recording) findStat(key string) (float64, bool) {
	for _, s := range r.stats {
		if s.key == key {
			v, err := strconv.ParseFloat(s.value, 64)
			return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
		}
	}
	return 0, false
}
