package load

import (
	"math"

	"github.com/unstall/unstall/internal/base/units"
)

// Users counts those that went through a journey.
type Users struct {
	Arrived  int64 `json:"arrived"`
	Finished int64 `json:"finished"` // the last step, whatever failed on the way
	Failed   int64 `json:"failed"`   // left at a step that failed
	Cut      int64 `json:"cut"`      // were under way when the run ended
	Most     int64 `json:"most"`     // at once
}

// Journey sums up what the users of one journey met.
type Journey struct {
	Name  string `json:"name"`
	Users Users  `json:"users"`
	Steps []Step `json:"steps"`
}

// Step is one step of a journey: a request, the redirects that were followed, and
// the page's resources. Its latency counts from when it was due: at a user's
// arrival, or when the time to think was over.
type Step struct {
	Name    string  `json:"name"`
	Count   int64   `json:"count"` // begun, and ended or given up
	Failed  int64   `json:"failed"`
	Latency Latency `json:"latency_ms"` // of those that did not fail: to the last resource
	Answer  Latency `json:"answer_ms"`  // to the end of the page itself
	SendLag SendLag `json:"send_lag_ms"`

	Requests int64 `json:"requests"` // redirects and resources included
	Errors   int64 `json:"errors"`   // of the requests
	Bytes    int64 `json:"bytes"`
}

// writeJourneys writes the journeys as text, line by line.
func (r *Result) writeJourneys(line func(format string, args ...any)) {
	if r.Users == nil {
		return
	}
	u := r.Users
	line("Users")
	line("  %s arrived · %s finished · %s left after a failed step · %s still active at the end · at most %s at the same time", units.Count(u.Arrived),
		units.Count(u.Finished), units.Count(u.Failed), units.Count(u.Cut), units.Count(u.Most))
	for _, j := range r.Journeys {
		line("Journey %s, %s", j.Name, units.Plural(j.Users.Arrived, "user"))
		line("  %-28s %9s %9s %8s %10s %10s %10s %10s %10s", "step", "count", "requests", "failed", "page p50", "p50", "p99", "max", "lag p99")
		for _, s := range j.Steps {
			line("  %-28s %9s %9s %8s %10s %10s %10s %10s %10s", truncateName(s.Name, 28), units.Count(s.Count), units.Count(s.Requests), units.Count(s.Failed),
				formatDuration(s.Answer.P50), formatDuration(s.Latency.P50), formatDuration(s.Latency.P99), formatDuration(s.Latency.Max), formatDuration(s.SendLag.P99))
		}
	}
}

func truncateName(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// roundJourneys gives the journeys no more digits than were measured.
func roundJourneys(all []Journey) []Journey {
	var out []Journey
	for _, j := range all {
		steps := make([]Step, len(j.Steps))
		for i, s := range j.Steps {
			for _, l := range []*Latency{&s.Latency, &s.Answer} {
				for _, v := range []**float64{&l.Mean, &l.Stdev, &l.Max, &l.P50, &l.P75, &l.P90, &l.P95, &l.P99, &l.P999, &l.P9999} {
					*v = toMicros(*v)
				}
			}
			s.SendLag = SendLag{toMicros(s.SendLag.P99), toMicros(s.SendLag.Max)}
			steps[i] = s
		}
		j.Steps = steps
		out = append(out, j)
	}
	return out
}

func toMicros(ms *float64) *float64 {
	if ms == nil {
		return nil
	}
	v := math.Round(*ms*1e4) / 1e4
	return &v
}
