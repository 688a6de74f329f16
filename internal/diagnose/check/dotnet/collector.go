package dotnet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// collector is a case's collector with all that its events tell, beside the requests where
// there are any.
type collector struct {
	*metrics.Collector
	gc  *metrics.DotnetGC
	who *metrics.Allocations // nil: nobody asked who allocates
	c   *check.Case

	of []int // of each pause, the collection it was for; -1 none
}

// collectorOf is nil if nobody watched its collections.
func collectorOf(c *check.Case) *collector {
	return check.Once(c, func(c *check.Case) *collector {
		g := c.Collector()
		if g == nil {
			return nil
		}
		gc := metrics.ReadDotnetGC(c.Bundle, c.Subject, g.Window)
		if gc == nil {
			return nil
		}
		x := &collector{Collector: g, gc: gc, who: metrics.ReadAllocations(c.Bundle, c.Subject, threadstack.Dotnet), c: c}
		for _, p := range g.Pauses {
			x.of = append(x.of, x.collection(p))
		}
		return x
	})
}

// collection is the one a pause was for: that which begins in it, else the one in the
// background that runs meanwhile, -1 neither.
func (g *collector) collection(p metrics.Pause) int {
	all := g.gc.Collections
	n, _ := slices.BinarySearchFunc(all, p.From, func(x metrics.Collection, at int64) int { return cmp.Compare(x.From, at) })
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
func (g *collector) pauses(is func(*metrics.Collection) bool) (out metrics.Pauses) {
	for i, p := range g.Pauses {
		if n := g.of[i]; n >= 0 && is(&g.gc.Collections[n]) {
			out = append(out, p)
		}
	}
	return out
}

// those are some of the collections.
func (g *collector) those(is func(*metrics.Collection) bool) (out []*metrics.Collection) {
	for i := range g.gc.Collections {
		if c := &g.gc.Collections[i]; is(c) {
			out = append(out, c)
		}
	}
	return out
}

// Which cause of its own a collection has; a pause has one: what is counted twice would be
// promised twice.
func induced(c *metrics.Collection) bool { return c.Induced }

// Reasons of the runtime for a collection of the oldest generation on behalf of large objects.
const (
	largeReason  = "large allocations"
	noLargeSpace = "out of space for large objects"
)

func forLarge(c *metrics.Collection) bool {
	return !c.Induced && (c.Reason == largeReason || c.Reason == noLargeSpace)
}

// ordinary are those that come because the program allocates small objects.
func ordinary(c *metrics.Collection) bool { return !c.Induced && !forLarge(c) }

func oldest(c *metrics.Collection) bool { return ordinary(c) && c.Generation == evidence.Gen2 }

// What pauses must be to be worth naming where no requests say what they cost.
const (
	stoppedPart  = .05 // share of the time
	leastWatched = 5.  // s that must be watched for a share to speak for the service
	noticed      = .2  // s of pauses in all, where less was watched
	aSecond      = 1.  // s of a single pause: none of that is ever ruled out
)

// unwatched is the answer where no events of the collector were recorded: there were none, or nobody asked.
func unwatched(c *check.Case) check.Verdict {
	if n := metrics.CountedCollections(c.Bundle, c.Subject); n.Known() && n.Number == 0 {
		return check.Verdict{State: check.RuledOut, Summary: "no collections", Evidence: []check.Evidence{c.Figure("gc.counted_collections_per_s", "collections, from the runtime's counters", 0, "1/s", n.Origin)}}
	}
	summary := "its garbage collections were not recorded"
	var said []check.Evidence
	if g := metrics.ReadGCCounters(c.Bundle, c.Subject, metrics.Whole); g != nil {
		for i, f := range g.Findings() {
			summary += map[bool]string{true: ", but the counters show ", false: ", "}[i == 0] + f.Counter + " " + units.Num(f.Value.Number) + map[string]string{"%": " %", "1/s": "/s"}[f.Unit]
			said = append(said, c.Figure(f.ID, f.Counter+": "+f.Text, f.Value.Number, f.Unit, f.Value.Origin))
		}
	}
	return check.Verdict{State: check.Inconclusive, Summary: summary, Evidence: said,
		Needs: []check.Need{{What: "GC events", Command: "unstall record PID"}, {What: "or", Command: "dotnet-trace collect -p PID --profile gc-verbose"}}}
}

// judge fills in what collections cost: by what slow requests waited in their pauses, behind
// these, and for memory that they gave late (stalled, ns of each slow request; nil: nothing),
// else by the share of the time they stopped the world. What names them: "induced collections".
func (g *collector) judge(v *check.Verdict, p metrics.Pauses, what string, stalled []int64) *check.Bill {
	c := g.c
	share := g.ShareOf(p)
	v.State, v.Weight = check.RuledOut, share
	v.Summary = fmt.Sprintf("%s pause the program %s of the time", what, units.Percent(share))
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
	case c.Ledger != nil && g.Meets(c.Ledger.RequestsOf()):
		v.Summary += ", but requests are not slow"
	case share >= stoppedPart && g.Span < leastWatched && p.Seconds() < noticed:
		v.State = check.Inconclusive
		v.Summary += fmt.Sprintf(" of %s: too little to decide", units.Time(g.Span*1e9))
		v.Needs = []check.Need{{What: "a longer recording under load", Command: "unstall record PID --for 60s"}}
	case share >= stoppedPart:
		v.State = check.Supported
		v.Needs = append(v.Needs, check.Need{What: "requests from the same period, to show what the pauses cost", Command: "unstall record PID"})
	}
	g.unmet(v, p, what)
	if most := p.Longest(); v.State == check.RuledOut && most.Seconds() >= aSecond {
		v.State = check.Supported
		v.Summary = fmt.Sprintf("the longest of %s paused the program for %s", what, units.Time(1e9*most.Seconds()))
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
func (g *collector) judgeBilled(v *check.Verdict, b *check.Bill, what string, stalled []int64) {
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
	v.Summary = what + " are " + check.OfSlow(share)
	switch {
	case !c.Slow():
		v.Summary = fmt.Sprintf("%s pause the program %s of the time, but almost no requests are slow", what, units.Percent(v.Weight))
	case share >= check.Material && c.UserVisible(noticeable(share)):
		v.State = check.Supported
		v.Saves = c.Save(per, b.Low, b.High+waited)
		less := byRow(c.Ledger, per)
		v.Prediction = append(v.Prediction, c.PredictP99(less), c.PredictSlow(less))
	case v.Weight >= leastStopped && c.Share(ledger.Unobserved) >= check.Material && b.Most() >= check.Material:
		v.State = check.Inconclusive
		v.Summary = fmt.Sprintf("%s are %s of slow time; the queueing time behind them was not recorded", what, units.Percent(share))
		v.Needs = append(v.Needs, check.Need{What: "the arrival times of all requests: a load generator's results, or an access log with times in ms"})
	case share >= check.Arguable:
		v.State = check.Inconclusive
		v.Needs = append(v.Needs, check.Need{What: "a longer recording under load", Command: "unstall record PID --for 60s"})
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
func (g *collector) figure(v *check.Verdict, id, text string, x float64, unit string, at evidence.Origin) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		v.Evidence = append(v.Evidence, g.c.Figure(id, text, x, unit, at))
	}
}

// perMinute is how often something came.
func (g *collector) perMinute(n int) float64 { return 60 * float64(n) / max(g.Span, 1e-9) }

// unmet supports what its own figures of requests cannot show: a request that arrives during a
// pause waits before the service knows of it.
func (g *collector) unmet(v *check.Verdict, p metrics.Pauses, what string) {
	l := g.c.Ledger
	if v.State == check.Supported || len(p) == 0 || l == nil || len(l.Rows) == 0 || g.c.Bundle.Requests.Lane.At(l.Rows[0]) == 0 {
		return
	}
	if !check.SlowPausesMet(g.Collector, p) {
		return
	}
	mean := p.Seconds() / float64(len(p))
	v.State, v.Needs = check.Supported, nil
	v.Summary = fmt.Sprintf("%s pause the program %s of the time, %s each on average", what, units.Percent(v.Weight), units.Time(1e9*mean))
	v.Evidence = append(v.Evidence, g.c.Seen("requests that arrive during a pause wait before the service starts them, so its own figures do not show the wait", g.OriginOf(p[0])))
	if b := g.c.BillOf(g.Collector, p); b != nil && b.Sum() > 0 && g.c.Share(ledger.StopTheWorld) > 0 {
		v.Saves = b.Saves(g.c)
	}
}

// noticeable is how long slow requests must take for a share of their time to be a fault: what is nearly all of it need not take
// as long as what is one thing of several.
func noticeable(share float64) time.Duration {
	if share >= nearlyAll {
		return check.NoticeableCall
	}
	return check.Noticeable
}

const nearlyAll = .75
