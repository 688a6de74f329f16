package service

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// How long statements of a database must take for its own log to say by itself that callers wait for it: one that takes tenSeconds,
// as long as people wait for an answer, or a few that take aSecond (J. Nielsen, Usability Engineering, 1993, chapter 5).
var (
	aSecond = check.Threshold{Name: "length of a statement, by a database's own log", Value: 1e9, Unit: "ns",
		Why: "after a second people lose their thought", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 1 s"}
	tenSeconds = check.Threshold{Name: "length of a single statement, by a database's own log", Value: 10e9, Unit: "ns",
		Why: "people wait no longer for an answer", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 10 s"}
	fewSyncs = check.Threshold{Name: "checkpoints in which the sync of one file took 2 s", Value: 2, Unit: "count",
		Why: "one may follow a load of data", Source: "arithmetic: the least number that repeats itself"}
	fewStatement = check.Threshold{Name: "statements of a second, by a database's own log", Value: 2, Unit: "count",
		Why: "one may be a report", Source: "arithmetic: the least number that repeats itself"}
)

// judgeByLog judges a dependency by its own log, or by that of its callers.
func judgeByLog(c *check.Case) (check.Verdict, bool) {
	if v, ok := judgeUnanswered(c); ok {
		return v, true
	}
	return judgeDatabase(c)
}

// lockedLong says whether a database reports waits for locks that callers notice, and how long the
// longest was.
func lockedLong(c *check.Case) (longest evidence.Fact, ok bool) {
	waits, _ := c.Fact(evidence.FactLockWaits)
	longest, _ = c.Fact(evidence.FactLockWaitMost)
	return longest, longest.Number >= tenSeconds.Value || longest.Number >= aSecond.Value && waits.Number >= 1
}

// judgeLocked judges a database by the waits for locks and the deadlocks that it reports.
func judgeLocked(c *check.Case) (v check.Verdict, ok bool) {
	s := c.Bundle.Subjects[c.Subject]
	longest, long := lockedLong(c)
	if gave, told := c.Fact(evidence.FactLockTimeouts); told && s.Kind == evidence.Dependency && !long {
		return judgeLockTimeouts(c, gave), true
	}
	if s.Kind != evidence.Dependency || !long {
		return judgeDeadlocks(c)
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 2,
		Title:   fmt.Sprintf("Statements of %s wait for what other transactions have locked, up to %s.", s.Name, units.Time(longest.Number)),
		Summary: fmt.Sprintf("waits for locks of up to %s", units.Time(longest.Number))}
	v.Evidence = append(v.Evidence, c.Figure("database.lock_wait_ms", "longest wait for a lock", longest.Number/1e6, "ms", longest.Origin))
	if waits, told := c.Fact(evidence.FactLockWaits); told && waits.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("database.lock_waits", "waits for locks, by its own log", waits.Number, "count", waits.Origin))
	}
	if dead, told := c.Fact(evidence.FactDeadlocks); told && dead.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure(evidence.FactDeadlocks, "deadlocks, by the database's own words", dead.Number, "count", dead.Origin))
	}
	v.Fix = []check.Fix{shortenLocks}
	v.Needs = []check.Need{{What: "requests of its callers from the same time, to show what it costs them: an access log or spans"}}
	return v, true
}

var shortenLocks = check.Fix{Text: "find the transaction that holds the lock (pg_blocking_pids, or sys.innodb_lock_waits of MySQL), and make it short: no calls to others within one, none left open, rows taken in the same order everywhere"}

// judgeLockTimeouts judges a database by the statements that gave up waiting for a lock: each waited for as long as it may.
func judgeLockTimeouts(c *check.Case, gave evidence.Fact) check.Verdict {
	v := check.Verdict{Rule: check.StandsAlone, Weight: 2,
		Title:   fmt.Sprintf("Statements of %s wait for what other transactions have locked until they give up: %s.", c.Bundle.Subjects[c.Subject].Name, units.Plural(int(gave.Number), "time-out")),
		Summary: units.Plural(int(gave.Number), "wait") + " for a lock timed out"}
	v.Evidence = append(v.Evidence, c.Figure("database.lock_timeouts", "waits for a lock that timed out, by the database's own words", gave.Number, "count", gave.Origin))
	v.Fix = []check.Fix{shortenLocks}
	v.Needs = []check.Need{{What: "requests of its callers from the same time, to show what it costs them: an access log or spans"}}
	return v
}

// judgeDatabase judges a database by what its own log reports of slow statements, waits for locks
// and checkpoints.
func judgeDatabase(c *check.Case) (v check.Verdict, ok bool) {
	s := c.Bundle.Subjects[c.Subject]
	n, told := c.Fact(evidence.FactStatementsSlow)
	most, _ := c.Fact(evidence.FactStatementMost)
	locked, blocked := lockedLong(c)
	slow := told && (most.Number >= tenSeconds.Value || most.Number >= aSecond.Value && n.Number >= fewStatement.Value)
	synced, _ := c.Fact(evidence.FactCheckpointSync)
	again, _ := c.Fact(evidence.FactCheckpointSyncs)
	disk := synced.Number >= tenSeconds.Value || again.Number >= fewSyncs.Value
	if s.Kind != evidence.Dependency || !slow && !blocked && !disk {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1}
	switch {
	case blocked && locked.Number >= most.Number/2:
		v.Title = fmt.Sprintf("Statements of %s wait for locks of others, up to %s, and so do its callers.", s.Name, units.Time(locked.Number))
		v.Summary = fmt.Sprintf("waits for locks of up to %s", units.Time(locked.Number))
		v.Fix = []check.Fix{{Text: "make the transactions that hold these locks short: no calls to others within one, rows taken in the same order everywhere"}}
	case disk && synced.Number >= most.Number:
		v.Title = fmt.Sprintf("%s probably waits for its disk: in a checkpoint the sync of one file took %s.", s.Name, units.Time(synced.Number))
		v.Summary = fmt.Sprintf("a sync of %s in a checkpoint", units.Time(synced.Number))
		v.Evidence = append(v.Evidence, c.Figure("database.checkpoint_sync_ms", "longest sync of one file in a checkpoint", synced.Number/1e6, "ms", synced.Origin))
		v.Fix = []check.Fix{{Text: "find out what else writes to this disk (iostat -x 1, pidstat -d 1), and spread checkpoints", Setting: "checkpoint_completion_target=0.9"}}
	default:
		v.Title = fmt.Sprintf("%s answers slowly: %s took up to %s, by its own log.", s.Name, units.Plural(int(n.Number), "statement"), units.Time(most.Number))
		v.Summary = fmt.Sprintf("statements of up to %s", units.Time(most.Number))
		v.Fix = []check.Fix{{Text: "look at the plan of the slowest statement (EXPLAIN ANALYZE): an index, fewer rows, or its result kept", Code: most.Value}}
	}
	if told {
		v.Evidence = append(v.Evidence, c.Figure("database.slow_statements", "statements in its log of slow ones", n.Number, "count", n.Origin),
			c.Figure("database.slowest_ms", "slowest statement: "+most.Value, most.Number/1e6, "ms", most.Origin))
	}
	if locked.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("database.lock_wait_ms", "longest wait for a lock", locked.Number/1e6, "ms", locked.Origin))
	}
	if x, ok := c.Fact(evidence.FactCheckpointMost); ok && x.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("database.checkpoint_ms", "longest checkpoint", x.Number/1e6, "ms", x.Origin))
	}
	v.Needs = []check.Need{{What: "requests of its callers from the same time, to show what it costs them: an access log or spans"}}
	return v, true
}
