package service

import (
	"fmt"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var fewWorkerStarts = check.Threshold{Name: "workers that a master started while it was recorded", Value: 2, Unit: "count",
	Why: "one may be started by a deploy or replace one that died", Source: "judgement: weighs workers that are replaced again and again against a single start"}

var workerReady = check.Threshold{Name: "time in which a worker that was started is taken not to serve yet", Value: float64(2 * time.Second), Unit: "ns",
	Why: "it loads its program and what that keeps in memory first", Source: "judgement, tried on gunicorn's workers, which took .3 to 1.5 s to load frameworks and a table of 400,000 rows"}

// workerStarts returns when (ns) workers of the process were started within a time, the first one first, and the origin of the last.
func workerStarts(c *check.Case, from, until int64) (starts []int64, origin evidence.Origin) {
	for _, f := range c.Bundle.Facts {
		if f.Subject != c.Subject || f.Key != evidence.FactWorker {
			continue
		}
		for _, s := range c.Bundle.Subjects {
			if s.Kind == evidence.Process && s.PID == int(f.Number) && s.StartTime > from && s.StartTime <= until {
				starts, origin = append(starts, s.StartTime), f.Origin
				break
			}
		}
	}
	slices.Sort(starts)
	return starts, origin
}

// replaceLess returns what helps where requests wait at the sockets while workers are replaced, and adds how many were to the verdict. It is false unless most of
// that wait follows a start.
func replaceLess(c *check.Case, v *check.Verdict, from, until int64) (fix check.Fix, ok bool) {
	starts, origin := workerStarts(c, from, until)
	if len(starts) < fewWorkerStarts.Int() {
		return fix, false
	}
	var all, after int64
	for _, row := range c.Ledger.Slow {
		c.Ledger.Walk(row, func(at int64, _ evidence.Segment, ch *ledger.Charges) {
			waited := ch[ledger.Queued]
			all += waited
			if slices.ContainsFunc(starts, func(start int64) bool { return at+waited > start && at < start+workerReady.Int64() }) {
				after += waited
			}
		})
	}
	if 2*after < all {
		return fix, false
	}
	v.Evidence = append(v.Evidence, c.Figure("workers.started", "workers that it started while it was recorded", float64(len(starts)), "count", origin))
	return check.Fix{Text: fmt.Sprintf("it started %s while it was recorded, and most of this wait follows a start: a worker that is replaced serves nothing until the new one has loaded its program. Replace them less often and not at the same time (gunicorn --max-requests with --max-requests-jitter, uWSGI max-requests, pm.max_requests), look in its log for why they end, and load what they need before they are forked (--preload)",
		units.Plural(len(starts), "worker"))}, true
}
