package sentence

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// isMostApart says whether more requests were slow before or after the recording than in it.
func isMostApart(r *diagnose.Requests) bool { return r.Apart > r.Slow && !isLedgerElsewhere(r) }

// AddRequests returns the command that adds requests to a diagnosis without any.
func AddRequests(d *diagnose.Diagnosis) string {
	if lacksRequests(d) {
		return "unstall PID redis://HOST:PORT"
	}
	return "unstall FILE... --requests access.log"
}

// NoRequests says that there are no requests, and what would show them.
func NoRequests(d *diagnose.Diagnosis) string {
	add := platform.ByID("").Requests
	for _, t := range d.Targets {
		if own := platform.ByID(t.Runtime).Requests; own != add {
			add = own
			break
		}
	}
	if lacksRequests(d) {
		return "No request data, so causes are ranked by how many clients wait. To see whose requests, add " + add + " from the same period"
	}
	return "No request data, so causes are ranked by how long they stopped the service. To see how requests were affected, add " + add + " from the same period"
}

// lacksRequests says whether no process has requests of its own, as is the case with Redis.
func lacksRequests(d *diagnose.Diagnosis) bool {
	some := false
	for _, t := range d.Targets {
		if t.Kind != "process" {
			continue
		}
		if some = platform.ByID(t.Runtime).Tells; !some {
			return false
		}
	}
	return some
}

// failedStatus returns what the failed requests were answered with: " with status 500"; "" if that is unknown.
func failedStatus(r *diagnose.Requests) string {
	switch {
	case r.FailedStatus == 0 || r.FailedWith == 0:
		return ""
	case r.FailedWith < r.Failed:
		return fmt.Sprintf(", %s of them with status %d", units.Count(r.FailedWith), r.FailedStatus)
	}
	return fmt.Sprintf(" with status %d", r.FailedStatus)
}

// Requests lists the figures about all requests.
func Requests(r *diagnose.Requests) []string {
	first := units.Count(r.Count)
	var but []string
	if r.Failed > 0 {
		but = append(but, units.Count(r.Failed)+" failed"+failedStatus(r))
	}
	if r.Unfinished > 0 {
		but = append(but, units.Count(r.Unfinished)+" unfinished")
	}
	if len(but) > 0 {
		first += " (" + strings.Join(but, ", ") + ")"
	}
	if r.Source != "" {
		first += " from " + Files(r)
	}
	items := []string{first}
	if r.SilentS > 0 {
		items = append(items, "none answered in the last "+units.Time(r.SilentS*1e9))
	}
	if r.Rate != nil {
		items = append(items, units.Num(*r.Rate)+"/s")
	}
	return append(items, Quantiles(r)...)
}

// Files names the artifacts that have the requests: "access.log"; "a.txt and 3 more files".
func Files(r *diagnose.Requests) string {
	if n := len(r.Files); n > 1 {
		return path.Base(r.Source) + " and " + units.Plural(n-1, "more file")
	}
	return path.Base(r.Source)
}

// LedgerFiles names the artifacts that have the requests whose time the ledger divides.
func LedgerFiles(r *diagnose.Requests) string {
	if isLedgerElsewhere(r) {
		return path.Base(r.LedgerSource)
	}
	return Files(r)
}

// Loads returns the results of load generators that need a line of their own: those whose rows are among
// the requests are left out if there are others.
func Loads(d *diagnose.Diagnosis) (out []diagnose.Load) {
	for _, l := range d.Loads {
		if d.Requests != nil && (l.Source == d.Requests.Source || slices.Contains(d.Requests.Files, l.Source)) && len(d.Loads) > 1 {
			continue
		}
		out = append(out, l)
	}
	return out
}

// Load returns what a load generator measured. Where its figures agree with those of the requests
// it says so, as another last digit would confuse.
func Load(d *diagnose.Diagnosis, l diagnose.Load) []string {
	items := []string{l.Tool + " from " + path.Base(l.Source)}
	if IsLoadAsRequests(d, l) {
		items = append(items, "same rate, p50 and p99 as above")
		items = append(items, formatQuantiles([]quantile{{"max", l.MaxMs}})...)
	} else {
		if l.Rate != nil {
			items = append(items, units.Num(*l.Rate)+"/s")
		}
		items = append(items, formatQuantiles([]quantile{{"p50", l.P50Ms}, {"p95", l.P95Ms}, {"p99", l.P99Ms}, {"max", l.MaxMs}})...)
		items = append(items, describeFailed(l)...)
	}
	if l.LatencyFrom == "send" {
		return append(items, "latency from the actual send time: time waiting to be sent is not counted")
	}
	return append(items, "latency from the scheduled send time")
}

// describeFailed says how many of a load's requests failed: "1,868 of 25,812 failed (7.2 %)", "40 failed, all by a timeout".
func describeFailed(l diagnose.Load) []string {
	if l.Failed == 0 {
		return nil
	}
	s := units.Count(int(l.Failed)) + " failed"
	if l.Failed <= l.Sent {
		s = fmt.Sprintf("%s of %s failed (%s)", units.Count(int(l.Failed)), units.Count(int(l.Sent)), units.Percent(float64(l.Failed)/float64(l.Sent)))
	}
	switch {
	case l.TimedOut == l.Failed:
		s += ", all by a timeout"
	case l.TimedOut > 0:
		s += ", " + units.Count(int(l.TimedOut)) + " of them by a timeout"
	}
	return []string{s}
}

// IsLoadAsRequests says whether what a load generator measured agrees with the figures of the requests.
func IsLoadAsRequests(d *diagnose.Diagnosis, l diagnose.Load) bool {
	r := d.Requests
	return r != nil && areAlike(r.Rate, l.Rate) && areAlike(r.P50Ms, l.P50Ms) && areAlike(r.P99Ms, l.P99Ms)
}

func areAlike(a, b *float64) bool {
	return a != nil && b != nil && math.Abs(*a-*b) <= alike*math.Abs(*a)
}

type quantile struct {
	name string
	ms   *float64
}

// Quantiles returns "p50 350 µs", "p99 2.7 ms", "p99.9 5.4 ms", as tables of routes do.
func Quantiles(r *diagnose.Requests) []string {
	return formatQuantiles([]quantile{{"p50", r.P50Ms}, {"p99", r.P99Ms}, {"p99.9", r.P999Ms}})
}

func formatQuantiles(qs []quantile) []string {
	var out []string
	for _, q := range qs {
		if q.ms != nil {
			out = append(out, q.name+" "+units.Ms(*q.ms))
		}
	}
	return out
}

// Slow lists how many requests were slow, and by which rule.
func Slow(r *diagnose.Requests) []string {
	rule := map[string]string{"slo": "--slo", "3x_route_floor": "3 × the baseline latency of the route; set --slo", "baseline": "longer than the baseline's p99",
		"unfinished":        "most requests never finished, so there is no baseline latency; set --slo",
		ledger.RuleTimedOut: "half of the time after which most requests fail; set --slo"}[r.SlowRule]
	if rule == "" {
		rule = r.SlowRule
	}
	if r.SlowRule == ledger.RuleFloor && r.SlowThresholdMs != nil && *r.SlowThresholdMs <= leastSlow {
		rule = "minimum threshold; set --slo"
	}
	first := units.Count(r.Slow)
	if r.Slow == 0 {
		first = "none"
	}
	if r.SlowThresholdMs != nil {
		first += " over " + units.Ms(*r.SlowThresholdMs)
	}
	if rule != "" {
		first += " (" + rule + ")"
	}
	items := []string{first}
	if r.Slow > 0 {
		switch {
		case isLedgerElsewhere(r):
			in := "of those in "
			if r.LedgerCount > 0 {
				in = units.Percent(float64(r.Slow)/float64(r.LedgerCount)) + " of the " + units.Count(r.LedgerCount) + " in "
			}
			items = append(items, in+path.Base(r.LedgerSource))
		case r.Count > 0:
			items = append(items, units.Percent(float64(r.Slow)/float64(r.Count)))
		}
		if r.SlowLong > 0 {
			items = append(items, units.Count(r.SlowLong)+" on routes that always compute 20 × as long as other requests")
		}
		if traced := formatTraced(r); traced != "" {
			items = append(items, traced)
		}
	}
	if r.Apart > 0 {
		are := "are"
		if r.Apart == 1 {
			are = "is"
		}
		items = append(items, units.Count(r.Apart)+" more before or after the recording "+are+" not counted")
	}
	if r.Held > 0 {
		held := "it, for " + units.Ms(r.HeldMs)
		if r.Held > 1 {
			held = "them, for " + units.Ms(r.HeldMs/float64(r.Held)) + " each"
		}
		items = append(items, units.Count(r.Held)+" more only because the recorder held "+held)
	}
	return items
}

// formatTraced says of how many slow requests the waits are known; "" of none: most runtimes have no traces.
func formatTraced(r *diagnose.Requests) string {
	switch r.Traced {
	case 0:
		return ""
	case r.Slow:
		return "all of them traced"
	}
	if r.Alike > 0 {
		return units.Count(r.Traced) + " of them traced, " + units.Count(r.Alike) + " judged by traced requests like them"
	}
	return units.Count(r.Traced) + " of them traced"
}

// isLedgerElsewhere says whether the slow requests are from another artifact than the figures
// about all requests.
func isLedgerElsewhere(r *diagnose.Requests) bool {
	return r.LedgerSource != "" && r.LedgerSource != r.Source
}
