package dotnet

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Gen2Pause is blocking collections of the oldest generation that the runtime starts for its own reasons.
var Gen2Pause = check.Check{
	ID:    "dotnet.gen2-pause",
	Title: "blocking gen 2 collections stop the program",
	Step:  check.StepCollector,
	Doc: `A gen 2 collection marks all live objects. A background one runs concurrently with the
program and stops it twice, briefly; a blocking one stops it for the whole collection,
about a second for every few gigabytes of live objects. Collections are blocking if
background GC is off (System.GC.Concurrent=false, which old templates and some containers
set), if memory is short (more than 90 % of the machine or container in use), if a heap
limit is near, or if the old generation is fragmented and must be compacted.

How to tell it from similar problems: the reason of each collection and why its generation
was chosen are in the runtime's events; separate causes cover collections for large objects
(dotnet.loh-churn), induced ones (dotnet.induced-gc) and those for mid-life objects
(dotnet.mid-life-objects).

What helps: background collection (System.GC.Concurrent=true, the default), more memory or
a higher limit if memory is short; fewer long-lived objects: caches outside the process, or
in fewer and larger objects without references, which need no marking. What does not help:
server GC on one or two CPUs.`,
	Least: fmt.Sprintf("%v of slow time in these pauses and behind them; if requests wait before the service sees them, pauses of 20 ms on average and 1 %% of the time; without requests, %v of the time or one pause of a second; without GC events, no counters for 3 s, a gen 2 collection counted then, and generation 2 smaller by %v",
		check.Material, stopped, shrinks),
	Thresholds: []check.Threshold{leastGCs, leastWatched, mostDies, reaching, shrinks, stopped, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs,
		check.FullHost, check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf,
		check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall,
		check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "GC events: " + record,
	Applies: isDotnet,
	Judge:   judgeGen2,
}

func judgeGen2(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := judgeGen2Counted(c); ok {
			return v
		}
		if v, ok := judgeGen2Rollup(c); ok {
			return v
		}
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	all := g.selectCollections(isOrdinaryGen2)
	const what = "gen 2 collections"
	p := g.pausesOf(isOrdinaryGen2)
	v.Evidence = append(v.Evidence, c.Figure("gc.gen2_own", "gen 2 collections for the runtime's own reasons", float64(len(all)), "count", g.Origin))
	g.judgePauses(&v, "dotnet.gen2-pause", p, what, nil)
	if len(all) == 0 {
		v.Summary = "no gen 2 collections" + g.formatExplainedGen2()
	}
	if v.RuledOut() || len(all) == 0 {
		return v
	}
	blocking := g.selectCollections(func(x *metrics.Collection) bool { return isOrdinaryGen2(x) && x.Kind == evidence.CollectionBlocking })
	v.Evidence = append(v.Evidence, c.Figure("gc.gen2_blocking", "of these blocking", float64(len(blocking)), "count", g.Origin))
	last := all[len(all)-1]
	g.addFigure(&v, "heap.live_last_bytes", "bytes live after the last of them", last.After, "bytes", last.Origin)
	g.addFigure(&v, "host.memory_used_most_share", "peak memory in use, as the runtime reports it", g.gc.MemoryLoad.Number/100, "1", g.gc.MemoryLoad.Origin)
	for _, w := range countReasons(all) {
		v.Evidence = append(v.Evidence, c.Figure("gc.gen2_by_reason", "of these "+w.text, float64(w.count), "count", g.Origin))
	}
	v.Title = fmt.Sprintf("%s stopped the program for %s in total, the longest for %s.", units.Plural(len(all), "gen 2 collection"), units.Time(1e9*p.Seconds()), units.Time(1e9*p.Longest().Seconds()))
	g.adviseGen2(&v, all, blocking)
	return v
}

// formatExplainedGen2 says which gen 2 collections belong to other causes: " but 3 induced"; "" if
// there are none.
func (g *collector) formatExplainedGen2() string {
	countGen2 := func(match func(*metrics.Collection) bool) int {
		return len(g.selectCollections(func(c *metrics.Collection) bool { return match(c) && c.Generation == evidence.Gen2 }))
	}
	var but []string
	if n := countGen2(isForLarge); n > 0 {
		but = append(but, fmt.Sprintf("%d for large objects", n))
	}
	if n := countGen2(isInduced); n > 0 {
		but = append(but, fmt.Sprintf("%d induced", n))
	}
	if len(but) == 0 {
		return ""
	}
	return " but " + strings.Join(but, " and ")
}

// why is a reason with its number of collections.
type why struct {
	text  string
	count int
}

func countReasons(all []*metrics.Collection) (out []why) {
	add := func(text string) {
		for i := range out {
			if out[i].text == text {
				out[i].count++
				return
			}
		}
		out = append(out, why{text, 1})
	}
	for _, c := range all {
		if c.Reason != "" {
			add("because of " + c.Reason)
		}
		for _, r := range c.Condemned {
			if isMemoryShort(r) {
				add("chosen for " + r.String())
			}
		}
	}
	return out
}

// isMemoryShort says whether a reason is that memory is short or fragmented.
func isMemoryShort(r evidence.CondemnReason) bool {
	s := r.String()
	return strings.Contains(s, "memory") || strings.Contains(s, "limit") || strings.Contains(s, "fragmented")
}

func (g *collector) adviseGen2(v *check.Verdict, all, blocking []*metrics.Collection) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	short := false
	for _, c := range blocking {
		for _, r := range c.Condemned {
			short = short || isMemoryShort(r)
		}
	}
	switch {
	case short:
		add("give the process more memory or raise its heap limit: near the limit the runtime runs blocking gen 2 collections", "System.GC.HeapHardLimit or the container's memory limit")
	case len(blocking) == len(all):
		add("turn on background GC: without it each gen 2 collection stops the program until it ends", "System.GC.Concurrent=true (DOTNET_gcConcurrent=1)")
	}
	add("keep fewer long-lived objects, or keep them in fewer objects without references: each gen 2 collection marks all of them", "")
}
