package service

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var mostlyPinned = check.Threshold{Name: "share of samples of those that keep the carriers, that show them pinned", Value: .5, Unit: "1",
	Why: "else they keep them because they have work", Source: "arithmetic: half"}

// carriersNamed returns the carriers of virtual threads that a wait of this name is for, nil if it
// is for something else.
func carriersNamed(c *check.Case, name string) *threads.Limit {
	all := threadLimits(c)
	for i := range all {
		if x := &all[i]; x.Carriers && x.Words() == name {
			return x
		}
	}
	return nil
}

// pinnedNames returns the names of carriers that pinned threads occupy.
func pinnedNames(c *check.Case) map[evidence.NameID]bool {
	names := make(map[evidence.NameID]bool)
	for _, x := range threadLimits(c) {
		if x.Carriers && x.Pinned >= mostlyPinned.Value {
			names[c.Bundle.Names.Lookup(x.Words())] = true
		}
	}
	delete(names, 0)
	return names
}

// keptCarriers says what occupies the carriers: threads on them that do not wait, or wait in the
// kernel, where they do not release them.
func keptCarriers(c *check.Case, v *check.Verdict, x *threads.Limit) {
	v.Title = fmt.Sprintf("Requests wait for %s, all of which are in use.", x.Words())
	v.Evidence = append(v.Evidence,
		c.Figure("carriers.waiting_threads", fmt.Sprintf("virtual threads that had not run yet, average of %d samples", x.Looks), x.Waiting, "count", x.Origin),
		c.Figure("carriers.kept_threads", fmt.Sprintf("virtual threads on a carrier at that time, of %d", x.Most), x.Beyond, "count", x.Origin))
	for _, d := range x.Doing[:min(3, len(x.Doing))] {
		v.Evidence = append(v.Evidence, c.Figure("carriers.doing_share", "share of the samples in which threads on a carrier were "+d.Words, d.Share, "1", x.Origin))
	}
}

// moreCarriers returns what helps virtual threads that wait for a carrier.
func moreCarriers(x *threads.Limit) check.Fix {
	return check.Fix{Text: "run work that blocks in the kernel (files, native code) or computes for long on a pool of platform threads; or give virtual threads more carriers than CPUs",
		Setting: fmt.Sprintf("-Djdk.virtualThreadScheduler.parallelism=%d", manyCarriers*x.Most), Code: x.Pins}
}

// computeElsewhere returns what helps virtual threads that wait for a carrier while others compute in the given code.
func computeElsewhere(code string) check.Fix {
	return check.Fix{Text: "let this code run on a pool of platform threads, of as many as CPUs: a virtual thread that computes keeps its carrier to the end, as only a wait gives it back. More carriers (-Djdk.virtualThreadScheduler.parallelism) let the kernel share the CPUs among them all",
		Code: code}
}

// manyCarriers times as many carriers are a first step: how many would do depends on how long
// each is kept, which looks tell too roughly.
const manyCarriers = 8
