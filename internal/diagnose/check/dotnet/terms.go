package dotnet

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// terms are those of .NET's collector in the policy for pauses.
var terms check.CollectorTerms

// Thresholds of watched and stopped time from which collections of .NET are reported.
var (
	leastWatched = check.Threshold{Name: "time that must be watched for a share of it to speak for the service", Value: 5, Unit: "s",
		Why: "a recording of events shows each collection from its start", Source: "arithmetic: 5 % of it, from which pauses are named, is 0.25 s, which people notice (J. Nielsen, Usability Engineering, 1993, chapter 5)"}
	stopped = check.Threshold{Name: "share of the time in GC pauses, where no requests tell their cost", Value: .05, Unit: "1",
		Why: "a program needs some; one request in twenty meets one", Source: "PASTA (R. Wolff, Operations Research 30, 1982): one request in twenty meets one: the p95"}
)

func init() {
	longer := []check.Need{{What: "a longer recording under load", Command: "unstall record PID --for 60s"}}
	terms = check.CollectorTerms{
		Notice: check.Noticeable, NoticeMost: check.NoticeableCall,
		Watched: leastWatched, // a recording of events shows each collection from its start
		Own:     stopped, Spared: stopped,
		Figures: func(c *check.Case, of check.Paused, share float64) []check.Evidence {
			return []check.Evidence{c.Figure("gc.paused_share", "share of the time paused by "+of.What, share, "1", of.Collector.Origin)}
		},
		Longer: longer,
		Requests: func(*check.Case) []check.Need {
			return []check.Need{{What: "requests from the same period, to show what the pauses cost", Command: "unstall record PID"}}
		},
		Predicts: true,
		Parts:    pauseParts,
		Explains: []string{HeapLeak.ID, GCStarved.ID},
	}
}

// pauseParts divides all pauses of the collector among the causes that judge them; each pause is
// in one part.
func pauseParts(c *check.Case) []check.Part {
	g := collectorOf(c)
	if g == nil {
		return nil
	}
	all := []struct {
		check.Part
		has func(*metrics.Collection) bool
	}{
		{check.Part{Cause: InducedGC.ID, What: "induced collections", Least: terms.Spared}, isInduced},
		{check.Part{Cause: LOHChurn.ID, What: "gen 2 collections for large objects", Least: terms.Own}, isForLarge},
		{check.Part{Cause: Gen2Pause.ID, What: "gen 2 collections", Least: terms.Own}, isOrdinaryGen2},
		{check.Part{Cause: g.youngCause(), What: "collections of gen 0 and gen 1", Least: terms.Own}, func(x *metrics.Collection) bool { return x.Generation < evidence.Gen2 }},
		{check.Part{What: "other pauses", Least: terms.Own}, func(*metrics.Collection) bool { return true }},
	}
	for i, p := range g.Pauses {
		for k := range all {
			if n := g.collectionByPause[i]; n >= 0 && all[k].has(&g.gc.Collections[n]) || n < 0 && k == len(all)-1 {
				all[k].Pauses = append(all[k].Pauses, p)
				break
			}
		}
	}
	var out []check.Part
	for i := range all {
		out = append(out, all[i].Part)
	}
	return out
}

// youngCause returns the cause that explains young collections, if what they keep dies soon after;
// "" otherwise.
func (g *collector) youngCause() string {
	if kept, died, known := g.keptByYoung(); known && kept >= reaching.Value && died >= mostDies.Value {
		return MidLife.ID
	}
	return ""
}
