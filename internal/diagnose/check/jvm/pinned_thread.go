package jvm

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// PinnedThread is virtual threads that keep their carriers while they wait.
var PinnedThread = check.Check{
	ID:    "jvm.pinned-thread",
	Title: "virtual threads wait without releasing their carrier (pinned)",
	Step:  check.StepPool,
	Doc: `Virtual threads run on carriers, as many as there are CPUs. A waiting thread releases its
carrier, so thousands can wait at the same time. Up to JDK 23 one that waits inside
synchronized cannot (it is pinned), and one with a native frame on its stack cannot on
any JDK. When as many are pinned as there are carriers, no other virtual thread runs:
requests wait although they hold nothing and need nothing, while the CPUs are idle.

A flight recording names each such wait of 20 ms and more with its stack
(jdk.VirtualThreadPinned); JDK 19 to 23 print each stack once with
-Djdk.tracePinnedThreads. Dumps of the virtual threads (unstall takes them on JDK 21 to
24) show pinned threads and threads that have not run yet.

How to tell it from similar problems: where virtual threads compute, or read files, they
keep their carriers without being pinned (service.over-capacity, service.pool-exhausted);
where they queue for one lock it is that lock, whatever carries them
(jvm.lock-contention).

What helps: java.util.concurrent.locks.ReentrantLock instead of synchronized around what
waits; JDK 24 or later, where synchronized does not pin (JEP 491); until then more
carriers, -Djdk.virtualThreadScheduler.parallelism. What does not help: more virtual
threads, or a larger heap.`,
	Least: fmt.Sprintf("5 pinned waits that occupy all carriers for %v of the time; in dumps, pinned threads on all carriers in most of 3 dumps while others wait for one; by the JVM's own prints, %v that are kept; with requests, %v of slow time",
		allPinned, printedCarriers, check.Material),
	Thresholds: []check.Threshold{check.TwoKinds, allPinned, freesMonitors, fullyOf, mostlyFresh, printedCarriers, somePinned, unified, check.FarLonger, check.Material, check.MinRequests,
		check.MostlyUnseen, check.Queueing, check.SlowShare, check.SomeSlow},

	Needs:   "a flight recording (unstall record PID makes one on JDK 25, --jfr on others), or dumps of the virtual threads (JDK 21 to 24: unstall record PID)",
	Applies: func(c *check.Case) bool { return isJVM(c) && hasVirtualThreads(c) },
	Judge:   judgePinned,
}

// Pinned waits matter if there are at least somePinned of them, which occupy all carriers for at least allPinned of the time.
var (
	somePinned = check.Threshold{Name: "pinned waits", Value: 5, Unit: "count",
		Why: "fewer are the JVM's own, or of a start", Source: "Poisson: where 5 are expected, another recording has none in 0.7 % of cases (e⁻⁵)"}
	allPinned = check.Threshold{Name: "share of the time in which all carriers are kept", Value: .1, Unit: "1",
		Why: "a tenth of what arrives waits", Source: "arithmetic: the p90"}
	mostlyFresh = check.Threshold{Name: "share of dumps that show virtual threads which have not run yet", Value: .5, Unit: "1",
		Why: "something keeps the carriers", Source: "arithmetic: half"}
	fullyOf = check.Threshold{Name: "share of samples of those that keep carriers, that show them pinned", Value: .5, Unit: "1",
		Why: "else they keep them because they have work", Source: "arithmetic: half"}
)

// hasVirtualThreads says whether a JVM has virtual threads, or pinned threads were watched for.
func hasVirtualThreads(c *check.Case) bool {
	if _, printed := c.Fact(evidence.FactPinnedCarriers); printed {
		return true
	}
	return len(c.Bundle.Covered(c.Subject, evidence.CoverPinned)) > 0 ||
		slices.ContainsFunc(c.Threads().Samples(c.Subject), func(l threads.Sample) bool { return l.View.Virtual || l.View.Carrier })
}

func judgePinned(c *check.Case) check.Verdict {
	x, p := pinnedCarriers(c), metrics.PinnedOf(c.Bundle, c.Subject)
	switch {
	case p != nil && p.Waits >= somePinned.Int() && p.All >= allPinned.Value:
	case x != nil && x.Waiting >= check.Queueing.Value:
	case p == nil && c.Ledger == nil && isPrinted(c):
		return printedVerdict(c)
	case p != nil:
		v := check.Verdict{Rule: check.TooLittle, Summary: "no virtual thread was pinned for long"}
		v.Counted(float64(p.Waits), somePinned)
		v.Weigh(p.All, allPinned)
		if p.Waits > 0 {
			v.Summary = fmt.Sprintf("virtual threads were pinned %s and occupied %s carriers on average", units.Times(p.Waits), units.Num(p.Mean))
		}
		v.Evidence = pinnedFigures(c, p)
		return v
	default:
		return unpinnedVerdict(c)
	}
	return pinnedVerdict(c, x, p)
}

// printedCarriers is how many carriers the JVM must say are kept for its prints alone to support the cause.
var printedCarriers = check.Threshold{Name: "carriers that the JVM's own prints show kept by threads that wait", Value: 3, Unit: "count",
	Why: "one or two are a start's, or of code that rarely runs", Source: "judgement: weighs places where a thread waits now and then against many that keep carriers; a service's host has at least two CPUs, and so two carriers"}

func isPrinted(c *check.Case) bool {
	_, printed := c.Fact(evidence.FactPinnedCarriers)
	return printed
}

// printedVerdict judges by what the JVM prints of pinned threads (-Djdk.tracePinnedThreads), which tells where, but neither how often nor for how long.
func printedVerdict(c *check.Case) check.Verdict {
	n, _ := c.Fact(evidence.FactPinnedCarriers)
	stacks, _ := c.Fact(evidence.FactPinnedStacks)
	v := check.Verdict{Rule: check.NotRecorded, Summary: fmt.Sprintf("the JVM printed that threads that wait kept %s; how often and for how long is unknown", units.Plural(int(n.Number), "carrier")),
		Evidence: []check.Evidence{c.Figure("pinned.printed_carriers", "carriers that the JVM said are kept, in "+n.Value+" most", n.Number, "count", n.Origin),
			c.Figure("pinned.printed_stacks", "different stacks that kept them", stacks.Number, "count", stacks.Origin)},
		Needs: []check.Need{{What: "how long threads wait there: a flight recording", Command: "unstall record PID --jfr"}}}
	v.Counted(n.Number, printedCarriers)
	if n.Number < printedCarriers.Value {
		return v
	}
	v.Rule, v.Weight = check.StandsAlone, check.Material.Value
	v.Title = fmt.Sprintf("Virtual threads probably wait for a carrier: %.0f carriers were kept by threads that wait inside synchronized or native code, in %s.", n.Number, n.Value)
	v.Summary = fmt.Sprintf("%.0f carriers kept by threads that wait, by the JVM's own prints", n.Number)
	v.Fix = []check.Fix{freeCarriers(c, n.Value)}
	return v
}

// unpinnedVerdict returns the verdict where neither events nor samples show threads that wait for
// a pinned one. Samples rule it out only if they show no pinned thread, and hardly any that waits
// for a carrier.
func unpinnedVerdict(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.NotRecorded, Needs: []check.Need{{What: "a flight recording, which names pinned waits", Command: "unstall record PID --jfr"}}}
	pinned, fresh, moments := c.Threads().Kept(c.Subject)
	const acquitted = "no pinned thread occupied a carrier that others waited for"
	known := slices.ContainsFunc(c.Threads().Limits(c.Subject), func(x threads.Limit) bool { return x.Carriers }) // samples show what keeps the carriers
	switch {
	case known:
		return check.Verdict{Rule: check.Absent, Summary: acquitted}
	case c.WaitsUnseen():
		v.Summary = "whether virtual threads were pinned was not recorded"
	case pinned >= somePinned.Int():
		v.Summary = fmt.Sprintf("in %d of %d samples a virtual thread was pinned to its carrier; whether requests waited for it is not known", pinned, moments)
	case fresh >= somePinned.Int() && float64(fresh) >= mostlyFresh.Value*float64(moments):
		v.Summary = fmt.Sprintf("in %d of %d samples virtual threads had not run yet; what occupied the carriers is not known", fresh, moments)
	default:
		return check.Verdict{Rule: check.Absent, Summary: acquitted}
	}
	return v
}

// pinnedCarriers returns what thread samples show of threads that wait for a carrier, if the
// carriers are occupied by pinned threads.
func pinnedCarriers(c *check.Case) *threads.Limit {
	all := c.Threads().Limits(c.Subject)
	n := slices.IndexFunc(all, func(x threads.Limit) bool { return x.Carriers && x.Pinned >= fullyOf.Value })
	if n < 0 {
		return nil
	}
	return &all[n]
}

// pinnedVerdict returns the verdict of a JVM whose carriers are occupied by pinned threads, as
// samples, events or both show.
func pinnedVerdict(c *check.Case, x *threads.Limit, p *metrics.Pinned) check.Verdict {
	v := check.Verdict{Rule: check.Matters}
	where := ""
	if p != nil && p.Waits >= somePinned.Int() && p.All >= allPinned.Value {
		v.Weight = p.All
		v.Counted(float64(p.Waits), somePinned)
		v.Weigh(p.All, allPinned)
		v.Summary = fmt.Sprintf("pinned threads occupied all carriers %s of the time", units.Percent(p.All))
		v.Evidence = pinnedFigures(c, p)
		where = c.SiteOf(p.Sites[0].Stack).String()
	}
	if x != nil {
		v.Weigh(x.Waiting, check.Queueing)
		v.Weight = max(v.Weight, min(1, x.Waiting/float64(max(1, x.Most))))
		if v.Summary == "" {
			v.Summary = fmt.Sprintf("on average %s virtual threads waited for a carrier", units.Num(x.Waiting))
		}
		v.Evidence = append(v.Evidence,
			c.Figure("carriers.waiting_threads", fmt.Sprintf("virtual threads that had not run yet, average of %d samples", x.Looks), x.Waiting, "count", x.Origin),
			c.Figure("carriers.kept_threads", fmt.Sprintf("virtual threads on a carrier at that time, of %d", x.Most), x.Beyond, "count", x.Origin),
			c.Figure("carriers.pinned_share", "share of their samples in which they were pinned", x.Pinned, "1", x.Origin))
		if where == "" {
			where = x.Pins
		}
	}
	v.Title = "Virtual threads wait for a carrier: all carriers are pinned by threads that wait in synchronized or native code."
	if where != "" {
		v.Title = fmt.Sprintf("Virtual threads wait for a carrier: all carriers are pinned by threads that wait inside synchronized or native code, in %s.", where)
	}
	v.Fix = append(v.Fix, freeCarriers(c, where))
	switch {
	case c.Ledger == nil || !c.Slow():
	case x != nil && c.HasRequestStates():
		return pinnedCost(c, v, x)
	case p != nil && c.Bundle.Clocks[c.Bundle.Requests.Clock.At(c.Ledger.Rows[0])].Anchored():
		return pinnedMeanwhile(c, v, p)
	}
	return v
}

// pinnedMeanwhile adds an upper bound of the cost: the time above the usual in which all carriers
// were occupied while a slow request was under way. A virtual thread that waits for a carrier is
// not sampled.
func pinnedMeanwhile(c *check.Case, v check.Verdict, p *metrics.Pinned) check.Verdict {
	l, r := c.Ledger, &c.Bundle.Requests
	per, _, _ := c.Excess(l.Rows, l.Slow, r.Latency)
	var sum int64
	for n, row := range l.Slow {
		per[n] = min(per[n], p.Full.Within(r.End.At(row)-r.Latency(row), r.End.At(row)))
		sum += per[n]
	}
	share := float64(sum) / float64(max(1, l.Total))
	v.Evidence = append(v.Evidence, c.Figure("slow.pinned_ms", "slow time above the usual while all carriers were occupied, upper bound", float64(sum)/1e6, "ms", p.Origin))
	v.Weigh(share, check.Material)
	if share < check.Material.Value {
		v.Rule, v.Fix, v.Weight = check.TooLittle, nil, 0
		v.Summary = check.SlowWait("while all carriers were occupied", sum, share)
		return v
	}
	v.Saves = c.Save(per, 0, sum)
	return v
}

// pinnedCost adds what the waits for a carrier cost slow requests; if that is little, it rules the
// cause out.
func pinnedCost(c *check.Case, v check.Verdict, x *threads.Limit) check.Verdict {
	name := c.Bundle.Names.Lookup(x.Words())
	wait := func(s *evidence.Segment, ch *ledger.Charges) (ledger.Mechanism, int64) {
		if name == 0 || s.Cause != name {
			return ledger.Pool, 0
		}
		for _, m := range []ledger.Mechanism{ledger.PoolThread, ledger.Pool} {
			if ch[m] > 0 {
				return m, ch[m]
			}
		}
		return ledger.Pool, 0
	}
	behind := c.BehindOf(wait)
	share := float64(behind.Total) / float64(max(1, c.Ledger.Total))
	v.Evidence = append(v.Evidence, c.Figure("slow.carrier_ms", "slow time waiting for a carrier", float64(behind.Total)/1e6, "ms", check.From(c.Ledger.StatesFrom())))
	v.Weigh(share, check.Material)
	if share < check.Material.Value {
		v.Rule, v.Fix, v.Weight = check.TooLittle, nil, 0
		v.Summary = check.SlowWait("for a carrier", behind.Total, share)
		return v
	}
	v.Saves = c.Save(behind.Own, -1, -1)
	return v
}

// pinnedFigures returns what the runtime's events report of pinned waits.
func pinnedFigures(c *check.Case, p *metrics.Pinned) (out []check.Evidence) {
	out = append(out, c.Figure("pinned.waits", "waits of virtual threads that were pinned", float64(p.Waits), "count", p.Origin))
	if p.Waits == 0 {
		return out
	}
	out = append(out,
		c.Figure("pinned.carriers", "carriers that they occupied, on average", p.Mean, "count", p.Origin),
		c.Figure("pinned.carriers_most", "most carriers that they occupied at the same time", float64(p.Most), "count", p.Origin),
		c.Figure("pinned.all_share", "share of the time in which they occupied all carriers", p.All, "1", p.Origin),
		c.Figure("pinned.longest_ms", "longest of these waits", float64(p.Longest)/1e6, "ms", p.Origin))
	for _, s := range p.Sites[:min(3, len(p.Sites))] {
		text := "pinned " + cmp.Or(c.SiteOf(s.Stack).String(), threads.Nameless)
		if s.Reason != "" {
			text += " (" + s.Reason + ")"
		}
		out = append(out, c.Figure("pinned.at_s", text, float64(s.Waited)/1e9, "s", s.Origin))
	}
	return out
}

// freeCarriers returns the fix: from JDK 24 on synchronized does not pin
// (https://openjdk.org/jeps/491).
func freeCarriers(c *check.Case, where string) check.Fix {
	if featureRelease(c) >= freesMonitors.Int() {
		return check.Fix{Text: "run work that waits below native code (JNI, a class initializer) on a pool of platform threads", Code: where}
	}
	fix := check.Fix{Text: "use a ReentrantLock instead of synchronized around what waits, or run on JDK 24 or later, where synchronized does not pin; until then give virtual threads more carriers",
		Setting: "-Djdk.virtualThreadScheduler.parallelism=64", Code: where}
	if n := c.Bundle.Subjects[c.Subject].CPUs; n > 0 {
		fix.Setting = fmt.Sprintf("-Djdk.virtualThreadScheduler.parallelism=%d", manyCarriers*n)
	}
	return fix
}

var freesMonitors = check.Threshold{Name: "JDK release from which a monitor pins no carrier", Value: 24, Unit: "count",
	Why: "advice depends on it", Source: "JEP 491: JDK 24"}

const (
	manyCarriers = 8 // carriers for each CPU, as a first step: the right number depends on how long each stays pinned
)
