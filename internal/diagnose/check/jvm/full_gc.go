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

// FullGC is a heap in which live and long-lived objects leave so little room that it is collected completely again and again.
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
	Least: fmt.Sprintf("two full collections that take %v of the time (8 %% of the worst minute), or one of a second, or three in a row that leave %v of the heap in use, or the JVM's own line about GCTimeLimit; by counts since the start alone, two of a second on average, or %v of %v and more that come for every second young one; with requests, %v of slow time",
		stoppedFull, exhaustedHeap, manyCounted, felt, check.Material),
	Thresholds: []check.Threshold{crowded, exhaustedHeap, felt, forEachYoung, freed, frequentFull, halfOne, inARow, leastWatched, longMinutes, manyCounted, mostFreed, mostOfThem,
		leastPaced, pacePart, roomy, oldEmpty, oldRoomy, permFull, sameStop, someCounted, someUnstamped, stoppedFull, stoppedSpecial, stoppedYoung, unified, worthKernel, worthStarved,
		check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull, check.LeastStopped, check.LongPause,
		check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull,
		check.Noticeable, check.NoticeableCall, check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "a GC log; requests from the same time, to show what it costs them",
	Applies: isJVM,
	Judge:   unlessPartial(judgeFull),
}

// stoppedFull is the share of the time from which full collections are reported where no request shows their cost; frequentFull
// is their least number.
var (
	stoppedFull = check.Threshold{Name: "share of the time in full collections, where no requests tell their cost", Value: .02, Unit: "1",
		Why: "a healthy program needs next to none", Source: "HotSpot, gc_globals.hpp: the Parallel collector aims for 1 % of the time in all collections (GCTimeRatio=99); full ones alone take twice that"}
	frequentFull = check.Threshold{Name: "full collections in a recording", Value: 2, Unit: "count",
		Why: "one may be on request or at the start", Source: "arithmetic: the least number that repeats itself"}
)

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// fullCollections returns the full collections among pauses that came for lack of space. Those of
// CMS are always failures, and have a cause of their own.
func (g *collector) fullCollections(p metrics.Pauses) metrics.Pauses {
	return g.ordinaryPauses(p.Of(evidence.PauseFull))
}

func judgeFull(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := fullSinceStart(c); ok {
			return v
		}
		if v, ok := longUnstamped(c, func(x unstamped) bool { return x.of == evidence.PauseFull && !x.isForMetadata() && !x.isRequested() }, "full collections"); ok {
			return v
		}
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.ownPauses(g.fullCollections(g.Pauses))
	g.judgePauses(&v, "jvm.full-gc", p, "full collections", stoppedFull)
	ended := g.supportIfExhausted(&v, p)
	v.Counted(float64(len(p)), frequentFull)
	if v.Supported() && v.Saves == nil && !ended && len(p) < frequentFull.Int() && p.Longest().Seconds() < check.ASecond.Value {
		v.Rule, v.Needs = check.TooFew, longer
		v.Summary = fmt.Sprintf("only one full collection, of %s", units.Time(1e9*p.Seconds()))
	}
	if others := g.Pauses.Of(evidence.PauseFull); len(p) == 0 && len(others) > 0 && v.RuledOut() {
		v.Summary = fmt.Sprintf("no full collections except %d that other causes explain", len(others))
		if len(others) == 1 {
			v.Summary = "no full collection except one that another cause explains"
		}
	}
	if slowed := g.fullCollections(g.Pauses); len(p) == 0 && v.RuledOut() && (slowed.Longest().Seconds() >= check.ASecond.Value || len(slowed) >= frequentFull.Int() && g.ShareOf(slowed) >= stoppedFull.Value) {
		v.Rule, v.Needs = check.PartlyExplained, otherwiseLong
		v.Summary = "full collections lacked CPU, or spent it in the kernel: whether they are long without that is unknown"
	}
	if len(p) == 0 || !v.Supported() {
		return v
	}
	live, before, capacity := g.afterFull(p)
	add := func(id, text string, x float64) {
		if !math.IsNaN(x) {
			v.Evidence = append(v.Evidence, c.Figure(id, text, x, "bytes", g.OriginOf(p[0])))
		}
	}
	v.Evidence = append(v.Evidence, g.rateEvidence("full collections per minute", p)...)
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

// A heap is at its end if this many full collections in a row leave this much in use, however short they are: the JVM gives up
// at 98 % (GCHeapFreeLimit).
var (
	exhaustedHeap = check.Threshold{Name: "share of the heap that full collections leave in use", Value: .95, Unit: "1",
		Why: "it is at its end, however short they are", Source: "GCHeapFreeLimit=2: the JVM gives up at 98 %"}
	inARow = check.Threshold{Name: "full collections in a row that leave it so", Value: 3, Unit: "count",
		Why: "one may come at the peak of what lives", Source: "judgement: weighs a peak of what lives against a heap that is full; the JVM itself gives up after 5 (AdaptiveSizePolicyGCTimeLimitThreshold in gc_globals.hpp)"}
)

// supportIfExhausted supports full collections that free almost nothing, by the JVM's own message or by the heap they leave, and
// reports whether they do.
func (g *collector) supportIfExhausted(v *check.Verdict, p metrics.Pauses) bool {
	if len(p) == 0 { // other full collections have a reason of their own
		return false
	}
	said, ok := g.c.Fact(evidence.FactOverheadLimit)
	row, most := 0, 0
	for _, x := range g.Pauses {
		if row++; x.Of != evidence.PauseFull || !(g.Get(x, evidence.HeapAfter) >= exhaustedHeap.Value*g.Get(x, evidence.HeapCapacity)) {
			row = 0
		}
		most = max(most, row)
	}
	if ok {
		v.Evidence = append(v.Evidence, g.c.Figure("gc.overhead_lines", "lines that say GC takes nearly all the time: "+said.Value, said.Number, "count", said.Origin))
	}
	if most >= inARow.Int() {
		v.Evidence = append(v.Evidence, g.c.Figure("gc.full_in_a_row", fmt.Sprintf("full collections in a row that left %s of the heap or more in use", units.Percent(exhaustedHeap.Value)), float64(most), "count", g.OriginOf(p[len(p)-1])))
	}
	if !ok && most < inARow.Int() {
		return false
	}
	if v.Supported() {
		return true
	}
	v.Rule = check.StandsAlone
	v.Summary = fmt.Sprintf("%s in a row freed nearly nothing", units.Plural(most, "full collection"))
	if ok {
		v.Summary = fmt.Sprintf("the JVM said %s that GC takes nearly all the time and frees nearly nothing", units.Times(int(said.Number)))
	}
	return true
}

// titleFull says how many full collections there were, and which one was worst.
func (g *collector) titleFull(p metrics.Pauses) string {
	if len(p) == 1 {
		return g.addWorstToTitle(fmt.Sprintf("A full collection paused the program for %s.", units.Time(1e9*p.Seconds())), p)
	}
	return g.addWorstToTitle(fmt.Sprintf("%s of %s on average pause the program %s of the time.", units.Plural(len(p), "full collection"), units.Time(1e9*p.Seconds()/float64(len(p))), units.Percent(g.ShareOf(p))), p)
}

// afterFull returns the median heap after and before full collections, and the heap's limit, else
// its capacity, in bytes; NaN if unknown.
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

// The live part of a heap from which it is too small, and the part that a full collection frees from which most of the heap was
// dead.
var (
	crowded = check.Threshold{Name: "share of the heap that is live, from which it is too small for that", Value: .7, Unit: "1",
		Why: "collections come ever more often above", Source: "arithmetic: a byte that is allocated costs live/(heap − live) of copying: 1 at 50 % live, 2.3 at 70 %, 9 at 90 %"}
	freed = check.Threshold{Name: "share of the heap that a full collection frees, from which most of it had died", Value: .5, Unit: "1",
		Why: "a young generation or a cycle could have freed it", Source: "arithmetic: half"}
)

// enlarged is the factor by which a heap that is too small should grow, from its size or its live part. Half as much again
// leaves a third free; a guess, to be measured.
const enlarged = 1.5

var roomy = check.Threshold{Name: "heap over what is live, that full collections leave", Value: 2, Unit: "times",
	Why: "collectors that copy need as much room again", Source: "arithmetic: half of the heap"}

func (g *collector) adviseFull(v *check.Verdict, live, before, capacity float64) {
	room := g.roomBeside()
	switch {
	case live >= crowded.Value*capacity:
		setting := sizeFlag("-Xmx", enlarged*live)
		text := fmt.Sprintf("enlarge the heap to at least %s times the live set: %s of it is still in use after a full collection", units.Num(enlarged), units.Percent(live/capacity))
		if room > 0 && enlarged*live > room {
			text += fmt.Sprintf("; %s GiB of memory is too little for that: reduce the live set, or give the process more memory", units.Num(room/(1<<30)))
		}
		v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting},
			check.Fix{Text: "or reduce the live set: bounded caches, smaller sessions; two class histograms some minutes apart show what grows (jcmd PID GC.class_histogram -all)"})
	case before > 0 && (before-live)/before >= freed.Value:
		v.Fix = append(v.Fix, check.Fix{Text: "enlarge the young generation: most of what full collections free died soon after it was promoted", Setting: g.largerYoung(2)})
	case live > 0 && roomy.Value*live > capacity:
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("enlarge the heap to twice the live set, or reduce the live set: %s of the heap is still in use after a full collection", units.Percent(live/capacity)), Setting: sizeFlag("-Xmx", roomy.Value*live)})
	default:
		v.Fix = append(v.Fix, check.Fix{Text: "enlarge the heap or reduce the live set, depending on what is live after a full collection"})
	}
	if g.Is("CMS") {
		v.Fix = append(v.Fix, check.Fix{Text: "let CMS collect the old generation before it is full, so that the full collection is not needed", Setting: "-XX:CMSInitiatingOccupancyFraction=70 -XX:+UseCMSInitiatingOccupancyOnly"})
	}
	switch v8 := featureRelease(g.c); {
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

// roomBeside returns the memory the process may have, in bytes; 0 if unknown.
func (g *collector) roomBeside() float64 {
	room, _ := metrics.RoomOf(g.c.Bundle, g.c.Subject)
	if !room.Known() {
		return 0
	}
	return room.Number
}
