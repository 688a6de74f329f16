package dotnet

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var manyWaiting = check.Threshold{Name: "threads that wait for one monitor at one moment", Value: 5, Unit: "count",
	Why: "chance rarely shows so many where it is free most of the time", Source: "judgement"}

// judgeMonitors judges by what a debugger told of monitors at one moment, where nothing else tells of locks.
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
		return v, true
	}
	v.Rule, v.Weight = check.StandsAlone, f.Number
	v.Title = fmt.Sprintf("%.0f threads wait for one lock, a monitor of %s, by what the debugger showed at one moment.", f.Number, f.Value)
	v.Fix = []check.Fix{{Text: "do less under this lock, use one lock per key, or let readers use a snapshot that is replaced as a whole"}}
	return v, true
}
