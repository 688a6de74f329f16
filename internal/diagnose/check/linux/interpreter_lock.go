package linux

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// takesInterpreterLock is the function with which a thread of CPython takes the lock of its interpreter (Python/ceval_gil.c).
const takesInterpreterLock = "take_gil"

// isInterpreterLock says whether most of the waits are for the lock of a Python interpreter.
func (f *finding) isInterpreterLock(c *check.Case) bool {
	if f.x == nil {
		return false
	}
	var all, interpreter int64
	for _, p := range f.x.places {
		all += p.Ns
		for _, frame := range c.Bundle.Stacks.Frames(p.Stack) {
			name := c.Bundle.Names.Text(frame.Func)
			if name == takesInterpreterLock || strings.HasSuffix(name, ": "+takesInterpreterLock) || strings.HasPrefix(name, takesInterpreterLock+" (") {
				interpreter += p.Ns
				break
			}
		}
	}
	return 2*interpreter > all
}

// computesUnderLock says whether one function has most of the CPU time while requests wait for the interpreter's lock: then who holds it computes there,
// and that is own work of few requests, not a lock.
func (f *finding) computesUnderLock(c *check.Case) bool {
	if c.Ledger == nil || f.of != "slow time" || !f.isInterpreterLock(c) {
		return false
	}
	efforts, beside := c.RanWhileSlow()
	if len(efforts) == 0 || efforts[0].Share < mostOfInterpreter.Value || beside >= mostOfInterpreter.Value || strings.HasPrefix(efforts[0].Name(), evidence.UnknownFunction) {
		return false
	}
	held := check.HeldInterpreterOf(c)
	held.By, held.Per, held.Share = &efforts[0], f.x.per, f.x.share
	return true
}

var mostOfInterpreter = check.Threshold{Name: "share of the CPU time while slow requests are under way, in one function, from which waits for Python's interpreter lock are its work", Value: .5, Unit: "1",
	Why: "one thread runs at a time: the lock is held there for most of the time", Source: "arithmetic: half"}

// describeInterpreterLock describes waits for the lock of a Python interpreter: who holds it computes, so what computes most is what to mend.
func (f *finding) describeInterpreterLock(c *check.Case, v check.Verdict) check.Verdict {
	v.Title = fmt.Sprintf("%s wait for Python's interpreter lock (GIL), with which one thread at a time runs Python: %s.", f.who(), f.formatShare())
	v.Summary = f.formatShare() + " is waiting for Python's interpreter lock (GIL)"
	fix := check.Fix{Text: "let this code do less, or run it in another process: threads of one interpreter compute by turns, so that more threads do not help, and more worker processes do"}
	efforts, _ := c.RanWhileSlow()
	if len(efforts) == 0 {
		efforts = c.Worked()
	}
	for _, e := range efforts {
		if name := e.Name(); name != "" && !strings.HasPrefix(name, evidence.UnknownFunction) {
			fix.Code = name
			v.Title = fmt.Sprintf("%s While slow requests are under way, %s of the CPU time is in %s.", v.Title, units.Percent(e.Share), name)
			v.Evidence = append(v.Evidence, c.Figure("interpreter.top_share", "share of the CPU time while slow requests were under way, in "+name, e.Share, "1", e.Origin))
			break
		}
	}
	v.Fix = append(v.Fix, fix)
	return v
}
