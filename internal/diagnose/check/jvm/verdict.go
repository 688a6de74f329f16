package jvm

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// unwatchedVerdict returns the verdict where the collector was not watched.
func unwatchedVerdict(c *check.Case) check.Verdict {
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverGC) {
		if !metrics.Stamped(c.Bundle.Clocks[w.Clock]) {
			return check.Verdict{Rule: check.NotRecorded, Summary: "the GC log has no timestamps, so the rate of collections is unknown", Needs: logging}
		}
	}
	if len(c.Bundle.Covered(c.Subject, evidence.CoverSafepoints)) > 0 {
		return check.Verdict{Rule: check.Untold, Summary: "the log has pauses of all threads, but not which of them were GC", Needs: logging}
	}
	return check.Verdict{Rule: check.NotRecorded, Summary: "no GC log recorded", Needs: logging}
}

// noCPUTimesVerdict returns the verdict where a log has no CPU times of collections: it rules the
// cause out where pauses take hardly any time, as those of concurrent collectors.
func (g *collector) noCPUTimesVerdict() check.Verdict {
	if share := g.ShareOf(g.Pauses); share < stoppedPart.Value && g.Pauses.Longest().Seconds() < check.ASecond.Value {
		v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("GC pauses the program only %s of the time", units.Percent(share)),
			Evidence: []check.Evidence{g.c.Figure("gc.paused_share", "share of the time paused by GC", share, "1", g.Origin)}}
		v.WeighOne(share, stoppedPart)
		v.WeighOne(g.Pauses.Longest().Seconds(), check.ASecond)
		return v
	}
	return check.Verdict{Rule: check.NotRecorded, Summary: "the GC log has no CPU times",
		Needs: []check.Need{
			{What: "a GC log with CPU times (JDK 9 or later)", Command: "-Xlog:gc*,gc+cpu:file=gc.log:time,uptime,level,tags"},
			{What: "or, before JDK 9", Command: "-XX:+PrintGCDetails"}}}
}

// judgePauses judges what pauses cost by the policy that all collectors share:
// [check.Case.JudgePauses]. What names them: "young collections"; least is the share of the time
// from which they are reported where requests do not show their cost.
func (g *collector) judgePauses(v *check.Verdict, cause string, p metrics.Pauses, what string, least check.Threshold) *check.Bill {
	return g.judgePaused(v, g.newPaused(cause, p, what, least))
}

// judgePaused judges pauses as judgePauses does, with what else is known of them.
func (g *collector) judgePaused(v *check.Verdict, of check.Paused) *check.Bill {
	b := g.c.JudgePauses(v, of)
	if x, ok := g.worstStretch(of.Pauses); ok {
		v.Weight = x.stoppedShare()
		v.Evidence = append(v.Evidence, g.c.Figure("gc.these_paused_worst_share", "share of the time paused by them f"+g.fromTo(x)[1:], x.stoppedShare(), "1", g.Origin))
	}
	return b
}

func (g *collector) newPaused(cause string, p metrics.Pauses, what string, least check.Threshold) check.Paused {
	return check.Paused{Cause: cause, Collector: g.Collector, Pauses: p, What: what, Least: least, Terms: &terms}
}

// unlogged is the answer of causes that are about pauses where a log has none of them.
var unlogged = check.Verdict{Rule: check.NotRecorded, Summary: "the log has GC cycles, but none of their pauses",
	Needs: []check.Need{{What: "a GC log with pauses and safepoints", Command: "-Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags"}}}

// longer asks for more of a log.
var longer = []check.Need{{What: "a longer GC log: some minutes under load"}}

// needRequests asks for requests on the same timeline as the pauses.
func (g *collector) needRequests() []check.Need {
	if g.c.Ledger == nil {
		return []check.Need{requestsEvidence}
	}
	return []check.Need{
		{What: "a GC log with the time of day, so that pauses can be matched with requests (JDK 9 or later)", Command: "-Xlog:gc*:file=gc.log:time,uptime,level,tags"},
		{What: "or, before JDK 9", Command: "-XX:+PrintGCDateStamps"}}
}
