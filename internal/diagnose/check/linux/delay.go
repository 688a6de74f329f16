package linux

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// delay is what the kernel counted of the time the process's threads were ready and did
// not run (/proc/PID/task/*/schedstat): no request that a thread works on can have lost
// more by waiting for a processor than all threads together. Those in the queue for a
// thread wait behind them. It is of the moments in which slow requests were there, whether
// these were traced or not.
type delay struct {
	threads float64 // that waited, in the mean
	share   float64 // of slow time, at most; of the time that was watched, where threads had little of it
	about   float64 // of slow time, if slow requests had their part of what all requests had of it; no quota stopped it then
	denied  float64 // of the time in which its threads were ready or ran
	slow    bool    // there is slow time
	origin  evidence.Origin
}

// delayOf returns the delay; ok is false where less than half of the window, or of slow time, was
// watched.
func delayOf(c *check.Case) (d delay, ok bool) {
	w, _ := chargedWindow(c)
	mean := metrics.ProcessOf(c.Bundle, c.Subject, w).RunDelay
	if l := c.Ledger; l != nil && l.Total > 0 && l.All.Total > 0 {
		ch := &l.Charges
		queued := ch[ledger.PoolThread] + ch[ledger.Queued]
		if queued > 0 {
			queued += ch[ledger.Unobserved]
		}
		if 2*queued <= l.Total { // else most waits for those few, who may wait for a processor
			return delayOfSlow(c)
		}
	}
	d.threads, d.share, d.origin = mean.Number, mean.Number, mean.Origin
	return d, mean.MostlyKnown()
}

func delayOfSlow(c *check.Case) (d delay, ok bool) {
	l := c.Ledger.All
	w := metrics.Window{From: l.From, Until: l.To}
	waits := metrics.RunDelay(c.Bundle, c.Subject, w)
	used := metrics.ProcessorTime(c.Bundle, c.Subject, w)
	stopped := metrics.ThrottledQueues(c.Bundle, c.Subject, w)
	all, watched := overlayRequests(c, waits)
	if watched < metrics.Most {
		return d, false
	}
	d.slow, d.origin = true, waits.Origin
	var slow, most, about, threads, ran, waited float64
	for i := range all {
		m := &all[i]
		part := float64(m.slow)
		if part == 0 {
			continue
		}
		slow += part
		most += min(part, m.heldTime())
		threads += m.value * part
		if cores := used.Over(m.Window); cores.Known() {
			ran += cores.Number * part
			waited += m.value * part
		}
		if quota := stopped.Over(m.Window); !(quota.Number > 0) {
			about += part * min(1, m.heldTime()/float64(m.all))
		}
	}
	if slow == 0 {
		return d, false
	}
	d.threads, d.share, d.about = threads/slow, most/slow, about/slow
	if l == c.Ledger && l.Sampled {
		d.about = min(d.about, c.Share(ready...)) // what threads were seen doing else is not that
	}
	if waited > 0 { // else it is not known how long they ran
		d.denied = waited / (waited + ran)
	}
	return d, true
}

// ready is what requests may be seen doing whose threads wait for a processor.
var ready = []ledger.Mechanism{ledger.Own, ledger.RequestsCPU, ledger.BackgroundCPU, ledger.CollectorCPU, ledger.HostCPU, ledger.Wakeup, ledger.Unobserved, ledger.Unexplained}

// isImmaterial says whether waiting for processors is too small to matter.
func (d delay) isImmaterial() bool {
	if d.slow {
		return d.share < check.Material.Value
	}
	return d.share < calm.Value
}

// hardlyWaited says whether the kernel's counters show that threads hardly waited for a CPU: where
// they took long all the same, other processes did not keep them from running.
func hardlyWaited(c *check.Case) bool {
	d, ok := delayOf(c)
	return ok && d.isImmaterial()
}

var starving = check.Threshold{Name: "share of the time of ready threads in which they waited for a CPU", Value: .5, Unit: "1",
	Why: "a busy host makes them wait for a tenth", Source: "arithmetic: longer than they ran"}

// isCause says whether waiting for processors that others use is what makes requests slow.
func (d delay) isCause(c *check.Case, h *host) bool {
	return d.slow && d.about >= check.Material.Value && d.denied >= starving.Value && slowAtAll(c) && h.isCrowded() && !h.hasSpareCPUs()
}

// hostOfAll returns the host while any of the requests was seen, not only the traced ones; the
// host of the traced time where that was not watched.
func hostOfAll(c *check.Case, traced *host) *host {
	l := c.Ledger
	if l == nil || l.All == l || traced == nil {
		return traced
	}
	if h := hostOver(c, metrics.Window{From: l.All.From, Until: l.All.To}, traced.run); h != nil && h.process.Known() {
		return h
	}
	return traced
}

// ruleOutIfHardlyWaited rules a verdict out where the threads hardly waited, and says whether it
// did.
func (d delay) ruleOutIfHardlyWaited(c *check.Case, v *check.Verdict) bool {
	switch {
	case d.isImmaterial():
	case d.slow && !d.isSlowEnough(c):
		v.Rule = check.Brief
		v.Noticed(meanSlow(c), noticeable)
		v.Summary += c.ButBrief()
		return true
	default:
		return false
	}
	v.Rule = check.TooLittle
	before := v.Summary
	v.Evidence = append(v.Evidence, c.Figure("process.runnable_threads", "threads of the process waiting for a CPU, on average", d.threads, "count", d.origin))
	if d.slow {
		v.Weigh(d.share, check.Material)
		v.Summary += fmt.Sprintf(", but the process's threads waited for a CPU for %s of the slow time", atMost(d.share))
	} else {
		v.Weigh(d.share, calm)
		v.Summary += fmt.Sprintf(", but on average only %s threads of the process waited for a CPU", units.Num(d.threads))
		if d.threads < check.HardlyWaiting.Value {
			v.Summary = before + ", but hardly ever a thread of the process waited for a CPU"
		}
	}
	return true
}

// atMost writes a share that is an upper bound.
func atMost(share float64) string {
	if text, tiny := strings.CutPrefix(units.Percent(share), "<"); tiny {
		return "less than " + text
	}
	return "at most " + units.Percent(share)
}

// savedTime returns the slow time in which threads waited for a processor.
func (d delay) savedTime(c *check.Case) *check.Saves {
	total := float64(c.Ledger.Total)
	return c.Bound(d.about*total, 0, max(d.share, d.about)*total)
}

// listFigures returns the evidence of the delay.
func (d delay) listFigures(c *check.Case) []check.Evidence {
	return []check.Evidence{
		c.Figure("process.runnable_threads_when_slow", "threads of the process waiting for a CPU during slow requests, on average", d.threads, "count", d.origin),
		c.Figure("process.runnable_share", "share of the runnable time of its threads in which they waited for a CPU", d.denied, "1", d.origin),
	}
}

// boundPhrase returns how much the delay may be at most, as a clause; not is the clause for a
// delay that was not watched.
func (d delay) boundPhrase(watched bool, not string) string {
	switch {
	case !watched:
		return not
	case d.slow:
		return fmt.Sprintf(", and the process's threads waited for a CPU for up to %s of the slow time", units.Percent(d.share))
	default:
		return fmt.Sprintf(", and on average %s threads of the process waited for a CPU", units.Num(d.threads))
	}
}
