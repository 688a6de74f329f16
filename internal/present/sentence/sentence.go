// Package sentence turns the parts of a diagnosis into the words that every
// report for people uses, so that a terminal and a ticket say the same.
package sentence

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// Target names a target and lists what is known of it.
func Target(t diagnose.Target) (name string, about []string) {
	name = t.Name
	if name == "" {
		name = t.ID
	} else if t.Kind == "dependency" {
		about = append(about, "dependency")
	} else if t.PID != nil {
		about = append(about, fmt.Sprintf("pid %d", *t.PID))
	}
	if t.Version != "" {
		about = append(about, platform.ByID(t.Runtime).Release(t.Version))
	} else if t.Runtime != "" && !strings.Contains(name, t.Runtime) {
		about = append(about, t.Runtime)
	}
	if t.CPUs != nil {
		about = append(about, units.Plural(*t.CPUs, "CPU"))
	}
	if t.MemLimit != nil {
		about = append(about, units.Size(float64(*t.MemLimit))+" limit")
	}
	return name, append(about, describeContainer(t)...)
}

// describeContainer returns where a target runs, by the names people know.
func describeContainer(t diagnose.Target) (about []string) {
	in := t.In
	switch {
	case t.Container == "" && in == nil:
		return nil
	case in == nil:
		return []string{"container " + t.Container}
	case in.Pod != "":
		about = append(about, "pod "+strings.Trim(in.Namespace+"/"+in.Pod, "/"))
	}
	about = append(about, "container "+cmp.Or(in.Name, t.Container))
	if in.Image != "" {
		about = append(about, "image "+in.Image)
	}
	return about
}

// Window returns the time a diagnosis is about, "" if it is unknown.
func Window(w diagnose.Window) string {
	if w.Start == nil || w.End == nil {
		if w.Duration == nil {
			return ""
		}
		if *w.Duration < 1e-6 { // one moment, such as that of a single message
			return "time of day unknown"
		}
		return units.Time(*w.Duration*1e9) + ", time of day unknown"
	}
	clock := "15:04:05"
	start, end := w.Start.UTC(), w.End.UTC()
	if end.Sub(start) < 10*time.Second {
		clock = "15:04:05.000"
	}
	until := end.Format(clock)
	if start.Format(time.DateOnly) != end.Format(time.DateOnly) {
		until = end.Format("2006-01-02 " + clock)
	}
	return start.Format("2006-01-02 "+clock) + "–" + until + " UTC"
}

// Nothing returns the sentences for a diagnosis without a supported cause.
func Nothing(d *diagnose.Diagnosis, open, ruledOut []diagnose.Verdict) string {
	var s []string
	switch r := d.Requests; {
	case d.Outcome != diagnose.NotJudged:
	case r != nil && r.Count < ledger.MinRequests:
		s = append(s, "Only "+units.Plural(r.Count, "request")+" seen: too few to say whether the service is quick. Record it while it serves.")
	case d.Unasked:
		s = append(s, "No request was seen, so nothing shows whether the service is quick: record it while it serves, or add an access log (--requests) or a load (--load).")
	}
	if r := d.Requests; r != nil {
		switch {
		case d.Outcome != diagnose.Found && d.Outcome != diagnose.NotJudged && mostFail(r):
			failed := fmt.Sprintf("%s of %s (%s) failed", units.Count(r.Failed), units.Plural(r.Count, "request"), units.Percent(float64(r.Failed)/float64(r.Count))) + failedStatus(r)
			s = append(s, strings.Join(append([]string{failed}, Quantiles(r)...), ", ")+".")
			if r.SlowRule == ledger.RuleTimedOut {
				s = append(s, "Most fail after the same time: a time-out ends their wait.")
			}
			s = append(s, "Find out first why they fail, from the answers and the service's log: until then their latency says little.")
		case r.Slow > 0:
			some := units.Plural(r.Slow, "request")
			if !isLedgerElsewhere(r) {
				some = units.Count(r.Slow) + " of " + units.Plural(r.Count, "request") + " (" + units.Percent(float64(r.Slow)/float64(r.Count)) + ")"
			} else if r.LedgerCount > 0 {
				some = units.Count(r.Slow) + " of the " + units.Plural(r.LedgerCount, "request") + " in " + path.Base(r.LedgerSource) + " (" + units.Percent(float64(r.Slow)/float64(r.LedgerCount)) + ")"
			}
			mostApart := isMostApart(r) && d.Outcome != diagnose.NothingFound
			if mostApart {
				all := r.Slow + r.Apart
				some = units.Count(all) + " of " + units.Plural(r.Count, "request") + " (" + units.Percent(float64(all)/float64(r.Count)) + ")"
			}
			if r.SlowThresholdMs != nil {
				some += " took over " + units.Ms(*r.SlowThresholdMs)
			} else {
				some += " took too long"
			}
			if mostApart {
				some += ", but " + units.Count(r.Apart) + " of them before or after the recording, which cannot explain those: record again while it is slow"
			}
			switch {
			case d.Outcome == diagnose.NothingFound && manySlow(r):
				if r.SlowThresholdMs == nil {
					some = strings.TrimSuffix(some, " took too long") + " took at least 3 times as long as the quickest of their route"
				}
				some += "; no cause stands out"
			case d.Outcome == diagnose.NothingFound && r.SlowRule == "3x_route_floor" && len(Quantiles(r)) > 0:
				// By that rule some requests are always slow, which is no headline for a healthy service.
				some = "Healthy: " + strings.Join(Quantiles(r), ", ") + " of " + units.Plural(r.Count, "request") + ", and no cause stands out"
				switch part := float64(r.Slow) / float64(max(1, r.Count)); {
				case longTail(r) && part >= hardlyAny && !isLedgerElsewhere(r):
					some = strings.Join(Quantiles(r), ", ") + " of " + units.Plural(r.Count, "request") + "; " + units.Count(r.Slow) + " of them (" + units.Percent(part) +
						") took at least 3 times as long as the quickest of their route, " + units.Ms(r.SlowTotalMs/float64(r.Slow)) + " on average, and no cause stands out"
				case longTail(r): // each is as usual for its route; whether that is well is not known
					some = strings.Join(Quantiles(r), ", ") + " of " + units.Plural(r.Count, "request") + ", hardly any much slower than others of its route, and no cause stands out"
				}
			case d.Outcome == diagnose.NothingFound:
				some = "Healthy: " + some + ", and no cause stands out"
			case d.Outcome == diagnose.NotExplained && findByDesign(open) != nil:
				some = strings.TrimSuffix(some, " took too long")
				if r.SlowThresholdMs == nil {
					some += " took much longer than others of their route"
				}
				some += ", and wait as long as always: " + findByDesign(open).Summary
			case len(ruledOut) > 0 && mostApart:
				some += ". None of the causes checked explains the other " + units.Count(r.Slow)
			case len(ruledOut) > 0:
				some += "; none of the causes checked explains it"
			}
			s = append(s, some+".")
			if d.Outcome == diagnose.NothingFound && (usuallyLong(r) || longTail(r) || manySlow(r)) {
				s = append(s, describeBusiest(d.Busiest)+askForObjective(d.Busiest))
			}
		case d.Outcome == diagnose.NothingFound && (usuallyLong(r) || hasLongRoute(r)):
			s = append(s, strings.Join(Quantiles(r), ", ")+" of "+units.Plural(r.Count, "request")+", none much longer than others of its route.", describeBusiest(d.Busiest)+askForObjective(d.Busiest))
		case d.Outcome == diagnose.NotJudged && r.Count < ledger.MinRequests:
		case r.SlowThresholdMs != nil:
			none := "No request took longer than " + units.Ms(*r.SlowThresholdMs)
			if r.Held > 0 {
				none += ", except " + units.Count(r.Held) + " that the recorder held"
			}
			s = append(s, none+".")
		default:
			s = append(s, "No request was slow.")
		}
	}
	if streams := Streams(d); streams != "" && d.Outcome == diagnose.NotExplained {
		s = append(s, Capital(streams)+".")
	}
	if most, seen := largestMechanisms(d); most != "" && (d.Outcome == diagnose.NotExplained || seen && d.Outcome == diagnose.NotJudged) {
		of := "that time"
		if d.Requests != nil && mostFail(d.Requests) {
			of = "the slow time"
		}
		s = append(s, "Most of "+of+": "+most+".")
	}
	if b := d.Busiest; b != nil && b.IfTooLong != nil && d.Outcome == diagnose.NotExplained {
		s = append(s, describeBusiest(b)+askForObjective(b))
	} else if d.Outcome == diagnose.NotExplained && findByDesign(open) != nil {
		s = append(s, askForObjective(nil))
	}
	if d.AtRequests != nil {
		did := ""
		if len(d.AtRequestsDid) > 0 {
			did = fmt.Sprintf(" (%s of that %s)", units.Percent(d.AtRequestsDid[0].Share), d.AtRequestsDid[0].What)
		}
		noun := "threads"
		if *d.AtRequests == 1 {
			noun = "thread"
		}
		s = append(s, fmt.Sprintf("On average %s %s served requests%s, but request latency was not recorded: add a row for each request (--load, --requests).", units.Num(*d.AtRequests), noun, did))
	}
	if r := d.Requests; r != nil && r.Apart > 0 && r.Slow == 0 { // else the line of slow requests counts them
		s = append(s, units.Plural(r.Apart, "slow request")+" happened outside the recording and cannot be explained: record again while it is slow.")
	}
	if r := d.Requests; r != nil && r.Outside > 0 {
		if d.Outcome == diagnose.NothingFound { // no slow request was slow enough to be noticed
			s = append(s, units.Count(r.Outside)+" more happened outside the traced time, as short as these.")
		} else {
			s = append(s, units.Plural(r.Outside, "more slow request")+" happened outside the traced time: record again while it is slow.")
		}
	}
	if gc := describeCollectors(d); gc != "" {
		s = append(s, gc)
	}
	if len(s) == 0 && d.Outcome == diagnose.NothingFound {
		s = append(s, healthyBy(ruledOut)...)
	}
	if len(d.Given) > 0 && !gcIsWell(d) {
		var all []string
		for _, g := range d.Given {
			all = append(all, g.Title+": "+strings.Join(g.Figures, ", "))
		}
		s = append(s, "The evidence gives figures, none of which decides a cause alone ("+strings.Join(all, "; ")+").")
	}
	switch {
	case gcIsWell(d) && len(open) > 0:
		s = append(s, fmt.Sprintf("This evidence does not show other causes: %d of %s could not be checked (NOT SEEN).", len(open), formatCauseCount(len(open)+len(ruledOut))))
	case len(d.Host) > 0:
		s = append(s, "No process in the recording could be diagnosed. The host: "+formatHostFigures(d.Host)+". This does not show whether requests were slow: record the service's process while it is slow.")
	case len(ruledOut) == 0 && len(open) == 0 && len(d.Loads) > 0 && d.Requests == nil:
		s = append(s, "A load's result shows how long requests took and how many failed, not why: record the service while the load runs.")
	case len(ruledOut) == 0 && len(open) == 0:
		s = append(s, "No known cause applies to this evidence.")
	case len(ruledOut) == 0:
		s = append(s, formatCauseCount(len(open))+" could not be checked: NOT SEEN says what is missing.")
	case tooFew(open, ruledOut):
		s = append(s, fmt.Sprintf("%d of %s could not be checked: NOT SEEN says what is missing. The others are ruled out by the figures below.",
			len(open), formatCauseCount(len(open)+len(ruledOut))))
	case len(open) == 0:
		s = append(s, formatCauseCount(len(ruledOut))+" ruled out by the figures below.")
	default:
		s = append(s, formatCauseCount(len(ruledOut))+fmt.Sprintf(" ruled out by the figures below; %d could not be checked (NOT SEEN).", len(open)))
	}
	return strings.Join(s, " ")
}

// hardlyAny is the share of slow requests below which hardly any is much slower than others of its route.
const hardlyAny = .05

// healthyBy says what a process without requests is healthy by: what was ruled out of its own runtime, with figures.
func healthyBy(ruledOut []diagnose.Verdict) []string {
	const most = 2
	var by []string
	for _, v := range ruledOut {
		group, _, _ := strings.Cut(v.Cause, ".")
		if group != "service" && group != "linux" && numeral.MatchString(v.Summary) && len(by) < most {
			by = append(by, v.Summary)
		}
	}
	if len(by) == 0 {
		return nil
	}
	return []string{"Healthy, as far as this shows: " + strings.Join(by, "; ") + "."}
}

// Streams returns the warning that long-lived streams are not counted, "" where there are none: requests that last as long as a
// client listens may be slow by design.
func Streams(d *diagnose.Diagnosis) string {
	for _, w := range d.Warnings {
		if strings.HasPrefix(w.Text, "not counted: streams") {
			return w.Text
		}
	}
	return ""
}

// formatHostFigures lists figures of a host: "CPUs busy 98 %; of this in programs 39 %".
func formatHostFigures(all []diagnose.Evidence) string {
	var items []string
	for _, e := range all {
		items = append(items, strings.TrimSpace(e.Text+" "+Figure(&e)))
	}
	return strings.Join(items, "; ")
}

// Healthy says whether the evidence was sufficient, nothing was found, and hardly any request was slow.
func Healthy(d *diagnose.Diagnosis) bool {
	return d.Outcome == diagnose.NothingFound && (d.Requests == nil || !manySlow(d.Requests) && !mostFail(d.Requests))
}

// largestMechanisms lists what most slow time went into: "unobserved 62 %, own work 21 %", and
// says whether the largest part was observed.
func largestMechanisms(d *diagnose.Diagnosis) (most string, seen bool) {
	rows, total := Ledger(d)
	sorting.Short(rows, func(a, b Row) int { return cmp.Compare(b.Ms, a.Ms) })
	var items []string
	for _, r := range rows {
		if share := r.Ms / total; share >= .1 && len(items) < 3 {
			seen = seen || len(items) == 0 && r.Mechanism != "unobserved"
			items = append(items, r.Title+" "+units.Percent(share))
		}
	}
	return strings.Join(items, ", "), seen
}

func tooFew(open, ruledOut []diagnose.Verdict) bool {
	return len(open) > len(ruledOut) || len(ruledOut) == 0
}

func formatCauseCount(n int) string { return units.Plural(n, "cause") }

// alike is the relative difference up to which two figures of the same thing are told as one.
const alike = .05

// leastSlow is the latency in ms below which no request is slow if no objective is set: package ledger.
const leastSlow = float64(ledger.LeastSlow) / 1e6

// Unseen says what could not be recorded, and why.
func Unseen(u diagnose.NotSeen) string {
	if u.Why == "" {
		return u.What
	}
	return u.What + ": " + u.Why
}

// IsCommand says whether what would show something is a command, and not a sentence: commands have no articles or prepositions, but for
// a loop of the shell.
func IsCommand(do string) bool {
	if strings.HasPrefix(do, "for ") && strings.Contains(do, "; do ") {
		return true
	}
	quoted := false
	for _, w := range strings.Fields(do) {
		if !quoted && slices.Contains([]string{"a", "the", "it", "to", "with", "without", "in", "on", "or", "and", "than", "is"}, w) {
			return false
		}
		if strings.Count(w, `"`)%2 == 1 || strings.Count(w, "'")%2 == 1 {
			quoted = !quoted
		}
	}
	return do != ""
}

// Source is something that was read, and as what.
type Source struct {
	Name string // "access.log"; of the pieces of one recording "trace ×3"
	How  string // "accesslog, gzip, cut off"

	Names []string // of the artifacts: of all pieces
}

// Sources names what was read, the pieces of one recording together.
func Sources(sources []diagnose.Source) []Source {
	var out []Source
	for i, s := range sources {
		name, cut, names := s.Name, s.Cut, []string{s.Name}
		if s.Series != "" {
			pieces := 0
			first := i
			names = names[:0]
			for k, o := range sources {
				if o.Series == s.Series {
					first = min(first, k)
					names = append(names, o.Name)
					pieces++
					cut = cut || o.Cut
				}
			}
			if first < i {
				continue
			}
			if pieces > 1 {
				name = fmt.Sprintf("%s ×%d", s.Series, pieces)
			}
		}
		how := append(append([]string(nil), s.Formats...), s.Envelopes...)
		if cut {
			how = append(how, "cut off")
		}
		out = append(out, Source{name, strings.Join(how, ", "), names})
	}
	return out
}

// alone leaves out of an answer where the rest of a report stands, for where there is none.
var alone = strings.NewReplacer(" by the figures below", "", ": NOT SEEN says what is missing", "", " (NOT SEEN)", "")

// Brief returns the outcome of a diagnosis on one line, which stands alone.
func Brief(d *diagnose.Diagnosis) string {
	supported, open, ruledOut := Split(d)
	if len(supported) == 0 {
		return Capital(State(d)) + ". " + alone.Replace(Nothing(d, open, ruledOut))
	}
	return Capital(State(d)) + ": " + supported[0].Cause + ". " + Answer(d, &supported[0])
}
