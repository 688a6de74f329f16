package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
)

// How much of each list people are shown; JSON has more.
const (
	shownCollections = 40
	shownSites       = 15
	longPause        = .2 // s: PerfView lists collections and waits that are longer
)

// renderTables returns the tables that users see.
func (g *Generational) renderTables() (out []Table) {
	add := func(t Table) {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	add(g.generationTable())
	add(g.summaryTable())
	add(g.reasonTable())
	add(g.triggerTable())
	add(g.condemnedTable())
	add(g.collectionTable())
	if a := g.Allocations; a != nil {
		large := slices.DeleteFunc(slices.Clone(a.Sites), func(s Site) bool { return s.Large == 0 })
		add(siteTable(fmt.Sprintf("Allocations of large objects (%s of them in %s)", units.Size(a.Large), units.Time(a.Seconds*1e9)), large, a.Large, func(s Site) float64 { return s.Large }))
		all := slices.Clone(a.Sites)
		sorting.Short(all, func(x, y Site) int { return cmp.Compare(y.Bytes, x.Bytes) })
		add(siteTable(fmt.Sprintf("Allocations (%s in %s)", units.Size(a.Bytes), units.Time(a.Seconds*1e9)), all, a.Bytes, func(s Site) float64 { return s.Bytes }))
	}
	dead := 0.
	for _, s := range g.Deaths {
		dead += s.Bytes
	}
	add(siteTable("What dies in generation 2 or as large objects (sampled)", g.Deaths, dead, func(s Site) float64 { return s.Bytes }))
	live := Table{Title: "On the heap by type", Columns: []string{"type", "bytes", "objects"}}
	for _, t := range g.Live[:min(shownSites, len(g.Live))] {
		live.Rows = append(live.Rows, []string{t.Type, units.Size(t.Bytes), units.Num(t.Objects)})
	}
	add(live)
	return out
}

func (g *Generational) generationTable() Table {
	t := Table{Title: "GC by generation", Columns: []string{"generation", "collections", "background", "induced", "pauses", "mean", "max", "allocated before", "survived", "pinned objects", "largest heap"}}
	for i := range g.Generations {
		r := &g.Generations[i]
		t.Rows = append(t.Rows, []string{r.Name, units.Count(r.Count), units.Count(r.Background), units.Count(r.Induced), units.Time(r.PauseS * 1e9), timeCell(r.MeanS), timeCell(r.MaxS),
			sizeCell(r.Allocated), percentCell(r.Survival), numberCell(r.Pinned), sizeCell(r.Peak)})
	}
	return t
}

// summaryTable returns the figures of all collections together.
func (g *Generational) summaryTable() Table {
	t := Table{Title: "GC in all", Columns: []string{"", "value"}}
	row := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []string{name, value})
		}
	}
	read := g.read
	row("time in GC", percentCell(g.TimeInGC))
	row("longest pause", timeCell(knownOrNil(read.Longest.Number)))
	if g.SuspendS != nil {
		row("of pauses, stopping threads", timeCell(g.SuspendS)+", resuming them "+timeCell(g.ResumeS))
	}
	long := read.Over(longPause)
	row("collections that paused over "+units.Time(longPause*1e9), units.Count(len(long)))
	if w := g.LargeWaits; w == nil {
		row("waits for large objects in a background collection", "not recorded (keyword GC 0x1 of Microsoft-Windows-DotNETRuntimePrivate)")
	} else {
		value := units.Count(w.Count)
		if w.Count > 0 {
			value += ", " + units.Time(w.SumS*1e9) + " of threads, at most " + timeCell(w.MaxS)
		}
		row("waits for large objects in a background collection", value)
	}
	if g.Allocations == nil {
		row("allocations", "not recorded (keyword GC 0x1 at level 5: dotnet-trace collect --profile gc-verbose)")
	}
	addRateRow(row, "allocated", read.Alloc.Number)
	addRateRow(row, "of it large objects", read.LargeAlloc.Number)
	if g.ServerGC != nil {
		row("GC", map[bool]string{true: "server", false: "workstation"}[*g.ServerGC]+", "+units.Num(*g.Heaps)+" "+map[bool]string{true: "heaps", false: "heap"}[*g.Heaps != 1])
	}
	if g.MemoryLoad != nil {
		row("memory in use, as the runtime reports it", "at most "+units.Percent(*g.MemoryLoad/100))
	}
	row("heap after generation 2", g.trendText())
	if g.Unseen > 0 {
		row("collections not recorded", units.Count(g.Unseen)+", by their numbers: the figures are lower bounds")
	}
	if g.Lost > 0 {
		row("lost events", units.Count(g.Lost)+": the figures are lower bounds")
	}
	return t
}

func addRateRow(row func(string, string), name string, v float64) {
	if s := sizeCell(knownOrNil(v)); s != "" {
		row(name, s+"/s")
	}
}

// trendText describes how the heap changed, by what full collections left: only that shows a leak.
func (g *Generational) trendText() string {
	h := &g.Heap
	if h.First == nil {
		if h.Count == 0 {
			return ""
		}
		return "too few collections of generation 2 to show growth: " + units.Count(h.Count)
	}
	s := sizeCell(h.First) + " at first, " + sizeCell(h.Last) + " at last"
	switch {
	case *h.Last > 1.2**h.First && *h.Rising > .6:
		s += ": it grows"
	case *h.Last > 1.2**h.First:
		s += ": more, but not steadily"
	default:
		s += ": no growth"
	}
	if h.Restarts > 0 {
		s += "; the process was restarted, " + units.Times(h.Restarts) + " (figures since the last)"
	}
	return s
}

func (g *Generational) reasonTable() Table {
	t := Table{Title: "Why GC ran", Columns: []string{"reason", "collections", "of generation 2", "pauses", "max"}}
	for _, r := range g.Reasons {
		t.Rows = append(t.Rows, []string{orUnknown(r.Reason), units.Count(r.Count), units.Count(r.Gen2), units.Time(r.PauseS * 1e9), units.Time(r.MaxS * 1e9)})
	}
	return t
}

func (g *Generational) triggerTable() Table {
	t := Table{Title: "Callers that triggered GC", Columns: []string{"reason", "who", "through", "run by", "collections", "pauses", "max"}}
	for i := range g.Triggers[:min(shownSites, len(g.Triggers))] {
		x := &g.read.Triggers[i]
		through := x.Chain
		if len(through) > 0 && through[0] == x.Caller {
			through = through[1:]
		}
		t.Rows = append(t.Rows, []string{x.Reason, orUnknown(x.Caller), strings.Join(through[:min(2, len(through))], " ← "), orUnknown(x.Began), units.Count(x.Count), units.Time(x.Paused * 1e9), units.Time(x.Max * 1e9)})
	}
	return t
}

func (g *Generational) condemnedTable() Table {
	t := Table{Title: "Why that generation", Columns: []string{"reason", "collections", "of generation 2"}}
	for _, c := range g.Condemned {
		t.Rows = append(t.Rows, []string{c.Reason, units.Count(c.Count), units.Count(c.Gen2)})
	}
	return t
}

// collectionTable lists collections in order; if there are many, only those with the longest
// pauses, longest first.
func (g *Generational) collectionTable() Table {
	t := Table{Title: "Collections (N blocking, B background, F during one, I induced)",
		Columns: []string{"number", "GC", "reason", "suspend", "pause", "% since last", "allocated", "before", "after", "promoted", "free", "gen 0", "gen 1", "gen 2", "LOH", "POH", "pinned"}}
	all := g.read.Collections
	shown := make([]*metrics.Collection, len(all))
	for i := range all {
		shown[i] = &all[i]
	}
	if len(all) > shownCollections {
		sorting.Short(shown, func(x, y *metrics.Collection) int { return cmp.Compare(y.Pause, x.Pause) })
		shown = shown[:shownCollections]
		t.Title = fmt.Sprintf("The %d collections with the longest pauses of %s (N blocking, B background, F during one, I induced; all with --format json)", shownCollections, units.Count(len(all)))
	}
	for _, c := range shown {
		row := []string{units.Count(c.Number), c.Label(), c.Reason, timeCell(knownOrNil(c.Suspend)), timeCell(knownOrNil(c.Pause)), percentCell(knownOrNil(c.PauseShare)), sizeCell(knownOrNil(c.Allocated)),
			sizeCell(knownOrNil(c.Before)), sizeCell(knownOrNil(c.After)), sizeCell(knownOrNil(c.Promoted)), sizeCell(knownOrNil(c.Free))}
		for i := range evidence.Generations {
			row = append(row, sizeCell(knownOrNil(c.Gen[i].After)))
		}
		t.Rows = append(t.Rows, append(row, numberCell(knownOrNil(c.Pinned))))
	}
	return t
}

func siteTable(title string, sites []Site, all float64, of func(Site) float64) Table {
	t := Table{Title: title, Columns: []string{"type", "share", "bytes", "large objects", "in"}}
	sites = byOwner(sites)
	sorting.Short(sites, func(x, y Site) int { return cmp.Compare(of(y), of(x)) })
	for _, s := range sites[:min(shownSites, len(sites))] {
		share := of(s) / all
		count := ""
		if s.Count > 0 {
			count = units.Num(s.Count)
		}
		t.Rows = append(t.Rows, []string{orUnknown(s.Type), percentCell(&share), units.Size(of(s)), count, *s.Owner})
	}
	return t
}

// byOwner merges the sites of a type whose owner, or innermost function, is the same.
func byOwner(sites []Site) (out []Site) {
	at := make(map[[2]string]int)
	for _, s := range sites {
		owner := ""
		switch {
		case s.Owner != nil:
			owner = *s.Owner
		case len(s.Stack) > 0:
			owner = threadstack.Short(s.Stack[0])
		}
		k := [2]string{s.Type, owner}
		n, ok := at[k]
		if !ok {
			at[k] = len(out)
			s.Owner = &owner
			out = append(out, s)
			continue
		}
		x := &out[n]
		x.Bytes, x.Large, x.Count = x.Bytes+s.Bytes, x.Large+s.Large, x.Count+s.Count
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func timeCell(s *float64) string {
	if s == nil {
		return ""
	}
	return units.Time(*s * 1e9)
}

func sizeCell(bytes *float64) string {
	if bytes == nil {
		return ""
	}
	return units.Size(*bytes)
}

func percentCell(share *float64) string {
	if share == nil {
		return ""
	}
	return units.Percent(*share)
}

func numberCell(v *float64) string {
	if v == nil {
		return ""
	}
	return units.Num(*v)
}
