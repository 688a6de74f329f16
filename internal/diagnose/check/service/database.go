package service

import (
	"fmt"
	"strings"

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
	for _, judge := range []func(*check.Case) (check.Verdict, bool){judgeUnanswered, judgePhase, judgeStuck, judgeFileServer} {
		if v, ok := judge(c); ok {
			return v, true
		}
	}
	return judgeDatabase(c)
}

// ofPhase says what a phase of a request depends on, and what helps. Phases in which the server itself works tell nothing about what it waits for.
var ofPhase = map[string]struct{ by, fix string }{
	evidence.PhaseLookup:    {"its name server", "ask the name server itself (dig NAME, several times): a query that is lost is sent again after 5 s; a cache on the host, full names (with a dot at the end) and single-request-reopen in resolv.conf avoid most of them"},
	evidence.PhaseConnect:   {"the network, or the accept queue of the server", "look for lost packets (nstat TcpRetransSegs, ss -ti) and a full accept queue of the server (ss -ltn): a first packet that is lost is sent again after 1 s; connections that stay open avoid it"},
	evidence.PhaseHandshake: {"the server's CPUs, or what it asks about certificates", "keep connections open, resume sessions, and look at the CPUs of what ends TLS, and at its calls about certificates (OCSP)"},
}

// judgePhase judges by the phases of a request that its client measured: before the server can work on it, one took a second and more, and most of the time.
func judgePhase(c *check.Case) (v check.Verdict, ok bool) {
	f, told := c.Fact(evidence.FactPhaseMost)
	all, _ := c.Fact(evidence.FactPhaseOf)
	by, known := ofPhase[f.Value]
	if !told || !known || c.Ledger != nil || f.Number < aSecond.Value || f.Number < mostly.Value*all.Number {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: f.Number / max(1, all.Number),
		Title:   fmt.Sprintf("A request spent %s of %s in %s: it depends on %s.", units.Time(f.Number), units.Time(all.Number), f.Value, by.by),
		Summary: fmt.Sprintf("%s took %s", f.Value, units.Time(f.Number))}
	v.Evidence = append(v.Evidence, c.Figure("request.phase_ms", "longest phase of a request: "+f.Value, f.Number/1e6, "ms", f.Origin),
		c.Figure("request.phase_of_ms", "the whole of that request", all.Number/1e6, "ms", all.Origin))
	v.Fix = []check.Fix{{Text: by.fix}}
	v.Needs = []check.Need{{What: "how often it happens: the same request a hundred times"}}
	return v, true
}

// judgeFileServer judges a host by a look at tasks in its kernel: they wait for a file server.
func judgeFileServer(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactTasksAwaitFiles)
	if !told || c.Ledger != nil {
		return v, false
	}
	call := ""
	if n.Value != "" {
		call = ", in " + n.Value
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Probably: a file server (NFS, FUSE) does not answer: %s in the kernel for it%s.", waitVerb(int(n.Number)), call),
		Summary: fmt.Sprintf("%s in the kernel for a file server", waitVerb(int(n.Number)))}
	v.Evidence = append(v.Evidence, c.Figure(evidence.FactTasksAwaitFiles, "tasks that wait in the kernel for the answer of a file server, at one look", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "look at the file server and the network to it (nfsstat -c, nfsiostat 1: retransmissions and the time of a call), and unmount what is gone (umount -f -l)"}}
	v.Needs = []check.Need{{What: "whether it stays so: the same stack again", Command: "cat /proc/PID/stack"}}
	return v, true
}

func waitVerb(n int) string {
	if n == 1 {
		return "1 task waits"
	}
	return units.Plural(n, "task") + " wait"
}

// judgeStuck judges a storage by the operations that it says it has not done.
func judgeStuck(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactOpsStuck)
	most, _ := c.Fact(evidence.FactOpsStuckMost)
	if !told || most.Number < tenSeconds.Value {
		return v, false
	}
	name := c.Bundle.Subjects[c.Subject].Name
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("%s does not answer: operations have waited for up to %s, by its own words.", name, units.Time(most.Number)),
		Summary: fmt.Sprintf("operations that waited for %s", units.Time(most.Number))}
	v.Evidence = append(v.Evidence, c.Figure("storage.stuck_ms", "longest that an operation has waited", most.Number/1e6, "ms", most.Origin),
		c.Figure(evidence.FactOpsStuck, "operations, at one place at least", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "find what the operations wait for: a slow disk, the network between the hosts, or work of its own (scrubbing, recovery, deleting snapshots); it tells which of its parts they wait at"}}
	v.Needs = []check.Need{{What: "requests of its callers from the same time, to show what it costs them: an access log or spans"}}
	return v, true
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
	if queued, _ := c.Fact(evidence.FactTableLockWaits); s.Kind == evidence.Dependency && !long && queued.Number >= fewQueued.Value {
		return judgeTableLocks(c, queued), true
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

// fewQueued is how many statements must wait where nothing says for how long.
var fewQueued = check.Threshold{Name: "statements that wait for the lock of a whole table, at one look", Value: 3, Unit: "count",
	Why: "one or two may have come in the moment in which another alters the table; readers wait for no other statement, so that a queue is of a lock that is held for long", Source: "Poisson: where 1 is usual, 3 or more come by chance one time in twelve"}

// judgeTableLocks judges a database by a look at its locks: statements queue for that of a whole table.
func judgeTableLocks(c *check.Case, queued evidence.Fact) check.Verdict {
	v := check.Verdict{Rule: check.StandsAlone, Weight: queued.Number,
		Title:   fmt.Sprintf("Probably: %s of %s wait for the lock of a whole table, behind a transaction that holds it or a change of the table that waits itself.", units.Plural(int(queued.Number), "statement"), c.Bundle.Subjects[c.Subject].Name),
		Summary: units.Plural(int(queued.Number), "statement") + " waiting for the lock of a table, at one look"}
	v.Evidence = append(v.Evidence, c.Figure("database.table_lock_waits", "statements that wait for the lock of a whole table, at one look", queued.Number, "count", queued.Origin))
	v.Fix = []check.Fix{{Text: "find the transaction that holds it (pg_blocking_pids, or sys.schema_table_lock_waits of MySQL) and end it; change tables with a short lock_timeout, so that a change that waits does not delay those behind it"}}
	v.Needs = []check.Need{{What: "how long they have waited: pg_stat_activity with now() - query_start, or SHOW PROCESSLIST, twice"}}
	return v
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
			c.Figure("database.slowest_ms", strings.TrimSuffix("slowest statement: "+most.Value, ": "), most.Number/1e6, "ms", most.Origin))
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
