package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgeSampled judges where threads were looked at now and then, to which one that runs
// and one that would if it had a processor look the same: of n requests that seem to run
// on fewer processors, the rest waits for its turn. One in native code, of which nothing
// says that it waits, is taken to run; who waits for a thread of the pool waits for those.
func judgeSampled(c *check.Case) check.Verdict {
	l := c.Ledger
	used, origin, known := c.OwnProcessors()
	cores := procs(c)
	if !known || cores == 0 || l.To <= l.From {
		return check.Verdict{Rule: check.NotRecorded, Summary: "how busy the CPUs were was not recorded", Needs: []check.Need{{What: "the process's CPU time at the same time", Command: "unstall record PID"}}}
	}
	var running int64
	for _, row := range l.Rows {
		ch := l.Of(row)
		running += ch[ledger.Own] + ch[ledger.Unexplained]
	}
	at := float64(running) / float64(l.To-l.From) // at once
	waited := 0.
	if at > used {
		waited = 1 - used/at
	}
	outside := queuedOutside(c)
	if used >= full.Value*cores && !c.HasRequestStates() {
		outside = 1 // what full CPUs leave unseen waits for them: in the runtime's own queue, or before the service began
	}
	share := waited*c.Share(ledger.Own, ledger.Unexplained) + c.Share(ledger.PoolThread, ledger.RequestsCPU) + outside*c.Share(ledger.Unobserved)
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("the service keeps %s of %.0f CPUs busy", units.Percent(used/cores), cores)}
	v.Weigh(used/cores, saturated)
	v.Weigh(share, check.Material)
	v.Evidence = append(v.Evidence,
		c.Figure("process.without_gc_cpus", fmt.Sprintf("CPUs used by the process without GC, of %.0f", cores), used, "CPUs", origin),
		c.Figure("requests.running_mean", "requests running or runnable, on average", at, "1", check.From(l.StatesFrom())))
	if out := outsideOf(c); used >= saturated.Value*cores && (share < check.Material.Value || !c.Slow()) && out.over(metrics.Whole) >= check.Noticeable.Duration() {
		v.Rule = check.OutOfSight
		v.Title = fmt.Sprintf("The service is saturated: its own requests keep %s of the CPUs busy, and other requests wait %s before it starts them.", units.Percent(used/cores), units.Time(float64(out.over(metrics.Whole))))
		v.Evidence = append(v.Evidence, out.figure(c, ", on average", metrics.Whole))
		v.Weight = used / cores
		lighten(c, &v, used)
		return v
	}
	if used < saturated.Value*cores || share < check.Material.Value || !c.Slow() {
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("The service is saturated: its own requests keep %s of the CPUs busy.", units.Percent(used/cores))
	per, sum := make([]int64, len(l.Slow)), int64(0)
	for n, row := range l.Slow {
		ch := l.Of(row)
		per[n] = int64(waited*float64(ch[ledger.Own]+ch[ledger.Unexplained])) + ch[ledger.PoolThread] + ch[ledger.RequestsCPU] + int64(outside*float64(ch[ledger.Unobserved]))
		sum += per[n]
	}
	v.Saves = c.Save(per, 0, sum)
	lighten(c, &v, used)
	return v
}

var full = check.Threshold{Name: "share of CPUs from which a process leaves none free", Value: .9, Unit: "1",
	Why: "its threads then wait for each other", Source: "M/M/1: ρ/(1−ρ) is 9 at 90 %"}

// judgeBusy judges where nobody looked at the threads of a service that fills its
// processors, or at its states: what requests can have waited for one at most, the kernel has
// counted for all threads together; what waits before threads begin with it is not seen, but
// that it waits for full processors is. Of a runtime with a collector of which nothing tells
// what it took of them, it is not known whose work that is.
func judgeBusy(c *check.Case) (v check.Verdict, ok bool) {
	l := c.Ledger
	collector, sampled := collectorPart(c)
	blind := !c.OnThreads() && (platform.ByID(c.Runtime()).ReadCollector == nil || sampled)
	if !c.OnThreads() && !blind || l == nil || l.Traced || len(l.Rows) < ledger.MinRequests {
		return v, false
	}
	used, origin, known := c.OwnProcessors()
	used *= 1 - collector
	cores := procs(c)
	mean := used
	if then, from, seen := c.OwnWhileSlow(); seen && (1-collector)*then*cores > used {
		used, origin, known = (1-collector)*then*cores, from, true
	}
	if !known || cores == 0 || used < full.Value*cores || !c.Slow() {
		return v, false
	}
	outside := queuedOutside(c)
	if blind && !c.HasRequestStates() {
		outside = 1
	}
	ready := metrics.ProcessOf(c.Bundle, c.Subject, window(c)).RunDelay
	unread := 0.
	if blind { // data that no thread reads while all processors are busy
		unread = float64(sumOf(waitsFor(c, evidence.ArrivedAt)))
	}
	waited := min(float64(l.Total), ready.Number*float64(l.To-l.From)+outside*float64(l.Charges[ledger.Unobserved])+unread)
	if !ready.MostlyKnown() || waited < check.Material.Value*float64(l.Total) {
		return v, false
	}
	v.Rule, v.Summary = check.Matters, fmt.Sprintf("the service keeps %s of %.0f CPUs busy", units.Percent(used/cores), cores)
	v.Title = fmt.Sprintf("The service is saturated: it keeps %s of the CPUs busy by itself.", units.Percent(used/cores))
	if mean < full.Value*cores {
		v.Title = fmt.Sprintf("The service is saturated while requests are slow: it keeps %s of the CPUs busy by itself then.", units.Percent(used/cores))
		v.Evidence = append(v.Evidence, c.Figure("process.without_gc_cpus", fmt.Sprintf("CPUs used by the process without GC, on average, of %.0f", cores), mean, "CPUs", origin))
	}
	v.Evidence = append(v.Evidence,
		c.Figure("process.without_gc_when_slow_cpus", fmt.Sprintf("CPUs used by the process without GC during slow requests, of %.0f", cores), used, "CPUs", origin),
		c.Figure("process.runnable_threads", "threads waiting for a CPU, on average", ready.Number, "count", ready.Origin))
	v.Saves = c.Bound(waited, 0, waited)
	lighten(c, &v, used)
	return v, true
}

var fewSamples = check.Threshold{Name: "samples of the kernel's CPU clock", Value: 50, Unit: "count",
	Why: "fewer say too little about what a process spends CPU time on", Source: "binomial error of 50 samples: 7 %"}

// collectorPart is the part of a program's CPU time that its collector takes, by the kernel's CPU clock, where no trace shows it; false:
// there are too few samples.
func collectorPart(c *check.Case) (part float64, ok bool) {
	on, x := c.Bundle.Names.Lookup(evidence.SampleOnCPU), &c.Bundle.Samples
	collecting := platform.ByID(c.Runtime()).Collecting
	if on == 0 || collecting == nil {
		return 0, false
	}
	all, collects := 0, 0
	known := make(map[evidence.StackID]bool)
	for i := range x.Len() {
		if x.Type[i] != on || x.Subject[i] != c.Subject || x.Stack[i] == 0 {
			continue
		}
		is, met := known[x.Stack[i]]
		if !met {
			is = slices.ContainsFunc(c.Bundle.Stacks.Frames(x.Stack[i]), func(f evidence.Frame) bool {
				return slices.Contains(collecting, c.Bundle.Names.Text(f.Func))
			})
			known[x.Stack[i]] = is
		}
		if all++; is {
			collects++
		}
	}
	return float64(collects) / float64(max(1, all)), all >= fewSamples.Int()
}

// queuedOutside is which part of the time that clients waited, and nobody saw, their
// requests were in the queue of the pool, before the service began with them (Little's
// law); 0 where the requests are the service's own.
func queuedOutside(c *check.Case) float64 {
	l := c.Ledger
	queue := metrics.Mean(c.Bundle, c.Subject, evidence.SeriesPoolQueue, window(c))
	if !queue.Known() || l.Charges[ledger.Unobserved] == 0 || c.Bundle.Requests.Lane.At(l.Rows[0]) != 0 {
		return 0
	}
	return min(1, queue.Number*queue.Watched*float64(l.To-l.From)/float64(unobserved(c)))
}

// unobserved is the time of all requests, slow or not, that nobody saw.
func unobserved(c *check.Case) (ns int64) {
	for _, row := range c.Ledger.Rows {
		ch := c.Ledger.Of(row)
		ns += ch[ledger.Unobserved]
	}
	return max(1, ns)
}

// lighten says what each request costs, and what helps.
func lighten(c *check.Case, v *check.Verdict, used float64) {
	if l := c.Ledger; l.Requests.Rate > 0 {
		v.Evidence = append(v.Evidence, c.Figure("requests.per_s", "requests", l.Requests.Rate, "1/s", check.From(l.Requests.Source)),
			c.Figure("requests.cpu_ms", "CPU time per request", used/l.Requests.Rate*1e3, "ms", check.From(l.Requests.Source)))
	}
	cheaper := check.Fix{Text: "make requests cheaper: the stacks of running threads show where CPU time goes"}
	if where := c.Worked(); len(where) > 0 {
		v.Title = strings.TrimSuffix(v.Title, ".") + ", most of it in " + where[0].Name() + "."
		for _, w := range where[:min(3, len(where))] {
			v.Evidence = append(v.Evidence, c.Figure("work.site_share", "share of the requests' own work in "+w.Name(), w.Share, "1", w.Origin))
		}
		cheaper = check.Fix{Text: "make requests cheaper: most CPU time is spent here", Code: where[0].Name()}
	}
	more := fmt.Sprintf("add CPUs: at %s utilisation this load needs %s", units.Percent(comfortable.Value), units.Num(used/comfortable.Value))
	if times := offered(c); times >= outgrown.Value {
		more = fmt.Sprintf("add CPUs: %s times as many requests arrive as it completes, and at %s utilisation they need %s", units.Num(times), units.Percent(comfortable.Value), units.Num(times*used/comfortable.Value))
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: "reduce load: let callers cache, and reject excess requests early with a rate limit"},
		cheaper,
		check.Fix{Text: more})
}

var outgrown = check.Threshold{Name: "requests that came over those that were served", Value: 1.1, Unit: "times",
	Why: "less comes and goes by chance", Source: "judgement"}

// offered is how many times as many requests came as were served meanwhile: what processors do
// at their limit is no measure of what was asked of them. 1 where that is not known.
func offered(c *check.Case) float64 {
	l, r := c.Ledger, &c.Bundle.Requests
	if len(l.Rows) == 0 {
		return 1
	}
	if r.Lane.At(l.Rows[0]) != 0 { // what has not begun is in the queue
		o := outsideOf(c)
		if o == nil || o.queue.Span() < metrics.Short {
			return 1
		}
		return 1 + max(0, o.queue.Last()-o.queue.V[0])/o.queue.Span()/o.rate
	}
	var last int64
	for _, row := range l.Rows {
		last = max(last, r.End.At(row)-r.Latency(row))
	}
	done := 0
	for _, row := range l.Rows {
		if r.End.At(row) <= last {
			done++
		}
	}
	return float64(len(l.Rows)) / float64(max(1, done))
}

// window is the time of the requests that the ledger charges.
func window(c *check.Case) metrics.Window {
	return metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
}

// busyProcessors is the part of the processors that the service's own work keeps busy; 0
// where that is not known.
func busyProcessors(c *check.Case) float64 {
	if c.Traced() && !c.Ledger.Sampled {
		busy, _ := ownUtilisation(c)
		return busy
	}
	used, _, known := c.OwnProcessors()
	if cores := procs(c); known && cores > 0 {
		return used / cores
	}
	return 0
}
