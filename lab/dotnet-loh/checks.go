package dotnetloh

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab"
)

func floatPtr(v float64) *float64 { return &v }

// outcomeChecks returns the checks of the runs and the diagnoses.
func outcomeChecks(o *lab.Outcome) (all []lab.Check) {
	all = append(all, collectionChecks(o)...)
	all = append(all, slowChecks(o)...)
	all = append(all, predictionChecks(o)...)
	slots, handler := "Slot", "only requests handled by Tracker!PublicApi.ClientCache(HttpContext) allocate large objects"
	if !isCore31(o) { // from .NET 5 on a set's slots have this name, and the compiler may inline the handler into its caller, which leaves no frame of it
		slots, handler = "Entry[System.Int32][]", "large objects are allocated in requests that|in requests that Tracker!StandardCaches.Compute(int) handles"
	}
	for _, s := range []struct {
		variant, cause string
		says           []string
	}{
		{"sick", churn, []string{"System.Byte[]", "System.Int32[]", slots, "StandardCaches.Compute", "BufferedAnswers", handler}},
		{"induced", induced, []string{"CollectingObserver.RequestGC", "PrivateBytesMonitor", "memory of the process when a collection was requested", "(GCHeapHardLimit)",
			"60 % of that, the usual limit of libraries that watch private bytes", "memory of the host that was free at that time"}},
	} {
		for _, text := range s.says {
			all = append(all, checkSays(o, s.variant, s.cause, text))
		}
	}
	return all
}

// isCore31 reports whether the runtime is .NET Core 3.1.
func isCore31(o *lab.Outcome) bool { return strings.HasPrefix(o.Version(sick), "3.") }

// collectionChecks checks how often each generation is collected before and after, and how.
func collectionChecks(o *lab.Outcome) (all []lab.Check) {
	before, after := o.Result(sick), o.Result(fixed)
	figure := func(r *lab.Result, c lab.Check, name string, ok func(float64) bool) {
		if v, known := r.Figure(name); known {
			c.Got, c.OK = &v, ok(v)
		} else {
			c.Why = "its collections were not recorded"
			if name == lab.LargeWaits && isCore31(o) {
				c.Told, c.Why = true, ".NET Core 3.1 tells nothing of these waits; the verdict counts slow time beside the collections that make them"
			}
		}
		all = append(all, c)
	}
	figure(before, lab.Check{Name: "sick: gen 2 of gen 1 and gen 2 collections", Unit: "1", Asked: "≥ 0.23: comparable, 3 for 10 of gen 1"}, lab.FullOfOlder, func(v float64) bool { return v >= .23 })
	figure(after, lab.Check{Name: fixed + ": gen 2 ÷ gen 0 and 1 collections", Unit: "1", Asked: "≤ 0.01"}, lab.FullPerYoung, func(v float64) bool { return v <= .01 })
	figure(after, lab.Check{Name: fixed + ": gen 2 collections that are not in the background", Unit: "count", Asked: "0"}, lab.BlockingFull, func(v float64) bool { return v == 0 })
	figure(before, lab.Check{Name: "sick: waits for large-object allocation", Unit: "1/min", Asked: "> 0"}, lab.LargeWaits, func(v float64) bool { return v > 0 })
	waits, _ := before.Figure(lab.LargeWaits)
	figure(after, lab.Check{Name: fixed + ": waits for large-object allocation", Unit: "1/min", Asked: fmt.Sprintf("≤ %.0f, half as many", waits/2)}, lab.LargeWaits, func(v float64) bool { return v <= waits/2 })
	return all
}

// slowChecks checks the article's figure: the share of slow requests.
func slowChecks(o *lab.Outcome) []lab.Check {
	before := stats.Median(o.Of(sick, "slow_share"))
	change := o.Changed(fixed, "slow_share", -.4)
	change.Name, change.Unit, change.Asked, change.Article = "slow requests, change", "1", "≤ −40 %", floatPtr(-.4)
	if o.Plan.Blocks < stats.MinPairs && change.Got != nil && *change.Got <= -.4 {
		change.Told, change.Why = true, "so few blocks give no interval: see a full run"
	}
	return []lab.Check{
		{Name: "sick: share of the requests over the objective", Unit: "1", Asked: "≥ 0.02", Got: &before, OK: before >= .02},
		change,
	}
}

// predictionChecks compares what the diagnosis of the sick variant predicted with what was measured.
// Without any large objects hardly any collections are left, so it compares the decrease; without a
// part of them it compares how many gen 2 collections are left.
func predictionChecks(o *lab.Outcome) (all []lab.Check) {
	const most = .25
	one := func(c lab.Check, now, then, measured *float64, of func(float64) float64) {
		c.Unit, c.Asked = "1", "within ±25 % of measured"
		switch {
		case now == nil || then == nil:
			c.Why = "it was not predicted"
		case measured == nil || of(*measured) == 0:
			c.Why = "it was not measured"
		default:
			off := of(*then)/of(*measured) - 1
			c.Got, c.OK = &off, math.Abs(off) <= most
		}
		all = append(all, c)
	}
	for _, metric := range []string{"slow requests", lab.FullEach} {
		p := o.Predicted(sick, metric)
		one(lab.Check{Name: fmt.Sprintf("predicted ÷ measured: %s fewer in %s", metric, fixed)}, p.Now, p.Then, o.Measured(fixed, metric), func(v float64) float64 { return *p.Now - v })
	}
	p := o.Predicted(sick, lab.FullEach+" without large objects of Tracker!StandardCaches.Compute(int)")
	left := o.Measured("chunked", lab.FullEach)
	one(lab.Check{Name: "predicted ÷ measured: gen 2 collections left in chunked"}, p.Now, p.Then, left, func(v float64) float64 { return v })
	if seen := collectionsIn(o, left); seen < enough {
		c := &all[len(all)-1]
		c.Told, c.Why = true, fmt.Sprintf("%.0f collections came in the blocks, too few for a rate: see a full run", seen)
	}
	return all
}

// enough is the number of collections from which on their rate differs by less than a fifth by chance.
const enough = 25

// collectionsIn returns how many collections came in the blocks at a rate, in collections/min. It is infinite if that is unknown.
func collectionsIn(o *lab.Outcome, rate *float64) float64 {
	if rate == nil || o.Plan.StormS == nil {
		return math.Inf(1)
	}
	return *rate / 60 * *o.Plan.StormS * float64(o.Plan.Blocks)
}

// checkSays checks that the first verdict of a variant's diagnosis says a text, or one of several
// parted by "|".
func checkSays(o *lab.Outcome, variant, id, text string) lab.Check {
	c := lab.Check{Name: fmt.Sprintf("%s: the verdict says %s", variant, strings.ReplaceAll(text, "|", " or ")), Unit: "1", Asked: "what to change"}
	r := o.Result(variant)
	if r == nil || r.Diagnosis == nil || len(r.Found) == 0 || r.Found[0] != id {
		c.Why = "no such verdict"
		return c
	}
	v := r.Diagnosis.Verdicts[0]
	texts := []string{v.Title}
	for _, e := range v.Evidence {
		texts = append(texts, e.Text)
	}
	for _, f := range v.Fix {
		texts = append(texts, f.Text, f.Code)
	}
	said := strings.Join(texts, "\n")
	for one := range strings.SplitSeq(text, "|") { // any of them suffices
		c.OK = c.OK || strings.Contains(said, one)
	}
	if !c.OK {
		c.Why = "it is in none of its sentences"
	}
	return c
}
