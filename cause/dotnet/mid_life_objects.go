package dotnet

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// MidLife is objects that live just long enough to reach the oldest generation, and die there.
var MidLife = cause.Cause{
	ID:    "dotnet.mid-life-objects",
	Title: "objects die in gen 2: they live too long for the young generations and not for good",
	Step:  cause.StepCollector,
	Doc: `The collector is cheap where objects die young or live for ever. Objects that live for
seconds – state of slow requests, batches, buffers between stages, caches whose entries
expire soon – are copied out of gen 0, again out of gen 1, and are garbage soon after in
gen 2, which has to be marked as a whole to find that out. Young collections are long for
what they copy, and gen 2 ones frequent.

The runtime's events say how much each collection kept: what gen 1 hands on per second
against what the heap grows by is what died in gen 2.

How to tell it from similar problems: with a leak the heap is larger after each gen 2
collection (dotnet.heap-leak); with large objects the reason says so (dotnet.loh-churn).

What helps: let go of state earlier, stream instead of collecting batches, pool objects
that are made again and again, caches of values that are refreshed in place; a larger gen 0
budget (DOTNET_GCgen0size) so that more is dead when it is collected. What does not help:
GC.Collect, which promotes what lives at that moment.`,
	Least:   "2 gen 2 collections and 3 MB/s that reach gen 2 of which more than half dies there, and a quarter of slow time in the pauses of gen 1 and gen 2 and behind them; without requests 5 % of the time",
	Needs:   "the collector's events: " + record,
	Applies: isDotnet,
	Judge:   judgeMidLife,
}

// What reaches gen 2 matters from so many bytes/s on, where more than a part of it dies there.
const (
	reaching  = 3e6
	mostDies  = .5
	leastGen2 = 2
)

func judgeMidLife(c *cause.Case) cause.Verdict {
	g := collectorOf(c)
	if g == nil {
		return unwatched()
	}
	var v cause.Verdict
	promoted, died, known := g.throughGen2()
	gen2 := g.those(oldest)
	v.Evidence = append(v.Evidence, c.Figure("gen 2 collections for the runtime's own reasons", float64(len(gen2)), "count", g.Origin))
	if !known {
		v.State = cause.RuledOut
		v.Summary = "too few gen 2 collections to tell what dies there"
		if len(gen2) >= leastGen2 {
			v.State = cause.Inconclusive
			v.Needs = []cause.Need{{What: "a longer recording under load", Command: "unstall record PID --for 60s"}}
		}
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("bytes that reach gen 2", promoted, "bytes/s", g.Origin),
		c.Figure("share of them that dies there", died, "1", g.Origin))
	if promoted < reaching || died < mostDies || len(gen2) < leastGen2 {
		v.State, v.Summary = cause.RuledOut, fmt.Sprintf("%.3g MB/s reach gen 2, %.0f %% of them die there", promoted/1e6, 100*died)
		return v
	}
	const what = "collections of gen 1 and gen 2"
	p := g.pauses(func(x *reading.Collection) bool { return ordinary(x) && x.Generation >= evidence.Gen1 })
	g.judge(&v, p, what, nil)
	if v.State != cause.Supported {
		return v
	}
	gen1 := &g.gc.Generations[evidence.Gen1]
	g.figure(&v, "share of gen 1 and 0 that gen 1 collections keep", gen1.Survival(), "1", g.Origin)
	g.figure(&v, "mean pause of gen 1 collections", 1e3*gen1.Mean, "ms", g.Origin)
	v.Title = fmt.Sprintf("Objects die in gen 2: %.3g MB/s live long enough to get there, and %.0f %% of them are garbage soon after.", promoted/1e6, 100*died)
	site := ""
	if g.who != nil && len(g.who.Sites) > 0 {
		for _, s := range g.who.Sites[:min(3, len(g.who.Sites))] {
			if s.Owner != "" {
				v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("share of allocated bytes: %s in %s", s.Type, s.Owner), s.Bytes/max(g.who.Bytes, 1), "1", s.Origin))
				if site == "" {
					site = s.Owner
				}
			}
		}
	}
	v.Fix = append(v.Fix, cause.Fix{Text: "let go of these objects earlier, or keep them and use them again: what lives for seconds is copied twice and collected at the highest price", Code: site},
		cause.Fix{Text: "or make gen 0 larger, so that more is dead when it is collected", Setting: "DOTNET_GCgen0size=0x10000000 (hexadecimal: 256 MB)"})
	return v
}

// throughGen2 is how many bytes/s collections of gen 1 handed on to gen 2, and what share of them
// was garbage at the next gen 2 collections; false where these were fewer than two, so that
// nothing tells what died.
func (g *collector) throughGen2() (promoted, died float64, known bool) {
	var from, until *reading.Collection
	for i := range g.gc.Collections {
		if x := &g.gc.Collections[i]; x.Generation == evidence.Gen2 && x.Gen[evidence.Gen2].After > 0 {
			if from == nil {
				from = x
			}
			until = x
		}
	}
	if from == until || until == nil {
		return 0, 0, false
	}
	seconds := float64(until.To-from.To) / 1e9
	var bytes float64
	for i := range g.gc.Collections {
		x := &g.gc.Collections[i]
		if x.Generation == evidence.Gen1 && x.From >= from.To && x.To <= until.To {
			if kept := x.Gen[evidence.Gen1].Survived; kept > 0 {
				bytes += kept
			}
		}
	}
	if seconds <= 0 || bytes <= 0 {
		return 0, 0, seconds > 0
	}
	grew := max(0, until.Gen[evidence.Gen2].After-from.Gen[evidence.Gen2].After)
	return bytes / seconds, max(0, 1-grew/bytes), true
}
