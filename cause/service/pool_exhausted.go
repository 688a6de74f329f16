package service

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// PoolExhausted is requests waiting for a connection, token or slot that other
// requests hold.
var PoolExhausted = cause.Cause{
	ID:    "service.pool-exhausted",
	Title: "requests wait for an exhausted pool (connections, semaphore)",
	Step:  cause.StepPool,
	Doc: `A pool of connections, a semaphore or a channel of tokens limits how many requests may
do something at once. When all are in use, requests queue for one before any call is
made: the dependency sees short calls and looks healthy.

The pool is recognised by the library that waits (database/sql, pgx, go-redis, …) or,
for a pool of the program's own, by what ends the wait: another request that returns
something. What the holders did shows why it is exhausted: waiting for the dependency
(it is slow, or the pool is small for the rate: needed = rate × hold time), or work of
their own while they hold a connection they do not need at that moment.

Without a recording of the process the pool's own gauges show it: if it was never
exhausted and no request waited, it is not the pool.

How to tell it from similar problems: a lock has one holder and its time is work
(go.lock-contention); waiting for a wait group or a shared call (singleflight) is
waiting for work, not for a slot.

What helps: a larger pool, if the dependency can handle more; holding for less time;
rejecting excess requests at the entrance instead of queueing them inside.`,
	Least:   "5 slow requests that took 1 % of all request time together, and a quarter of slow time, waited for the pool, or a gauge that shows it full with others waiting",
	Needs:   "what requests waited for (Go: an execution trace; others: a recording of their threads with unstall record PID); or the pool's gauges (CSV, JSON, Prometheus text), or spans of getting a connection",
	Applies: func(*cause.Case) bool { return true },
	Judge:   judgePool,
}

func judgePool(c *cause.Case) cause.Verdict {
	all, spans := gauges(c), spansOf(c)
	if len(all) > 0 && all[0].UsedUp() {
		// The gauges count each that waits; looks at threads know a pool of the program's
		// own only by its name, and what queues behind as waiting for something else.
		if v := judgeGauges(c, all); v.State == cause.Supported && (!c.Spent() || c.Share(ledger.Pool) < cause.Material) {
			return v
		}
	}
	switch {
	case c.Spent():
	case spans != nil && c.Ledger != nil && (spans.pooled > 0 || len(all) == 0 && taken(c, spans)):
		v := judgeTaken(c, spans)
		for i := range all {
			all[i].figures(c, &v)
		}
		return v
	case len(all) > 0:
		return judgeGauges(c, all)
	case spans != nil:
		return cause.Verdict{State: cause.Inconclusive, Summary: "the spans do not show waits for a connection: they would be part of local time", Needs: []cause.Need{readPool}}
	default:
		return c.NoStates()
	}
	l := c.Ledger
	share := c.Share(ledger.Pool)
	v := cause.Verdict{State: cause.RuledOut, Summary: cause.SlowWait("for pools", l.Charges[ledger.Pool], share)}
	v.Evidence = append(v.Evidence, c.Figure("slow time waiting for pools", float64(l.Charges[ledger.Pool])/1e6, "ms", cause.From(l.Source)))
	for i := range all {
		all[i].figures(c, &v)
		if i == 0 {
			v.Summary = all[i].sum() + "; " + v.Summary
		}
	}
	behind := c.BehindOf(ledger.Pool)
	if share < cause.Material || !c.Slow() {
		return v
	}
	chain := c.Chain(ledger.Pool, &behind)
	if mine := float64(behind.Mine()) / float64(l.Total); mine < cause.Material {
		v.Evidence = append(v.Evidence, chain...)
		v.Summary += behind.Root()
		return v
	}
	details := c.Details(ledger.Pool)
	name := c.Bundle.Names.Text(details[0].Detail)
	v.State = cause.Supported
	v.Title = fmt.Sprintf("Requests queue for a pool: %s.", name)
	v.Saves = c.Save(behind.Own, -1, -1)
	for _, d := range details[:min(3, len(details))] {
		v.Evidence = append(v.Evidence, c.Figure("slow time waiting for: "+c.Bundle.Names.Text(d.Detail), float64(d.Ns)/1e6, "ms", cause.From(l.Source)))
	}
	v.Evidence = append(v.Evidence, chain...)
	v.Fix = append(v.Fix, enlargePool(name))
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := l.Of(row); return ch[ledger.Pool] }))
	return v
}

// taken says whether spans show the taking of connections at all, so that none that took
// long says something.
func taken(c *cause.Case, s *spanned) bool {
	for _, row := range s.rows {
		if waits(c, row, evidence.PoolWait) > 0 {
			return true
		}
	}
	return false
}
