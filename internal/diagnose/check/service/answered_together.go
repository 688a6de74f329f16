package service

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var mostTogether = check.Threshold{Name: "part of the long calls of a statement that are answered together with another connection's", Value: .5, Unit: "1",
	Why: "the larger part decides", Source: "arithmetic: half"}

// answeredTogether returns which part of the long calls of a database was answered within a moment of a long call on another connection; false where these are few,
// or no more than by chance. Statements that are slow by their plans end one by one; those that wait for the lock of a table, or for a database that stood still, end
// together.
func answeredTogether(x *exchanged, names *evidence.Names, whom string) (share float64, ok bool) {
	type kind struct{ to, operation evidence.NameID }
	took := make(map[kind][]int64)
	for i := range x.calls {
		if call := &x.calls[i]; strings.HasPrefix(whom, names.Text(call.to)) {
			k := kind{call.to, call.operation}
			took[k] = append(took[k], call.answerTime())
		}
	}
	usual := make(map[kind]int64, len(took))
	for k, all := range took {
		usual[k] = stats.QuantileOf(all, .5)
	}
	var long []*exchangedCall
	for i := range x.calls {
		call := &x.calls[i]
		if of, known := usual[kind{call.to, call.operation}]; known && call.answerTime() >= max(longCall.Int64(), longTimes.Int64()*of) {
			long = append(long, call)
		}
	}
	if len(long) < leastLongCalls.Int() {
		return 0, false
	}
	slices.SortFunc(long, func(a, b *exchangedCall) int { return cmp.Compare(a.end, b.end) })
	together := 0
	for i, call := range long {
		before := i > 0 && long[i-1].port != call.port && call.end-long[i-1].end <= releasedWithin.Int64()
		after := i+1 < len(long) && long[i+1].port != call.port && long[i+1].end-call.end <= releasedWithin.Int64()
		if before || after {
			together++
		}
	}
	share = float64(together) / float64(len(long))
	chance := 1 - math.Exp(-2*releasedWithin.Value*float64(len(long))/float64(max(1, x.until-x.from)))
	return share, share >= mostTogether.Value && share >= aboveChance.Value*chance
}

// boundFor returns what helps where the slow dependency is known, and adds what it is decided by: statements that are answered together wait for a lock, not for their plans.
func boundFor(c *check.Case, v *check.Verdict, whom string) check.Fix {
	fix := boundOf(whom)
	if !isDatabase(whom) {
		return fix
	}
	x := exchangedOf(c)
	if x == nil {
		return fix
	}
	share, together := answeredTogether(x, c.Bundle.Names, whom)
	if !together {
		return fix
	}
	v.Evidence = append(v.Evidence, c.Figure("calls.answered_together_share", "share of its long calls that are answered within 2 ms of one on another connection", share, "1", x.origin))
	fix.Text = fmt.Sprintf("these statements are usually quick, and the long ones are answered together: they wait for one lock, most likely of a whole table, and not by their plans. See while it happens who holds it (%s): "+
		"a change of the table (ALTER, TRUNCATE, REFRESH MATERIALIZED VIEW without CONCURRENTLY, LOCK TABLE) keeps all others waiting, also while it waits itself for a transaction that is open. "+
		"Make such changes with a short lock_timeout and at a quiet time, and end transactions before calls to others", whoHoldsLocks(whom))
	return fix
}

// whoHoldsLocks returns where a database tells who holds a lock.
func whoHoldsLocks(whom string) string {
	switch {
	case strings.HasPrefix(whom, "PostgreSQL"):
		return "pg_stat_activity with wait_event_type Lock, pg_blocking_pids"
	case strings.HasPrefix(whom, "MySQL/MariaDB"):
		return "SHOW FULL PROCESSLIST: Waiting for table metadata lock"
	}
	return "its view of locks"
}
