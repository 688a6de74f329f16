package linux

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/reading"
)

// delay is what the kernel counted of the time the process's threads were ready and did
// not run (/proc/PID/task/*/schedstat): no request that a thread works on can have lost
// more by waiting for a processor than all threads together. Those in the queue for a
// thread wait behind them.
type delay struct {
	threads float64 // that waited, in the mean
	share   float64 // of slow time, at most; of the time that was watched, where threads had little of it
	slow    bool    // there is slow time
	origin  evidence.Origin
}

// delayOf is false where half of the window was not watched.
func delayOf(c *cause.Case) (d delay, ok bool) {
	w, _ := window(c)
	delay := reading.ProcessOf(c.Bundle, c.Subject, w).RunDelay
	if !delay.MostlyKnown() {
		return d, false
	}
	d.threads, d.origin = delay.Number, delay.Origin
	d.share = d.threads
	if l := c.Ledger; l != nil && l.Total > 0 {
		ch := &l.Charges
		queued := ch[ledger.PoolThread] + ch[ledger.Queued]
		if queued > 0 {
			queued += ch[ledger.Unobserved]
		}
		if 2*queued <= l.Total { // else most waits for those few, who may wait for a processor
			d.slow, d.share = true, min(1, d.threads*float64(w.Until-w.From)/float64(l.Total))
		}
	}
	return d, true
}

// innocent says whether that can be what is in the way.
func (d delay) innocent() bool {
	if d.slow {
		return d.share < cause.Material
	}
	return d.share < calm
}

// clears rules a verdict out where the threads hardly waited.
func (d delay) clears(c *cause.Case, v *cause.Verdict) bool {
	if !d.innocent() {
		return false
	}
	v.State = cause.RuledOut
	v.Evidence = append(v.Evidence, c.Figure("threads of the process waiting for a CPU, on average", d.threads, "count", d.origin))
	if d.slow {
		v.Summary += fmt.Sprintf(", but its threads waited for a CPU for at most %s %% of the slow time", cause.Digits(2, 100*d.share))
	} else {
		v.Summary += fmt.Sprintf(", but on average only %s of its threads waited for a CPU", cause.Digits(2, d.threads))
	}
	return true
}

// blames says how much it may be, where that is too much to clear anybody; what is said
// where it was not watched else.
func (d delay) blames(watched bool, not string) string {
	switch {
	case !watched:
		return not
	case d.slow:
		return fmt.Sprintf(", and its threads waited for a CPU for up to %.0f %% of the slow time", 100*d.share)
	default:
		return fmt.Sprintf(", and on average %.1f of its threads waited for a CPU", d.threads)
	}
}
