package service

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TrafficSurge is more requests than agreed on, or than before.
var TrafficSurge = check.Check{
	ID:    "service.traffic-surge",
	Title: "far more requests arrive than expected",
	Step:  check.StepTraffic,
	Doc: `A service is built for a request rate, but the rate agreed with its callers is often not
documented. If more requests arrive than it can serve, they queue for the resource that
runs out first: CPUs, a pool, GC. Other causes show which of these it is; this one shows
that it would not happen at the expected rate.

The expected rate is given by --expect-rate, by --baseline, or by the recording itself,
if the rate rises during it and requests become slow then, not before. More requests
alone explain nothing: there must be a period at about the expected rate in which
requests were fast (in the recording or the baseline), or CPUs that are busy now and
would not be then.

An access log shows callers that do not cache: one caller sends the same request, with
the same query, again within seconds.

What helps: callers that cache, and a rate limit at the agreed rate; a cache in the
service if one request costs many queries.`,
	Least: "1.5 times the expected request rate, and slow requests that wait for CPUs",
	Thresholds: []check.Threshold{about, asSlow, certain, comfortable, copied, foreign, full, leastCounted, mostBusy, saturated, shortest, slower,
		surging, check.Material, check.MinRequests, check.MostlyUnseen, check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs: "the agreed rate (--expect-rate 10) or a capture from a healthy time (--baseline), and requests",
	Applies: func(c *check.Case) bool {
		if c.Ledger == nil || len(c.Ledger.Rows) < ledger.MinRequests {
			return false
		}
		rate, _ := metrics.ExpectedRate(c.Bundle, c.Subject)
		return rate.Known() || c.Slow() && (c.Share(loaded...) >= check.Material.Value && !hasSpareCPUs(c) || poolQueueWaitOf(c).isNoticeable(shortest.Int()))
	},
	Judge: judgeSurge,
}

// hasSpareCPUs says whether the CPUs are known to have had room for what came, where it is also
// known what requests waited for: then there are nearer reasons.
func hasSpareCPUs(c *check.Case) bool {
	if !c.HasRequestStates() || c.Ledger.Unread != nil { // while they waited to be read there was no room, whatever the mean says
		return false
	}
	busy, known := ownUtilisation(c)
	if used, _, ok := c.ProcessorsUsed(); !known && ok && cpuCount(c) > 0 {
		busy, known = used/cpuCount(c), true
	}
	return known && busy < saturated.Value
}

// loaded are mechanisms whose time a high rate of requests can cause.
var loaded = []ledger.Mechanism{ledger.RequestsCPU, ledger.Queued, ledger.Pool, ledger.PoolThread, ledger.Unobserved, ledger.Unexplained}

var (
	surging = check.Threshold{Name: "rate of requests over what was expected", Value: 1.5, Unit: "times",
		Why: "less is how traffic varies", Source: "arithmetic: from 70 % of the CPUs, for which to plan (service.over-capacity), to more than they can do (105 %)"}
	about = check.Threshold{Name: "rate that is still about the expected one", Value: 1.25, Unit: "times",
		Why: "arrivals vary by as much without a reason", Source: "arithmetic: from 70 % of the CPUs, for which to plan (service.over-capacity), to 88 %, below the 90 % at which none is free"}
	asSlow = check.Threshold{Name: "part of the median from which requests are as slow at the expected rate", Value: .75, Unit: "1",
		Why: "the surge makes the rest", Source: "arithmetic: the surge makes less than the share that is named (1 − 25 %)"}
	foreign = check.Threshold{Name: "share of the host's CPUs that others use", Value: .2, Unit: "1",
		Why: "they are then a reason of their own", Source: "arithmetic: from 70 % of the CPUs, for which to plan (service.over-capacity), to the 90 % at which none is free"}
	copied = check.Threshold{Name: "part of requests that repeat another", Value: .2, Unit: "1",
		Why: "callers do not cache", Source: "judgement: weighs pages that are requested repeatedly now and then against callers that ask all the time"}
)

func judgeSurge(c *check.Case) check.Verdict {
	a := arrivalsOf(c)
	rate, by := metrics.ExpectedRate(c.Bundle, c.Subject)
	expected, known := rate.Number, rate.Known()
	origin := check.From(a.Source)
	v := check.Verdict{Rule: check.TooLittle}
	v.Evidence = append(v.Evidence, c.Figure("requests.per_s", "requests", a.rate, "1/s", origin))
	step, risen := a.findStep()
	if !risen {
		step, risen = a.findBurst()
	}
	switch {
	case known:
		v.Evidence = append(v.Evidence, check.FigureOfOption("requests.expected_per_s", "expected", expected, "1/s", by))
	case risen:
		expected = step.before
		v.Evidence = append(v.Evidence, c.Figure("requests.before_per_s", "before "+formatClock(step.at), step.before, "1/s", origin), c.Figure("requests.after_per_s", "after", step.after, "1/s", origin))
		a.rate = step.after
		if out := poolQueueWaitOf(c); out.isNoticeable(shortest.Int()) {
			v.Evidence = append(v.Evidence, out.waitFigure(c, ", on average after "+formatClock(step.at), metrics.Window{From: step.at, Until: a.From + int64(len(a.Rates))*a.Width}))
		}
	case judgeCountedSurge(c, &v):
		return v
	default:
		v.Rule, v.Summary = check.NotRecorded, fmt.Sprintf("%s requests/s without a rise, and the expected rate is unknown", units.Num(a.rate))
		v.Needs = []check.Need{{What: "the rate agreed with the callers, or a capture from a healthy time (--baseline)", Command: "unstall FILE... --expect-rate N"}}
		return v
	}
	times, than := a.rate/expected, "the expected rate"
	v.Weigh(times, surging)
	if !known {
		than = "the rate before " + formatClock(step.at)
	}
	v.Summary = fmt.Sprintf("%s requests/s, %s × %s", units.Num(a.rate), units.Num(times), than)
	if known {
		v.Summary = fmt.Sprintf("%s requests/s, %s/s expected", units.Num(a.rate), units.Num(expected))
	}
	addRepeated(c, &v)
	switch {
	case times < surging.Value:
		return v
	case !c.Slow():
		v.Rule = check.NotSlow
		v.Summary = fmt.Sprintf("%s × %s, but almost no requests are slow", units.Num(times), than)
		return v
	}
	v.Title = fmt.Sprintf("%s requests/s arrive, %s × the expected %s/s.", units.Num(a.rate), units.Num(times), units.Num(expected))
	if !known {
		v.Title = fmt.Sprintf("The request rate rose %s × at %s, to %s requests/s, and requests became slow.", units.Num(times), formatClock(step.at), units.Num(step.after))
	}
	if share, origin, none := takenByOthers(c); none {
		v.Rule, v.Title = check.Withheld, ""
		v.Evidence = append(v.Evidence, c.Figure("host.others_cpus_share", "share of the host's CPUs used by other processes, which left none free", share, "1", origin))
		v.Summary = fmt.Sprintf("%s × %s, but other processes used %s of the host's CPUs: which of the two made requests slow is unknown", units.Num(times), than, units.Percent(share))
		v.Needs = []check.Need{{What: "a recording on a host with free CPUs", Command: "unstall record PID --expect-rate " + check.Digits(3, expected)}}
		return v
	}
	e := excess{c: c, v: &v, a: a, expected: expected, overRate: times, expectedFrom: than}
	if !e.byStretch() && !e.byBaseline() && !e.byReplay() && !e.byProcessors() {
		v.Rule, v.Title = check.CostUnknown, ""
		v.Summary = fmt.Sprintf("%s × %s, but whether requests would be fast at that rate is unknown", units.Num(times), than)
		v.Needs = []check.Need{{What: "CPU use in the same period as the requests, or a recording that includes a period at the expected rate", Command: "unstall record PID --expect-rate " + check.Digits(3, expected)}}
		return v
	}
	if v.Supported() {
		v.Fix = append(v.Fix,
			check.Fix{Text: fmt.Sprintf("limit callers to the agreed rate: let them cache responses, and reject requests above %s/s early", units.Num(about.Value*expected))},
			check.Fix{Text: "cache the most expensive part of a request in the service; document the agreed rate, and monitor it"})
	}
	return v
}

// takenByOthers returns which share of the host's CPUs other processes used; none says whether
// they left the service none.
func takenByOthers(c *check.Case) (share float64, origin evidence.Origin, none bool) {
	h := metrics.HostOf(c.Bundle, c.Subject, ledgerWindow(c))
	used, _, known := c.ProcessorsUsed()
	if !h.Busy.MostlyKnown() || !known || math.IsNaN(h.CPUs) {
		return 0, 0, false
	}
	share = max(0, h.Taken()-used) / h.CPUs
	return share, h.Busy.Origin, h.Taken() >= full.Value*h.CPUs && share >= foreign.Value
}

// addRepeated adds how many requests a cache in the callers would have saved.
func addRepeated(c *check.Case, v *check.Verdict) {
	f, ok := c.Bundle.Fact(c.Subject, evidence.FactRepeated)
	if !ok {
		return
	}
	text := "share of requests that the same caller repeats within " + f.Value
	if f.Number >= copied.Value {
		text += ": callers do not cache"
	}
	v.Evidence = append(v.Evidence, c.Figure("requests.repeated_share", text, f.Number, "1", f.Origin))
}

func formatClock(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05") }

// arrivals is how requests came.
type arrivals struct {
	*metrics.Arrivals
	rate float64 // per second, of all
}

func arrivalsOf(c *check.Case) *arrivals {
	r := &c.Ledger.Requests
	a := &arrivals{Arrivals: metrics.ArrivalsOf(c.Bundle, c.Subject, r.Source, metrics.Window{From: r.From, Until: r.To})}
	if a.rate = a.Rate.Number; !a.Rate.Known() {
		a.rate = r.Rate
	}
	for i := range a.Medians {
		from := a.From + int64(i)*a.Width
		a.Medians[i] += float64(poolQueueWaitOf(c).meanWait(metrics.Window{From: from, Until: from + a.Width}))
	}
	return a
}

// A rise lasts for at least this many stretches: fewer are a burst. Requests are slower after it if their median grows by this factor, more
// than it varies by itself.
var (
	shortest = check.Threshold{Name: "stretches that a rise lasts for", Value: 3, Unit: "count",
		Why: "fewer are a burst", Source: "arithmetic: the median of three leaves out one that is an exception"}
	slower = check.Threshold{Name: "growth of the median after a rise", Value: 1.5, Unit: "times",
		Why: "it varies by less by itself", Source: "judgement: weighs medians of short stretches, which vary, against a service that slows down as load rises"}
)

// rise is a moment from which on more requests came.
type rise struct {
	at            int64
	before, after float64 // per second
}

// findStep finds the largest lasting rise of the rate after which requests took longer, and not
// before it: slow requests that are sent again look like a rise, too.
func (a *arrivals) findStep() (best rise, ok bool) {
	changes := append(stats.ChangePoints(a.Rates, shortest.Int()), len(a.Rates))
	slowed := stats.ChangePoints(a.Medians, shortest.Int())
	begin := 0
	for n, at := range changes[:len(changes)-1] {
		before, after := meanOf(a.Rates[begin:at]), meanOf(a.Rates[at:changes[n+1]])
		begin = at
		follows := slices.ContainsFunc(slowed, func(k int) bool {
			return k >= at-1 && k < changes[n+1] && meanOf(a.Medians[k:min(k+shortest.Int(), len(a.Medians))]) > slower.Value*meanOf(a.Medians[max(0, k-shortest.Int()):k])
		})
		early := slices.ContainsFunc(slowed, func(k int) bool {
			return k < at-1 && meanOf(a.Medians[k:]) > slower.Value*meanOf(a.Medians[:k])
		})
		if before > 0 && after >= surging.Value*before && follows && !early && after/before > best.after/max(best.before, 1e-9) {
			best, ok = rise{a.From + int64(at)*a.Width, before, after}, true
		}
	}
	return best, ok
}

var certain = check.Threshold{Name: "standard deviations by which a burst exceeds chance", Value: 4, Unit: "count",
	Why: "once in 30,000 stretches", Source: "normal distribution: beyond 4 standard deviations on one side once in 31,600 (3.2e-5)"}

// findBurst finds a rise that does not last, in which requests take longer than before. It must
// exceed chance variation, as a short rise changes little of the whole recording's rate.
func (a *arrivals) findBurst() (best rise, ok bool) {
	for from := shortest.Int(); from+shortest.Int() <= len(a.Rates); from++ {
		before := medianOf(a.Rates[:from])
		to := from
		for to < len(a.Rates) && a.Rates[to] >= surging.Value*before {
			to++
		}
		if before <= 0 || to-from < shortest.Int() || a.Rates[from-1] >= surging.Value*before {
			continue
		}
		after := meanOf(a.Rates[from:to])
		came := before * float64(to-from) * float64(a.Width) / 1e9
		usual := medianOf(a.Medians[:from])
		slowed := meanOf(a.Medians[from:to]) > slower.Value*usual && medianOf(a.Medians[from-shortest.Int():from]) <= slower.Value*usual // it may begin within the last stretch before
		if slowed && (after/before-1)*came >= certain.Value*math.Sqrt(came) && after/before > best.after/max(best.before, 1e-9) {
			best, ok = rise{a.From + int64(from)*a.Width, before, after}, true
		}
	}
	return best, ok
}

func medianOf(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}

func meanOf(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

// quietLatencies returns the sorted latencies of requests that came while the rate was about as
// expected, and had been in the stretch before.
func (a *arrivals) quietLatencies(expected float64) (took []int64) {
	for i, r := range a.Rates {
		if r <= about.Value*expected && (i == 0 || a.Rates[i-1] <= about.Value*expected) {
			took = append(took, a.Took[i]...)
		}
	}
	slices.Sort(took)
	return took
}
