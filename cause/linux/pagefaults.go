package linux

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/stats"
)

// PageFaults is time lost to touching memory for the first time.
var PageFaults = cause.Cause{
	ID:    "linux.page-faults",
	Title: "memory is touched for the first time",
	Doc: `Memory a process has asked for is not there until it is touched; then the kernel takes a
fault, finds a page and clears it: some 0.5–2 µs per 4 KiB, more in virtual machines. A
heap that grows into new memory pays this in the middle of requests. After a start with
a large GOMEMLIMIT, ballast or -Xmx the first fill of the heap can take many seconds,
and it passes: once the heap has been around, there are no more faults.

It shows as own work that takes longer while the heap is at a size it never had before
than after, with the collector idle; a CPU profile shows clearing
(runtime.memclrNoHeapPointers) under allocation. Minor faults of the process
(/proc/PID/stat) prove it.

Told from its look-alikes: the collector is not at work, so go.gc-rate is innocent; if
it goes on at a stable heap size, memory is given back and taken again (scavenger,
madvise): another matter.

What helps: waiting for it to pass before judging a change of heap size; warming up or
pre-touching before the service takes traffic; transparent huge pages for the heap.`,
	Needs:   "minor faults of the process (/proc/PID/stat), or an execution trace from the start: " + Record,
	Applies: func(c *cause.Case) bool { return true },
	Judge:   judgeFaults,
}

const faultEvidence = "minor faults of the process prove it: field 10 of /proc/PID/stat. While it happens, with the service's PID: " + Record

func judgeFaults(c *cause.Case) cause.Verdict {
	heap := c.Bundle.SeriesOf(c.Subject, "/memory/classes/heap/objects:bytes")
	if f := faultsOf(c); f != nil {
		return f.judge(c, heap)
	}
	if !c.Traced() || heap == nil {
		return faultsByProfile(c)
	}
	l := c.Ledger
	fresh := freshMemory(heap)
	var inside, outside []int64
	r := &c.Bundle.Requests
	for _, row := range l.Rows {
		ch := l.Of(row)
		work := ch[ledger.Own] + ch[ledger.Kernel]
		switch part := float64(overlap(fresh, r.Start[row], r.End[row])) / float64(max(1, r.Latency(row))); {
		case part > .5:
			inside = append(inside, work)
		case part == 0:
			outside = append(outside, work)
		}
	}
	origin := cause.From(l.Source)
	own := c.Share(ledger.Own, ledger.Kernel)
	v := cause.Verdict{State: cause.RuledOut, Summary: fmt.Sprintf("the heap was at a new size for %d of %d requests", len(inside), len(l.Rows))}
	v.Evidence = append(v.Evidence, c.Figure("requests while the heap grew into memory it never used before", float64(len(inside)), "1", origin))
	if len(inside) < ledger.MinRequests {
		return v
	}
	if len(outside) < ledger.MinRequests {
		v.State = cause.Inconclusive
		v.Summary = "the heap grew all the time: nothing to compare with"
		v.Needs = []string{faultEvidence}
		if own < cause.Material || !c.Slow() {
			v.State, v.Needs = cause.RuledOut, nil
			v.Summary = fmt.Sprintf("the heap grew into new memory, but own work is %.1f %% of slow time", 100*own)
		}
		return v
	}
	slices.Sort(inside)
	slices.Sort(outside)
	in, out := stats.Quantile(inside, .5), stats.Quantile(outside, .5)
	v.Evidence = append(v.Evidence,
		c.Figure("own work of a request then (median)", float64(in)/1e6, "ms", origin),
		c.Figure("own work of a request otherwise (median)", float64(out)/1e6, "ms", origin))
	per := make([]int64, len(l.Slow))
	var extra int64
	for n, row := range l.Slow {
		if overlap(fresh, r.Start[row], r.End[row]) == 0 {
			continue
		}
		ch := l.Of(row)
		per[n] = max(0, ch[ledger.Own]+ch[ledger.Kernel]-out)
		extra += per[n]
	}
	share := float64(extra) / float64(max(1, l.Total))
	v.Summary = fmt.Sprintf("%.1f × the work in new memory, %.1f %% of slow time", float64(in)/float64(max(out, 1)), 100*share)
	if float64(in) < 1.5*float64(out) || share < cause.Material || !c.Slow() || l.Host.Starved() {
		return v
	}
	v.State = cause.Supported
	v.Title = fmt.Sprintf("The heap fills new memory: a request's own work takes %.1f × as long meanwhile.", float64(in)/float64(out))
	v.Saves = c.Save(per, -1, -1)
	v.Needs = []string{faultEvidence}
	v.Fix = append(v.Fix, cause.Fix{Text: "it passes when the heap has reached its size: judge a change of heap size after that, and warm up before taking traffic"})
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		if overlap(fresh, r.Start[row], r.End[row]) == 0 {
			return 0
		}
		ch := l.Of(row)
		return max(0, ch[ledger.Own]+ch[ledger.Kernel]-out)
	}))
	return v
}

func faultsByProfile(c *cause.Case) cause.Verdict {
	v := cause.Verdict{State: cause.Inconclusive, Summary: "page faults were not watched", Needs: []string{faultEvidence}}
	s := &c.Bundle.Samples
	cpu, class := c.Bundle.Names.Lookup("cpu"), c.Bundle.Names.Lookup("page fault / zeroing")
	var all, clear int64
	var origin evidence.Origin
	for i := range s.Len() {
		if cpu != 0 && s.Subject[i] == c.Subject && s.Type[i] == cpu {
			all += s.Value[i]
			if class != 0 && s.Class[i] == class {
				clear += s.Value[i]
				origin = s.Origin[i]
			}
		}
	}
	if all == 0 {
		return v
	}
	share := float64(clear) / float64(all)
	a, _ := origin.Artifact()
	v.Summary = fmt.Sprintf("%.0f %% of CPU clears new memory", 100*share)
	v.Evidence = append(v.Evidence, c.Figure("share of CPU time clearing memory for allocations", share, "1", cause.From(a)))
	if share < .1 {
		v.State, v.Needs = cause.RuledOut, nil
	}
	return v
}
