package diagnose

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// mechanismOf is the mechanism of the slow time that a cause is about.
var mechanismOf = map[string]ledger.Mechanism{
	"service.accept-queue": ledger.Queued, "service.dependency-slow": ledger.Dependency, "service.pool-exhausted": ledger.Pool, "service.own-work": ledger.Own,
	"go.lock-contention": ledger.Lock, "jvm.lock-contention": ledger.Lock, "dotnet.lock-contention": ledger.Lock,
	"dotnet.threadpool-starvation": ledger.PoolThread, "jvm.allocation-stall": ledger.AllocationStall,
}

// Contradictions returns the places where the diagnosis contradicts itself. There must be none:
// tests check every diagnosis for it.
func (d *Diagnosis) Contradictions() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	supported := 0
	for _, v := range d.Verdicts {
		if v.Verdict == check.Supported {
			supported++
		}
	}
	if (d.Outcome == Found) != (supported > 0) {
		say("the outcome is %s with %d supported causes", d.Outcome, supported)
	}
	r := d.Requests
	if r == nil {
		return wrong
	}
	d.contradictCounts(say)
	total := 0.
	by := make(map[string]float64)
	for _, e := range d.Ledger {
		total += e.SlowMs
		by[e.Mechanism] += e.SlowMs
		if e.SlowMs < 0 {
			say("%s has %g ms of slow time", e.Mechanism, e.SlowMs)
		}
		if !isWithinRange(&e.SlowMs, e.Low, e.High) {
			say("%s has %g ms of slow time, which is not between %g and %g", e.Mechanism, e.SlowMs, *e.Low, *e.High)
		}
	}
	if math.Abs(total-r.SlowTotalMs) > 1e-3*math.Max(1, r.SlowTotalMs) {
		say("the mechanisms have %g ms of %g ms slow time", total, r.SlowTotalMs)
	}
	for _, v := range d.Verdicts {
		if v.Saves != nil && v.Saves.Value > 1.001*r.SlowTotalMs && r.SlowTotalMs > 0 && d.RankedBy == "request_time" {
			say("%s accounts for %g ms of %g ms slow time", v.Cause, v.Saves.Value, r.SlowTotalMs)
		}
		if v.Saves != nil && !isWithinRange(&v.Saves.Value, v.Saves.Low, v.Saves.High) {
			say("%s accounts for %g ms, which is not between %g and %g", v.Cause, v.Saves.Value, *v.Saves.Low, *v.Saves.High)
		}
		for _, p := range v.Prediction {
			if !isWithinRange(p.Then, p.Low, p.High) {
				say("%s predicts a %s of %g, which is not between %g and %g", v.Cause, p.Metric, *p.Then, *p.Low, *p.High)
			}
		}
		if share := d.shareIn(v.Subject, deniedMechanism(v.Cause)); v.Verdict == check.RuledOut && share >= check.WorthTelling.Value && deniesShare(v.Summary, share) {
			say("%s is ruled out as %q, and %s has %.3g of the slow time", v.Cause, v.Summary, deniedMechanism(v.Cause), share)
		}
		m, ok := mechanismOf[v.Cause]
		if ok && d.Outcome != Found && v.Verdict == check.RuledOut && unwellSlow(r) && by[m.String()] >= check.Material.Value*r.SlowTotalMs {
			say("%s is ruled out, and %s has %g ms of %g ms slow time", v.Cause, m.String(), by[m.String()], r.SlowTotalMs)
		}
	}
	return wrong
}

// isWithinRange says whether a figure lies in its range, as far as both are known; half a percent apart is rounding of quantiles.
func isWithinRange(v, low, high *float64) bool {
	if v == nil || low == nil || high == nil {
		return true
	}
	slack := 1e-6 + 5e-3*math.Abs(*v)
	return *v >= *low-slack && *v <= *high+slack
}

// shareIn returns the part of a subject's slow time that a mechanism has.
func (d *Diagnosis) shareIn(subject, mechanism string) float64 {
	of, all := 0., 0.
	for _, e := range d.Ledger {
		if e.Subject != subject {
			continue
		}
		if all += e.SlowMs; e.Mechanism == mechanism {
			of += e.SlowMs
		}
	}
	if all <= 0 {
		return 0
	}
	return of / all
}

// deniedMechanism returns the mechanism that a cause's ruled-out sentence speaks of, as in JSON; "" for none.
func deniedMechanism(cause string) string {
	if cause == "linux.futex" {
		return ledger.Lock.String()
	}
	if m, ok := mechanismOf[cause]; ok {
		return m.String()
	}
	return ""
}

var (
	// saysNone matches a sentence that denies any slow time of a kind.
	saysNone = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^no slow request (waited for (locks|pools)|spent time on waiting for locks)|^none of the slow time is (own work|waiting for locks)`)
	})
	// saysShare matches a sentence that gives the share of the slow time of a kind.
	saysShare = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(less than )?[\d.]+ % of slow time is (waiting for|own work)`)
	})
	// ofSlow matches a share in such a sentence.
	ofSlow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\d.]+) % of slow time`) })
)

// deniesShare says whether a sentence speaks of far less slow time than the ledger has.
func deniesShare(sentence string, share float64) bool {
	if saysNone().MatchString(sentence) {
		return true
	}
	if !saysShare().MatchString(sentence) {
		return false
	}
	said := 0.
	for _, m := range ofSlow().FindAllStringSubmatch(sentence, -1) {
		percent, _ := strconv.ParseFloat(m[1], 64) // the pattern is a number
		said += percent / 100
	}
	return said < share-check.WorthTelling.Value
}

// unwellSlow says whether requests are slow enough, and enough of them, for the service to count as unwell.
func unwellSlow(r *Requests) bool {
	felt := r.SlowRule == ledger.RuleSLO || r.P99Ms != nil && *r.P99Ms >= check.Noticeable.Duration().Seconds()*1e3
	return felt && r.LedgerCount >= ledger.MinRequests && float64(r.Slow) > unwellRequests*float64(r.LedgerCount)
}

// contradictCounts checks counts, quantiles and routes against each other.
func (d *Diagnosis) contradictCounts(say func(format string, args ...any)) {
	r := d.Requests
	value := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	p50, p99, limit := value(r.P50Ms), value(r.P99Ms), value(r.SlowThresholdMs)
	if p50 > p99 || p99 > value(r.P999Ms) {
		say("p50 %g, p99 %g, p99.9 %g ms", p50, p99, value(r.P999Ms))
	}
	if r.Slow > r.LedgerCount || r.Traced+r.Alike > r.Slow {
		say("%d slow, %d of them traced and %d like them, of %d requests", r.Slow, r.Traced, r.Alike, r.LedgerCount)
	}
	one := len(d.subjectsWithRequests()) == 1
	if one && r.LedgerSource == r.Source && r.Count >= 100 {
		// One in a hundred took longer than the p99 and so, where that is above what is slow, at least as many are slow.
		over, hundredth := r.Slow+r.Apart+r.Held, float64(r.Count)/100
		if p99 > limit && float64(over) < hundredth-1 {
			say("p99 is %g ms, and only %d of %d requests took longer than %g ms", p99, over, r.Count, limit)
		}
		if p99 < limit && float64(over) > hundredth+1 {
			say("p99 is %g ms, and %d of %d requests took longer than %g ms", p99, over, r.Count, limit)
		}
	}
	if len(d.Routes) == 0 || d.RoutesLeft > 0 {
		return
	}
	requests, slow, slowMs := 0, 0, 0.
	for _, x := range d.Routes {
		requests, slow, slowMs = requests+x.Requests, slow+x.Slow, slowMs+x.SlowMs
	}
	if requests != r.Count || r.LedgerSource == r.Source && slow != r.Slow {
		say("%d requests, %d of them slow, and by routes %d and %d", r.Count, r.Slow, requests, slow)
	}
}

// subjectsWithRequests returns the subjects that have slow time in the ledger or routes.
func (d *Diagnosis) subjectsWithRequests() map[string]bool {
	all := make(map[string]bool)
	for _, e := range d.Ledger {
		all[e.Subject] = true
	}
	for _, x := range d.Routes {
		all[x.Subject] = true
	}
	return all
}
