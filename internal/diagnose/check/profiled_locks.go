package check

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// ProfiledLocks is the part of a CPU profile from which spinning for monitors is named by it alone.
var ProfiledLocks = Threshold{Name: "share of the samples of a CPU profile in which the runtime enters monitors that other threads have", Value: Material.Value, Unit: "1",
	Why: "so much CPU time is spent at locks instead of on work", Source: Material.Source}

// JudgeProfiledLocks judges locks by a CPU profile, where nothing else shows them: before a thread waits for a monitor that another one has, the runtime spins.
func JudgeProfiledLocks(c *Case, needs ...Need) (v Verdict, ok bool) {
	f, told := c.Fact(evidence.FactProfileLocks)
	if !told || c.Ledger != nil {
		return v, false
	}
	v = Verdict{Rule: TooLittle, Summary: fmt.Sprintf("entering monitors takes %s of the sampled CPU time", units.Percent(f.Number)), Needs: needs,
		Evidence: []Evidence{c.Figure("profile.lock_share", "share of the samples in which the runtime enters monitors that other threads have", f.Number, "1", f.Origin)}}
	v.Weigh(f.Number, ProfiledLocks)
	if f.Number < ProfiledLocks.Value {
		v.Rule = CostUnknown // threads that wait without spinning use no CPU
		return v, true
	}
	v.Rule, v.Weight = StandsAlone, f.Number
	v.Title = fmt.Sprintf("Threads spin for monitors that others hold: %s of the sampled CPU time.", units.Percent(f.Number))
	v.Fix = []Fix{{Text: "find the lock by the threads' stacks, then do less under it, use one lock per key, or let readers use a snapshot that is replaced as a whole"}}
	return v, true
}
