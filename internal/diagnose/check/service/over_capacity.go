package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// OverCapacity is more work arriving than the processors can do.
var OverCapacity = check.Check{
	ID:    "service.over-capacity",
	Title: "more requests arrive than the CPUs can serve",
	Step:  check.StepProcessors,
	Doc: `Requests wait for a CPU that other requests of the same service use, and the CPUs are
busy with requests all the time. Nothing is broken: there is too much work. Near
saturation waiting grows without limit (at a utilisation of ρ a single server queues for
ρ/(1−ρ) times its service time), so a little more load makes latency jump.

How to tell it from similar problems: if GC uses the CPUs, fewer GC cycles free them
(go.gc-rate); if the host does not run the process's threads, its own load is not the
cause (linux.cpu-saturation); clients in a closed loop hide the queue, because they wait
instead of sending.

What helps: fewer requests (callers that cache, a rate limit at the entrance), cheaper
ones (a CPU profile shows where), more CPUs.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, waited for CPUs that are %v busy with the service's own work; without requests, %v goroutines ready for each P on average of %v lines of schedtrace",
		check.SomeSlow, check.SlowShare, check.Material, saturated, manyReady, fewLooks),
	Thresholds: []check.Threshold{comfortable, fewLooks, fewSamples, full, manyReady, burstTime, noneIdle, outgrown, saturated, mostBeside, check.FarLonger, check.FewClocked, check.FullCPUs, check.HostFull, check.Material,
		check.MinRequests, check.MostlyUnseen, check.NearlyFull, check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs:   "what requests waited for. Go: an execution trace; others: a recording of their threads and CPU (unstall record PID)",
	Applies: (*check.Case).Serves,
	Judge:   judgeCapacity,
}

var saturated = check.Threshold{Name: "share of CPUs busy with own work, from which a queue is its own doing", Value: .8, Unit: "1",
	Why: "a queue at 80 % is four times as long as what is served", Source: "M/M/1: ρ/(1−ρ)"}

var comfortable = check.Threshold{Name: "share of CPUs to plan for", Value: .7, Unit: "1",
	Why: "a queue at 70 % is 2.3 times as long as what is served", Source: "M/M/1: ρ/(1−ρ)"}

func judgeCapacity(c *check.Case) check.Verdict {
	v := judgeFullCPUs(c)
	if v.Supported() && c.Ledger != nil && partSlow(c) < burstTime.Value && slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.ID == CacheStampede.ID }) {
		return check.Verdict{Rule: check.Explained, Summary: v.Summary + ", in bursts: see " + CacheStampede.ID, Evidence: v.Evidence}
	}
	return v
}

func judgeFullCPUs(c *check.Case) check.Verdict {
	if l := c.Ledger; l != nil && l.Sampled && len(l.Rows) >= ledger.MinRequests {
		v := judgeSampled(c)
		if unread, ok := judgeUnread(c); ok && !v.Supported() {
			return unread
		}
		return v
	}
	if v, ok := judgeBusy(c); ok {
		return v
	}
	if v, ok := judgeUnread(c); ok {
		return v
	}
	if v, ok := judgeScheduler(c); ok {
		return v
	}
	if !c.Traced() {
		return c.NoStates()
	}
	l := c.Ledger
	share := c.Share(ledger.RequestsCPU)
	v := check.Verdict{Rule: check.TooLittle, Summary: check.OfSlow(share) + " waiting for a CPU busy with other requests"}
	v.Weigh(share, check.Material)
	v.Evidence = append(v.Evidence, c.Figure("slow.requests_cpu_ms", "slow time runnable, CPU busy with other requests", float64(l.Charges[ledger.RequestsCPU])/1e6, "ms", check.From(l.StatesFrom())))
	busy, known := ownUtilisation(c)
	if known {
		v.Weigh(busy, saturated)
		v.Evidence = append(v.Evidence, c.Figure("process.own_work_cpus_share", "share of the CPUs busy with the program's own work", busy, "1", check.From(l.StatesFrom())))
		v.Summary = fmt.Sprintf("CPUs %s busy with own work, ", units.Percent(busy)) + v.Summary
	}
	if beside := c.Share(ledger.BackgroundCPU); beside >= check.Material.Value && beside > share && c.UserVisible(check.Noticeable) && !l.Host.Starved() {
		return judgeBackground(c, v, beside)
	}
	queued, part := []ledger.Mechanism{ledger.RequestsCPU}, 1.
	if c.Full() && c.Slow() {
		// There is more work than CPUs, with GC or without: who waits for it to be done
		// queues, and GC has its part of the CPUs in that.
		queued = append(queued, ledger.CollectorCPU, ledger.MarkAssist)
		part = ownPart(c, busy)
		share = part * c.Share(queued...)
		v.Weigh(share, check.Material)
		v.Evidence = append(v.Evidence,
			c.Figure("slow.gc_cpu_when_full_ms", "slow time of mark assists, and runnable, CPU busy with GC, while the CPUs are full", float64(l.Charges[ledger.CollectorCPU]+l.Charges[ledger.MarkAssist])/1e6, "ms", check.From(l.StatesFrom())),
			c.Figure("process.own_work_of_cpu_share", "share of CPU time that was own work, not GC", part, "1", check.From(l.StatesFrom())))
	}
	if share < check.Material.Value || !c.Slow() {
		v.Rule = c.Cleared(share)
		return v
	}
	if l.Host.Starved() {
		v.Rule, v.Summary = check.Withheld, "the host did not run the process all the time, so its CPU load is unknown"
		v.Needs = []check.Need{{What: "/proc of the host, recorded with the trace"}}
		return v
	}
	if !known {
		v.Rule = check.NotRecorded
		v.Needs = []check.Need{{What: "the number of CPUs of the process"}}
		return v
	}
	v.Title = fmt.Sprintf("The service is saturated: its own requests keep %s of the CPUs busy.", units.Percent(busy))
	if busy < saturated.Value {
		then, origin, ok := c.OwnWhileSlow()
		if ok {
			v.Evidence = append(v.Evidence, c.Figure("process.own_work_cpus_when_slow_share", "share of the CPUs busy with the program's own work during slow requests", then, "1", origin))
		}
		if !ok || then < saturated.Value {
			v.Title, v.Summary = "", fmt.Sprintf("bursts: %s of slow time waiting for a CPU busy with other requests, but the CPUs are only %s busy", units.Percent(share), units.Percent(max(busy, then)))
			return v
		}
		v.Title = fmt.Sprintf("The service is saturated while requests are slow: its own requests keep %s of the CPUs busy then, %s on average.", units.Percent(then), units.Percent(busy))
		v.Summary = fmt.Sprintf("CPUs %s busy with own work while requests are slow, %s on average", units.Percent(then), units.Percent(busy))
		busy = then
	}
	v.Rule = check.Matters
	per := make([]int64, len(l.Slow))
	for n, row := range l.Slow {
		ch := l.Of(row)
		for _, m := range queued {
			per[n] += int64(part * float64(ch[m]))
		}
	}
	v.Saves = c.Save(per, -1, -1)
	addLoadFixes(c, &v, busy*cpuCount(c))
	return v
}

// What lines of Go's scheduler must show to say by themselves that more is to run than can.
var (
	fewLooks = check.Threshold{Name: "lines of Go's scheduler", Value: 3, Unit: "count",
		Why: "one may be a burst", Source: "judgement: weighs a burst, which a line of a second shows once, against a queue that stands"}
	manyReady = check.Threshold{Name: "goroutines that are ready, for each P", Value: 3, Unit: "count",
		Why: "each waits for three others", Source: "arithmetic: each gets a quarter of a P"}
	noneIdle = check.Threshold{Name: "share of Ps that are not idle when none is free", Value: .95, Unit: "1",
		Why: "lines miss some moments", Source: "M/M/1: ρ/(1−ρ) is 19 at 95 %"}
)

// judgeScheduler judges a Go program without requests by its scheduler's trace lines: all its Ps
// are busy, and several times as many goroutines are ready to run.
func judgeScheduler(c *check.Case) (v check.Verdict, ok bool) {
	looks, _ := c.Fact(evidence.FactGoSchedLooks)
	ready, told := c.Fact(evidence.FactGoReady)
	busy, _ := c.Fact(evidence.FactGoBusy)
	procs := float64(c.Bundle.Subjects[c.Subject].CPUs)
	if !told || c.Ledger != nil || procs == 0 || looks.Number < fewLooks.Value || busy.Number < noneIdle.Value || ready.Number < manyReady.Value*procs {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: ready.Number / procs,
		Title:   fmt.Sprintf("There is more to run than %.0f CPUs can: on average %s goroutines are ready and wait for one.", procs, units.Num(ready.Number)),
		Summary: fmt.Sprintf("%s goroutines ready for %.0f Ps, %s of which are busy", units.Num(ready.Number), procs, units.Percent(busy.Number))}
	v.Counted(looks.Number, fewLooks)
	v.Weigh(ready.Number/procs, manyReady)
	v.Weigh(busy.Number, noneIdle)
	v.Evidence = append(v.Evidence, c.Figure("process.ready_goroutines", "goroutines ready to run, on average", ready.Number, "count", ready.Origin),
		c.Figure("process.busy_ps_share", "share of the Ps that were busy", busy.Number, "1", busy.Origin))
	v.Fix = []check.Fix{{Text: "find what runs: a CPU profile of this time shows whether it is requests, GC or a loop; then do less of it, limit how much is begun at a time, or use more CPUs"}}
	v.Needs = []check.Need{{What: "a CPU profile from the same period, and whether the host gave the process its CPUs", Command: "unstall record PID"}}
	return v, true
}

// judgeUnread judges data that waits to be read while the process's own threads keep the
// processors busy.
func judgeUnread(c *check.Case) (v check.Verdict, ok bool) {
	l := c.Ledger
	if l == nil || l.Unread == nil || l.Traced || len(l.Rows) < ledger.MinRequests {
		return v, false
	}
	share := c.Share(ledger.RequestsCPU)
	if share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		return v, false
	}
	busy := l.Unread.Part
	v = check.Verdict{Rule: check.Matters, Summary: check.OfSlow(share) + " waiting for a CPU busy with other work of the service", Saves: c.SaveMechanism(ledger.RequestsCPU)}
	v.Weigh(share, check.Material)
	v.Title = fmt.Sprintf("Requests that have arrived wait for CPUs, of which the service itself keeps %s busy at that time.", units.Percent(busy))
	v.Evidence = append(v.Evidence,
		c.Figure("slow.requests_cpu_ms", "slow time in which data had arrived and CPUs were busy with other work of the service", float64(l.Charges[ledger.RequestsCPU])/1e6, "ms", check.From(l.Source)),
		c.Figure("process.cpus_while_unread_share", fmt.Sprintf("share of the %d CPUs that its threads keep busy while data waits to be read", l.Unread.CPUs), busy, "1", cmp.Or(l.Unread.Origin, check.From(l.Source))))
	if !nameBackground(c, &v, share) {
		addLoadFixes(c, &v, busy*float64(l.Unread.CPUs))
		v.Title = fmt.Sprintf("%s: %s of slow time.", strings.TrimSuffix(v.Title, "."), units.Percent(share))
	}
	return v, true
}

// nameBackground names the service's background work as what keeps the CPUs busy while requests are slow, with what helps, and
// returns true, if most of the CPU time then serves no request. Share is the part of slow time that waits for these CPUs.
func nameBackground(c *check.Case, v *check.Verdict, share float64) bool {
	where, beside := c.RanWhileSlow()
	if len(where) == 0 || !(beside >= mostBeside.Value) { // a goroutine that a handler started may go on when the request is answered
		return nameOtherWork(c, v, share, where)
	}
	v.Weigh(beside, mostBeside)
	v.Title = fmt.Sprintf("Requests wait for CPUs that the service's own background work keeps busy, %s: %s of slow time.", formatLargest(&where[0]), units.Percent(share))
	v.Evidence = append(v.Evidence, c.Figure("work.beside_share", "share of what ran during slow requests that serves no request", beside, "1", where[0].Origin))
	addBackground(v, c, where)
	return true
}

// nameOtherWork says that the service keeps the CPUs busy with other work than its requests, with what helps, and returns true, if requests cannot
// have used most of the CPU time: at most all CPUs while one is under way. Else it may be the requests' own work. Where is what threads ran.
func nameOtherWork(c *check.Case, v *check.Verdict, share float64, where []check.Effort) bool {
	l, cores := c.Ledger, cpuCount(c)
	used, origin, known := c.OwnProcessors()
	if !known || cores == 0 || used <= 0 || l.To <= l.From {
		return false
	}
	underWay := underWayOf(&c.Bundle.Requests, l.Rows)
	part := float64(underWay.Within(l.From, l.To)) / float64(l.To-l.From)
	beside := 1 - part*cores/used
	if beside < mostBeside.Value {
		return false
	}
	v.Weigh(beside, mostBeside)
	most := ""
	fix := check.Fix{Text: "find what that work is: the stacks of running threads, or a CPU profile, show it. Then end it if it is of no use, give it fewer threads than there are CPUs, do it in smaller pieces, or in a separate process"}
	if len(where) > 0 && 2*where[0].Share >= 1 {
		most = ", " + formatLargest(&where[0])
		fix = check.Fix{Text: "end this work if it is of no use, give it fewer threads than there are CPUs, do it in smaller pieces, or in a separate process", Code: where[0].Function}
	}
	v.Title = fmt.Sprintf("Requests wait for CPUs that the service keeps busy with other work than these requests%s: %s of slow time.", most, units.Percent(share))
	v.Evidence = append(v.Evidence, c.Figure("work.beside_least_share", fmt.Sprintf("share of the process's CPU time, at least, that these requests cannot have used: one is under way for %s of the time", units.Percent(part)), beside, "1", origin))
	v.Fix = append(v.Fix, fix)
	return true
}

// formatLargest names the function with the largest part of some work.
func formatLargest(e *check.Effort) string {
	if 2*e.Share >= 1 {
		return "most of it in " + e.Name()
	}
	return "the largest part in " + e.Name()
}

// ownPart returns the part of the CPU time in which the program itself ran, not the collector; 1
// where that is not known.
func ownPart(c *check.Case, own float64) float64 {
	run, ok := c.Fact(evidence.FactRunTime)
	if !ok || run.Until <= run.From || run.Number <= 0 {
		return 1
	}
	return min(1, own*cpuCount(c)*float64(run.Until-run.From)/run.Number)
}

// judgeBackground judges CPUs that the service's own background work holds, not other requests:
// rebuilding a table, a compaction. It may be short.
func judgeBackground(c *check.Case, v check.Verdict, share float64) check.Verdict {
	l := c.Ledger
	for _, f := range c.Found { // such as goroutines that pile up
		if f.Step == check.StepRest && f.Saves != nil && 2*f.Saves.Value >= float64(l.Charges[ledger.BackgroundCPU])/1e6 {
			v.Rule = check.Explained
			v.Summary = fmt.Sprintf("%s waiting for a CPU busy with background work, as %s explains", check.OfSlow(share), f.ID)
			return v
		}
	}
	v.Rule = check.Matters
	v.Summary = check.OfSlow(share) + " waiting for a CPU busy with the service's own background work"
	v.Weigh(share, check.Material)
	v.Title = fmt.Sprintf("Requests wait for CPUs that the service's own background work keeps busy: %s of slow time.", units.Percent(share))
	v.Saves = c.SaveMechanism(ledger.BackgroundCPU)
	v.Evidence = append(v.Evidence, c.Figure("slow.background_cpu_ms", "slow time runnable, CPU busy with background work", float64(l.Charges[ledger.BackgroundCPU])/1e6, "ms", check.From(l.StatesFrom())))
	where := c.Background()
	if len(where) > 0 {
		v.Title = fmt.Sprintf("Requests wait for CPUs that the service's own background work keeps busy, %s: %s of slow time.", where[0].Name(), units.Percent(share))
	}
	addBackground(&v, c, where)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := l.Of(row); return ch[ledger.BackgroundCPU] }))
	return v
}

var mostBeside = check.Threshold{Name: "share of the CPU time during slow requests that serves no request, from which background work keeps CPUs busy", Value: .5, Unit: "1",
	Why: "most of it", Source: "arithmetic: half"}

// addBackground adds where background work runs, and what helps against it.
func addBackground(v *check.Verdict, c *check.Case, where []check.Effort) {
	fix := check.Fix{Text: "give this work fewer threads than there are CPUs, do it in smaller pieces, or in a separate process"}
	if len(where) > 0 {
		fix.Code = where[0].Function
		for _, w := range where[:min(3, len(where))] {
			v.Evidence = append(v.Evidence, c.Figure("work.background_site_share", "share of that work in "+w.Name(), w.Share, "1", w.Origin))
		}
	}
	v.Fix = append(v.Fix, fix, check.Fix{Text: "add CPUs, and make this work leave some free for requests"})
}

func cpuCount(c *check.Case) float64 {
	all := c.Bundle.CPUsOf(c.Subject)
	if c.Bundle.Subjects[c.Subject].CPUs == 0 { // the runtime does not tell
		if n := metrics.Parallel(c.Bundle, c.Subject, ledgerWindow(c)); n > 0 {
			all = min(all, n)
		}
	}
	return float64(all)
}

// ownUtilisation returns the share of its CPUs that the program's own code used, without the
// collector's workers.
func ownUtilisation(c *check.Case) (float64, bool) {
	own, _, ok := c.OwnProcessors()
	if n := cpuCount(c); ok && n > 0 && c.Traced() && !c.Ledger.Sampled {
		return own / n, true
	}
	return 0, false
}
