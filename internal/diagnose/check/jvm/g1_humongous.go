package jvm

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// G1Humongous is objects of half a region and more, each in regions of its own.
var G1Humongous = check.Check{
	ID:    "jvm.g1-humongous",
	Title: "G1 collects because of humongous objects",
	Step:  check.StepCollector,
	Doc: `G1 divides the heap into regions of equal size (1 to 32 MiB by the size of the heap: a
2048th of it, a power of two). An object of half a region or more, nearly always an
array, is humongous: it goes directly into the old generation, alone in as many
adjacent regions as it takes, and the rest of the last one is wasted: an array just
above half a region costs twice its size. Before each such allocation G1 checks whether
to start a concurrent cycle; with many of them cycles follow each other and take CPU
from requests, and where no adjacent regions are free, young collections and in the end
a full one are made for a single array.

How to tell it from similar problems: the trigger is G1 Humongous Allocation, and there
are many Humongous regions, or their number changes much from one collection to the
next. Running out of free regions to copy to is jvm.g1-evacuation-failure; a heap that
is full of what is live is jvm.full-gc.

What helps: larger regions (-XX:G1HeapRegionSize, a power of two, at most 32 MiB, from
JDK 18 on 512 MiB), so that these arrays are smaller than half of one; smaller arrays:
buffers in chunks, streams instead of whole bodies, maps and lists created with their
final size. Before 8u60 dead humongous objects were freed by concurrent cycles only.
What does not help: a longer pause goal, a larger young generation: humongous objects
are never in it.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of a second; with requests, %v of slow time; a rate from 5 collections",
		stoppedSpecial, leastWatched, check.PausedEnough, check.Material),
	Thresholds: []check.Threshold{halfOne, leastRegions, leastWatched, longMinutes, mostFreed, mostOfThem, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, someCounted, stoppedSpecial,
		stoppedYoung, unified, uselessFreed, uselessTimes, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost,
		check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow,
		check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused,
		check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "G1's log (-Xlog:gc*; before JDK 9 -XX:+PrintGCDetails), requests from the same time, to show what it costs",
	Applies: func(c *check.Case) bool { return isJVM(c) && withCollector(c, "G1") },
	Judge:   unlessPartial(judgeHumongous),
}

func judgeHumongous(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesWith(humongous)
	g.judgePauses(&v, "jvm.g1-humongous", p, "collections for humongous objects", stoppedSpecial)
	useless := g.uselessFullCollections(p)
	if !v.Supported() && len(useless) >= uselessTimes.Int() {
		v.Rule, v.Needs = check.StandsAlone, nil
		v.Summary = fmt.Sprintf("%s for a humongous object freed nothing", units.Plural(len(useless), "full collection"))
		v.Evidence = append(v.Evidence, c.Figure("gc.full_useless", "full collections for a humongous object that freed less than "+units.Percent(uselessFreed.Value)+" of the heap in use", float64(len(useless)), "count", g.OriginOf(useless[0])))
	}
	if !v.Supported() {
		return v
	}
	region, guess := g.regionSize()
	text := "region size"
	if guess {
		text = "region size, derived from the heap size"
	}
	add := func(id, text string, x float64, unit string) {
		if x > 0 {
			v.Evidence = append(v.Evidence, c.Figure(id, text, x, unit, g.OriginOf(p[0])))
		}
	}
	rate := g.rateEvidence("collections for humongous objects per minute", p)
	v.Evidence = append(v.Evidence, rate...)
	if full := p.Of(evidence.PauseFull); len(full) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("gc.full", "of these, full collections", float64(len(full)), "count", g.OriginOf(full[0])))
	}
	add("g1.region_bytes", text, region, "bytes")
	add("g1.humongous_from_bytes", "smallest size of a humongous object", region/2, "bytes")
	before, freed := g.humongousOf(p)
	add("g1.humongous_before", "humongous regions before collections (median)", before, "count")
	add("g1.humongous_freed", "humongous regions freed by one (median)", freed, "count")
	add("heap.capacity_bytes", "heap capacity", g.Capacity.Number, "bytes")
	who, often := "Humongous objects", units.Times(len(p))
	if region > 0 {
		who = fmt.Sprintf("Arrays of %s or more (humongous objects)", inBytes(region/2))
	}
	v.Title = fmt.Sprintf("%s made G1 collect %s.", who, often)
	if rate != nil {
		v.Title = fmt.Sprintf("%s make G1 collect %s times per minute.", who, units.Num(*rate[0].Value))
	}
	v.Title = g.addWorstToTitle(v.Title, p)
	if len(useless) >= uselessTimes.Int() {
		v.Title = fmt.Sprintf("No room in a row for a humongous object: %s freed nothing, after which the allocation fails (OutOfMemoryError).", units.Plural(len(useless), "full collection"))
	}
	g.adviseHumongous(&v, region)
	return v
}

// A full collection for a humongous object that frees nothing is followed by another, which clears soft references too; after that the
// allocation fails (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/gc/g1/g1CollectedHeap.cpp: satisfy_failed_allocation).
var (
	uselessTimes = check.Threshold{Name: "full collections in a row for one allocation", Value: 2, Unit: "count",
		Why: "G1 gives up after the second", Source: "satisfy_failed_allocation of G1"}
	uselessFreed = check.Threshold{Name: "part of the heap in use that such a collection frees", Value: .01, Unit: "1",
		Why: "a humongous object is not smaller than half a region, of which there are some hundred", Source: "arithmetic: half a region of 50 or more is at most 1 % of the heap"}
)

// uselessFullCollections returns the full collections among pauses that freed nothing.
func (g *collector) uselessFullCollections(p metrics.Pauses) (of metrics.Pauses) {
	for _, x := range p.Of(evidence.PauseFull) {
		if before, after := g.Get(x, evidence.HeapBefore), g.Get(x, evidence.HeapAfter); before > 0 && after >= (1-uselessFreed.Value)*before {
			of = append(of, x)
		}
	}
	return of
}

var leastRegions = check.Threshold{Name: "regions that G1 needs", Value: 256, Unit: "count",
	Why: "with fewer there are too few in a row for an array that takes several, and too few for young objects beside it: larger regions would leave fewer still, and can stop the service", Source: "HotSpot, heapRegionBounds.hpp: G1 aims for 2048 regions (TARGET_REGION_NUMBER), of which this is an eighth; a young generation of 5 % (G1NewSizePercent) then has twelve"}

// How G1 sizes its regions, bytes: so many of them, a power of two, within bounds of which
// the upper one may be set larger from JDK 18 on
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/gc/g1/g1HeapRegionBounds.hpp).
const (
	regions      = 2048
	leastRegion  = 1 << 20
	mostRegion   = 32 << 20
	mostRegion18 = 512 << 20
)

// regionSize returns the size of G1's regions in bytes, derived from the heap's size where no
// source reports it (guess); 0 if unknown.
func (g *collector) regionSize() (size float64, guess bool) {
	if size := g.Flag(evidence.FactG1HeapRegionSize); size > 0 {
		return size, false
	}
	for _, p := range g.All {
		if size := g.Get(p, evidence.RegionSize); size > 0 {
			return size, false
		}
	}
	heap := g.Capacity.Number
	if math.IsNaN(heap) || heap <= 0 {
		return 0, true
	}
	return min(mostRegion, max(leastRegion, math.Exp2(math.Floor(math.Log2(heap/regions))))), true
}

// humongousOf returns how many humongous regions there were before collections, and how many of
// them these freed (medians).
func (g *collector) humongousOf(p metrics.Pauses) (before, freed float64) {
	var held, gone []float64
	for _, x := range p {
		b, a := g.Get(x, evidence.HumongousBefore), g.Get(x, evidence.HumongousAfter)
		held, gone = append(held, b), append(gone, b-a)
	}
	return medianKnown(held), medianKnown(gone)
}

// moreHeap is how many times as large a heap is advised to be that has too few regions.
const moreHeap = 4

// larger is how many times as large regions are advised: what just exceeds half a region
// fits, and so does what is a region large.
const larger = 4

func (g *collector) adviseHumongous(v *check.Verdict, region float64) {
	version := featureRelease(g.c)
	most := float64(mostRegion)
	if version >= 18 {
		most = mostRegion18
	}
	heap := g.Capacity.Number
	size := min(most, larger*region)
	for size > 2*region && heap > 0 && heap/size < leastRegions.Value {
		size /= 2
	}
	if region > 0 && heap > 0 && heap/size < leastRegions.Value {
		text := fmt.Sprintf("enlarge the heap: it has %s regions of %s, too few for arrays that take several in a row; larger regions would leave fewer", units.Num(math.Floor(heap/region)), inBytes(region))
		want := max(moreHeap*heap, 2*leastRegions.Value*region)
		if room := g.roomBeside(); room > 0 && want > room {
			text += fmt.Sprintf("; %s GiB of memory is too little for that: use smaller arrays, or give the process more memory", units.Num(room/(1<<30)))
		}
		v.Fix = append(v.Fix, check.Fix{Text: text, Setting: sizeFlag("-Xmx", want)})
	} else if region > 0 && region < most {
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("use larger regions, so that arrays below %s are ordinary objects; if the class histogram or a flight recording (jdk.ObjectAllocationOutsideTLAB) shows larger arrays, make regions twice their size", inBytes(size/2)),
			Setting: sizeFlag("-XX:G1HeapRegionSize=", size)})
	} else if region >= most {
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("use smaller arrays, or another collector: regions already have the maximum size (%s in this release)", inBytes(most))})
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: "use smaller arrays: read and write bodies in chunks, limit buffers, create lists and maps with their final size; a profile shows which code allocates them (jcmd PID JFR.start duration=60s settings=profile)"})
	if version > 0 && version <= 8 {
		v.Fix = append(v.Fix, check.Fix{Text: "update to 8u60 or later, which frees dead humongous arrays in young collections; earlier releases free them only in concurrent cycles"})
	}
}

// inBytes writes a size in bytes.
func inBytes(v float64) string {
	switch {
	case v >= 1<<30:
		return fmt.Sprintf("%s GiB", units.Num(v/(1<<30)))
	case v >= 1<<20:
		return fmt.Sprintf("%s MiB", units.Num(v/(1<<20)))
	}
	return fmt.Sprintf("%.0f KiB", v/(1<<10))
}
