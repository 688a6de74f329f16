package jvm

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// MetaspaceGC is class metadata that makes the heap be collected.
var MetaspaceGC = check.Check{
	ID:    "jvm.metaspace-gc",
	Title: "class metadata (metaspace) triggers collections of the whole heap",
	Step:  check.StepCollector,
	Doc: `Classes live outside the heap, in metaspace (before JDK 8 in the permanent generation),
and are unloaded only by collections that mark the whole heap. When metaspace in use
reaches a threshold, first -XX:MetaspaceSize (about 21 MiB by default) and then what the
last collection left and some more, the JVM collects: Serial and Parallel pause for a
full collection, G1 and CMS start a concurrent cycle. At -XX:MaxMetaspaceSize the
threshold cannot rise: each class that does not fit costs full collections (Metadata GC
Threshold, then Metadata GC Clear Soft References), in the end OutOfMemoryError:
Metaspace.

How to tell the variants apart: at the start of a service the threshold is raised a few
times while classes are loaded, and then no more. Where classes are created all the time
(a class loader for each script, template or XML binding; proxies, lambdas compiled
again) each collection frees most of it. A leak of class loaders (redeployments, thread
locals, drivers that stay registered) grows from collection to collection: nothing is
freed.

How to tell it from similar problems: look at the trigger in brackets; full collections
for lack of heap say Allocation Failure or Ergonomics (jvm.full-gc).

What helps: -XX:MetaspaceSize above what is in use once all is loaded (at a start),
reusing class loaders (churn), finding what holds the loaders (a leak: jcmd PID
VM.classloader_stats, VM.metaspace). What does not help: a larger heap.`,
	Least: fmt.Sprintf("pauses of %v of the time (4 %% of the worst minute) over %v of log, %v in total over less, or one of a second; with requests, %v of slow time",
		stoppedSpecial, leastWatched, check.PausedEnough, check.Material),
	Thresholds: []check.Threshold{halfOne, leastWatched, limitNear, longMinutes, mostFreed, mostOfThem, oldEmpty, oldRoomy, leastPaced, pacePart, permFull, sameStop, someCounted, someUnstamped, stoppedFull, stoppedSpecial,
		stoppedYoung, unified, unloaded, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs,
		check.FullHost, check.HostFull, check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf,
		check.MostOfSlow, check.MostlyUnseen, check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall,
		check.OftenPaused, check.PausedEnough, check.SlowShare, check.SomeSlow},

	Needs:   "a GC log with the triggers of collections; requests from the same time, to show what they cost",
	Applies: isJVM,
	Judge:   unlessPartial(judgeMetaspace),
}

func judgeMetaspace(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		if v, ok := longUnstamped(c, unstamped.isForMetadata, "collections for class metadata"); ok {
			return v
		}
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	p := g.pausesWith(metadata)
	const what = "collections for class metadata"
	of := g.newPaused("jvm.metaspace-gc", p, what, stoppedSpecial)
	of.Recurs = slices.ContainsFunc(p, g.unloads)
	g.judgePaused(&v, of)
	g.leaveOpenIfUntriggered(&v, what)
	if !v.Supported() {
		return v
	}
	first, last := p[0], p[len(p)-1]
	before, after := g.Get(last, evidence.MetaBefore), g.Get(last, evidence.MetaAfter)
	if math.IsNaN(after) {
		after = before
	}
	limit := g.Flag(evidence.FactMaxMetaspaceSize)
	add := func(id, text string, x float64, p metrics.Pause) {
		if x > 0 {
			v.Evidence = append(v.Evidence, c.Figure(id, text, x, "bytes", g.OriginOf(p)))
		}
	}
	v.Evidence = append(v.Evidence, g.rateEvidence("collections for class metadata per minute", p)...)
	add("metaspace.before_bytes", "class metadata before the last of them", before, last)
	add("metaspace.after_bytes", "class metadata after it", after, last)
	add("metaspace.before_first_bytes", "class metadata before the first of them", g.Get(first, evidence.MetaBefore), first)
	add("metaspace.max_bytes", evidence.FactMaxMetaspaceSize, limit, last)
	v.Title = fmt.Sprintf("Class metadata reached its threshold and triggered GC %s, pausing %s in total.", units.Times(len(p)), units.Time(1e9*p.Seconds()))
	v.Title = g.addWorstToTitle(v.Title, p)
	g.adviseMetaspace(&v, p, before, after, limit)
	return v
}

// Of class metadata, what a collection frees from which on classes are made and dropped
// all the time; and how near to its limit metaspace is full, fragmented as it is.
var (
	unloaded = check.Threshold{Name: "part of class metadata that a collection frees", Value: .2, Unit: "1",
		Why: "classes are made and dropped all the time", Source: "judgement: weighs class loaders that come and go against those that a start leaves behind"}
	limitNear = check.Threshold{Name: "part of its limit from which metaspace is full", Value: .75, Unit: "1",
		Why: "it is fragmented", Source: "judgement: weighs what is in use against holes between class loaders, which no log shows"}
)

// unloads reports whether a collection freed much of the class metadata: classes are made all the time, and fill it again.
func (g *collector) unloads(p metrics.Pause) bool {
	before := g.Get(p, evidence.MetaBefore)
	return before > 0 && g.Get(p, evidence.MetaAfter) < (1-unloaded.Value)*before
}

func (g *collector) adviseMetaspace(v *check.Verdict, p metrics.Pauses, before, after, limit float64) {
	add := func(text, setting string) { v.Fix = append(v.Fix, check.Fix{Text: text, Setting: setting}) }
	perm := featureRelease(g.c) > 0 && featureRelease(g.c) < 8
	for _, x := range p {
		perm = perm || containsAny(g.TriggerOf(x), []string{"Permanent"})
	}
	size, most := "-XX:MetaspaceSize", "-XX:MaxMetaspaceSize"
	if perm {
		size, most = "-XX:PermSize", "-XX:MaxPermSize"
	}
	ample := sizeFlag(size+"=", enlarged*before) // a half more than was in use
	churn := g.unloads(p[len(p)-1])
	switch {
	case churn:
		add(fmt.Sprintf("find which class loaders are created again and again and reuse one (scripts, templates, XML bindings, proxies): a collection frees %s of the class metadata, so classes are loaded and dropped all the time", units.Percent((before-after)/before)), "jcmd PID VM.classloader_stats")
		add("until then, raise the threshold so that collections are rarer", ample)
	case limit > 0 && before >= limitNear.Value*limit:
		add("raise the limit: the loaded classes do not fit within it", sizeFlag(most+"=", 2*limit))
		add("if metaspace keeps growing whatever its limit, class loaders leak: find what holds those of earlier deployments", "jcmd PID VM.classloader_stats")
	default:
		add("start with a threshold above what is in use once all is loaded: each stage of loading raises it once more", ample)
		add("if this continues when all classes are loaded, class loaders leak: find what holds them", "jcmd PID VM.classloader_stats")
	}
	if limit > 0 && before >= limitNear.Value*limit && churn {
		add(fmt.Sprintf("and raise the limit of %.0f MiB", limit/(1<<20)), sizeFlag(most+"=", 4*limit))
	}
	switch version := featureRelease(g.c); {
	case g.Is("CMS") && version > 0 && version < 8:
		add("switch on class unloading: CMS before JDK 8 does not unload classes by default", "-XX:+CMSClassUnloadingEnabled")
	case g.Is("Serial") || g.Is("Parallel"):
		add("use G1, which runs a concurrent cycle instead of a full collection", "-XX:+UseG1GC")
	}
}
