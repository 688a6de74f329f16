package service

import (
	"cmp"
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

// sampledLoad is the load on the CPUs by thread samples, which do not tell a thread that runs from one that is ready: of n
// requests that seem to run on fewer CPUs, the rest waits for its turn. A thread in native code without a known wait
// counts as running; requests that wait for a pool thread wait for those.
type sampledLoad struct {
	cores, used float64 // CPUs of the process; CPUs that its requests' work keeps busy, without the collector
	origin      evidence.Origin
	when        string       // of used: "" on average, else a clause
	running     float64      // requests that run by the samples, at once
	ready       float64      // requests that wait for a CPU behind their own process's threads, at once, by the kernel's account
	waited      float64      // of the time seen running, the part that waited for a CPU
	onCPU       float64      // of the waits for a thread, the part in which threads ran or waited for a CPU
	outside     float64      // of the unobserved time, the part that waits for CPUs
	share       float64      // of slow time that waits for CPUs
	threads     check.Behind // the waits for a thread
}

// sampledLoadOf returns false where how busy the CPUs were is not known.
func sampledLoadOf(c *check.Case) (x sampledLoad, known bool) {
	l := c.Ledger
	x.used, x.origin, known = c.OwnProcessors()
	x.cores = cpuCount(c)
	if !known || x.cores == 0 || l.To <= l.From {
		return x, false
	}
	var running, ready int64
	for _, row := range l.Rows {
		ch := l.Of(row)
		running, ready = running+ch[ledger.Own]+ch[ledger.Unexplained], ready+ch[ledger.RequestsCPU]
	}
	x.running, x.ready = float64(running)/float64(l.To-l.From), float64(ready)/float64(l.To-l.From)
	if x.running > x.used {
		x.waited = 1 - x.used/x.running
	}
	if then, from, seen := c.OwnWhileSlow(); seen && then*x.cores > x.used { // before and after the load CPUs are free
		x.used, x.origin, x.when = then*x.cores, from, " while requests are slow"
	}
	if called := c.CalledProcessors(); called > 0 && x.used < x.cores { // programs of this host work for its requests, too
		x.used = min(x.cores, x.used+called)
		x.when += ", with the programs of this host that they call"
	}
	x.outside = queuedOutside(c)
	if x.used >= full.Value*x.cores && !c.HasRequestStates() {
		x.outside = 1 // what full CPUs leave unseen waits for them: in the runtime's own queue, or before the service began
	}
	x.threads, x.onCPU = c.BehindFor(ledger.PoolThread), 1
	if x.threads.Total > 0 {
		x.onCPU = float64(x.threads.Roots[ledger.PoolThread]+x.threads.Roots[ledger.RequestsCPU]) / float64(x.threads.Total)
	}
	x.share = x.waited*c.Share(ledger.Own, ledger.Unexplained) + x.onCPU*c.Share(ledger.PoolThread) + c.Share(ledger.RequestsCPU) + x.outside*c.Share(ledger.Unobserved)
	return x, true
}

// isSaturated reports whether the service's own work fills its CPUs, and slow requests wait for them.
func (x *sampledLoad) isSaturated(c *check.Case) bool {
	return x.used >= saturated.Value*x.cores && x.share >= check.Material.Value && c.Slow()
}

// waitOf returns how long (ns) a request waited for a CPU, where these are its charges.
func (x *sampledLoad) waitOf(ch *ledger.Charges) int64 {
	return int64(x.waited*float64(ch[ledger.Own]+ch[ledger.Unexplained])+x.onCPU*float64(ch[ledger.PoolThread])+x.outside*float64(ch[ledger.Unobserved])) + ch[ledger.RequestsCPU]
}

func judgeSampled(c *check.Case) check.Verdict {
	l := c.Ledger
	x, known := sampledLoadOf(c)
	if !known {
		return check.Verdict{Rule: check.NotRecorded, Summary: "how busy the CPUs were was not recorded", Needs: []check.Need{{What: "the process's CPU time at the same time", Command: "unstall record PID"}}}
	}
	busy := x.used / x.cores
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("the service keeps %s of %.0f CPUs busy%s", units.Percent(busy), x.cores, x.when)}
	v.Weigh(busy, saturated)
	v.Weigh(x.share, check.Material)
	v.Evidence = append(v.Evidence,
		c.Figure("process.without_gc_cpus", fmt.Sprintf("CPUs used by the process without GC%s, of %.0f", x.when, x.cores), x.used, "CPUs", x.origin),
		c.Figure("requests.running_mean", "requests running or runnable, on average", x.running+x.ready, "count", check.From(l.StatesFrom())))
	if out := poolQueueWaitOf(c); x.used >= saturated.Value*x.cores && (x.share < check.Material.Value || !c.Slow()) && out.meanWait(metrics.Whole) >= check.Noticeable.Duration() {
		v.Rule = check.OutOfSight
		v.Title = fmt.Sprintf("The service is saturated: its own requests keep %s of the CPUs busy, and other requests wait %s before it starts them.", units.Percent(busy), units.Time(float64(out.meanWait(metrics.Whole))))
		v.Evidence = append(v.Evidence, out.waitFigure(c, ", on average", metrics.Whole))
		v.Weight = busy
		addLoadFixes(c, &v, x.used)
		return v
	}
	if !x.isSaturated(c) {
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("The service is saturated: its own requests keep %s of the CPUs busy%s.", units.Percent(busy), x.when)
	low := l.Charges[ledger.RequestsCPU] + x.threads.Roots[ledger.RequestsCPU] // the kernel counted this
	per, sum := make([]int64, len(l.Slow)), int64(0)
	for n, row := range l.Slow {
		ch := l.Of(row)
		per[n] = x.waitOf(&ch)
		sum += per[n]
	}
	v.Saves = c.Save(per, min(low, sum), sum)
	if !nameBackground(c, &v, x.share) {
		addLoadFixes(c, &v, x.used)
	}
	return v
}

var full = check.Threshold{Name: "share of CPUs from which a process leaves none free", Value: .9, Unit: "1",
	Why: "its threads then wait for each other", Source: "M/M/1: ρ/(1−ρ) is 9 at 90 %"}

// judgeBusy judges a service that fills its CPUs and whose threads or states were not recorded:
// the kernel counted how long all its threads together waited for a CPU, which bounds what
// requests waited; requests that no thread has started wait for full CPUs as well. For a runtime
// with a collector whose CPU time is unknown, nothing is decided.
func judgeBusy(c *check.Case) (v check.Verdict, ok bool) {
	l := c.Ledger
	collector, sampled := collectorPart(c)
	blind := !c.OnThreads() && (platform.ByID(c.Runtime()).ReadCollector == nil || sampled)
	if !c.OnThreads() && !blind || l == nil || l.Traced || len(l.Rows) < ledger.MinRequests {
		return v, false
	}
	used, origin, known := c.OwnProcessors()
	used *= 1 - collector
	cores := cpuCount(c)
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
	ready := metrics.ProcessOf(c.Bundle, c.Subject, ledgerWindow(c)).RunDelay
	unread := 0.
	if blind { // data that no thread reads while all processors are busy
		unread = float64(sumOf(waitsFor(c, evidence.ArrivedAt)))
	}
	waited := min(float64(l.Total), ready.Number*float64(l.To-l.From)+outside*float64(l.Charges[ledger.Unobserved])+unread)
	if !ready.MostlyKnown() || waited < check.Material.Value*float64(l.Total) {
		return v, false
	}
	v.Rule, v.Summary = check.Matters, fmt.Sprintf("the service keeps %s of %.0f CPUs busy", units.Percent(used/cores), cores)
	v.Weigh(used/cores, full)
	v.Weigh(waited/float64(max(1, l.Total)), check.Material)
	v.Title = fmt.Sprintf("The service is saturated: it keeps %s of the CPUs busy by itself.", units.Percent(used/cores))
	if mean < full.Value*cores {
		v.Title = fmt.Sprintf("The service is saturated while requests are slow: it keeps %s of the CPUs busy by itself then.", units.Percent(used/cores))
		v.Evidence = append(v.Evidence, c.Figure("process.without_gc_cpus", fmt.Sprintf("CPUs used by the process without GC, on average, of %.0f", cores), mean, "CPUs", origin))
	}
	v.Evidence = append(v.Evidence,
		c.Figure("process.without_gc_when_slow_cpus", fmt.Sprintf("CPUs used by the process without GC during slow requests, of %.0f", cores), used, "CPUs", origin),
		c.Figure("process.runnable_threads", "threads waiting for a CPU, on average", ready.Number, "count", ready.Origin))
	v.Saves = c.Bound(waited, 0, waited)
	addLoadFixes(c, &v, used)
	return v, true
}

var fewSamples = check.Threshold{Name: "samples of the kernel's CPU clock", Value: 50, Unit: "count",
	Why: "fewer say too little about what a process spends CPU time on", Source: "binomial error of 50 samples: 7 %"}

// collectorPart returns the part of a program's CPU time that its collector takes, by the kernel's
// CPU clock, where no trace shows it; false if there are too few samples.
func collectorPart(c *check.Case) (part float64, ok bool) {
	on, x := c.Bundle.Names.Lookup(evidence.SampleOnCPU), &c.Bundle.Samples
	if on == 0 || platform.ByID(c.Runtime()).Collecting == nil {
		return 0, false
	}
	all, collects := 0, 0
	for i := range x.Len() {
		if x.Type[i] != on || x.Subject[i] != c.Subject || x.Stack[i] == 0 {
			continue
		}
		if all++; c.Collects(x.Stack[i]) {
			collects++
		}
	}
	return float64(collects) / float64(max(1, all)), all >= fewSamples.Int()
}

// queuedOutside returns which part of the unobserved time of clients their requests were in the
// pool's queue, before the service started them (Little's law); 0 where the requests are as the
// service recorded them.
func queuedOutside(c *check.Case) float64 {
	l := c.Ledger
	queue := metrics.Mean(c.Bundle, c.Subject, evidence.SeriesPoolQueue, ledgerWindow(c))
	if !queue.Known() || l.Charges[ledger.Unobserved] == 0 || c.Bundle.Requests.Lane.At(l.Rows[0]) != 0 {
		return 0
	}
	return min(1, queue.Number*queue.Watched*float64(l.To-l.From)/float64(unobservedTime(c)))
}

// unobservedTime returns the unobserved time (ns) of all requests, slow or not.
func unobservedTime(c *check.Case) (ns int64) {
	for _, row := range c.Ledger.Rows {
		ch := c.Ledger.Of(row)
		ns += ch[ledger.Unobserved]
	}
	return max(1, ns)
}

// addLoadFixes adds what each request costs, and what helps against too much work.
func addLoadFixes(c *check.Case, v *check.Verdict, used float64) {
	l := c.Ledger
	if l.Requests.Rate > 0 {
		v.Evidence = append(v.Evidence, c.Figure("requests.per_s", "requests", l.Requests.Rate, "1/s", check.From(l.Requests.Source)),
			c.Figure("requests.cpu_ms", "CPU time per request", used/l.Requests.Rate*1e3, "ms", check.From(l.Requests.Source)))
	}
	cheaper := check.Fix{Text: "make requests cheaper: the stacks of running threads show where CPU time goes"}
	where, of := c.Worked(), "the requests' own work"
	if len(where) == 0 {
		where, _ = c.RanWhileSlow()
		of = "what its threads ran while requests were slow"
	}
	if len(where) > 0 {
		v.Title = strings.TrimSuffix(v.Title, ".") + ", " + formatLargest(&where[0]) + "."
		for _, w := range where[:min(3, len(where))] {
			v.Evidence = append(v.Evidence, c.Figure("work.site_share", "share of "+of+" in "+w.Name(), w.Share, "1", w.Origin))
		}
		cheaper = check.Fix{Text: "make requests cheaper: most CPU time is spent here", Code: where[0].Name()}
	}
	if part := partSlow(c); part < burstTime.Value {
		v.Evidence = append(v.Evidence, c.Figure("requests.slow_time_share", "share of the time in which a slow request is under way", part, "1", check.From(l.Source)))
		v.Fix = append(v.Fix, check.Fix{Text: "find why requests work at the same time, while the CPUs have room otherwise: a value that each of them makes again when it has expired (let one make it while the others wait or get the old one), or heavy requests that come together (limit how many run at once)", Code: cheaper.Code},
			cheaper)
		return
	}
	more := fmt.Sprintf("add CPUs: at %s utilisation this load needs %s", units.Percent(comfortable.Value), units.Num(used/comfortable.Value))
	if times := offeredRatio(c); times >= outgrown.Value {
		more = fmt.Sprintf("add CPUs: %s times as many requests arrive as it completes, and at %s utilisation they need %s", units.Num(times), units.Percent(comfortable.Value), units.Num(times*used/comfortable.Value))
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: "reduce load: let callers cache, and reject excess requests early with a rate limit"},
		cheaper,
		check.Fix{Text: more})
}

var burstTime = check.Threshold{Name: "share of the time in which a slow request is under way, below which CPUs are full in bursts", Value: .5, Unit: "1",
	Why: "then CPUs have room most of the time, and the load as a whole needs no more of them", Source: "arithmetic: half"}

// partSlow returns the share of the time between the first request's begin and the last one's end in which a slow request was under way.
func partSlow(c *check.Case) float64 {
	l, r := c.Ledger, &c.Bundle.Requests
	all := underWayOf(r, l.Rows)
	if len(all) == 0 {
		return 1
	}
	return float64(underWayOf(r, l.Slow).Time()) / float64(max(1, all[len(all)-1].To-all[0].From))
}

// underWayOf returns when any of some requests was under way.
func underWayOf(r *evidence.Requests, rows []int) (all metrics.Spans) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(r.Begins(a), r.Begins(b)) })
	for _, row := range rows {
		all = all.Add(r.Begins(row), r.End.At(row))
	}
	return all
}

var outgrown = check.Threshold{Name: "requests that came over those that were served", Value: 1.1, Unit: "times",
	Why: "less comes and goes by chance", Source: "Poisson: three standard deviations of 900 requests (3·√900 is 90)"}

// offeredRatio returns how many times as many requests came as were served meanwhile: what CPUs do
// at their limit does not measure the demand. 1 where that is not known.
func offeredRatio(c *check.Case) float64 {
	l, r := c.Ledger, &c.Bundle.Requests
	if len(l.Rows) == 0 {
		return 1
	}
	if r.Lane.At(l.Rows[0]) != 0 { // what has not begun is in the queue
		o := poolQueueWaitOf(c)
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

// ledgerWindow returns the time span of the requests that the ledger charges.
func ledgerWindow(c *check.Case) metrics.Window {
	return metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
}

// busyProcessors returns the part of the CPUs that the service's own work keeps busy; 0 where that
// is not known.
func busyProcessors(c *check.Case) float64 {
	if c.Traced() && !c.Ledger.Sampled {
		busy, _ := ownUtilisation(c)
		return busy
	}
	used, _, known := c.OwnProcessors()
	if cores := cpuCount(c); known && cores > 0 {
		return used / cores
	}
	return 0
}
