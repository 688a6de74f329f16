package golang

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// MemoryLimitThrash is a collector driven by a memory limit that the live heap
// nearly fills.
var MemoryLimitThrash = check.Check{
	ID:    "go.memory-limit-thrash",
	Title: "the memory limit is too close to the live heap, so GC runs all the time",
	Step:  check.StepCollector,
	Doc: `With GOMEMLIMIT (or debug.SetMemoryLimit) the heap's goal is the limit less all that is
not heap. If the live heap approaches that goal, a cycle starts again as soon as the last
one has ended, and allocating goroutines must mark (assist) for most of what they
allocate. The runtime caps GC at half of the CPUs, so the process runs on slowly instead
of being killed.

How to tell it from go.gc-rate: there the goal is a multiple of the live heap (GOGC);
here the limit sets it, whatever the live heap does, and it may even be below the live
heap.

What helps: a higher limit if the container allows it (the live heap should be at most
half of it), or a smaller live heap: caches, sessions, goroutines. A leak looks the same:
check whether the live heap grows. GOGC has no effect under the limit.`,
	Least: fmt.Sprintf("a GC cycle per second or marking for half of the time, a heap goal below twice the live heap, and %v of slow time; without requests, %v of all CPUs",
		check.Material, limping),
	Thresholds: []check.Threshold{backToBack, burning, frequent, limping, roomy, check.Arguable, check.Material, check.MinRequests, check.MostOfSlow, check.SlowShare,
		check.SomeSlow, check.Starved},

	Needs:   "GC cycles: an execution trace, or a log with GODEBUG=gctrace=1",
	Applies: isGo,
	Judge:   judgeThrash,
}

var roomy = check.Threshold{Name: "heap goal over the live heap", Value: 2, Unit: "times",
	Why: "a limit is then no narrower than GOGC=100", Source: "arithmetic: GOGC=100 doubles the live heap"}

var limping = check.Threshold{Name: "share of the CPUs that GC takes under a memory limit", Value: .05, Unit: "1",
	Why: "without requests; the limit can be raised", Source: "arithmetic: a tenth of the 50 % at which Go stops collecting (https://go.dev/doc/gc-guide#Memory_limit)"}

func judgeThrash(c *check.Case) check.Verdict {
	g := collectorOf(c)
	if g == nil {
		return check.Verdict{Rule: check.NotRecorded, Summary: "no GC cycles were recorded",
			Needs: []check.Need{gcTrace}}
	}
	return g.orBackToBack(c, judgeThrashOf(c, g), judgeThrashOf)
}

// judgeThrashOf judges a collector, or a stretch of it.
func judgeThrashOf(c *check.Case, g *collector) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle}
	ratio := g.Goal.Number / g.Live.Number
	g.weighBusy(&v)
	v.WeighBelow(ratio, roomy)
	v.Evidence = append(v.Evidence,
		c.Figure("gc.cycles_per_s", "GC cycles, without forced ones", g.Rate.Number, "1/s", g.Origin),
		c.Figure("heap.goal_by_live", "heap goal ÷ live heap", ratio, "1", g.Origin))
	limited, known := g.Limited()
	switch {
	case !g.isBusy():
		v.Summary = fmt.Sprintf("%s GC cycles/s, marking %s of the time", units.Num(g.Rate.Number), units.Percent(g.Marking.Number))
		return v
	case !known:
		v.Rule, v.Summary = check.Untold, "too few GC cycles to tell whether a limit or GOGC starts them"
		v.Needs = []check.Need{{What: "a longer recording, or the value of GOMEMLIMIT"}}
		return v
	case !limited:
		v.Rule = check.Absent
		v.Summary = fmt.Sprintf("the heap goal follows the live heap (%s ×), not a limit", units.Num(ratio))
		return v
	case ratio >= roomy.Value:
		v.Summary = fmt.Sprintf("a memory limit with enough room: the heap goal is %s × the live heap", units.Num(ratio))
		return v
	}
	v.Evidence = append(v.Evidence,
		c.Figure("heap.live_bytes", "live heap", g.Live.Number, "bytes", g.Origin),
		c.Figure("heap.goal_bytes", "heap goal, set by the memory limit", g.Goal.Number, "bytes", g.Origin))
	var b *goheap.Bill
	cost := g.Assist.Number + g.Background.Number
	v.Weight = cost + g.Stopped.Number
	if g.Processors.Known() {
		cost /= g.Processors.Number
	}
	if c.Traced() {
		b = g.Bill()
		total := float64(max(c.Ledger.Total, 1))
		v.Weigh(float64(b.Total())/total, check.Material)
		v.Evidence = append(v.Evidence,
			c.Figure("slow.gc_ms", "slow time: GC itself (mark assists, waiting for a CPU, pauses)", float64(b.Direct)/1e6, "ms", g.Origin),
			c.Figure("slow.behind_gc_ms", "slow time: waiting behind other requests that GC delayed", float64(b.KnockOn)/1e6, "ms", g.Origin),
			c.Figure("slow.slower_in_gc_ms", "slow time: running slower while GC marks", float64(b.Slower)/1e6, "ms", g.Origin))
		switch share := float64(b.Total()) / total; c.Matters(share, &terms) {
		case check.Matters:
		case check.OnTheEdge:
			v.Rule, v.Needs = check.OnTheEdge, []check.Need{{What: "a longer recording under load", Command: platform.GoTrace}}
			v.Summary = fmt.Sprintf("the memory limit is tight, and GC is %s of slow time, just below the threshold", units.Percent(share))
			return v
		default:
			v.Rule = c.Cleared(share)
			v.Summary = fmt.Sprintf("the memory limit is tight, but GC is %s of slow time", units.Percent(share))
			return v
		}
		if c.Ledger.Host.Starved() && float64(b.Direct)/total < check.Material.Value {
			v.Rule = check.Explained
			v.Summary = "the memory limit is tight, but the host did not run the process all the time"
			return v
		}
		v.Saves = c.Save(b.Slow, b.Direct, min(b.InMark, c.Ledger.Total))
	} else {
		if share, origin, ok := c.LongRuns(); ok && share >= check.Starved.Value {
			return starvedVerdict(c, v, share, origin)
		}
		share, profile, profiled := profileShare(c)
		v.Weigh(cost, limping)
		if profiled {
			v.Weigh(share, burning)
			v.Evidence = append(v.Evidence, c.Figure("gc.cpu_share", "share of the process's CPU time used by GC", share, "1", profile))
		}
		v.Evidence = append(v.Evidence, c.Figure("gc.all_cpus_share", "share of all CPU time used by mark assists and mark workers", cost, "1", g.Origin))
		if cost < limping.Value && !(profiled && share >= burning.Value) {
			v.Summary = fmt.Sprintf("the memory limit is tight, but GC uses only %s of the CPUs", units.Percent(cost))
			return v
		}
	}
	v.Rule = check.Matters
	v.Summary = fmt.Sprintf("heap goal %s × the live heap, %s GC cycles/s, marking %s of the time", units.Num(ratio), units.Num(g.Rate.Number), units.Percent(g.Marking.Number))
	v.Evidence = append(v.Evidence, c.Figure("gc.marking_share", "share of the time in which GC was marking", g.Marking.Number, "1", g.Origin))
	v.Title = fmt.Sprintf("%s because the memory limit (GOMEMLIMIT) allows %s of heap and %s are live.", g.formatOften(), units.Size(g.Goal.Number), units.Size(g.Live.Number))
	g.adviseWiderLimit(c, &v, b)
	return v
}

// adviseWiderLimit advises a limit that leaves room, by the knee of what memory buys. A program
// whose live heap nearly fills its memory is advised to keep less, or to get more memory.
func (g *collector) adviseWiderLimit(c *check.Case, v *check.Verdict, b *goheap.Bill) {
	less := check.Fix{Text: "reduce the live heap: look for caches and sessions in the heap profile (go tool pprof -sample_index=inuse_space)"}
	h := g.Heap()
	latency, why := g.Latency(b)
	f, err := h.Frontier(c.Bundle.Subjects[c.Subject].Name, latency)
	if err != nil {
		v.Fix = append(v.Fix, check.Fix{Text: "raise the limit, if the container has the memory, to at least twice the live heap"}, less)
		return
	}
	v.Frontier = f.Table()
	at, ok := f.Recommended()
	if !ok {
		text := f.Why + ": give it more memory, or reduce the live heap"
		if f.Most > 0 {
			text = fmt.Sprintf("%.0f MiB of the %s's memory can be used, too little for %.0f MiB of live heap: give it more memory, or reduce the live heap", f.Most/(1<<20), f.Who, g.Live.Number/(1<<20))
		}
		v.Fix = append(v.Fix, check.Fix{Text: text}, less)
		return
	}
	fix := check.Fix{Text: "raise the limit, if the container has the memory", Setting: at.Setting.String()}
	if f.Capped {
		fix.Text = "raise the limit as far as the " + f.Who + " allows"
	}
	v.Fix = append(v.Fix, fix, less)
	v.Prediction = append(v.Prediction, g.predictFix(c, f, at, b, why == nil)...)
}
