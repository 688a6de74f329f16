package golang

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgeGCProfile judges by GC's part of a CPU profile, where nothing else is known of it.
func judgeGCProfile(c *check.Case) (v check.Verdict, ok bool) {
	p, ok := metrics.ProfileOf(c.Bundle, c.Subject)
	share, origin := float64(p.GC)/float64(max(p.All, 1)), p.Origin
	if !ok || share < burning.Value || c.Ledger != nil && !c.Slow() {
		return v, false
	}
	if cpus := c.Bundle.CPUsOf(c.Subject); p.Span > 0 && cpus > 0 && float64(p.GC)/1e9/p.Span < burningProcs.Value*float64(cpus) {
		return v, false // much of little
	}
	if slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.ID == "go.forced-gc" }) {
		return check.Verdict{Rule: check.Explained, Summary: fmt.Sprintf("GC had %s of a CPU profile, in cycles that the program requests", units.Percent(share))}, true
	}
	v = check.Verdict{Rule: check.Matters, Weight: share,
		Title:    fmt.Sprintf("GC uses %s of the process's CPU time, probably because the heap is too small.", units.Percent(share)),
		Summary:  fmt.Sprintf("GC had %s of a CPU profile", units.Percent(share)),
		Evidence: []check.Evidence{c.Figure("gc.cpu_share", "share of the process's CPU time used by GC", share, "1", origin)},
		Fix:      []check.Fix{{Text: "let the heap grow before a cycle starts: raise GOMEMLIMIT (or debug.SetMemoryLimit) if it is set, else set it with a higher GOGC; before Go 1.19 a ballast"}},
		Needs:    []check.Need{gcTrace}}
	v.Weigh(share, burning)
	if l := c.Ledger; l != nil && l.Charges[ledger.CollectorCPU] > 0 {
		v.Evidence = append(v.Evidence, c.Figure("slow.gc_cpu_ms", "slow time waiting for a CPU busy with GC, by GC's share of the process's CPU time", float64(l.Charges[ledger.CollectorCPU])/1e6, "ms", origin))
		v.Saves = c.SaveMechanism(ledger.CollectorCPU)
	}
	return v, true
}

// judgeForcedProfile judges by GC's part of the samples of the kernel's CPU clock, where calls that request a cycle are seen on the
// stacks again and again.
func judgeForcedProfile(c *check.Case) (v check.Verdict, ok bool) {
	v, ok = judgeGCProfile(c)
	if !ok {
		return v, false
	}
	site, seconds, origin := findProfiledAsker(c)
	if seconds < leastCycles.Int() {
		return v, false
	}
	who := "The program"
	if site.Function != "" {
		who = site.Function
	}
	v.Title = fmt.Sprintf("%s requests GC cycles (%s), and GC uses %s of the process's CPU time.", who, site.Callee, units.Percent(v.Weight))
	v.Counted(float64(seconds), leastCycles)
	v.Evidence = append(v.Evidence, c.Figure("gc.asked_seconds", "seconds in which samples show a call that requests a GC cycle", float64(seconds), "count", origin))
	v.Fix = []check.Fix{{Text: "remove the call: GC starts a cycle when the heap has grown, and returns free memory to the host in the background", Code: site.String()}}
	return v, true
}

// findProfiledAsker returns the place from which most samples of the kernel's CPU clock call for a GC cycle, and the number of seconds
// with such samples.
func findProfiledAsker(c *check.Case) (most check.Site, seconds int, origin evidence.Origin) {
	b := c.Bundle
	on, x := b.Names.Lookup(evidence.SampleOnCPU), &b.Samples
	asks := make(map[evidence.StackID]bool)
	times, seen := make(map[check.Site]int), make(map[int64]bool)
	for i := range x.Len() {
		if on == 0 || x.Type[i] != on || x.Subject[i] != c.Subject {
			continue
		}
		stack := x.Stack[i]
		asked, known := asks[stack]
		if !known {
			asked = slices.ContainsFunc(b.Stacks.Frames(stack), func(f evidence.Frame) bool {
				name := b.Names.Text(f.Func)
				return name == "runtime.GC" || name == "runtime/debug.FreeOSMemory"
			})
			asks[stack] = asked
		}
		if !asked {
			continue
		}
		seen[x.Time[i]/1e9] = true
		site := c.SiteOf(stack)
		if times[site]++; times[site] > times[most] {
			most, origin = site, x.Origin[i]
		}
	}
	return most, len(seen), origin
}
