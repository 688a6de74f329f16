package inspect

import (
	"github.com/unstall/unstall/internal/base/units"
)

// renderTables returns tables of what a collector that logs its reasons did.
func (g *GC) renderTables() (out []Table) {
	if g.Generational != nil {
		return g.Generational.renderTables()
	}
	if !g.hasReasons() {
		return nil
	}
	add := func(title, first string, all []Kind) {
		if len(all) == 0 {
			return
		}
		t := Table{Title: title, Columns: []string{first, "count", "total", "mean", "p99", "max"}}
		for _, k := range all {
			t.Rows = append(t.Rows, []string{k.Kind, units.Count(k.Count), units.Time(k.TotalS * 1e9), units.Time(k.MeanS * 1e9), units.Time(k.P99S * 1e9), units.Time(k.MaxS * 1e9)})
		}
		out = append(out, t)
	}
	all := g.ByKind
	if p := g.Pauses; len(all) > 1 {
		all = append(append([]Kind(nil), all...), Kind{Kind: "all", Count: *p.Count, TotalS: *p.TotalS, MeanS: *p.MeanS, P99S: *p.P99S, MaxS: *p.MaxS})
	}
	add("Pauses", "kind", all)
	if len(g.Longest) > 0 {
		out = append(out, longestTable(g.Longest))
	}
	add("Causes of pauses", "cause", g.Causes)
	add("Failures in pauses", "what went wrong", g.Failures)
	add("Stalls of single threads (not pauses)", "kind", g.Stalls.ByKind)
	if t := g.heapTable(); len(t.Rows) > 0 {
		out = append(out, t)
	}
	add("Concurrent phases", "phase", g.Concurrent.Phases)
	if s := g.Safepoints; s != nil {
		add("Safepoints ("+units.Time(s.TotalS*1e9)+" in total, "+units.Time(s.ToSafepointS*1e9)+" of it waiting for threads to stop, at most "+units.Time(s.ToMaxS*1e9)+"; GC pauses are included)",
			"operation", s.ByOperation)
	}
	return out
}

func (g *GC) heapTable() Table {
	t := Table{Title: "Heap and rates", Columns: []string{"", "value"}}
	size := func(name string, v *float64, unit string) {
		if v != nil {
			t.Rows = append(t.Rows, []string{name, units.Size(*v) + unit})
		}
	}
	if g.Collector != nil {
		t.Rows = append(t.Rows, []string{"collector", *g.Collector})
	}
	size("peak", g.Heap.Peak, "")
	size("after the last collection", g.Heap.AfterLast, "")
	size("after the last full collection", g.Heap.AfterFull, "")
	size("capacity", g.Heap.Capacity, "")
	size("young generation's capacity", g.Heap.Young, "")
	size("metaspace (class metadata)", g.Heap.Metaspace, "")
	size("allocated", g.Rates.Alloc, "/s")
	size("promoted", g.Rates.Promote, "/s")
	if r := g.Rates.Cycles; r != nil {
		t.Rows = append(t.Rows, []string{"collections", units.Num(*r*60) + " /min"})
	}
	if c := g.CPU; c != nil {
		t.Rows = append(t.Rows, []string{"CPU time in pauses", "user " + units.Time(c.UserS*1e9) + ", system " + units.Time(c.SystemS*1e9) + ", wall " + units.Time(c.RealS*1e9)})
	}
	return t
}
