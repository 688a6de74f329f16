package service

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
)

// judgePauses is [Waiting] where the place is the collector: it paused slow requests for much of
// their time, and no cause of its own says why.
func judgePauses(c *cause.Case) (v cause.Verdict, ok bool) {
	share := c.Share(ledger.StopTheWorld)
	if share < cause.Material || !c.Noticed(cause.Noticeable) {
		return v, false
	}
	all := c.Collections()
	if len(all) == 0 {
		return v, false
	}
	v = pausedBy(c, all)
	v.Title = fmt.Sprintf("Slow requests are paused by GC: %.0f %% of slow time.", 100*share)
	if words := all[0].Words; words != "" {
		v.Title = fmt.Sprintf("Slow requests are paused by GC, most by collections of %s: %.0f %% of slow time.", words, 100*share)
	}
	at := cause.From(c.Ledger.Source)
	v.Evidence = append([]cause.Evidence{c.Figure("slow time paused by GC", float64(c.Ledger.Charges[ledger.StopTheWorld])/1e6, "ms", at)}, v.Evidence...)
	v.Saves = c.SaveMechanism(ledger.StopTheWorld)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := c.Ledger.Of(row); return ch[ledger.StopTheWorld] }))
	return v, true
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

// Pauses that a program asks for are named where nobody saw what waited for them, if they are long
// enough to be noticed, and if every hundredth request that arrives meets one.
const (
	longPause   = 20e-3 // s, in the mean
	oftenPaused = .01   // of the time
)

// judgeForced answers where the program itself asks for collections, and where requests are as the
// service saw them: those that arrive during a pause wait before it begins with them, so that its
// own figures do not show what they cost.
func judgeForced(c *cause.Case) (v cause.Verdict, ok bool) {
	l := c.Ledger
	if l == nil || len(l.Rows) == 0 || c.Bundle.Requests.Lane[l.Rows[0]] == 0 {
		return v, false
	}
	var forced []cause.Collections
	var pauses reading.Pauses
	for _, k := range c.Collections() {
		if k.Forced {
			forced = append(forced, k)
			pauses = append(pauses, k.Pauses...)
		}
	}
	if len(pauses) == 0 {
		return v, false
	}
	mean, stopped := pauses.Seconds()/float64(len(pauses)), c.Collector().ShareOf(pauses)
	if mean < longPause || stopped < oftenPaused {
		return v, false
	}
	v = pausedBy(c, forced)
	v.Title = fmt.Sprintf("Garbage collections that the program asks for pause it for %s in the mean: %.2g %% of the time.", figure.Time(mean*1e9), 100*stopped)
	if forced[0].Asker != "" {
		v.Title = fmt.Sprintf("Garbage collections that %s asks for pause the program for %s in the mean: %.2g %% of the time.", forced[0].Asker, figure.Time(mean*1e9), 100*stopped)
	}
	v.Evidence = append(v.Evidence, c.Seen("requests that arrive during a pause wait before the service begins with them: its own figures do not show that", forced[0].Origin))
	v.Weight = stopped
	return v, true
}

// pausedBy is the evidence of collections, and what helps against the first of them.
func pausedBy(c *cause.Case, all []cause.Collections) (v cause.Verdict) {
	v.State = cause.Supported
	for _, k := range all[:min(3, len(all))] {
		text := figure.Plural(len(k.Pauses), "pause") + " by collections of " + k.Words
		switch {
		case k.Forced && k.Asker != "":
			text += ", asked for by " + k.Asker
		case k.Asker != "":
			text += ", brought on by " + k.Asker
		}
		v.Evidence = append(v.Evidence, c.Figure(text, k.Pauses.Seconds()*1e3, "ms", k.Origin))
		if every := k.Pauses.Interval(); k.Forced && len(k.Pauses) > 2 {
			v.Evidence = append(v.Evidence, c.Figure("time from one of them to the next (median)", every, "s", k.Origin))
		}
	}
	longest := c.Collector().Longest
	v.Evidence = append(v.Evidence, c.Figure("longest pause", longest.Number*1e3, "ms", longest.Origin))
	fix := cause.Fix{Code: all[0].Asker, Text: "bring on fewer of these collections: allocate less there, above all large objects, which can be rented from a pool; or keep less in memory for each of them to mark"}
	if all[0].Forced {
		fix.Text = "do not ask for collections: the runtime collects when it is worth it; where memory must be given back, ask for one that need not stop the program, or set a limit for the heap"
	}
	v.Fix = append(v.Fix, fix)
	return v
}
