package service

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/figure"
	"github.com/unstall/unstall/internal/diagnose/cause"
)

// judgePauses is [Waiting] where the place is the collector: it paused slow requests for much of
// their time, and no cause of its own says why.
func judgePauses(c *cause.Case) (v cause.Verdict, ok bool) {
	share := c.Share(ledger.StopTheWorld)
	if (share < cause.Material || !c.Noticed(cause.Noticeable)) && !met(c) {
		return v, false
	}
	all := c.Collections()
	if len(all) == 0 {
		return v, false
	}
	v = pausedBy(c, all)
	v.Title = fmt.Sprintf("Slow requests are paused by GC: %s of slow time.", figure.Percent(share))
	if words := all[0].Words; words != "" {
		v.Title = fmt.Sprintf("Slow requests are paused by GC, most by collections of %s: %s of slow time.", words, figure.Percent(share))
	}
	at := cause.From(c.Ledger.Source)
	v.Evidence = append([]cause.Evidence{c.Figure("slow.paused_ms", "slow time paused by GC", float64(c.Ledger.Charges[ledger.StopTheWorld])/1e6, "ms", at)}, v.Evidence...)
	if share < cause.Material {
		v.Title = fmt.Sprintf("GC pauses the program %s of the time, most by collections of %s.", figure.Percent(c.Collector().Stopped.Number), all[0].Words)
		v.Evidence = append(v.Evidence, c.Seen("requests that arrive during a pause wait before the service begins with them: its own figures do not show that", all[0].Origin))
		v.Weight = c.Collector().Stopped.Number
		return v, true
	}
	v.Saves = c.SaveMechanism(ledger.StopTheWorld)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := c.Ledger.Of(row); return ch[ledger.StopTheWorld] }))
	return v, true
}

// met says whether requests meet pauses before the service, whose own figures of them there are,
// knows of them.
func met(c *cause.Case) bool {
	g, l := c.Collector(), c.Ledger
	return g != nil && l != nil && len(l.Rows) > 0 && c.Bundle.Requests.Lane.At(l.Rows[0]) != 0 && cause.Met(g, g.Pauses)
}

// pausesExplained says whether a cause that is supported speaks for pauses: one of the collector's,
// or another that explains half of what they cost, such as a thread for which all others wait
// before a pause can begin.
func pausesExplained(c *cause.Case) bool {
	if claims(c)[ledger.StopTheWorld] {
		return true
	}
	stopped := float64(c.Ledger.Charges[ledger.StopTheWorld]) / 1e6
	return slices.ContainsFunc(c.Found, func(f cause.Found) bool { return f.Saves != nil && 2*f.Saves.Value >= stopped })
}

// pausedBy is the evidence of collections, and what helps against the first of them.
func pausedBy(c *cause.Case, all []cause.Collections) (v cause.Verdict) {
	v.State = cause.Supported
	for _, k := range all[:min(3, len(all))] {
		text := figure.Plural(len(k.Pauses), "pause") + " by collections of " + k.Words
		if k.Asker != "" {
			text += ", brought on by " + k.Asker
		}
		v.Evidence = append(v.Evidence, c.Figure("gc.paused_by_reason_ms", text, k.Pauses.Seconds()*1e3, "ms", k.Origin))
	}
	longest := c.Collector().Longest
	v.Evidence = append(v.Evidence, c.Figure("gc.longest_pause_ms", "longest pause", longest.Number*1e3, "ms", longest.Origin))
	fix := cause.Fix{Code: all[0].Asker, Text: "bring on fewer of these collections: allocate less there, above all large objects, which can be rented from a pool; or keep less in memory for each of them to mark"}
	v.Fix = append(v.Fix, fix)
	return v
}
