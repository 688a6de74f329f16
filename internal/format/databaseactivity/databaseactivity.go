// Package databaseactivity reads the sessions of a database at a moment, as people copy them from a client:
//
//	pg_stat_activity            rows of psql, aligned or expanded (\x), any choice of columns    PostgreSQL 9.2 to 17
//	pg_locks                    its rows that are not granted wait; 14 and later tell since when (waitstart); or how many of a mode and relation do
//	who blocks whom             a row for each that waits: blocked_pid and blocking_pid, sys.innodb_lock_waits, sys.schema_table_lock_waits
//	performance_schema          metadata_locks and data_locks: rows that are PENDING or WAITING wait      MySQL 5.7 to 9
//	SHOW [FULL] PROCESSLIST     rows of mysql, in a frame, with tabs or vertical (\G)           MySQL 5.1 to 8.4, MariaDB
//	SHOW ENGINE INNODB STATUS   transactions that wait for locks, threads that wait for semaphores, a commit that waits for a sync, the latest deadlock
//	pg_stat_statements          statements by what they took in all, any choice of columns      PostgreSQL 9.2 to 18
//	pt-query-digest             the profile of its report, and its JSON: statements of a slow log by what they took      2.2 to 3.7
//	pg_activity                 its screen (https://github.com/dalibo/pg_activity, 1.5 to 3)
//
// https://www.postgresql.org/docs/current/monitoring-stats.html, https://dev.mysql.com/doc/refman/8.4/en/innodb-standard-monitor.html
//
// The runtime of a statement stands for its wait: if it waits for a lock now, nearly all of its runtime was the lock, or the
// wait would hardly have been seen. Only a statement's fingerprint is kept (package databaselog).
package databaseactivity

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a list.
var Format = format.Format{
	Name:  "databaseactivity",
	About: "what PostgreSQL, MySQL and MariaDB do at a moment: pg_stat_activity, pg_stat_statements, pt-query-digest, SHOW PROCESSLIST, SHOW ENGINE INNODB STATUS",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine    = 16 << 10
	mostRows    = 50_000
	mostColumns = 64
	mostParts   = 200 // lines of one row
)

func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, []byte("INNODB MONITOR OUTPUT")) || bytes.Contains(head, []byte("LATEST DETECTED DEADLOCK")) || bytes.Contains(head, []byte("BUFFER POOL AND MEMORY")) && bytes.Contains(head, []byte("Buffer pool hit rate ")) || bytes.Contains(head, []byte("---TRANSACTION ")) && bytes.Contains(head, []byte("MySQL thread id ")) {
		return format.Sure
	}
	if isDigest(head) {
		return format.Sure
	}
	if bytes.Contains(head, []byte("| Query ")) && hasBareProcess(head) {
		return format.Sure
	}
	if !bytes.Contains(head, []byte("wait_event")) && !bytes.Contains(head, []byte("Command")) && !bytes.Contains(head, []byte("query_start")) && !bytes.Contains(head, []byte("locktype")) && !bytes.Contains(head, []byte("granted")) && !bytes.Contains(head, []byte("mean_")) && !bytes.Contains(head, []byte("total_")) && !bytes.Contains(head, []byte("state")) && !bytes.Contains(head, []byte("State")) && !bytes.Contains(head, []byte("Query ID")) && !bytes.Contains(head, []byte("LOCK_STATUS")) && !bytes.Contains(head, []byte("lock_status")) && !bytes.Contains(head, []byte("blocking_")) && !bytes.Contains(head, []byte("blocked_by")) {
		return format.No
	}
	p := &parser{}
	for l := range bytes.Lines(head) {
		p.parseLine(string(bytes.TrimRight(l[:min(len(l), mostLine)], "\r\n")), 1)
		if len(p.rows) > 0 || len(p.sums) > 0 || p.granted > 0 {
			return format.Sure
		}
	}
	p.endRecord()
	return format.SureIf(len(p.rows) > 0 || len(p.sums) > 0 || p.granted > 0)
}

// session is a row.
type session struct {
	state, waits, statement string
	took                    float64 // s, -1 unknown
	locked                  bool
	since                   time.Time // of a wait for a lock, or of a statement, zero unknown
	line                    int64
}

type parser struct {
	product string
	columns []string
	bars    bool // cells are between bars
	screen  bool // pg_activity's screen
	rows    []session
	cells   map[string]string // of an expanded row
	at      int64
	dropped int64
	locks   bool // the table is pg_locks
	totals  bool // the table is pg_stat_statements
	sums    []statement
	granted int64           // rows of it that hold their lock
	tables  int             // waits for the lock of a whole table
	waiters map[string]bool // who waits, in lists of who blocks whom
	broken  string          // the beginning of a row whose statement has line ends
	parts   int             // its lines so far
	begun   int64           // the first of them
	digest  []byte          // pt-query-digest's JSON
	profile bool            // the heading of pt-query-digest's profile has come

	// of InnoDB
	innodb         bool
	active         float64 // s, of the transaction being read
	waits          []float64
	semaphores     map[string]float64 // s, by thread: waits for what InnoDB locks for itself, which no transaction holds
	flushing       float64            // syncs of the redo log that are not done
	committing     float64            // s, of the oldest transaction that has done its work and is to be kept (PREPARED)
	firstWait      int64
	committingLine int64
	oldest         float64
	history        float64
	reading        bool // the section of the latest deadlock
	deadlock       bool
	looked, dead   time.Time // of the list, and of the latest deadlock
	deadLine       int64
	figures        [][2]string
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{}
	err := a.Lines(func(l format.Line) bool {
		if !p.keepDigest(l.Text) {
			p.parseLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.readDigest()
	p.endBroken()
	p.endRecord()
	if err := format.EndReading(ctx, b, err, len(p.rows)+len(p.sums) > 0 || p.innodb, "the text", "databaseactivity: no session and no transaction in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: p.product})
	p.placeLocks()
	locks, longest, at := 0., 0., p.firstWait
	note := func(took float64, line int64) {
		locks++
		if took >= longest {
			longest = took
			if line > 0 {
				at = line
			}
		}
	}
	for _, s := range p.rows {
		if s.locked {
			note(max(0, s.took), s.line)
		}
	}
	for _, v := range p.waits {
		note(v, 0)
	}
	fact := func(key, value string, v float64) {
		b.FactAt(subject, key, value, v, max(at, 1))
	}
	if locks > 0 {
		fact(evidence.FactLockWaits, strconv.FormatFloat(locks, 'f', 0, 64), locks)
		if longest > 0 {
			fact(evidence.FactLockWaitMost, "", longest*1e9)
		}
	}
	if p.tables > 0 {
		fact(evidence.FactTableLockWaits, "", float64(p.tables))
	}
	if p.flushing > 0 && p.committing > 0 { // it waits for that sync
		b.FactAt(subject, evidence.FactSyncsSlow, "its redo log", 1, p.committingLine)
		b.FactAt(subject, evidence.FactSyncMost, "its redo log", p.committing*1e9, p.committingLine)
	}
	if p.deadlock {
		if !p.looked.IsZero() && !p.dead.IsZero() && p.looked.Sub(p.dead) > recent {
			b.Warnf(p.deadLine, "the latest deadlock was %s before: it says nothing of now", p.looked.Sub(p.dead).Round(time.Minute))
		} else {
			at = p.deadLine
			fact(evidence.FactDeadlocks, "1", 1)
		}
	}
	p.addTables(b)
	p.addSums(b, subject)
	p.addPiled(b, subject)
	return nil
}
