package dotnet

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// The finalizer thread hangs in a finalizer if this many looks, of this many over this many bursts, met it there.
var (
	endless = check.Threshold{Name: "share of samples that show the finalizer thread in a finalizer", Value: .9, Unit: "1",
		Why: "it has no end of them", Source: "binomial: of 20 samples 18 or more show it by chance in 0.02 % of recordings, where it runs half of the time"}
	leastLooks = check.Threshold{Name: "samples of the finalizer thread", Value: 20, Unit: "count",
		Why: "of 20 samples a share is known within a tenth", Source: "binomial error: a share of one half is known within 11 % (√(0.5·0.5/20))"}
	leastBursts = check.Threshold{Name: "bursts over which these samples are spread", Value: 4, Unit: "count",
		Why: "one burst may meet one finalizer that takes long", Source: "judgement: weighs one finalizer that takes long against all of them"}
)

// finalizers is what the looks saw the finalizer thread doing.
type finalizers struct {
	bursts, looks, busy int
	at                  string // the finalizer seen in most looks
	doing               string // what it did there
	origin              evidence.Origin
}

func finalizersOf(c *check.Case) (f finalizers) {
	type place struct{ at, doing string }
	seen := make(map[place]int)
	for _, burst := range c.Threads().Moments(c.Subject) {
		f.bursts++
		for _, looks := range burst {
			f.looks++
			for i := range looks {
				l := &looks[i]
				at := finalizerOn(c.Bundle, l.Stack)
				if l.View.Role != threadstack.Finalizer || l.View.State == evidence.Idle || at == "" {
					continue
				}
				f.busy++
				p := place{at, l.View.Doing()}
				if seen[p]++; seen[p] > seen[place{f.at, f.doing}] || f.at == "" {
					f.at, f.doing, f.origin = p.at, p.doing, l.Origin
				}
			}
		}
	}
	return f
}

// finalizerOn returns the finalizer on a stack, "" if there is none.
func finalizerOn(b *evidence.Bundle, stack evidence.StackID) string {
	for _, f := range b.Stacks.Frames(stack) {
		if name := b.Names.Text(f.Func); strings.Contains(name, ".Finalize()") {
			return threadstack.Short(name)
		}
	}
	return ""
}

// isBehind says whether objects become ready for finalization faster than they are finalized.
func (f *finalizers) isBehind() bool {
	return f.bursts >= leastBursts.Int() && f.looks >= leastLooks.Int() && float64(f.busy) >= endless.Value*float64(f.looks)
}

// waitForFinalizers supports that the objects kept by collections wait for their finalizers.
func (g *collector) waitForFinalizers(v *check.Verdict, f *finalizers, kept float64) {
	c := g.c
	v.Rule = check.Matters
	v.Counted(float64(f.looks), leastLooks)
	v.Weigh(float64(f.busy)/float64(f.looks), endless)
	v.Weigh(kept, reaching)
	v.Title = fmt.Sprintf("Objects wait for their finalizers: the finalizer thread is always in %s (%s), and GC retains %s/s.", threadstack.Bare(f.at), f.doing, units.MiB(kept))
	v.Summary = fmt.Sprintf("%s/s retained while the finalizer thread is always busy", units.MiB(kept))
	v.Evidence = append(v.Evidence,
		c.Figure("finalizer.busy_share", fmt.Sprintf("samples (of %d) with the finalizer thread in %s", f.looks, f.at), float64(f.busy)/float64(f.looks), "1", f.origin),
		c.Figure("gc.promoted_bytes_per_s", "bytes that survive collections", kept, "bytes/s", g.Origin))
	var bytes float64
	for i := range g.gc.Collections {
		bytes += g.gc.Collections[i].Finalizable
	}
	if bytes > 0 && g.Span > 0 {
		v.Evidence = append(v.Evidence, c.Figure("gc.finalizable_bytes_per_s", "of these, kept only for finalizers and what they reference", bytes/g.Span, "bytes/s", g.Origin))
	}
	g.chargeOrdinaryPauses(v)
	g.addTopAllocators(v)
	v.Fix = append(v.Fix,
		check.Fix{Text: "dispose objects that have a finalizer as soon as they are unused (using, await using), and call GC.SuppressFinalize in Dispose: then no finalizer runs", Code: f.at},
		check.Fix{Text: "never block in a finalizer: one that blocks delays all others, so hand slow work to a queue or a dedicated thread"})
}
