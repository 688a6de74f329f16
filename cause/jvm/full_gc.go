package jvm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/stats"
)

// FullGC is a heap in which live and long-lived objects leave so little room that the
// whole of it is collected again and again.
var FullGC = cause.Cause{
	ID:    "jvm.full-gc",
	Title: "full collections pause the program",
	Step:  cause.StepCollector,
	Doc: `A full collection marks and compacts the whole heap in one stop-the-world pause: a
second or more per GiB of live objects where one thread does it (Serial, CMS's fallback,
G1 before JDK 10), a fraction of that in parallel. Serial and Parallel make one when the
old generation cannot take what young collections promote; G1, Shenandoah and ZGC only
when their concurrent work did not keep up, which is a failure each time.

How much is freed shows what to do. If little, the live set nearly fills the heap:
enlarge the heap, shrink caches, or find a leak (jvm.old-gen-leak: what stays grows from
one full collection to the next). If much, objects are promoted that die soon after: the
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
	Needs:   "a GC log; requests from the same time, to show what it costs them",
	Applies: isJVM,
	Judge:   judgeFull,
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
func (g *collector) full(p reading.Pauses) reading.Pauses {
	return g.ordinary(p.Of(evidence.PauseFull))
}

func judgeFull(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched(c)
	}
	var v cause.Verdict
	p := g.own(g.full(g.Pauses))
	g.judge(&v, p, "full collections", stoppedFull)
	if v.State == cause.Supported && v.Saves == nil && len(p) < frequentFull {
		v.State, v.Needs = cause.RuledOut, nil
		v.Summary = "only one full collection"
	}
	if len(p) == 0 || v.State != cause.Supported {
		return v
	}
	live, before, capacity := g.afterFull(p)
	add := func(text string, x float64) {
		if !math.IsNaN(x) {
			v.Evidence = append(v.Evidence, c.Figure(text, x, "bytes", g.OriginOf(p[0])))
		}
	}
	v.Evidence = append(v.Evidence, c.Figure("full collections per minute", 60*g.PerSecond(p), "1/min", g.OriginOf(p[0])))
	if t := g.TriggerOf(p[0]); t != "" {
		v.Evidence = append(v.Evidence, c.Seen("triggered by: "+t, g.OriginOf(p[0])))
	}
	add("heap in use before them (median)", before)
	add("heap in use after them (median): the live objects", live)
	add("heap capacity", capacity)
	v.Title = fmt.Sprintf("%s of %s on average pause the program %.1f %% of the time.", figure.Plural(len(p), "full collection"), inSeconds(p.Seconds()/float64(len(p))), 100*g.ShareOf(p))
	g.adviseFull(&v, live, before, capacity)
	return v
}

// afterFull is the median heap after and before full collections, and the heap's limit,
// else its capacity, bytes; NaN unknown.
func (g *collector) afterFull(p reading.Pauses) (live, before, capacity float64) {
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

func (g *collector) adviseFull(v *cause.Verdict, live, before, capacity float64) {
	room := g.roomBeside()
	switch {
	case live >= crowded*capacity:
		setting := sized("-Xmx", enlarged*live)
		text := fmt.Sprintf("enlarge the heap to at least %.1f times the live set: %.0f %% of it is still in use after a full collection", enlarged, 100*live/capacity)
		if room > 0 && enlarged*live > room {
			text += fmt.Sprintf("; %.1f GiB of memory is too little for that: keep less, or give it more", room/(1<<30))
		}
		v.Fix = append(v.Fix, cause.Fix{Text: text, Setting: setting},
			cause.Fix{Text: "or keep less: bounded caches, smaller sessions; two class histograms some minutes apart show what grows (jcmd PID GC.class_histogram -all)"})
	case before > 0 && (before-live)/before >= freed:
		v.Fix = append(v.Fix, cause.Fix{Text: "enlarge the young generation: most of what full collections free died soon after it was promoted", Setting: g.largerYoung(2)})
	default:
		v.Fix = append(v.Fix, cause.Fix{Text: "enlarge the heap or keep less, depending on what is live after a full collection"})
	}
	switch v8 := release(g.c); {
	case g.Is("G1") && v8 > 0 && v8 < 10:
		v.Fix = append(v.Fix, cause.Fix{Text: "update the JDK: before JDK 10, G1's full collection runs on one thread and takes several times as long"})
	case g.Is("Serial") || g.Is("Parallel"):
		if v8 >= 21 || v8 == 0 {
			v.Fix = append(v.Fix, cause.Fix{Text: "if pauses are the problem, use a collector that compacts while the program runs: G1, or generational ZGC (-XX:+UseZGC, in JDK 21 and 22 with -XX:+ZGenerational)"})
		} else {
			v.Fix = append(v.Fix, cause.Fix{Text: "if pauses are the problem, use a collector that works while the program runs", Setting: "-XX:+UseG1GC"})
		}
	}
}

// roomBeside is the memory the process may have, bytes; 0 unknown.
func (g *collector) roomBeside() float64 {
	room, _ := reading.RoomOf(g.c.Bundle, g.c.Subject)
	if !room.Known() {
		return 0
	}
	return room.Number
}
