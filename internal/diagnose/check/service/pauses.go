package service

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgePauses is [Waiting] for the collector: it paused slow requests for much of their time, and
// no other cause explains the pauses.
func judgePauses(c *check.Case) (v check.Verdict, ok bool) {
	share := c.Share(ledger.StopTheWorld)
	if platform.ByID(c.Runtime()).Pauses == "" || (share < check.Material.Value || !c.UserVisible(check.Noticeable)) && !meetsPauses(c) {
		return v, false
	}
	all := c.Collections()
	if len(all) == 0 {
		return v, false
	}
	v = pausedBy(c, all)
	v.Title = fmt.Sprintf("Slow requests are paused by GC: %s of slow time.", units.Percent(share))
	if words := all[0].Words; words != "" {
		v.Title = fmt.Sprintf("Slow requests are paused by GC, mostly by collections of %s: %s of slow time.", words, units.Percent(share))
	}
	at := check.From(c.Ledger.StatesFrom())
	v.Evidence = append([]check.Evidence{c.Figure("slow.paused_ms", "slow time paused by GC", float64(c.Ledger.Charges[ledger.StopTheWorld])/1e6, "ms", at)}, v.Evidence...)
	if share < check.Material.Value {
		v.Title = fmt.Sprintf("GC pauses the program %s of the time, mostly by collections of %s.", units.Percent(c.Collector().Stopped.Number), all[0].Words)
		v.Evidence = append(v.Evidence, c.Seen("requests that arrive during a pause wait before the service starts them, so its own figures do not show the wait", all[0].Origin))
		v.Weight = c.Collector().Stopped.Number
		return v, true
	}
	if count, few := c.ByFewPauses(c.Collector().Pauses); few {
		return check.Verdict{Rule: check.OneLook, Evidence: v.Evidence, Needs: []check.Need{c.Trace("a longer recording under load", "")},
			Summary: fmt.Sprintf("%s paused by GC, mostly by %s, which another recording may not have", check.OfSlow(share), units.Plural(count, "pause"))}, true
	}
	v.Saves = c.SaveMechanism(ledger.StopTheWorld)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := c.Ledger.Of(row); return ch[ledger.StopTheWorld] }))
	return v, true
}

// meetsPauses says whether requests may wait in pauses before the service counts them, where the
// requests are as the service itself recorded them.
func meetsPauses(c *check.Case) bool {
	g, l := c.Collector(), c.Ledger
	return g != nil && l != nil && len(l.Rows) > 0 && c.Bundle.Requests.Lane.At(l.Rows[0]) != 0 && check.SlowPausesMet(g, g.Pauses)
}

// pausesExplained says whether a supported cause explains the pauses: one of the collector's, or
// another with half of what they cost, such as a thread that all others wait for before a pause
// can begin.
func pausesExplained(c *check.Case) bool {
	if claimedMechanisms(c)[ledger.StopTheWorld] {
		return true
	}
	stopped := float64(c.Ledger.Charges[ledger.StopTheWorld]) / 1e6
	return slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.Saves != nil && 2*f.Saves.Value >= stopped })
}

// pausedBy returns the evidence of collections, and what helps against the first of them.
func pausedBy(c *check.Case, all []check.Collections) (v check.Verdict) {
	v.Rule = check.Matters
	for _, k := range all[:min(3, len(all))] {
		text := units.Plural(len(k.Pauses), "pause") + " by collections of " + k.Words
		if k.Asker != "" {
			text += ", triggered by " + k.Asker
		}
		v.Evidence = append(v.Evidence, c.Figure("gc.paused_by_reason_ms", text, k.Pauses.Seconds()*1e3, "ms", k.Origin))
	}
	longest := c.Collector().Longest
	v.Evidence = append(v.Evidence, c.Figure("gc.longest_pause_ms", "longest pause", longest.Number*1e3, "ms", longest.Origin))
	fix := check.Fix{Code: all[0].Asker, Text: platform.ByID(c.Runtime()).Pauses}
	v.Fix = append(v.Fix, fix)
	return v
}
