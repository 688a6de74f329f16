package jvm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// YoungGCRate is a young generation that fills so often that collecting it makes requests
// slow.
var YoungGCRate = check.Check{
	ID:    "jvm.young-gc-rate",
	Title: "young collections run so often that requests are slow",
	Step:  check.StepCollector,
	Doc: `Requests allocate, eden fills, and a young collection pauses the program: ParNew,
PSYoungGen, DefNew and G1's young pauses alike (ParNew does so, too). How
often is eden ÷ allocation rate; how long each takes depends on what survives, not on
how much garbage there was. A hundred collections per minute of 40 ms each pause the
program 7 % of the time. By itself that makes no request slow by seconds. Near the CPUs'
limit it does, because requests that arrive during a pause queue behind it, and the next
pause comes before the queue is gone. So the cost of pauses is the time requests were
paused plus the time they queued behind pauses, found by replaying the recorded arrivals
with the pauses and without; and the request rate at which work and GC use all CPUs (the
knee) is shown with the actual rate.

How to tell it from similar problems: if the knee without collections is below the
actual rate, there is too much work and less GC does not help (service.over-capacity);
if collections copy little and take long, the kernel or the host delays them
(jvm.gc-kernel-time, jvm.gc-cpu-starved); rare and long ones are full collections
(jvm.full-gc); threads that wait for a slow dependency allocate nothing, and
collections are rare then.

What helps: allocate less per request (the class histogram and an allocation profile
show what: response buffers, temporary lists, 40 queries where a cache would do), fewer
requests (callers that cache), a larger young generation: twice the eden means half the
collections, and each copies hardly more. What does not help: a larger heap whose young
generation stays fixed by -Xmn or NewSize; a shorter pause goal (it shrinks eden and
makes collections more frequent).`,
	Least: fmt.Sprintf("5 young collections, 10 a minute, and 5 %% of the time (20 %% of the worst minute); with requests %v of the time and %v of slow time",
		leastYoung, check.Material),
	Thresholds: []check.Threshold{halfOne, leastAllocated, leastLarger, leastWatched, leastYoung, longMinutes, longYoung, mostFreed, mostOfIt,
		mostOfThem, muchCopied, nearKnee, oftenYoung, leastPaced, pacePart, oldEmpty, oldRoomy, permFull, sameStop, someCounted, someYoung, stoppedSpecial, stoppedYoung,
		unified, worthKernel, worthStarved, check.ASecond, check.Arguable, check.Edge, check.FewPauses, check.FullCPUs, check.FullHost, check.HostFull,
		check.LeastStopped, check.LongPause, check.Material, check.MinRequests, check.MinuteOf, check.MostOfSlow, check.MostlyUnseen,
		check.MuchStopped, check.NearlyFull, check.Noticeable, check.NoticeableCall, check.OftenPaused, check.PausedEnough,
		check.SlowShare, check.SomeSlow},

	Needs:   "a GC log; requests from the same time; CPU time of the process, for the knee",
	Applies: isJVM,
	Judge:   unlessPartial(judgeYoung),
}

// Young collections are worth slowing down from this on: below, they are rare, or take
// hardly any time.
var (
	oftenYoung = check.Threshold{Name: "young collections per second from which fewer are worth having", Value: 10. / 60, Unit: "1/s",
		Why: "below, they are rare", Source: "arithmetic: ten a minute; at 0.1 s each, which people notice (J. Nielsen, Usability Engineering, 1993, chapter 5), they take 1.7 % of the time"}
	someYoung = check.Threshold{Name: "young collections in what was watched", Value: 5, Unit: "count",
		Why: "of five, a rate is known within a half", Source: "Poisson error: 1/√5"}
	leastYoung = check.Threshold{Name: "share of the time in young collections, where requests tell their cost", Value: .02, Unit: "1",
		Why: "below, they take hardly any time", Source: "HotSpot, gc_globals.hpp: twice the 1 % that the Parallel collector aims for (GCTimeRatio=99)"}
	stoppedYoung = check.Threshold{Name: "share of the time in young collections, where no requests tell their cost", Value: .05, Unit: "1",
		Why: "a program needs some", Source: "PASTA (R. Wolff, Operations Research 30, 1982): one request in twenty meets one: the p95"}
	nearKnee = check.Threshold{Name: "part of the load's knee from which it is reported", Value: .5, Unit: "1",
		Why: "there waits begin to grow", Source: "M/M/1: ρ/(1−ρ) is 1 at 50 %: a request waits for as long as it is served"}
	mostOfIt = check.Threshold{Name: "share of slow time that is theirs though the work alone were too much", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	longYoung = check.Threshold{Name: "length of a young collection that makes any request slow that meets it", Value: .1, Unit: "s",
		Why: "however seldom it comes", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 0.1 s feels immediate"}
)

func judgeYoung(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatchedVerdict(c)
	}
	var v check.Verdict
	long := g.longPauses()
	p := g.ownPauses(g.Pauses.Where(g.isYoung)).Where(func(x metrics.Pause) bool { return !slices.Contains(long, x) })
	what := "young collections"
	untold := len(p) > 0 && len(p.Of(evidence.PauseOther)) == len(p)
	if untold {
		what = "collections of which the log does not say what they collect"
	}
	b := g.judgePauses(&v, "jvm.young-gc-rate", p, what, stoppedYoung)
	if len(p) == 0 {
		return v
	}
	if b == nil && !v.RuledOut() && len(p) < someYoung.Int() {
		v.Rule, v.Needs = check.TooFew, []check.Need{{What: "a longer GC log: some minutes under load"}}
		v.Summary = fmt.Sprintf("too few young collections (%d) for a rate", len(p))
		return v
	}
	perMinute := 60 * g.PerSecond(p)
	v.Counted(float64(len(p)), someYoung)
	v.Weigh(g.PerSecond(p), oftenYoung)
	v.Evidence = append(v.Evidence, g.rateEvidence("young collections per minute ("+g.NameOf(p[0])+")", p)...)
	v.Evidence = append(v.Evidence, g.youngFigures(p)...)
	load, known := younggen.LoadOf(c.Bundle, c.Subject, c.Ledger, g.Collector)
	if known {
		v.Evidence = append(v.Evidence, kneeFigures(c, load)...)
	}
	storm := b == nil && g.worstMinute(p).Share() >= check.MinuteOf.Value*stoppedYoung.Value
	rare := g.PerSecond(p) < oftenYoung.Value || len(p) < someYoung.Int() || g.ShareOf(p) < leastYoung.Value
	if home := c.IsHome("jvm.young-gc-rate", g.Collector, &terms); v.Supported() && rare && !storm && !home && b != nil && b.Share() >= check.Material.Value {
		v.Rule, v.Saves, v.Prediction, v.Needs = check.TooFew, nil, nil, longer
		v.Summary = fmt.Sprintf("young collections are %s, but %s of them are too few for a rate", check.OfSlow(b.Share()), units.Num(float64(len(p))))
		if each := p.Seconds() / float64(len(p)); each >= longYoung.Value && len(p) >= someYoung.Int() {
			v.Rule, v.Needs, v.Saves = check.Matters, nil, b.Saves(c)
			v.Summary = fmt.Sprintf("young collections are %s: %s, of %s each", check.OfSlow(b.Share()), units.Times(len(p)), units.Time(1e9*each))
		}
	} else if v.Supported() && !storm && !home && rare {
		v.Rule, v.Saves, v.Needs = check.TooLittle, nil, nil
		v.Summary = fmt.Sprintf("%s young collections per minute pause the program only %s of the time", units.Num(perMinute), units.Percent(g.ShareOf(p)))
		return v
	}
	if known && c.Slow() && load.Offered > load.Knee.Free().Value {
		v.Summary = fmt.Sprintf("%s requests/s arrived, but even without GC the CPUs can serve only %s/s: there is too much work (service.over-capacity)", units.Num(load.Offered), units.Num(load.Knee.Free().Value))
		if b == nil || b.Share() < mostOfIt.Value {
			v.Rule, v.Saves, v.Needs = check.Explained, nil, nil
			return v
		}
	}
	if !v.Supported() {
		return v
	}
	v.Title = fmt.Sprintf("Young GC (%s) runs %s times per minute and pauses the program %s of the time, because eden fills every %s.", g.NameOf(p[0]), units.Num(perMinute), units.Percent(g.ShareOf(p)), units.Time(1e9*p.Interval()))
	if each, copied := p.Seconds()/float64(len(p)), g.copiedBy(p); each >= longYoung.Value && copied >= muchCopied.Value*each {
		v.Title = fmt.Sprintf("Young GC (%s) pauses the program for %s each time, %s times per minute, because %s survive each and are copied.", g.NameOf(p[0]), units.Time(1e9*each), units.Num(perMinute), units.Size(copied))
		v.Evidence = append(v.Evidence, g.c.Figure("gc.survived_bytes", "survived each, and was copied (mean)", copied, "bytes", g.Origin))
		v.Fix = append(v.Fix, fewerSurvive)
	}
	if storm && g.ShareOf(p) < stoppedYoung.Value {
		v.Title = g.addWorstToTitle(fmt.Sprintf("Young GC (%s) pauses the program %s of the time.", g.NameOf(p[0]), units.Percent(g.ShareOf(p))), p)
	}
	if untold {
		v.Title = fmt.Sprintf("GC pauses the program %s of the time, second after second; the log does not say which collections they are.", units.Percent(g.ShareOf(p)))
	}
	if knee := load.Knee.Rate(); known && load.Offered >= nearKnee.Value*knee.Value {
		v.Summary += fmt.Sprintf("; %s requests/s arrived, and the CPUs can serve about %s/s", units.Num(load.Offered), units.Num(knee.Value))
	}
	v.Evidence = append(v.Evidence, g.largestClasses()...)
	who, code := g.topAllocators()
	v.Evidence = append(v.Evidence, who...)
	g.adviseYoung(&v, p, load, known)
	if code != "" {
		v.Fix = append(v.Fix, check.Fix{Text: "allocate less there: it fills eden more than any other place", Code: code})
	}
	return v
}

// isYoung says whether a pause is a young collection. Where a log sums up the collections of a second without saying what they
// collect, they count as young ones: those of the old generation have lines of their own.
func (g *collector) isYoung(p metrics.Pause) bool {
	if p.Of == evidence.PauseOther {
		_, sums := g.c.Fact(evidence.FactLongAlone)
		return sums
	}
	return p.Of == evidence.PauseYoung || p.Of == evidence.PauseMixed
}

// youngFigures returns how often eden fills, by how much, and what the collections cost.
func (g *collector) youngFigures(p metrics.Pauses) (out []check.Evidence) {
	add := func(id, text string, v float64, unit string) {
		if !math.IsNaN(v) && v > 0 {
			out = append(out, g.c.Figure(id, text, v, unit, g.Origin))
		}
	}
	add("gc.interval_ms", "interval between them (median)", 1e3*p.Interval(), "ms")
	add("alloc.bytes_per_s", "allocation rate", g.Alloc.Number, "bytes/s")
	add("heap.eden_bytes", "allocated between two of them (the size of eden)", g.Each.Number, "bytes")
	if l := g.c.Ledger; l != nil && l.Requests.Rate > 0 && g.meetsRequests() {
		add("alloc.request_bytes", "allocated per request", g.Alloc.Number/l.Requests.Rate, "bytes")
	}
	add("gc.promoted_bytes_per_s", "promoted to the old generation", g.Promoted.Number, "bytes/s")
	if user, system, _ := g.CPUOf(p); !math.IsNaN(user) && g.Span > 0 {
		add("gc.cpus", "CPUs used by young collections, on average", (user+system)/g.Span, "CPUs")
		if cpu := metrics.ProcessOf(g.c.Bundle, g.c.Subject, g.Window).CPU; cpu.MostlyKnown() && cpu.Number > 0 {
			out = append(out, g.c.Figure("gc.cpu_share", "share of the process's CPU time", (user+system)/g.Span/cpu.Number, "1", cpu.Origin))
		}
	}
	return out
}

// mostClasses is how many classes of a histogram are told.
const mostClasses = 5

// largestClasses returns the largest classes of the last class histogram: what fills the heap,
// garbage included.
func (g *collector) largestClasses() (out []check.Evidence) {
	s := &g.c.Bundle.Samples
	names := g.c.Bundle.Names
	histograms := make(map[evidence.ArtifactID]bool)
	for _, w := range g.c.Bundle.Covered(g.c.Subject, evidence.CoverClasses) {
		a, _ := w.Origin.Artifact()
		histograms[a] = true
	}
	type class struct {
		name   string
		bytes  int64
		origin evidence.Origin
	}
	var all []class
	last := evidence.ArtifactID(-1)
	for i := range s.Len() {
		a, _ := s.Origin[i].Artifact()
		if !histograms[a] || s.Subject[i] != g.c.Subject || names.Text(s.Unit[i]) != "bytes" {
			continue
		}
		if a != last { // one histogram will do: the last
			all, last = all[:0], a
		}
		all = append(all, class{names.Text(s.Class[i]), s.Value[i], s.Origin[i]})
	}
	sorting.Short(all, func(a, b class) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, x := range all[:min(mostClasses, len(all))] {
		out = append(out, g.c.Figure("heap.class_bytes", "heap used by "+x.name, float64(x.bytes), "bytes", x.origin))
	}
	return out
}
