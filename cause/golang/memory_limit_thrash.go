package golang

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/model/goheap"
)

// MemoryLimitThrash is a collector driven by a memory limit that the live heap
// nearly fills.
var MemoryLimitThrash = cause.Cause{
	ID:    "go.memory-limit-thrash",
	Title: "the memory limit leaves the collector no room",
	Step:  cause.StepCollector,
	Doc: `With GOMEMLIMIT (or debug.SetMemoryLimit) the heap's goal is the limit less all that is
not heap. If the live heap comes near to that, a cycle starts again as soon as the last
one has ended, and allocating goroutines must mark (assist) for most of what they
allocate. The runtime caps the collector at half of the processors rather than die, so
the process limps on, slow, instead of being killed.

Told from go.gc-rate: there the goal is a multiple of the live heap (GOGC); here it
stays where the limit puts it, whatever the live heap does, and may lie below it.

What helps: a higher limit if the container allows it (the live heap should be at most
half of it), or less that is live: caches, sessions, goroutines. A leak shows in the
same way; look at whether the live heap grows. GOGC has no effect under the limit.`,
	Needs:   "gc cycles: an execution trace, or a log with GODEBUG=gctrace=1",
	Applies: isGo,
	Judge:   judgeThrash,
}

// roomy is the goal, by what is live, from which on a limit is no narrower than GOGC=100.
const roomy = 2

// limping is the share of the processors that the collector takes under a limit from which
// on it is worth naming where no requests tell what it costs them.
const limping = .05

func judgeThrash(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return cause.Verdict{State: cause.Inconclusive, Summary: "no gc cycles were watched",
			Needs: []cause.Need{gcTrace}}
	}
	v := cause.Verdict{State: cause.RuledOut}
	ratio := g.Goal.Number / g.Live.Number
	v.Evidence = append(v.Evidence,
		c.Figure("collections started by the pacer", g.Rate.Number, "1/s", g.Origin),
		c.Figure("heap goal ÷ live heap", ratio, "1", g.Origin))
	limited, known := g.Limited()
	switch {
	case g.Rate.Number < frequent:
		v.Summary = fmt.Sprintf("%.2g cycles/s", g.Rate.Number)
		return v
	case !known:
		v.State, v.Summary = cause.Inconclusive, "too few cycles to tell a limit from GOGC"
		v.Needs = []cause.Need{{What: "a longer recording, or the value of GOMEMLIMIT"}}
		return v
	case !limited:
		v.Summary = fmt.Sprintf("the goal follows the live heap (%.2f ×)", ratio)
		return v
	case ratio >= roomy:
		v.Summary = fmt.Sprintf("a limit, with room: goal %.1f × live", ratio)
		return v
	}
	v.Evidence = append(v.Evidence,
		c.Figure("live heap", g.Live.Number, "bytes", g.Origin),
		c.Figure("heap goal, where a limit holds it", g.Goal.Number, "bytes", g.Origin))
	var b *goheap.Bill
	cost := g.Assist.Number + g.Background.Number
	v.Weight = cost + g.Stopped.Number
	if g.Processors.Known() {
		cost /= g.Processors.Number
	}
	if c.Traced() {
		b = g.Bill()
		total := float64(max(c.Ledger.Total, 1))
		v.Evidence = append(v.Evidence,
			c.Figure("slow time: assists, collector's processors, its pauses", float64(b.Direct)/1e6, "ms", g.Origin),
			c.Figure("slow time: behind other requests it held up", float64(b.KnockOn)/1e6, "ms", g.Origin),
			c.Figure("slow time: running slower beside it", float64(b.Slower)/1e6, "ms", g.Origin))
		if !c.Slow() || float64(b.Total())/total < cause.Material {
			v.Summary = fmt.Sprintf("tight, but %.1f %% of slow time", 100*float64(b.Total())/total)
			return v
		}
		if c.Ledger.Host.Starved() && float64(b.Direct)/total < cause.Material {
			v.Summary = "tight, but the host starved the process"
			return v
		}
		v.Saves = c.Save(b.Slow, b.Direct, min(b.InMark, c.Ledger.Total))
	} else {
		if share, origin, ok := c.LongRuns(); ok && share >= cause.Starved {
			return starved(c, v, share, origin)
		}
		share, profile, profiled := profileShare(c)
		if profiled {
			v.Evidence = append(v.Evidence, c.Figure("collector's part of the process's CPU time", share, "1", profile))
		}
		v.Evidence = append(v.Evidence, c.Figure("time on processors of assists and mark workers, of all there is", cost, "1", g.Origin))
		if cost < limping && !(profiled && share >= burning) {
			v.Summary = fmt.Sprintf("tight, but %.1f %% of the processors", 100*cost)
			return v
		}
	}
	v.State = cause.Supported
	v.Summary = fmt.Sprintf("goal %.2f × live, %.1f cycles/s", ratio, g.Rate.Number)
	v.Title = fmt.Sprintf("A memory limit holds the goal at %.0f MiB with %.0f MiB live: %.1f cycles/s.", g.Goal.Number/(1<<20), g.Live.Number/(1<<20), g.Rate.Number)
	g.widen(c, &v, b)
	return v
}

// widen advises a limit that leaves room, by the knee of what memory buys. Who keeps
// nearly as much live as it may use is told to keep less, or to get more.
func (g *collector) widen(c *cause.Case, v *cause.Verdict, b *goheap.Bill) {
	less := cause.Fix{Text: "keep less alive: look at the heap profile for caches and what holds sessions (go tool pprof -sample_index=inuse_space)"}
	h := g.Heap()
	latency, why := g.Latency(b)
	f, err := h.Frontier(c.Bundle.Subjects[c.Subject].Name, latency)
	if err != nil {
		v.Fix = append(v.Fix, cause.Fix{Text: "raise the limit, if the container has it, so that the live heap is at most half of it"}, less)
		return
	}
	v.Frontier = f.Table()
	at, ok := f.Recommended()
	if !ok {
		text := f.Why + ": give it more memory, or keep less"
		if f.Most > 0 {
			text = fmt.Sprintf("of the %s's memory %.0f MiB can be used, which leaves no room for %.0f MiB live: give it more, or keep less", f.Who, f.Most/(1<<20), g.Live.Number/(1<<20))
		}
		v.Fix = append(v.Fix, cause.Fix{Text: text}, less)
		return
	}
	fix := cause.Fix{Text: "raise the limit, if the container has the memory", Setting: at.Setting.String()}
	if f.Capped {
		fix.Text = "raise the limit as far as the " + f.Who + " allows"
	}
	v.Fix = append(v.Fix, fix, less)
	v.Prediction = append(v.Prediction, g.predicted(c, f, at, b, why == nil)...)
}
