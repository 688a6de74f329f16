package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// failedLocks are statements that lock rows and were answered with an error, mostly in slow requests.
type failedLocks struct {
	to, operation evidence.NameID
	calls         int // of that statement at that place
	failed, slow  int // of these, and of these in slow requests
	origin        evidence.Origin
}

// findFailedLocks finds the statement that fails most; nil if fewer fail than [leastFailed], or most of these in requests that are not slow.
func findFailedLocks(c *check.Case) *failedLocks {
	x := exchangedOf(c)
	if x == nil || c.Ledger == nil {
		return nil
	}
	type statement struct{ to, operation evidence.NameID }
	all := make(map[statement]*failedLocks)
	var most *failedLocks
	for i := range x.calls {
		call := &x.calls[i]
		if !locksRows(c.Bundle.Names.Text(call.operation)) || !isDatabase(c.Bundle.Names.Text(call.to)) {
			continue
		}
		of := statement{call.to, call.operation}
		f := all[of]
		if f == nil {
			f = &failedLocks{to: call.to, operation: call.operation, origin: x.origin}
			all[of] = f
		}
		if f.calls++; !call.refused {
			continue
		}
		f.failed++
		if row := call.request; row >= 0 && c.Bundle.Requests.Latency(row) > c.Ledger.Limit(row) {
			f.slow++
		}
		if most == nil || f.failed > most.failed {
			most = f
		}
	}
	if most == nil || most.failed < leastFailed.Int() || 2*most.slow <= most.failed {
		return nil
	}
	return most
}

// locksRows says whether a statement, as far as it is known, locks rows.
func locksRows(operation string) bool {
	verb, _, _ := strings.Cut(operation, " ")
	return verb == "UPDATE" || verb == "DELETE" || strings.HasSuffix(operation, " FOR UPDATE")
}

// addTo tells of these statements in a verdict about a delay, before which they fail.
func (f *failedLocks) addTo(c *check.Case, v *check.Verdict) {
	to, what := c.Bundle.Names.Text(f.to), c.Bundle.Names.Text(f.operation)
	why := "waited for each other's rows (deadlock), or for too long"
	if f.canConflict(c) {
		why = "waited for each other's rows (deadlock) or for too long, or whose result would depend on their order (SERIALIZABLE, REPEATABLE READ)"
	}
	v.Title += fmt.Sprintf(" %s of %s %s to %s failed, most in slow requests: the database ended transactions that %s.", units.Count(f.failed), units.Count(f.calls), what, to, why)
	v.Evidence = append(v.Evidence, c.Figure("calls.failed", fmt.Sprintf("failed calls to %s, of %s %s", to, units.Count(f.calls), what), float64(f.failed), "count", f.origin))
	fixes := []check.Fix{ordered}
	if f.canConflict(c) {
		fixes = append(fixes, conflicting)
	}
	v.Fix = append(fixes, v.Fix...)
}

// canConflict says whether the database also ends transactions of a strict isolation because they conflict (PostgreSQL's manual, "Serializable Isolation Level").
func (f *failedLocks) canConflict(c *check.Case) bool {
	return strings.HasPrefix(c.Bundle.Names.Text(f.to), "PostgreSQL")
}

// ordered is what helps where a database ends transactions that wait for each other.
var ordered = check.Fix{Text: "let all transactions lock rows in the same order (by their key), and do nothing else while they hold them: then none waits for one that waits for it, and none has to be tried again. The database's log shows deadlocks (SHOW ENGINE INNODB STATUS; PostgreSQL: \"deadlock detected\")"}

// conflicting is what helps where transactions of a strict isolation conflict.
var conflicting = check.Fix{Text: "if the log says \"could not serialize access\": give the transaction only the isolation that it needs (READ COMMITTED, with SELECT … FOR UPDATE for the rows it changes), or make it shorter, so that fewer overlap"}
