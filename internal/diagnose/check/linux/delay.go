package linux

import (
	"fmt"

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

// delayOf is false where half of the window, or of slow time, was not watched.
func delayOf(c *check.Case) (d delay, ok bool) {
	w, _ := window(c)
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
	all, watched := meet(c, waits)
	if watched < metrics.Most {
		return d, false
	}
	d.slow, d.origin = true, waits.Origin
	var slow, most, about, threads, ran float64
	for i := range all {
		m := &all[i]
		part := float64(m.slow)
		if part == 0 {
			continue
		}
		slow += part
		most += min(part, m.held())
		threads += m.value * part
		if cores := used.Over(m.Window); cores.Known() {
			ran += cores.Number * part
		}
		if quota := stopped.Over(m.Window); !(quota.Number > 0) {
			about += part * min(1, m.held()/float64(m.all))
		}
	}
	d.threads, d.share, d.about = threads/slow, most/slow, about/slow
	if l == c.Ledger && l.Sampled {
		d.about = min(d.about, c.Share(ready...)) // what threads were seen doing else is not that
	}
	if threads > 0 {
		d.denied = threads / (threads + ran)
	}
	return d, true
}

// ready is what requests may be seen doing whose threads wait for a processor.
var ready = []ledger.Mechanism{ledger.Own, ledger.RequestsCPU, ledger.BackgroundCPU, ledger.CollectorCPU, ledger.HostCPU, ledger.Wakeup, ledger.Unobserved, ledger.Unexplained}

// innocent says whether that can be what is in the way.
func (d delay) innocent() bool {
	if d.slow {
		return d.share < check.Material.Value
	}
	return d.share < calm.Value
}

// ran says that the kernel counted what a trace only suggests: its threads hardly waited for a
// CPU. Where they took long all the same it was not others who kept them from running.
func ran(c *check.Case) bool {
	d, ok := delayOf(c)
	return ok && d.innocent()
}

var starving = check.Threshold{Name: "share of the time of ready threads in which they waited for a CPU", Value: .5, Unit: "1",
	Why: "a busy host makes them wait for a tenth", Source: "arithmetic: longer than they ran"}

// convicts says whether waiting for processors that others use is what makes requests slow.
func (d delay) convicts(c *check.Case, h *host) bool {
	return d.slow && d.about >= check.Material.Value && d.denied >= starving.Value && slowAtAll(c) && h.crowded() && !h.idle()
}

// hostOfAll is the host while any of the requests was seen, not just those that were traced;
// as it was where that was not watched.
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

// clears rules a verdict out where the threads hardly waited.
func (d delay) clears(c *check.Case, v *check.Verdict) bool {
	switch {
	case d.innocent():
	case d.slow && !d.worthwhile(c):
		v.Rule = check.Brief
		v.Summary += ", but slow requests take only milliseconds"
		return true
	default:
		return false
	}
	v.Rule = check.TooLittle
	v.Evidence = append(v.Evidence, c.Figure("process.runnable_threads", "threads of the process waiting for a CPU, on average", d.threads, "count", d.origin))
	if d.slow {
		v.Summary += fmt.Sprintf(", but its threads waited for a CPU for at most %s of the slow time", units.Percent(d.share))
	} else {
		v.Summary += fmt.Sprintf(", but on average only %s of its threads waited for a CPU", units.Num(d.threads))
	}
	return true
}

// saves is the slow time that threads waited for a processor.
func (d delay) saves(c *check.Case) *check.Saves {
	total := float64(c.Ledger.Total)
	return c.Bound(d.about*total, 0, max(d.share, d.about)*total)
}

// figures are the evidence of it.
func (d delay) figures(c *check.Case) []check.Evidence {
	return []check.Evidence{
		c.Figure("process.runnable_threads_when_slow", "threads of the process waiting for a CPU during slow requests, on average", d.threads, "count", d.origin),
		c.Figure("process.runnable_share", "share of the runnable time of its threads in which they waited for a CPU", d.denied, "1", d.origin),
	}
}

// blames says how much it may be, where that is too much to clear anybody; what is said
// where it was not watched else.
func (d delay) blames(watched bool, not string) string {
	switch {
	case !watched:
		return not
	case d.slow:
		return fmt.Sprintf(", and its threads waited for a CPU for up to %s of the slow time", units.Percent(d.share))
	default:
		return fmt.Sprintf(", and on average %s of its threads waited for a CPU", units.Num(d.threads))
	}
}
