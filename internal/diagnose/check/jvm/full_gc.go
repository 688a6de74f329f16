package jvm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// FullGC is a heap in which live and long-lived objects leave so little room that the
// whole of it is collected again and again.
var FullGC = check.Check{
	ID:    "jvm.full-gc",
	Title: "full collections pause the program",
	Step:  check.StepCollector,
	Doc: `A full collection marks and compacts the whole heap in one stop-the-world pause: a
second or more per GiB of live objects where one thread does it (Serial, CMS's fallback,
G1 before JDK 10), a fraction of that in parallel. Serial and Parallel make one when the
old generation cannot take what young collections promote; G1, Shenandoah and ZGC only
when their concurrent work did not keep up, which is a failure each time.

The amount freed shows what to do. If it is little, the live set nearly fills the heap:
enlarge the heap, shrink caches, or find a leak (jvm.old-gen-leak: what stays grows from
one full collection to the next). If it is much, promoted objects die soon after: the
young generation or the survivor spaces are too small for what one request holds.

How to tell it from similar problems: look at the trigger in the log. System.gc() and
heap dumps were requested (jvm.explicit-gc), Metadata GC Threshold is about class
metadata (jvm.metaspace-gc), "concurrent mode failure" and "promotion failed" are CMS's
(jvm.cms-concurrent-mode-failure). Many short pauses are young collections
(jvm.young-gc-rate).

What helps: a larger heap (-Xmx at least 1.5 times what is live after a full collection,
as far as the container allows, with room outside the heap for threads, metaspace and
buffers); keeping less; a collector that compacts concurrently where pauses are the
problem. What does not help: calling System.gc() at quiet times.`,
	Thresholds: "two full collections that take 2 % of the time (8 % of the worst minute), or one of a second, or three in a row that leave 95 % of the heap in use, or the JVM's own line about GCTimeLimit; by counts since the start alone, two of a second on average; with requests, 25 % of slow time",
	Needs:      "a GC log; requests from the same time, to show what it costs them",
	Applies:    isJVM,
	Judge:      unlessPartial(judgeFull),
}

// stoppedFull is the share of the time from which full collections are worth naming where
// no request tells what they cost; frequentFull how many there must be.
const (
	stoppedFull  = .02
	frequentFull = 2
)

func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// full are the full collections of some pauses that came for want of room. Those of CMS are
// its failure each time, and have a cause of their own.
func (g *collector) full(p metrics.Pauses) metrics.Pauses {
	return g.ordinary(p.Of(evidence.PauseFull))
}

func judgeFull(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := fullSinceStart(c); ok {
			return v
		}
		return unwatched(c)
	}
	var v check.Verdict
	p := g.own(g.full(g.Pauses))
	g.judge(&v, "jvm.full-gc", p, "full collections", stoppedFull)
	ended := g.exhausted(&v, p)
	if v.State == check.Supported && v.Saves == nil && !ended && len(p) < frequentFull && p.Longest().Seconds() < aSecond {
		v.State, v.Needs = check.Inconclusive, longer
		v.Summary = fmt.Sprintf("only one full collection, of %s", units.Time(1e9*p.Seconds()))
	}
	if others := g.Pauses.Of(evidence.PauseFull); len(p) == 0 && len(others) > 0 && v.State == check.RuledOut {
		v.Summary = fmt.Sprintf("no full collections except %d that other causes explain", len(others))
		if len(others) == 1 {
			v.Summary = "no full collection except one that another cause explains"
		}
	}
	if slowed := g.full(g.Pauses); len(p) == 0 && v.State == check.RuledOut && (slowed.Longest().Seconds() >= aSecond || len(slowed) >= frequentFull && g.ShareOf(slowed) >= stoppedFull) {
		v.State, v.Needs = check.Inconclusive, otherwiseLong
		v.Summary = "full collections lacked CPU, or spent it in the kernel: whether they are long without that is unknown"
	}
	if len(p) == 0 || v.State != check.Supported {
		return v
	}
	live, before, capacity := g.afterFull(p)
	add := func(id, text string, x float64) {
		if !math.IsNaN(x) {
			v.Evidence = append(v.Evidence, c.Figure(id, text, x, "bytes", g.OriginOf(p[0])))
		}
	}
	v.Evidence = append(v.Evidence, g.rate("full collections per minute", p)...)
	if t := g.TriggerOf(p[0]); t != "" && t != evidence.TriggerUntold {
		v.Evidence = append(v.Evidence, c.Seen("triggered by: "+t, g.OriginOf(p[0])))
	}
	add("heap.before_bytes", "heap in use before them (median)", before)
	add("heap.after_bytes", "heap in use after them (median): the live objects", live)
	add("heap.capacity_bytes", "heap capacity", capacity)
	v.Title = g.titleFull(p)
	g.adviseFull(&v, live, before, capacity)
	return v
}

// A heap of which full collections leave so much in use, so many in a row, is at its end,
// however short they are: the JVM gives up at 98 % (GCHeapFreeLimit).
const (
	exhaustedHeap = .95
	inARow        = 3
)

// exhausted supports full collections that free nearly nothing, by the JVM's own word or by
// what they leave.
func (g *collector) exhausted(v *check.Verdict, p metrics.Pauses) bool {
	if len(p) == 0 { // those there may be have a reason of their own
		return false
	}
	said, ok := g.c.Fact(evidence.FactOverheadLimit)
	row, most := 0, 0
	for _, x := range g.Pauses {
		if row++; x.Of != evidence.PauseFull || !(g.Get(x, evidence.HeapAfter) >= exhaustedHeap*g.Get(x, evidence.HeapCapacity)) {
			row = 0
		}
		most = max(most, row)
	}
	if ok {
		v.Evidence = append(v.Evidence, g.c.Figure("gc.overhead_lines", "lines that say GC takes nearly all the time: "+said.Value, said.Number, "count", said.Origin))
	}
	if most >= inARow {
		v.Evidence = append(v.Evidence, g.c.Figure("gc.full_in_a_row", fmt.Sprintf("full collections in a row that left %s of the heap or more in use", units.Percent(exhaustedHeap)), float64(most), "count", g.OriginOf(p[len(p)-1])))
	}
	if !ok && most < inARow {
		return false
	}
	if v.State == check.Supported {
		return true
	}
	v.State = check.Supported
	v.Summary = fmt.Sprintf("%s in a row freed nearly nothing", units.Plural(most, "full collection"))
	if ok {
		v.Summary = fmt.Sprintf("the JVM said %s that GC takes nearly all the time and frees nearly nothing", units.Times(int(said.Number)))
	}
	return true
}

// titleFull says how many there were, and which is worst.
func (g *collector) titleFull(p metrics.Pauses) string {
	if len(p) == 1 {
		return g.named(fmt.Sprintf("A full collection paused the program for %s.", units.Time(1e9*p.Seconds())), p)
	}
	return g.named(fmt.Sprintf("%s of %s on average pause the program %s of the time.", units.Plural(len(p), "full collection"), units.Time(1e9*p.Seconds()/float64(len(p))), units.Percent(g.ShareOf(p))), p)
}

// afterFull is the median heap after and before full collections, and the heap's limit,
// else its capacity, bytes; NaN unknown.
func (g *collector) afterFull(p metrics.Pauses) (live, before, capacity float64) {
	var lives, befores []float64
	for _, x := range p {
		if a, b := g.Get(x, evidence.HeapAfter), g.Get(x, evidence.HeapBefore); !math.IsNaN(a) && !math.IsNaN(b) {
			lives, befores = append(lives, a), append(befores, b)
		}
	}
	live, before = math.NaN(), math.NaN()
	if len(lives) > 0 {
		live, before = stats.Median(lives), stats.Median(befores)
	}
	return live, before, g.Capacity.Number
}

// Of the heap, what is live from which on it is too small for that, and what a full
// collection frees from which on most of it had died.
const (
	crowded = .7
	freed   = .5
)

// enlarged is how many times as large as now, or as what is live, a heap is advised to be
// that is too small. Half as much again leaves a third free; a guess, to be measured.
const enlarged = 1.5

// roomy is how many times as large as what is live a heap is advised to be whose full collections free less than half of it: collectors that
// copy need as much room again.
const roomy = 2

func (g *collector) adviseFull(v *check.Verdict, live, before, capacity float64) {
	room := g.roomBeside()
	switch {
	case live >= crowded*capacity:
		setting := sized("-Xmx", enlarged*live)
		text := fmt.Sprintf("enlarge the heap to at least %s times the live set: %s of it is still in use after a full collection", units.Num(enlarged), units.Percent(live/capacity))
		if room > 0 && enlarged*live > room {
			text += fmt.Sprintf("; %s GiB of memory is too little for that: reduce the live set, or give the process more memory", units.Num(room/(1<<30)))
		}
		v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting},
			check.Fix{Text: "or reduce the live set: bounded caches, smaller sessions; two class histograms some minutes apart show what grows (jcmd PID GC.class_histogram -all)"})
	case before > 0 && (before-live)/before >= freed:
		v.Fix = append(v.Fix, check.Fix{Text: "enlarge the young generation: most of what full collections free died soon after it was promoted", Setting: g.largerYoung(2)})
	case live > 0 && roomy*live > capacity:
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("enlarge the heap to twice the live set, or reduce the live set: %s of the heap is still in use after a full collection", units.Percent(live/capacity)), Setting: sized("-Xmx", roomy*live)})
	default:
		v.Fix = append(v.Fix, check.Fix{Text: "enlarge the heap or reduce the live set, depending on what is live after a full collection"})
	}
	if g.Is("CMS") {
		v.Fix = append(v.Fix, check.Fix{Text: "let CMS collect the old generation before it is full, so that the full collection is not needed", Setting: "-XX:CMSInitiatingOccupancyFraction=70 -XX:+UseCMSInitiatingOccupancyOnly"})
	}
	switch v8 := release(g.c); {
	case g.Is("G1") && v8 > 0 && v8 < 10:
		v.Fix = append(v.Fix, check.Fix{Text: "update the JDK: before JDK 10, G1's full collection runs on one thread and takes several times as long"})
	case g.Is("Serial") || g.Is("Parallel"):
		if v8 >= 21 || v8 == 0 {
			v.Fix = append(v.Fix, check.Fix{Text: "if pauses are the problem, use a collector that compacts while the program runs: G1, or generational ZGC (-XX:+UseZGC, in JDK 21 and 22 with -XX:+ZGenerational)"})
		} else {
			v.Fix = append(v.Fix, check.Fix{Text: "if pauses are the problem, use a collector that works while the program runs", Setting: "-XX:+UseG1GC"})
		}
	}
}

// roomBeside is the memory the process may have, bytes; 0 unknown.
func (g *collector) roomBeside() float64 {
	room, _ := metrics.RoomOf(g.c.Bundle, g.c.Subject)
	if !room.Known() {
		return 0
	}
	return room.Number
}
