package dotnet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/reading"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/figure"
	"github.com/unstall/unstall/internal/diagnose/cause"
)

// collector is a case's collector with all that its events tell, beside the requests where
// there are any.
type collector struct {
	*reading.Collector
	gc  *reading.DotnetGC
	who *reading.Allocations // nil: nobody asked who allocates
	c   *cause.Case

	of []int // of each pause, the collection it was for; -1 none
}

// collectorOf is nil if nobody watched its collections.
func collectorOf(c *cause.Case) *collector {
	return cause.Once(c, func(c *cause.Case) *collector {
		g := c.Collector()
		if g == nil {
			return nil
		}
		gc := reading.ReadDotnetGC(c.Bundle, c.Subject, g.Window)
		if gc == nil {
			return nil
		}
		x := &collector{Collector: g, gc: gc, who: reading.ReadAllocations(c.Bundle, c.Subject, threads.Dotnet), c: c}
		for _, p := range g.Pauses {
			x.of = append(x.of, x.collection(p))
		}
		return x
	})
}

// collection is the one a pause was for: that which begins in it, else the one in the
// background that runs meanwhile, -1 neither.
func (g *collector) collection(p reading.Pause) int {
	all := g.gc.Collections
	n, _ := slices.BinarySearchFunc(all, p.From, func(x reading.Collection, at int64) int { return cmp.Compare(x.From, at) })
	if n < len(all) && all[n].From <= p.To {
		return n
	}
	for n--; n >= 0; n-- {
		if x := &all[n]; x.Kind == evidence.CollectionBackground && x.From <= p.From && p.From <= x.To {
			return n
		}
	}
	return -1
}

// pauses are those of some collections.
func (g *collector) pauses(is func(*reading.Collection) bool) (out reading.Pauses) {
	for i, p := range g.Pauses {
		if n := g.of[i]; n >= 0 && is(&g.gc.Collections[n]) {
			out = append(out, p)
		}
	}
	return out
}

// those are some of the collections.
func (g *collector) those(is func(*reading.Collection) bool) (out []*reading.Collection) {
	for i := range g.gc.Collections {
		if c := &g.gc.Collections[i]; is(c) {
			out = append(out, c)
		}
	}
	return out
}

// Which cause of its own a collection has; a pause has one: what is counted twice would be
// promised twice.
func induced(c *reading.Collection) bool { return c.Induced }

// Reasons of the runtime for a collection of the oldest generation on behalf of large objects.
const (
	largeReason  = "large allocations"
	noLargeSpace = "out of space for large objects"
)

func forLarge(c *reading.Collection) bool {
	return !c.Induced && (c.Reason == largeReason || c.Reason == noLargeSpace)
}

// ordinary are those that come because the program allocates small objects.
func ordinary(c *reading.Collection) bool { return !c.Induced && !forLarge(c) }

func oldest(c *reading.Collection) bool { return ordinary(c) && c.Generation == evidence.Gen2 }

// What pauses must be to be worth naming where no requests say what they cost.
const (
	stoppedPart  = .05 // share of the time
	leastWatched = 5.  // s that must be watched for a share to speak for the service
	noticed      = .2  // s of pauses in all, where less was watched
	aSecond      = 1.  // s of a single pause: none of that is ever ruled out
)

// unwatched is the answer where no events of the collector were recorded: there were none, or nobody asked.
func unwatched(c *cause.Case) cause.Verdict {
	if n := reading.CountedCollections(c.Bundle, c.Subject); n.Known() && n.Number == 0 {
		return cause.Verdict{State: cause.RuledOut, Summary: "no collections", Evidence: []cause.Evidence{c.Figure("gc.counted_collections_per_s", "collections, by the runtime's counters", 0, "1/s", n.Origin)}}
	}
	summary := "its garbage collections were not recorded"
	var said []cause.Evidence
	if g := reading.ReadGCCounters(c.Bundle, c.Subject, reading.Whole); g != nil {
		for i, f := range g.Findings() {
			summary += map[bool]string{true: ", but counters tell of ", false: ", "}[i == 0] + f.Counter + " " + figure.Num(f.Value.Number) + map[string]string{"%": " %", "1/s": "/s"}[f.Unit]
			said = append(said, c.Figure(f.ID, f.Counter+": "+f.Text, f.Value.Number, f.Unit, f.Value.Origin))
		}
	}
	return cause.Verdict{State: cause.Inconclusive, Summary: summary, Evidence: said,
		Needs: []cause.Need{{What: "the collector's events", Command: "unstall record PID"}, {What: "or", Command: "dotnet-trace collect -p PID --profile gc-verbose"}}}
}

// judge fills in what collections cost: by what slow requests waited in their pauses, behind
// these, and for memory that they gave late (stalled, ns of each slow request; nil: nothing),
// else by the share of the time they stopped the world. What names them: "induced collections".
func (g *collector) judge(v *cause.Verdict, p reading.Pauses, what string, stalled []int64) *cause.Bill {
	c := g.c
	share := g.ShareOf(p)
	v.State, v.Weight = cause.RuledOut, share
	v.Summary = fmt.Sprintf("%s pause the program %s of the time", what, figure.Percent(share))
	v.Evidence = append(v.Evidence, c.Figure("gc.paused_share", "share of the time paused by "+what, share, "1", g.Origin))
	if most := p.Longest(); len(p) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("gc.longest_pause_ms", "longest of these pauses", 1e3*most.Seconds(), "ms", g.OriginOf(most)))
	}
	b := c.BillOf(g.Collector, p)
	switch {
	case len(p) == 0:
		v.Summary = "no " + what
	case b != nil:
		v.Evidence = append(v.Evidence, b.Figures(c, what)...)
		g.judgeBilled(v, b, what, stalled)
	case c.Ledger != nil && g.Meets(c.Ledger.Beside()):
		v.Summary += ", but requests are not slow"
	case share >= stoppedPart && g.Span < leastWatched && p.Seconds() < noticed:
		v.State = cause.Inconclusive
		v.Summary += fmt.Sprintf(" of %s: too little to tell", figure.Time(g.Span*1e9))
		v.Needs = []cause.Need{{What: "a longer recording under load", Command: "unstall record PID --for 60s"}}
	case share >= stoppedPart:
		v.State = cause.Supported
		v.Needs = append(v.Needs, cause.Need{What: "requests from the same time, to show what the pauses cost", Command: "unstall record PID"})
	}
	g.unmet(v, p, what)
	if most := p.Longest(); v.State == cause.RuledOut && most.Seconds() >= aSecond {
		v.State = cause.Supported
		v.Summary = fmt.Sprintf("the longest of %s paused the program for %s", what, figure.Time(1e9*most.Seconds()))
		if b != nil && b.Sum() > 0 {
			v.Saves = b.Saves(c)
		}
	}
	return b
}

// leastStopped is the share of the time that pauses stop the world from which on what queues
// up behind them may be much, though what they stop themselves is little.
const leastStopped = .01

// judgeBilled judges by what the pauses, and waiting for memory, cost slow requests.
func (g *collector) judgeBilled(v *cause.Verdict, b *cause.Bill, what string, stalled []int64) {
	c := g.c
	per := b.Each()
	var waited int64
	for n, ns := range stalled {
		row := c.Ledger.Slow[n]
		add := min(ns, max(0, c.Bundle.Requests.Latency(row)-per[n]))
		per[n] += add
		waited += add
	}
	share := (float64(b.Sum()) + float64(waited)) / float64(max(c.Ledger.Total, 1))
	v.Summary = what + " are " + cause.OfSlow(share)
	switch {
	case !c.Slow():
		v.Summary = fmt.Sprintf("%s pause the program %s of the time, but almost no requests are slow", what, figure.Percent(v.Weight))
	case share >= cause.Material && c.Noticed(noticeable(share)):
		v.State = cause.Supported
		v.Saves = c.Save(per, b.Low, b.High+waited)
		less := byRow(c.Ledger, per)
		v.Prediction = append(v.Prediction, c.PredictP99(less), c.PredictSlow(less))
	case v.Weight >= leastStopped && c.Share(ledger.Unobserved) >= cause.Material && b.Most() >= cause.Material:
		v.State = cause.Inconclusive
		v.Summary = fmt.Sprintf("%s are %s of slow time; how long requests queued behind them was not seen", what, figure.Percent(share))
		v.Needs = append(v.Needs, cause.Need{What: "the arrival times of all requests: a load generator's results, or an access log with times in ms"})
	case share >= cause.Arguable:
		v.State = cause.Inconclusive
		v.Needs = append(v.Needs, cause.Need{What: "a longer recording under load", Command: "unstall record PID --for 60s"})
	}
}

// byRow is what each slow request is spared, by its row.
func byRow(l *ledger.Ledger, per []int64) func(row int) int64 {
	at := make(map[int]int64, len(per))
	for n, row := range l.Slow {
		at[row] = per[n]
	}
	return func(row int) int64 { return at[row] }
}

// figure is evidence, none of what is not known.
func (g *collector) figure(v *cause.Verdict, id, text string, x float64, unit string, at evidence.Origin) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		v.Evidence = append(v.Evidence, g.c.Figure(id, text, x, unit, at))
	}
}

// perMinute is how often something came.
func (g *collector) perMinute(n int) float64 { return 60 * float64(n) / max(g.Span, 1e-9) }

// unmet supports what its own figures of requests cannot show: a request that arrives during a
// pause waits before the service knows of it.
func (g *collector) unmet(v *cause.Verdict, p reading.Pauses, what string) {
	l := g.c.Ledger
	if v.State == cause.Supported || len(p) == 0 || l == nil || len(l.Rows) == 0 || g.c.Bundle.Requests.Lane.At(l.Rows[0]) == 0 {
		return
	}
	if !cause.Met(g.Collector, p) {
		return
	}
	mean := p.Seconds() / float64(len(p))
	v.State, v.Needs = cause.Supported, nil
	v.Summary = fmt.Sprintf("%s pause the program %s of the time, for %s in the mean", what, figure.Percent(v.Weight), figure.Time(1e9*mean))
	v.Evidence = append(v.Evidence, g.c.Seen("requests that arrive during a pause wait before the service begins with them: its own figures do not show that", g.OriginOf(p[0])))
	if b := g.c.BillOf(g.Collector, p); b != nil && b.Sum() > 0 && g.c.Share(ledger.StopTheWorld) > 0 {
		v.Saves = b.Saves(g.c)
	}
}

// noticeable is how long slow requests must take for a share of their time to be a fault: what is nearly all of it need not take
// as long as what is one thing of several.
func noticeable(share float64) time.Duration {
	if share >= nearlyAll {
		return cause.NoticeableCall
	}
	return cause.Noticeable
}

const nearlyAll = .75
