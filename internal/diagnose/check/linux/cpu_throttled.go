package linux

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// CPUThrottled is a CPU quota that stops the process while processors are free.
var CPUThrottled = check.Check{
	ID:    "linux.cpu-throttled",
	Title: "a CPU quota (container limit) throttles the process",
	Step:  check.StepProcessors,
	Doc: `The process's cgroup may use so much CPU time in a period (cpu.max; a Kubernetes CPU
limit, docker --cpus). Once that is used up, all its threads stop until the next period
begins: up to the usual period of 100 ms, whatever the average use is. Many threads use
up a quota quickly: a quota of 2 CPUs is gone in 25 ms if 8 threads run.

The kernel counts it: nr_periods, nr_throttled and throttled_usec in cpu.stat of the
cgroup that has the quota, which may be a parent of the process's own.

How to tell it from similar problems: from inside the process it looks like a starved
host (linux.cpu-saturation), but the host has free CPUs; if the quota is too low for the
load (over capacity), average use is at the quota, and then only a higher one helps.

What helps: a higher limit, or none (requests and weights still share fairly); a
GOMAXPROCS that fits the quota, which Go 1.25 and later sets by itself; fewer threads
that run at once. Tuning GC does not shorten its pauses while GC workers use up the
quota.`,
	Least: fmt.Sprintf("a quota that throttled %v of its periods, and %v of slow time (without a trace, slow time in the seconds with throttling); without requests, half of its periods",
		rarely, check.Material),
	Thresholds: []check.Threshold{dilated, longRunning, withheld, fewPeriods, fewSeconds, mostPeriods, nearQuota, noPeriod, rarely, check.Material, check.MinRequests, check.OftenStopped,
		check.SlowShare, check.SomeSlow},

	Needs:   "cpu.stat of the process's cgroup, and an execution trace from the same time: unstall record PID",
	Applies: func(c *check.Case) bool { return true },
	Judge:   judgeThrottled,
}

// throttle is what the kernel counted of a quota over a window, and what the process used.
type throttle struct {
	metrics.Quota
	used metrics.Value
}

var quotaEvidence = check.Need{What: "cpu.stat of its cgroup with a trace from the same period, to show whether a quota throttled it", Command: "unstall record PID"}

var noPeriod = check.Threshold{Name: "periods of a quota below which there is none", Value: .5, Unit: "count",
	Why: "the kernel counts none, and what was read between two of them is less than one", Source: "Documentation/scheduler/sched-bwc.rst of Linux"}

var rarely = check.Threshold{Name: "share of a quota's periods below which being throttled explains nothing", Value: .01, Unit: "1",
	Why: "a p99 meets none", Source: "arithmetic: the p99"}

var mostPeriods = check.Threshold{Name: "share of a quota's periods from which throttling is a finding without requests", Value: .5, Unit: "1",
	Why: "it is throttled most of the time", Source: "arithmetic: half"}

// stretched are waits for other threads of the process. If a quota stops the process in most periods, it makes all of them longer,
// whatever the place in the code.
var stretched = []ledger.Mechanism{ledger.Lock, ledger.TaskWait, ledger.Pool, ledger.PoolThread, ledger.Goroutine, ledger.Awaiting, ledger.Kernel}

// explainsStarvation says whether the quota, not other processes of the host, kept the process
// from running: the kernel stopped it for at least half of the time it lacks.
func (t *throttle) explainsStarvation(s starvation, run float64) bool {
	if t == nil || t.Share() < rarely.Value {
		return false
	}
	return !s.measured || !(t.Waiting.Number < s.share*run/2)
}

// throttleOf reads cpu.stat over the window; nil if less than half of it was watched.
func throttleOf(c *check.Case) *throttle {
	w, _ := chargedWindow(c)
	return throttleOver(c, w)
}

func throttleOver(c *check.Case, w metrics.Window) *throttle {
	told := evidence.ArtifactID(-1)
	if c.Ledger != nil {
		told = c.Ledger.StatesFrom()
	}
	t := &throttle{Quota: metrics.QuotaOf(c.Bundle, c.Subject, told, w), used: metrics.ProcessOf(c.Bundle, c.Subject, w).CPU.Mostly()}
	if !t.Periods.MostlyKnown() || !t.Stopped.MostlyKnown() {
		return nil
	}
	t.Waiting = t.Waiting.Mostly()
	return t
}

// listFigures returns the evidence of the quota.
func (t *throttle) listFigures(c *check.Case) []check.Evidence {
	out := []check.Evidence{c.Figure("quota.stopped_periods_share", fmt.Sprintf("share of %s periods that the quota throttled", wholeCount(t.Periods.Number)), t.Share(), "1", t.Stopped.Origin)}
	if t.CPUs.Known() {
		out = append(out, c.Figure("quota.cpus", "quota", t.CPUs.Number, "CPUs", t.CPUs.Origin))
	}
	if t.used.Known() {
		out = append(out, c.Figure("process.cpus", "CPUs the process used", t.used.Number, "CPUs", t.Stopped.Origin))
	}
	return out
}

func judgeThrottled(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle}
	s := starvationOf(c)
	t := throttleOf(c)
	if t == nil {
		if s.known && !s.starved {
			v.Summary = "the host ran its threads whenever they were runnable"
			s.weighRunning(c, &v)
			v.Evidence = dilationEvidence(c)
			return v
		}
		if v, ok := throttledSinceCreated(c); ok {
			return v
		}
		v.Rule = check.NotRecorded
		v.Summary = "cpu.stat of its cgroup was not recorded"
		v.Needs = []check.Need{quotaEvidence}
		return v
	}
	v.Evidence = t.listFigures(c)
	v.Counted(t.Periods.Number, noPeriod)
	v.Weigh(t.Share(), rarely)
	v.Summary = fmt.Sprintf("throttled in %s of %s periods", wholeCount(t.Stopped.Number), wholeCount(t.Periods.Number))
	if t.Periods.Number < noPeriod.Value {
		v.Summary = "its cgroup has no quota"
	}
	if t.Share() < rarely.Value {
		if other, ok := throttledElsewhere(c); ok {
			return other
		}
		return v
	}
	if c.Slow() && !s.known && t.judgeSeconds(c, &v) {
		return v
	}
	if (c.Ledger == nil || len(c.Ledger.Rows) == 0) && t.Share() >= mostPeriods.Value {
		t.supportQuota(&v, nil, 0)
		v.Weigh(t.Share(), mostPeriods)
		v.Summary = fmt.Sprintf("throttled in %s of the periods; what that cost requests was not recorded", units.Percent(t.Share()))
		v.Weight = t.Share()
		v.Needs = needTrace(c)
		t.addFixes(c, &v)
		return v
	}
	if !c.Slow() || !s.known && t.Share() < check.OftenStopped.Value {
		v.Rule = check.CostUnknown
		v.Summary = fmt.Sprintf("throttled in %s of the periods, but what that cost requests was not recorded", units.Percent(t.Share()))
		v.Needs = needTrace(c)
		return v
	}
	w, run := chargedWindow(c)
	lost := t.lostBy(c, w, s.known)
	per, sum := make([]int64, len(c.Ledger.Slow)), int64(0)
	for i, row := range c.Ledger.Slow {
		per[i] = lost.in(row)
		sum += per[i]
	}
	low, high := t.lossBounds(c, w, lost.found, sum)
	total := float64(max(1, c.Ledger.Total))
	saves, share, most := c.Save(per, low, high), float64(sum)/total, float64(high)/total
	v.Weigh(share, check.Material)
	if by, part := s.savedTime(c); part > share { // also where it stopped one processor only
		saves, share = by, part
		v.Weigh(share, check.Material)
	}
	if t.usedUp() && (!s.known || share < check.Material.Value) { // requests queue for what it leaves, also between the stops
		atMost := lostAtMost(c)
		most = float64(atMost) / total
		saves = c.Bound(float64(sum), float64(sum), float64(atMost))
	}
	switch { // where the kernel counted many stops, what they may have cost is enough
	case !t.explainsStarvation(s, run):
		v.Rule = check.PartlyExplained
		v.Summary = fmt.Sprintf("throttled in %s of the periods, but the process lost more CPU time than that explains", units.Percent(t.Share()))
		return v
	case share < check.Material.Value && !(t.Share() >= check.OftenStopped.Value && sum > 0 && most >= check.Material.Value):
		v.Rule = check.Happens
		v.Summary = fmt.Sprintf("throttled in %s of the periods, but that is only %s of slow time", units.Percent(t.Share()), units.Percent(share))
		return v
	}
	t.supportQuota(&v, saves, share)
	v.Evidence = append(v.Evidence, c.Figure("quota.stopped_per_slow_request_ms", "time the process was throttled during a slow request, on average", saves.Value/float64(len(per)), "ms", check.From(c.Ledger.StatesFrom())))
	if s.measured && s.host != nil {
		v.Evidence = append(v.Evidence, c.Figure("host.withheld_share", "share of its run time in which the host did not run it, measured", s.share, "1", s.host.process.Origin))
	}
	t.addFixes(c, &v)
	v.Prediction = append(v.Prediction, predictWithoutStops(c, lost.in, float64(low)/float64(max(1, sum)), float64(high)/float64(max(1, sum))))
	return v
}

var nearQuota = check.Threshold{Name: "part of a quota in use from which work queues for it", Value: .8, Unit: "1",
	Why: "at 80 % of one server, requests wait four times as long as they take", Source: "M/M/1: ρ/(1−ρ)"}

// usedUp says whether the process uses all that its quota gives, and is often stopped for it.
func (t *throttle) usedUp() bool {
	return t.Share() >= check.OftenStopped.Value && t.used.Known() && t.CPUs.Known() && t.used.Number >= nearQuota.Value*t.CPUs.Number
}

var fewPeriods = check.Threshold{Name: "periods of a quota that were counted", Value: 100, Unit: "count",
	Why: "ten seconds of the usual period", Source: "arithmetic: 100 ms each"}

// throttledSinceCreated judges counters that were read only once and so cover all the time since
// the group was created: it supports the cause only if the quota stopped the process in most
// periods of that time.
func throttledSinceCreated(c *check.Case) (v check.Verdict, ok bool) {
	periods, ok := c.Fact(evidence.FactQuotaPeriods)
	stopped, ok2 := c.Fact(evidence.FactQuotaThrottled)
	if !ok && ok2 {
		return throttledOfUnknown(c, stopped), true
	}
	if !ok || !ok2 {
		return v, false
	}
	t := &throttle{Quota: metrics.Quota{CPUs: metrics.Unknown, Periods: metrics.Value{Number: periods.Number, Origin: periods.Origin, Watched: 1},
		Stopped: metrics.Value{Number: stopped.Number, Origin: stopped.Origin, Watched: 1}, Waiting: metrics.Unknown}, used: metrics.Unknown}
	if f, ok := c.Fact(evidence.FactContainerCPU); ok && f.Number > 0 {
		t.CPUs = metrics.Value{Number: f.Number, Origin: f.Origin, Watched: 1}
	}
	v = check.Verdict{Rule: check.OneLook, Evidence: t.listFigures(c), Summary: fmt.Sprintf("throttled in %s of %s periods since its cgroup was created: one reading does not show what happens now", wholeCount(stopped.Number), wholeCount(periods.Number))}
	v.Needs = []check.Need{{What: "a second reading of cpu.stat, some seconds after the first, while it is slow"}}
	if t.Share() >= mostPeriods.Value && periods.Number >= fewPeriods.Value && (c.Ledger == nil || len(c.Ledger.Rows) == 0) {
		t.supportQuota(&v, nil, 0)
		v.Counted(periods.Number, fewPeriods)
		v.Weigh(t.Share(), mostPeriods)
		v.Summary = fmt.Sprintf("throttled in %s of the periods since its cgroup was created", units.Percent(t.Share()))
		v.Weight = t.Share()
		t.addFixes(c, &v)
	}
	return v, true
}

// throttledOfUnknown judges counters of a quota without the number of its periods: how often and for how long it stopped the process, but not within
// which time.
func throttledOfUnknown(c *check.Case, stopped evidence.Fact) check.Verdict {
	v := check.Verdict{Rule: check.OneLook, Summary: fmt.Sprintf("throttled in %s periods since its cgroup was created: of how many is not told", wholeCount(stopped.Number)),
		Needs: []check.Need{{What: "the whole of cpu.stat, twice, some seconds apart, while it is slow"}}}
	v.Evidence = append(v.Evidence, c.Figure("quota.stopped_periods", "periods that the quota throttled", stopped.Number, "count", stopped.Origin))
	if took, ok := c.Fact(evidence.FactQuotaStopped); ok && stopped.Number > 0 {
		v.Summary = fmt.Sprintf("throttled in %.0f periods since its cgroup was created, for %s in each: of how many is not told", stopped.Number, units.Time(took.Number/stopped.Number))
		v.Evidence = append(v.Evidence, c.Figure("quota.stopped_s", "time for which it was throttled, in total", took.Number/1e9, "s", took.Origin))
	}
	return v
}

// throttledElsewhere judges whether the quota stopped the process while requests were slow outside
// the traced time.
func throttledElsewhere(c *check.Case) (v check.Verdict, ok bool) {
	l := c.Ledger
	if l == nil || l.All == l || l.Total == 0 || !slowAtAll(c) {
		return v, false
	}
	t := throttleOver(c, metrics.Window{From: l.All.From, Until: l.All.To})
	if t == nil || t.Share() < rarely.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.TooLittle, Evidence: t.listFigures(c)}
	return v, t.judgeSeconds(c, &v) && v.Supported()
}

// supportQuota supports that the quota stops the process.
func (t *throttle) supportQuota(v *check.Verdict, saves *check.Saves, share float64) {
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("A CPU quota throttles the process in %s of %s periods.", wholeCount(t.Stopped.Number), wholeCount(t.Periods.Number))
	v.Summary = fmt.Sprintf("%s of slow time", units.Percent(share))
	v.Saves = saves
	if t.Share() >= mostPeriods.Value {
		v.Explains = func(p *ledger.Place) bool { return slices.Contains(stretched, p.Mechanism) }
	}
	if t.CPUs.Known() {
		v.Title = fmt.Sprintf("A quota of %s CPUs throttles the process in %s of %s periods.", units.Num(t.CPUs.Number), wholeCount(t.Stopped.Number), wholeCount(t.Periods.Number))
	}
}

// addFixes adds what helps against the quota.
func (t *throttle) addFixes(c *check.Case, v *check.Verdict) {
	v.Fix = append(v.Fix, check.Fix{Text: "raise the CPU limit of the container, or remove the limit and keep the CPU request (CPUs are still shared fairly)"})
	if cpus := c.Bundle.Subjects[c.Subject].CPUs; t.CPUs.Known() && cpus > int(math.Ceil(t.CPUs.Number)) && cpus > 2 {
		if r := platform.ByID(c.Runtime()); r.FewerCPUs != "" {
			v.Fix = append(v.Fix, check.Fix{Text: "or let fewer threads use up the quota; " + r.FewerCPUsBy, Setting: fmt.Sprintf(r.FewerCPUs, max(2, math.Ceil(t.CPUs.Number)))})
		}
	}
}

// predictWithoutStops predicts the p99 without the stops. Queues behind a stop are not subtracted,
// so it is rather an upper bound; low and high are the bounds of the loss, as parts of what was
// seen.
func predictWithoutStops(c *check.Case, lost func(row int) int64, low, high float64) check.Prediction {
	without := func(part float64) check.Prediction {
		return c.PredictP99(func(row int) int64 { return int64(part * float64(lost(row))) })
	}
	p := without(1)
	if p.Low == nil {
		p.Low, p.High = without(high).Then, without(low).Then
	}
	return p
}

// wholeCount writes a count that is known as a mean or a sum.
func wholeCount(v float64) string { return units.Count(int64(math.Round(v))) }
