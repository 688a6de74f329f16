package dotnet

import (
	"cmp"
	"fmt"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgeStacks judges by the stacks of threads outside the pool at one moment, where nothing else
// shows locks: most of them wait for a lock at one place. Threads of a pool are judged with the
// pool.
func judgeStacks(c *check.Case) (v check.Verdict, ok bool) {
	w := c.Threads().Summary(c.Subject)
	if w == nil {
		return v, false
	}
	waiting, others := 0, 0
	var at *threads.Group
	for i := range w.Groups {
		g := &w.Groups[i]
		switch {
		case g.View.State == evidence.LockWait:
			waiting += g.Count
			if at == nil || g.Count > at.Count {
				at = g
			}
		case g.View.State != evidence.Idle:
			others += g.Count
		}
	}
	if at == nil {
		return v, false
	}
	place := threadstack.Bare(cmp.Or(at.View.Owner, threads.Nameless))
	v = check.Verdict{Rule: check.OneLook, Summary: fmt.Sprintf("%s waited for a lock at one moment", units.Plural(waiting, "thread")),
		Evidence: []check.Evidence{c.Figure("lock.waiting_threads_at", "threads waiting for a lock in "+place, float64(at.Count), "count", at.Origin)},
		Needs:    []check.Need{{What: "a recording, to show which threads wait for locks and for how long", Command: record}}}
	if at.Count < check.Crowd.Int() || at.Count < others {
		return v, true
	}
	v.Rule, v.Weight = check.StandsAlone, float64(at.Count)
	v.Title = fmt.Sprintf("Probably: %d threads wait for a lock in %s, by their stacks at one moment.", at.Count, place)
	v.Fix = []check.Fix{{Text: "do less under this lock, and find which thread holds it and what that waits for: !syncblk names it", Code: at.View.Owner}}
	return v, true
}

var manyWaiting = check.Threshold{Name: "threads that wait for one monitor at one moment", Value: 5, Unit: "count",
	Why: "chance rarely shows so many where it is free most of the time", Source: "M/M/1: at a monitor that is free half of the time, 5 or more wait in 1.6 % of samples (ρ⁶ at ρ = ½)"}

// judgeMonitors judges by what a debugger showed of monitors at one moment, where nothing else
// shows locks.
func judgeMonitors(c *check.Case) (v check.Verdict, ok bool) {
	f, ok := c.Fact(evidence.FactMonitorWaiting)
	if !ok {
		return v, false
	}
	v = check.Verdict{Rule: check.OneLook, Summary: fmt.Sprintf("%.0f threads waited for one monitor at one moment", f.Number),
		Needs: []check.Need{{What: "the threads' stacks from the same moment, to show which thread holds the lock and which wait", Command: "dotnet-stack report -p PID > stacks.txt"}}}
	if f.Number == 0 {
		v.Summary = "no thread waited for a monitor at one moment"
		return v, true
	}
	v.Evidence = append(v.Evidence, c.Figure("lock.monitor_waiting", "threads that waited for a monitor of "+f.Value, f.Number, "count", f.Origin))
	if f.Number < manyWaiting.Value {
		x, several := c.Fact(evidence.FactMonitorsWaiting)
		if !several || x.Number < check.Crowd.Value {
			return v, true
		}
		v.Rule, v.Weight = check.StandsAlone, x.Number
		v.Title = fmt.Sprintf("Probably: %.0f threads wait for monitors that %s others hold, one of %s; if these wait for each other it is a deadlock.", x.Number, x.Value, f.Value)
		v.Summary = fmt.Sprintf("%.0f threads waited for the monitors of %s others at one moment", x.Number, x.Value)
		v.Evidence = append(v.Evidence, c.Figure("lock.monitors_waiting", "threads that waited for monitors of several holders", x.Number, "count", x.Origin))
		v.Fix = []check.Fix{{Text: "take these locks in the same order everywhere, and do not wait for calls under them"}}
		return v, true
	}
	v.Rule, v.Weight = check.StandsAlone, f.Number
	v.Title = fmt.Sprintf("%.0f threads wait for one lock, a monitor of %s, by what the debugger showed at one moment.", f.Number, f.Value)
	v.Fix = []check.Fix{{Text: "do less under this lock, use one lock per key, or let readers use a snapshot that is replaced as a whole"}}
	return v, true
}
