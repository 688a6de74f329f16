package jvm

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// unwatched is the answer where nobody watched the collector.
func unwatched(c *check.Case) check.Verdict {
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverGC) {
		if !metrics.Stamped(c.Bundle.Clocks[w.Clock]) {
			return check.Verdict{State: check.Inconclusive, Summary: "the GC log has no timestamps, so the rate of collections is unknown", Needs: logging}
		}
	}
	if len(c.Bundle.Covered(c.Subject, evidence.CoverSafepoints)) > 0 {
		return check.Verdict{State: check.Inconclusive, Summary: "the log has pauses of all threads, but not which of them were GC", Needs: logging}
	}
	return check.Verdict{State: check.Inconclusive, Summary: "no GC log recorded", Needs: logging}
}

// untold is the answer where a log does not say what CPU time its collections took: no
// matter where they take hardly any time at all, as those of concurrent collectors.
func (g *collector) untold() check.Verdict {
	if share := g.ShareOf(g.Pauses); share < stoppedPart && g.Pauses.Longest().Seconds() < aSecond {
		return check.Verdict{State: check.RuledOut, Summary: fmt.Sprintf("GC pauses the program only %s of the time", units.Percent(share)),
			Evidence: []check.Evidence{g.c.Figure("gc.paused_share", "share of the time paused by GC", share, "1", g.Origin)}}
	}
	return check.Verdict{State: check.Inconclusive, Summary: "the GC log has no CPU times",
		Needs: []check.Need{
			{What: "a GC log with CPU times (JDK 9 or later)", Command: "-Xlog:gc*,gc+cpu:file=gc.log:time,uptime,level,tags"},
			{What: "or, before JDK 9", Command: "-XX:+PrintGCDetails"}}}
}

// judge fills in what some pauses cost, whatever makes them: by the requests they met, else
// by the share of the time they stopped the world, of which least is worth naming. What
// names them: "young collections". The bill is nil without requests on the same time line.
// Length counts as well as share: see [collector.lengthy].
func (g *collector) judge(v *check.Verdict, p metrics.Pauses, what string, least float64) *check.Bill {
	c := g.c
	share := g.ShareOf(p)
	v.State = check.RuledOut
	v.Summary = fmt.Sprintf("%s pause the program %s of the time", what, units.Percent(share))
	v.Evidence = append(v.Evidence,
		c.Figure("gc.these", what, float64(len(p)), "count", g.Origin),
		c.Figure("gc.these_paused_share", "share of the time paused by them", share, "1", g.Origin))
	if most := p.Longest(); len(p) > 0 {
		v.Evidence = append(v.Evidence, c.Figure("gc.longest_pause_ms", "longest pause", 1e3*most.Seconds(), "ms", g.OriginOf(most)))
	}
	v.Weight = share
	b := g.billOf(p)
	full := share >= muchStopped && g.outOfSight()
	if full {
		b = nil
	}
	switch {
	case len(p) == 0:
		v.Summary = "no " + what
	case full:
		v.State = check.Supported
		v.Summary += ", the host's CPUs are full, and its own rows do not include the wait before the service started a request"
		v.Needs = append(v.Needs, check.Need{What: "requests as the clients saw them: a load generator's results, or the log of a proxy"})
	case b != nil:
		v.Evidence = append(v.Evidence, b.Figures(g.c, what)...)
		g.judgeBilled(v, b, what)
		if v.State != check.Supported && share >= least && g.Span >= leastWatched && !c.HasRequestStates() && c.UserVisible(check.Noticeable) {
			// Most of what slow requests did was not seen: they do not speak against the log.
			v.State, v.Needs = check.Supported, nil
			v.Summary = fmt.Sprintf("%s pause the program %s of the time, and are %s", what, units.Percent(share), check.OfSlow(b.Share()))
			v.Saves = c.Bound(float64(b.Sum()), float64(b.Low), float64(max(b.High, b.Sum())))
		}
	case c.Ledger != nil && !c.Slow() && len(c.Ledger.Rows) > 0 && g.meets():
		v.Summary += ", but requests are not slow"
	case share >= least && g.Span < leastWatched && p.Seconds() < noticed:
		v.State, v.Needs = check.Inconclusive, longer
		v.Summary = fmt.Sprintf("%s paused the program for %s; the recording covers only %s, too short for a share", what, units.Time(1e9*p.Seconds()), units.Time(1e9*g.Span))
	case share >= least, share > 0 && g.worst(p).share() >= minuteOf*least:
		v.State = check.Supported
		v.Needs = append(v.Needs, g.needRequests()...)
		if share < least {
			v.Summary = fmt.Sprintf("%s pause the program %s of the recording, but %s of its worst minute", what, units.Percent(share), units.Percent(g.worst(p).share()))
		}
	}
	g.lengthy(v, p, b, what)
	if x, ok := g.stretch(p); ok {
		v.Weight = x.share()
		v.Evidence = append(v.Evidence, c.Figure("gc.these_paused_worst_share", "share of the time paused by them f"+g.fromTo(x)[1:], x.share(), "1", g.Origin))
	}
	return b
}

// muchStopped is the share of the time that makes pauses a finding where requests are quick for the service
// alone.
const muchStopped = .1

// outOfSight says whether requests may be slow though none is in what the service tells of them: it counts
// from when a thread takes one up, and on full CPUs they wait for that.
func (g *collector) outOfSight() bool {
	l := g.c.Ledger
	if l == nil || len(l.Rows) == 0 || l.FromOutside() || g.c.Slow() || !g.meets() {
		return false
	}
	host := metrics.HostOf(g.c.Bundle, g.c.Subject, g.Window)
	return host.Busy.MostlyKnown() && host.CPUs > 0 && host.Taken() >= busy*host.CPUs
}

// unlogged is the answer of causes that are about pauses where a log has none of them.
var unlogged = check.Verdict{State: check.Inconclusive, Summary: "the log has GC cycles, but none of their pauses",
	Needs: []check.Need{{What: "a GC log with pauses and safepoints", Command: "-Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags"}}}

// longer asks for more of a log.
var longer = []check.Need{{What: "a longer GC log: some minutes under load"}}

// needRequests asks for requests that pauses can be laid over.
func (g *collector) needRequests() []check.Need {
	if g.c.Ledger == nil {
		return []check.Need{requestsEvidence}
	}
	return []check.Need{
		{What: "a GC log with the time of day, so that pauses can be matched with requests (JDK 9 or later)", Command: "-Xlog:gc*:file=gc.log:time,uptime,level,tags"},
		{What: "or, before JDK 9", Command: "-XX:+PrintGCDateStamps"}}
}

// leastStopped is the share of the time that pauses stop the world from which on what queues
// up behind them may be much, though what they stop themselves is little.
const leastStopped = .01

// judgeBilled judges by what the pauses cost slow requests.
func (g *collector) judgeBilled(v *check.Verdict, b *check.Bill, what string) {
	v.Summary = what + " are " + check.OfSlow(b.Share())
	switch {
	case !g.c.Slow():
		v.Summary = fmt.Sprintf("%s pause the program %s of the time, but almost no requests are slow", what, units.Percent(v.Weight))
	case b.Share() >= check.Material:
		v.State = check.Supported
		v.Saves = b.Saves(g.c)
	case !b.Placed() && b.Most() >= check.Material && v.Weight >= leastStopped:
		v.State = check.Inconclusive
		v.Summary = fmt.Sprintf("%s pause slow requests for %s of their time; the queueing time behind them is unknown", what, units.Percent(b.Share()))
		v.Needs = append(v.Needs, check.Need{What: "the queueing time behind pauses: the arrival times of all requests (a load generator's results, or an access log with times in ms), and the CPU time of the process", Command: "unstall record PID"})
	}
}
