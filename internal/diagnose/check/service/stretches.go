package service

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Without records of requests, serving threads show how long they compute at a time, by the kernel's clock of CPU time: each sample is 10
// ms of it. Consecutive samples in one function are one stretch. A computation shorter than the clock's period meets a single sample; if
// stretches have more on average, their length is known. All other runs of these threads are short.
var (
	leastMean = check.Threshold{Name: "samples of a stretch on average", Value: 1.3, Unit: "count",
		Why: "else one sample alone meets what is shorter than the clock's period", Source: "arithmetic: 10 ms each"}
	leastLong = check.Threshold{Name: "long stretches in one function", Value: 20, Unit: "count",
		Why: "of 20 a share is known within a fifth", Source: "Poisson error: 1/√20 is 22 %"}
	longOfAll = check.Threshold{Name: "part of the times threads were given a CPU", Value: .004, Unit: "1",
		Why: "two or three of them for a request: the p99 is then as long", Source: "arithmetic: of three times 0.4 % of requests meet 1.2 %, the p99"}
	longOfWork = check.Threshold{Name: "part of the service's CPU time in long stretches", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	farLonger = check.Threshold{Name: "length of long stretches over the others'", Value: 20., Unit: "times",
		Why: "then it is another kind of work", Source: "arithmetic: of times that vary exponentially one in a million is 20 times their median (2⁻²⁰)"}
	mostRareTimes = check.Threshold{Name: "part of the stretches that are as long", Value: .25, Unit: "1",
		Why: "where many are, that is what the service does", Source: "judgement: weighs a function that is long now and then against a service whose requests all compute so long"}
)

const (
	noGap = 1.6 // periods between samples of one stretch, at most
)

// stretches are the stretches in one function.
type stretches struct {
	count int
	ns    int64
}

// computesLong judges a service without requests by its threads' uninterrupted stretches of CPU
// time.
func computesLong(c *check.Case) (v check.Verdict, ok bool) {
	if c.Ledger != nil || !c.OnThreads() {
		return v, false
	}
	t := c.Threads()
	serving := make(map[evidence.LaneID]bool)
	for _, l := range t.Samples(c.Subject) {
		if l.View.Request || l.View.Reads {
			serving[l.Lane] = true
		}
	}
	by := make(map[string]*stretches)
	period := t.CPUClockPeriod(c.Subject)
	from, until := int64(0), int64(0)
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverOnCPU) {
		from, until = w.From, max(until, w.Until)
	}
	for _, lane := range slices.Sorted(maps.Keys(serving)) {
		var last int64
		var in string
		n := 0
		end := func() {
			if n > 0 && in != "" {
				if by[in] == nil {
					by[in] = &stretches{}
				}
				by[in].count++
				by[in].ns += int64(n) * period
			}
			n = 0
		}
		t.CPUClockSamples(c.Subject, lane, from, until, func(at int64, stack evidence.StackID) {
			owner := t.View(c.Subject, stack).Owner
			if n > 0 && (owner != in || float64(at-last) > noGap*float64(period)) {
				end()
			}
			last, in = at, owner
			n++
		})
		end()
	}
	if len(by) == 0 {
		return v, false
	}
	top := slices.MaxFunc(slices.Sorted(maps.Keys(by)), func(a, b string) int { return cmp.Compare(by[a].ns, by[b].ns) })
	x := by[top]
	w := metrics.Window{From: from, Until: until}
	process := metrics.ProcessOf(c.Bundle, c.Subject, w)
	times, used := process.Given, process.CPU
	if !times.MostlyKnown() || !used.MostlyKnown() || x.count < leastLong.Int() || float64(x.ns) < leastMean.Value*float64(x.count)*float64(period) {
		return v, false
	}
	all, cpu := times.Number*float64(until-from)/1e9, used.Number*float64(until-from)
	part, each := float64(x.count)/all, float64(x.ns)/float64(x.count)
	rest := max(0, cpu-float64(x.ns)) / max(1, all-float64(x.count))
	if part < longOfAll.Value || part > mostRareTimes.Value || float64(x.ns) < longOfWork.Value*cpu || each < farLonger.Value*rest {
		return v, false
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Some requests compute far longer than the others: %s takes %s of CPU time without a break, %s; the others take %s on average.",
		top, units.Time(each), units.Times(x.count), units.Time(rest))
	v.Summary = fmt.Sprintf("%s of the CPU time is spent there", units.Percent(float64(x.ns)/cpu))
	v.Weight = min(1, float64(x.ns)/float64(until-from))
	v.Evidence = append(v.Evidence,
		c.Figure("work.long_stretches", "long computations in "+top+" on threads that serve connections", float64(x.count), "count", used.Origin),
		c.Figure("work.long_stretch_ms", "mean time of each", each/1e6, "ms", used.Origin),
		c.Figure("work.stretches", "times that a thread of the process got a CPU", all, "count", times.Origin),
		c.Figure("work.stretch_ms", "mean CPU time of the others", rest/1e6, "ms", used.Origin))
	v.Fix = append(v.Fix, check.Fix{Text: "do less work per request there, cache the result, or do it outside the request", Code: top})
	v.Needs = []check.Need{{What: "a row for each request from the same period, to show what it costs them (--load, --requests)"}}
	return v, true
}
