package jvm

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// terms are those of a JVM's collectors in the policy for pauses.
var terms check.CollectorTerms

func init() {
	terms = check.CollectorTerms{
		Notice: check.Noticeable, NoticeMost: check.NoticeableCall,
		Watched: leastWatched, // in the first seconds of a JVM its heap grows
		Own:     stoppedYoung, Spared: stoppedSpecial,
		Figures: func(c *check.Case, of check.Paused, share float64) []check.Evidence {
			return []check.Evidence{c.Figure("gc.these", of.What, float64(len(of.Pauses)), "count", of.Collector.Origin),
				c.Figure("gc.these_paused_share", "share of the time paused by them", share, "1", of.Collector.Origin)}
		},
		Longer: longer,
		Requests: func(c *check.Case) []check.Need {
			if g := stopsOf(c); g != nil {
				return g.needRequests()
			}
			return []check.Need{requestsEvidence}
		},
		Parts:    pauseParts,
		Explains: []string{OldGenLeak.ID, GCKernelTime.ID, GCStarved.ID},
	}
}

// pauseParts divides all pauses of the collector among the causes that judge them; each pause is
// in one part.
func pauseParts(c *check.Case) (out []check.Part) {
	g := collectorOf(c)
	if g == nil {
		return nil
	}
	why, long := g.pauseReasons(), g.longPauses()
	_, pace := g.timedPauses()
	all := []struct {
		check.Part
		has func(metrics.Pause) bool
	}{
		{check.Part{Cause: ExplicitGC.ID, What: "requested collections", Least: terms.Spared}, g.hasReason(why, requested)},
		{check.Part{Cause: MetaspaceGC.ID, What: "collections for class metadata", Least: terms.Spared}, g.hasReason(why, metadata)},
		{check.Part{Cause: CMSConcurrentModeFailure.ID, What: "full collections after CMS failed", Least: terms.Spared}, g.hasReason(why, fellBack)},
		{check.Part{Cause: G1EvacuationFailure.ID, What: "collections without a free region", Least: terms.Spared}, g.hasReason(why, evacuation)},
		{check.Part{Cause: G1Humongous.ID, What: "collections for humongous objects", Least: terms.Spared}, g.hasReason(why, humongous)},
		{check.Part{Cause: DegeneratedGC.ID, What: "degenerated and full collections", Least: terms.Spared}, g.hasReason(why, degenerated)},
		{check.Part{What: "collections that lacked CPU, or spent it in the kernel", Least: stoppedPart}, func(p metrics.Pause) bool { return g.inKernel(p) || g.isStarved(p, pace) }},
		{check.Part{Cause: FullGC.ID, What: "full collections", Least: stoppedFull}, func(p metrics.Pause) bool { return p.Of == evidence.PauseFull }},
		{check.Part{Cause: LongPause.ID, What: "pauses of a second or more", Least: terms.Own}, func(p metrics.Pause) bool { return slices.Contains(long, p) }},
		{check.Part{Cause: YoungGCRate.ID, What: "young collections", Least: terms.Own}, g.isYoung},
		{check.Part{Cause: LongPause.ID, What: cyclesPause, Least: terms.Own}, func(metrics.Pause) bool { return true }},
	}
	for _, p := range g.Pauses {
		for i := range all {
			if all[i].has(p) {
				all[i].Pauses = append(all[i].Pauses, p)
				break
			}
		}
	}
	for i := range all {
		out = append(out, all[i].Part)
	}
	return out
}

// hasReason returns a function that says whether a pause has a reason.
func (g *collector) hasReason(why map[int]reason, r reason) func(metrics.Pause) bool {
	return func(p metrics.Pause) bool { return why[p.Row] == r }
}
