package sentence

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// State returns the outcome of a diagnosis in two or three words.
func State(d *diagnose.Diagnosis) string {
	switch {
	case d.Outcome == diagnose.Found:
		return foundState(d)
	case d.Outcome == diagnose.NothingFound:
		return wellState(d)
	case d.Outcome == diagnose.NotExplained && d.Requests != nil && mostFail(d.Requests):
		return "most requests fail"
	case d.Outcome == diagnose.NotExplained && findByDesign(d.Verdicts) != nil:
		return "as long as always"
	case d.Outcome == diagnose.NotExplained:
		return "cause not found"
	}
	if gcIsWell(d) {
		return "nothing wrong with GC"
	}
	return "not enough evidence"
}

// findByDesign returns the verdict by which slow requests wait no longer than such waits always take, of a service's waits; nil if there is none.
func findByDesign(verdicts []diagnose.Verdict) *diagnose.Verdict {
	for i := range verdicts {
		if v := &verdicts[i]; v.Decision != nil && v.Decision.Answer == check.ByDesign.Answer && strings.HasPrefix(v.Cause, "service.") && v.Summary != "" {
			return v
		}
	}
	return nil
}

// noticeable is the latency in ms from which people notice a request; it counts if no objective is set.
var noticeable = check.Noticeable.Value / float64(time.Millisecond)

// wellState returns the state of a service without a finding. If no objective says what is slow, a
// median or a 99th percentile that people notice keeps the service from being called healthy.
func wellState(d *diagnose.Diagnosis) string {
	switch r := d.Requests; {
	case r != nil && mostFail(r):
		return "most requests fail"
	case r != nil && manySlow(r):
		return "no cause stands out"
	case r == nil || r.SlowRule != ledger.RuleFloor:
	case usuallyLong(r), hasLongRoute(r):
		return "no slower than usual"
	case r.Slow > 0 && longTail(r) && (r.SlowThresholdMs == nil || *r.P99Ms > *r.SlowThresholdMs):
		return "no cause stands out"
	}
	return "nothing wrong"
}

// manySlow says whether so many requests are slow by their own rule that the service is not called healthy, however short
// they are.
func manySlow(r *diagnose.Requests) bool {
	of := r.LedgerCount
	if !isLedgerElsewhere(r) {
		of = r.Count
	}
	return r.Slow > 0 && float64(r.Slow) >= dominant*float64(of)
}

// mostFail says whether half of the requests or more failed: what they took says little then.
func mostFail(r *diagnose.Requests) bool { return r.Failed > 0 && 2*r.Failed >= r.Count }

// usuallyLong says whether half of the requests take long enough to be noticed while no objective
// is set.
func usuallyLong(r *diagnose.Requests) bool {
	return r.SlowRule == ledger.RuleFloor && r.P50Ms != nil && *r.P50Ms >= noticeable
}

// longTail says whether one request in a hundred takes long enough to be noticed while no
// objective is set.
func longTail(r *diagnose.Requests) bool {
	return r.SlowRule == ledger.RuleFloor && r.P99Ms != nil && *r.P99Ms >= noticeable
}

// hasLongRoute says whether no request is slow for its route, while one in a hundred takes long enough to be noticed: all of some route
// take that long.
func hasLongRoute(r *diagnose.Requests) bool {
	return r.Slow == 0 && r.SlowThresholdMs == nil && longTail(r)
}

// dominant is a share of the slow time. A second cause with at least this share means several causes; the first cause
// is only likely while its interval reaches below this share.
const dominant = .25

// foundState returns how sure the first cause is, and whether it is alone.
func foundState(d *diagnose.Diagnosis) string {
	n := 0
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		if v.Verdict != "supported" {
			continue
		}
		share, _, _, ok := shareOf(d, v)
		switch {
		case n > 0 && RootOfFirst(d, v):
			continue // one chain is one cause
		case n > 0 && ok && share >= dominant:
			return "several causes"
		case n == 0 && isOnlyLikely(d, v):
			return "likely cause"
		}
		n++
	}
	return "cause found"
}

// isOnlyLikely says whether a supported cause may, by its interval, have less of the slow time than is material.
func isOnlyLikely(d *diagnose.Diagnosis, v *diagnose.Verdict) bool {
	_, low, _, ok := shareOf(d, v)
	return d.Requests != nil && d.Requests.Slow > 0 && (!ok || low < dominant)
}

// WhyLikely says why a report calls its first supported cause likely, "" where it calls it found.
func WhyLikely(d *diagnose.Diagnosis, v *diagnose.Verdict) string {
	first := slices.IndexFunc(d.Verdicts, func(x diagnose.Verdict) bool { return x.IsSupported() })
	if first < 0 || v != &d.Verdicts[first] || !isOnlyLikely(d, v) {
		return ""
	}
	if _, _, _, ok := shareOf(d, v); !ok {
		return "The report calls it likely: its share of the slow time is not known."
	}
	return "The report calls it likely: by that interval its share may be below " + units.Percent(dominant) + "."
}

// Chain says which cause the time of this one ends in, "" if it ends in no other.
func Chain(v *diagnose.Verdict) string {
	if v.Root == nil {
		return ""
	}
	text := "It ends in " + v.Root.Cause
	if v.Root.Subject != "" && v.Root.Subject != v.Subject {
		text += " of " + v.Root.Subject
	}
	return text + ": both are one chain, so apply the fixes of that cause."
}

// RootOfFirst says whether this cause is the root of the first one.
func RootOfFirst(d *diagnose.Diagnosis, v *diagnose.Verdict) bool {
	for i := range d.Verdicts {
		if first := &d.Verdicts[i]; first.Verdict == "supported" {
			return first.Root != nil && *first.Root == diagnose.Link{Cause: v.Cause, Subject: v.Subject}
		}
	}
	return false
}

// shareOf returns the part of the slow time that a cause accounts for, with the limits of its
// interval.
func shareOf(d *diagnose.Diagnosis, v *diagnose.Verdict) (share, low, high float64, ok bool) {
	of := d.Share(v)
	if of == nil {
		return 0, 0, 0, false
	}
	total := d.Requests.SlowTotalMs
	share, low, high = *of, *of, *of
	if v.Saves.Low != nil && v.Saves.High != nil {
		low, high = *v.Saves.Low/total, min(1, *v.Saves.High/total)
	}
	return share, low, high, true
}

// Answer says what is slow, how much of it, and why, for a reader who reads nothing else.
func Answer(d *diagnose.Diagnosis, v *diagnose.Verdict) string {
	title := v.Title
	if !strings.HasSuffix(title, ".") {
		title += "."
	}
	when := Stretch(d)
	share, interval := Share(d, v)
	if share == "" {
		return when + title
	}
	if part, _, high, _ := shareOf(d, v); part < next && high < dominant {
		return when + title + " So far it accounts for almost none of the slow time."
	}
	return when + SlowPart(d.Requests) + " " + wordClaim(title, share, interval)
}

// ofSlow is the share of slow time that a title ends its first sentence with.
var ofSlow = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`: (\d[\d.]* %) of slow time(\.| passes (?:in|at) | is own work\.)`)
})

// Claim is the title of a cause with the share of the slow time that it accounts for.
func Claim(title, share string) string { return wordClaim(title, share, "") }

// wordClaim says which share of the slow time a cause accounts for, and the title. Where the title has the share that is spent at a
// place and it is another one, it says which share is which.
func wordClaim(title, share, interval string) string {
	if interval != "" {
		interval = " (" + interval + ")"
	}
	spent := ofSlow().FindStringSubmatch(title)
	if spent == nil {
		return share + " of the slow time" + interval + ": " + title
	}
	title = withoutShare(title, spent)
	if sameShare(spent[1], share) {
		return share + " of the slow time" + interval + ": " + title
	}
	return spent[1] + " of the slow time: " + title + " Without that, " + share + interval + " of it would be gone."
}

// next is a negligible share of the slow time: a cause with less does not explain slow requests, whatever else it
// costs.
const next = .005

// SlowPart says how many requests are slow: "1 % of requests took over 6.3 ms."
func SlowPart(r *diagnose.Requests) string {
	s := units.Plural(r.Slow, "request")
	switch {
	case isLedgerElsewhere(r) && r.LedgerCount > 0:
		s = units.Percent(float64(r.Slow)/float64(r.LedgerCount)) + " of the " + units.Plural(r.LedgerCount, "request") + " in " + path.Base(r.LedgerSource)
	case !isLedgerElsewhere(r) && r.Count > 0:
		s = units.Percent(float64(r.Slow)/float64(r.Count)) + " of requests"
	}
	if r.SlowThresholdMs == nil {
		return s + " took much longer than others of their route."
	}
	return s + " took over " + units.Ms(*r.SlowThresholdMs) + "."
}

// Share returns the part of the slow time that a cause accounts for, and its interval: "78 %" and
// "68–85 %, 95 % interval"; "68–85 %" and "95 % interval" where the part is an end of the interval; "" for what is not known.
func Share(d *diagnose.Diagnosis, v *diagnose.Verdict) (share, interval string) {
	value, low, high, ok := shareOf(d, v)
	if !ok {
		return "", ""
	}
	share = units.Percent(value)
	a, b := units.Percent(low), units.Percent(high)
	bound := v.Saves.Basis != nil && *v.Saves.Basis == "bound"
	switch {
	case a == b:
	case share == a || share == b: // beside an interval that it is an end of, the value says nothing
		share = strings.TrimSuffix(a, " %") + "–" + b
		if !bound {
			interval = "95 % interval"
		}
	case bound:
		interval = "between " + strings.TrimSuffix(a, " %") + " and " + b
	default:
		interval = strings.TrimSuffix(a, " %") + "–" + b + ", 95 % interval"
	}
	return share, interval
}

var numeral = regexp.MustCompile(`\d[\d.,]*\d|\d`)

// Said says whether a title has all the figures of a summary, so that the summary says nothing
// new.
func Said(title, summary string) bool {
	told := numeral.FindAllString(title, -1)
	figures := numeral.FindAllString(summary, -1)
	return len(figures) > 0 && !slices.ContainsFunc(figures, func(n string) bool { return !slices.Contains(told, n) })
}

// Cost says what a cause costs: "Accounts for 78 % of the slow time (68–85 %, 95 % interval): 1.49 s of 1.92 s."; "" if
// that is not known.
func Cost(d *diagnose.Diagnosis, v *diagnose.Verdict) string {
	share, interval := Share(d, v)
	switch {
	case v.Saves == nil:
		return ""
	case share == "":
		return "Accounts for " + units.Ms(v.Saves.Value) + "."
	case interval != "":
		interval = " (" + interval + ")"
	}
	if spent := ofSlow().FindStringSubmatch(v.Title); spent != nil && !sameShare(spent[1], share) { // the title has what is spent there
		return "Without it, " + share + " of the slow time" + interval + " would be gone: " + formatSaved(d, v) + "."
	}
	return "Accounts for " + share + " of the slow time" + interval + ": " + formatSaved(d, v) + "."
}

// Title is the title of a cause without the share of the slow time that Cost tells.
func Title(d *diagnose.Diagnosis, v *diagnose.Verdict) string {
	spent := ofSlow().FindStringSubmatch(v.Title)
	if share, _ := Share(d, v); v.Saves == nil || spent == nil || !sameShare(spent[1], share) {
		return v.Title
	}
	return withoutShare(v.Title, spent)
}

// withoutShare returns a title without the share that was found in it.
func withoutShare(title string, spent []string) string {
	return strings.Replace(title, spent[0], strings.NewReplacer(" passes", "", " is own work", "").Replace(spent[2]), 1)
}

// sameShare says whether two shares, as they are written, are told as one: "92 %" and "93 %".
func sameShare(a, b string) bool {
	x, err := strconv.ParseFloat(strings.TrimSuffix(a, " %"), 64)
	y, other := strconv.ParseFloat(strings.TrimSuffix(b, " %"), 64)
	return a == b || err == nil && other == nil && areAlike(&x, &y)
}

// Amount returns what a cause costs where its share was already told: "1.49 s of 1.92 s slow
// time"; "" if that is not known.
func Amount(d *diagnose.Diagnosis, v *diagnose.Verdict) string {
	if _, _, _, ok := shareOf(d, v); !ok {
		return strings.TrimSuffix(Cost(d, v), ".")
	}
	return formatSaved(d, v) + " slow time"
}

func formatSaved(d *diagnose.Diagnosis, v *diagnose.Verdict) string {
	total := units.Ms(d.Requests.SlowTotalMs)
	factor, unit := units.Scale("ms", d.Requests.SlowTotalMs)
	saved := units.Ms(v.Saves.Value)
	least := small * d.Requests.SlowTotalMs
	if unit != "min" {
		least = max(least, 1/factor) // "0.173 h" is not read at once, either
	}
	if slices.Contains([]string{"min", "h", "days"}, unit) && v.Saves.Value >= least && strings.HasSuffix(total, " "+unit) { // "510 s of 29.9 min" is not read at once
		saved = units.Num(v.Saves.Value*factor) + " " + unit
	}
	if value, low, high, _ := shareOf(d, v); units.Percent(low) != units.Percent(high) {
		switch units.Percent(value) { // as its share is written
		case units.Percent(low):
			saved = "at least " + saved
		case units.Percent(high):
			saved = "at most " + saved
		}
	}
	return saved + " of " + total
}
