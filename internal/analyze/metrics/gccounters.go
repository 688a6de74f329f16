package metrics

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

// GCCounters are a .NET collector's figures from counters, where its events were not recorded: from dotnet-counters,
// Performance Monitor (.NET Framework too), or the runtime itself. Rates are per second, averaged over the window.
type GCCounters struct {
	Window
	Gen0, Gen1, Gen2 Value // collections; those of a generation include older ones
	Induced          Value // collections that the program asked for
	Time             Value // % time in GC: of the last collection, since the previous one; from meters, of the whole time
	Alloc            Value // bytes/s
	Heap             Value // bytes of all generations
	Large            Value // bytes of the large object heap
	Oldest           Value // bytes of generation 2
	Private          Value // bytes of the process
}

// ReadGCCounters reads the counters over a window; nil: there are none.
func ReadGCCounters(b *evidence.Bundle, subject evidence.SubjectID, w Window) *GCCounters {
	g := &GCCounters{Window: w}
	any := false
	for _, x := range []struct {
		to   *Value
		name string
	}{
		{&g.Gen0, evidence.SeriesGen0Collections}, {&g.Gen1, evidence.SeriesGen1Collections}, {&g.Gen2, evidence.SeriesGen2Collections}, {&g.Induced, evidence.SeriesInduced},
		{&g.Time, evidence.SeriesGCTime}, {&g.Alloc, evidence.SeriesAllocation}, {&g.Heap, evidence.SeriesManagedHeap}, {&g.Large, evidence.SeriesLOHSize},
		{&g.Oldest, evidence.SeriesGen2Size}, {&g.Private, evidence.SeriesProcessPrivate},
	} {
		*x.to = Mean(b, subject, x.name, w)
		any = any || x.to.Known() && x.to != &g.Private
	}
	for _, x := range []struct {
		to    *Value
		name  string
		scale float64
	}{{&g.Time, evidence.SeriesGCPaused, 100}, {&g.Gen0, evidence.SeriesGen0Meter, 1}, {&g.Gen2, evidence.SeriesGen2Meter, 1}} {
		if v := Mean(b, subject, x.name, w); v.Known() && !x.to.Known() {
			*x.to, any = v, true
			x.to.Number *= x.scale
		}
	}
	if !any {
		return nil
	}
	return g
}

// Thresholds for counters (common practice for ASP.NET services with human users).
const (
	MuchTimeInGC = 5. // %: above, requests are delayed noticeably
	OftenGen2    = .1 // generation 2 ÷ generation 0: above, objects die old. Healthy is 1 in 100
	AnyInduced   = 0. // per second: above, code calls GC.Collect
)

// GCFinding is a counter beyond its threshold.
type GCFinding struct {
	ID      string // id of the figure in machine-readable output
	Counter string // the usual name: "% Time in GC"
	Value   Value
	Unit    string // of the counter, "%" or "1/s"
	Text    string // what the value means
}

// Findings returns the counters beyond their thresholds; none: nothing stands out.
func (g *GCCounters) Findings() (out []GCFinding) {
	if g.Time.Known() && g.Time.Number > MuchTimeInGC {
		out = append(out, GCFinding{"gc.time_percent", "% Time in GC", g.Time, "%", "over 5 %: requests wait for GC"})
	}
	if g.Induced.Known() && g.Induced.Number > AnyInduced {
		out = append(out, GCFinding{"gc.induced_per_s", "# Induced GC", g.Induced, "1/s", "the program or one of its libraries calls GC.Collect: a trace of GC events with stacks names the caller"})
	}
	if g.Gen0.Known() && g.Gen2.Known() && g.Gen0.Number > 0 && g.Gen2.Number > OftenGen2*g.Gen0.Number {
		out = append(out, GCFinding{"gc.gen2_per_s", "# Gen 2 Collections", g.Gen2, "1/s", "over a tenth of those of generation 0: objects live too long, or are over 85,000 bytes; allocation ticks say which"})
	}
	return out
}
