// Package databaselog reads slow statements, waits for locks and checkpoints from the logs of
// databases:
//
//	2023-05-02 10:11:12.120 UTC [2211] app@shop LOG:  duration: 8123.441 ms  statement: SELECT …      PostgreSQL, log_min_duration_statement
//	… LOG:  process 2213 still waiting for ShareLock on transaction 91223 after 1000.112 ms           log_lock_waits
//	… ERROR:  deadlock detected                                                                       any settings
//	… Deadlock found when trying to get lock; try restarting transaction                              MySQL and MariaDB, as clients log it
//	… was deadlocked on lock resources with another process and has been chosen as the deadlock victim   SQL Server, likewise
//	… LOG:  checkpoints are occurring too frequently (17 seconds apart)                               checkpoint_warning
//	… LOG:  checkpoint complete: wrote 8123 buffers (49.6%); …; write=26.912 s, sync=2.801 s, total=29.989 s; …, longest=2.412 s, …
//	2023-05-02 10:11:12.120 UTC,"app","shop",2211,…,LOG,00000,"duration: 8123.441 ms  statement: …",…     log_destination = csvlog
//	{"timestamp":"2023-05-02 10:11:12.120 UTC",…,"error_severity":"LOG","message":"duration: …",…}        jsonlog, 15 on
//	… ERROR:  canceling statement due to lock timeout                                                lock_timeout
//	… Lock wait timeout exceeded; try restarting transaction                                         innodb_lock_wait_timeout, as clients log it
//	… Lock wait timeout: thread 1397 on node n1 waiting for ShareLock on transaction 91223 after 119917.403 ms      openGauss, likewise
//	# Query_time: 12.412331  Lock_time: 0.000121  Rows_sent: 12  Rows_examined: 9122331               MySQL and MariaDB, slow_query_log
//
// https://www.postgresql.org/docs/current/runtime-config-logging.html, versions 9 to 17;
// https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html, versions 5.1 to 8.4, MariaDB 5.5 to 11.
//
// Slow operations of MongoDB are in mongo.go, the slow logs of Elasticsearch in elasticsearch.go, plans of EXPLAIN ANALYZE in plan.go.
//
// A statement that only sleeps (SELECT SLEEP(15), pg_sleep, WAITFOR DELAY, BENCHMARK) is told apart: it says nothing about the
// database.
//
// Of a statement only its fingerprint is kept: literals, numbers and lists become "?". Such a log has only slow
// statements: how many were quick, and so the share of slow ones, is unknown.
package databaselog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "databaselog",
	About: "logs of PostgreSQL, MySQL, MariaDB, MongoDB and Elasticsearch with slow statements, waits for locks and checkpoints; deadlocks and waits that timed out as their clients and those of SQL Server log them; plans of EXPLAIN ANALYZE",
	Match: matchHead,
	Parse: parseArtifact,
}

var (
	duration   = []byte("duration: ")
	waiting    = []byte(" still waiting for ")
	acquired   = []byte(" acquired ")
	checkpoint = []byte("checkpoint complete: ")
	queryTime  = []byte("# Query_time: ")
	logLevel   = []byte("LOG: ") // followed by another blank, which web pages drop
	deadlock   = []byte("deadlock detected")
	// What clients of MySQL and SQL Server are told, and log: error 1213, error 1205.
	mysqlDeadlock  = []byte("Deadlock found when trying to get lock; try restarting transaction")
	serverDeadlock = []byte("has been chosen as the deadlock victim")
	// The last line of PostgreSQL's report about a deadlock.
	deadlockHint = []byte("HINT:  See server log for query details.")
	// Waits for locks that timed out: error 1205 of MySQL, the log of Percona Server, SQL Server's error 1222.
	lockTimeouts = []struct {
		mark []byte
		of   string
	}{
		{[]byte("Lock wait timeout exceeded; try restarting transaction"), "MySQL"},
		{[]byte("InnoDB: Lock wait timeout info:"), "MySQL"},
		{[]byte("ERROR:  canceling statement due to lock timeout"), "PostgreSQL"},
		{[]byte("Lock request time out period exceeded"), "SQL Server"},
		{[]byte("Lock wait timeout: thread "), "openGauss"}, // "… on node gaussdb waiting for ShareLock on transaction 91223 after 119917.403 ms"
	}
	tooOften = []byte("checkpoints are occurring too frequently (")
)

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, logLevel) && !bytes.Contains(head, queryTime) && !bytes.Contains(head, csvLevel) && !bytes.Contains(head, jsonLevel) && !bytes.Contains(head, deadlock) &&
		!bytes.Contains(head, mysqlDeadlock) && !bytes.Contains(head, serverDeadlock) && !bytes.Contains(head, planTime) && timeoutOf(head) < 0 &&
		!bytes.Contains(head, mongoSlow) && !bytes.Contains(head, mongoPlan) && !bytes.Contains(head, mongoLocks) && !bytes.Contains(head, elasticTook) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if plain := toStderrLine(l); plain != nil {
			l = plain
		}
		if databaseOf(l) != "" || timeoutOf(l) >= 0 {
			return format.Sure
		}
		if _, _, ok := parseStep(l); ok {
			return format.Sure
		}
		if _, ok := parseMongo(l); ok {
			return format.Sure
		}
		if _, _, ok := parseElastic(l); ok {
			return format.Sure
		}
		if bytes.HasPrefix(l, queryTime) && bytes.Contains(l, []byte("Lock_time: ")) {
			return format.Sure
		}
		if i := bytes.Index(l, logLevel); i >= 0 {
			if _, _, ok := parsePostgres(bytes.TrimLeft(l[i+len(logLevel):], " ")); ok {
				return format.Sure
			}
		}
	}
	return format.No
}

// What a line is about.
const (
	aStatement = iota
	aLock
	aCheckpoint
	aWarning // that checkpoints come too often
)

// databaseOf names the database that a line is of which reports a deadlock, ended by failing a statement; "" for other lines.
func databaseOf(l []byte) string {
	switch i := bytes.Index(l, deadlock); {
	case i > 0 && bytes.HasSuffix(bytes.TrimRight(l[:i], " "), []byte("ERROR:")):
		return "PostgreSQL"
	case bytes.Contains(l, mysqlDeadlock):
		return "MySQL"
	case bytes.Contains(l, serverDeadlock) && bytes.Contains(l, []byte("deadlocked on ")):
		return "SQL Server"
	}
	return ""
}

// timeoutOf returns which of [lockTimeouts] a line is, -1 for others.
func timeoutOf(l []byte) int {
	for i := range lockTimeouts {
		if bytes.Contains(l, lockTimeouts[i].mark) && !bytes.HasPrefix(l, []byte("Caused by: ")) {
			return i
		}
	}
	return -1
}

// parsePostgres reads a message of PostgreSQL: its subject, and the duration in ns.
func parsePostgres(text []byte) (what int, ns float64, ok bool) {
	switch {
	case bytes.HasPrefix(text, duration):
		if rest := text[len(duration):]; bytes.Contains(rest, []byte(" ms ")) || bytes.HasSuffix(bytes.TrimSpace(rest), []byte(" ms")) {
			ns, ok = parseNumber(rest, 1e6)
			return aStatement, ns, ok
		}
	case (bytes.HasPrefix(text, []byte("process ")) || bytes.HasPrefix(text, []byte("thread "))) && (bytes.Contains(text, waiting) || bytes.Contains(text, acquired)): // a thread: openGauss
		ns, ok = waitedFor(text)
		return aLock, ns, ok
	case bytes.HasPrefix(text, checkpoint), bytes.HasPrefix(text, []byte("restartpoint complete: ")):
		ns, ok = parseSecondsAfter(text, "total=")
		return aCheckpoint, ns, ok
	case bytes.HasPrefix(text, tooOften):
		ns, ok = parseNumber(text[len(tooOften):], 1e9)
		return aWarning, ns, ok
	}
	return 0, 0, false
}

// waitedFor reads how long a wait for a lock lasted that a message ends with: "after 1000.112 ms", in ns.
func waitedFor(text []byte) (ns float64, ok bool) {
	i := bytes.LastIndex(text, []byte(" after "))
	if i < 0 || !bytes.Contains(text[i:], []byte(" ms")) {
		return 0, false
	}
	return parseNumber(text[i+len(" after "):], 1e6)
}

// parseSecondsAfter reads the seconds behind words, in ns.
func parseSecondsAfter(text []byte, words string) (ns float64, ok bool) {
	_, rest, found := bytes.Cut(text, []byte(words))
	if !found {
		return 0, false
	}
	return parseNumber(rest, 1e9)
}

// parseNumber reads the number that text begins with, times unit.
func parseNumber(text []byte, unit float64) (v float64, ok bool) {
	n := 0
	for n < len(text) && n < 20 && (text[n] >= '0' && text[n] <= '9' || text[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(string(text[:n]), 64)
	return v * unit, err == nil && v >= 0 && v < 1e9
}

// longSync is the duration of a sync (ns) that shows a slow disk: PostgreSQL spreads a checkpoint's writes over minutes before it.
const longSync = 2e9

// Bounds of what is kept.
const (
	maxStatements = 5000 // fingerprints
	maxText       = 16 << 10
	mostShown     = 20
)

// statement is all slow runs of one statement.
type statement struct {
	text      string
	n         int64
	sum, most float64 // ns
	locked    float64 // ns, the longest wait for locks of a run
	examined  float64 // most rows of a run
	first     int64   // line
}

type parser struct {
	b           *evidence.Builder
	name        string
	statements  map[string]*statement
	n           int64
	sum, most   float64
	mostText    string
	mostLine    int64
	locks       int64
	lockMost    float64
	lockLine    int64
	checkpoints int64
	checkMost   float64
	checkLine   int64
	syncMost    float64
	syncsLong   int64 // checkpoints with a sync of longSync or more
	often       int64 // warnings that checkpoints come too often
	oftenLeast  float64
	oftenLine   int64
	deadlocks   int64
	hints       int64 // ends of reports about deadlocks, whose beginnings may be missing
	deadLine    int64
	timeouts    [5]int64 // by [lockTimeouts]
	told        string   // the words of the last of these, which a client may log twice
	timeoutLine int64
	plan        plan
	plans       int64
	explained   bool // the log has told the time of the statement whose plan follows
	planMost    float64
	planTable   evidence.Table
	times       [2]int64
	line        int64
	dropped     int64
	unzoned     bool
	quick       int64 // operations of MongoDB below mongoLeast
	asleep      int64 // statements that sleep on purpose

	// of MySQL, whose entries are several lines
	took, locked, examined float64
	open                   bool
	text                   strings.Builder
	from                   int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, statements: make(map[string]*statement)}
	err := a.Lines(func(l format.Line) bool {
		p.line = l.Number
		p.parseLine(l)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.endEntry()
	p.endPlan(0)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !p.hasFindings() && err != nil:
		return err
	case !p.hasFindings():
		return errors.New("databaselog: no slow statement, wait for a lock or checkpoint in it")
	case err != nil:
		b.Warnf(p.line, "the log is incomplete after this line: %v", err)
		b.Cut()
	}
	p.emitFacts()
	return nil
}

func (p *parser) hasFindings() bool {
	return p.n+p.quick+p.asleep+p.locks+p.checkpoints+p.often+p.deadlocks+p.plans+slices.Max(p.timeouts[:]) > 0 || p.lockMost > 0
}

func (p *parser) parseLine(l format.Line) {
	text := l.Text
	if plain := toStderrLine(text); plain != nil {
		text = plain
	}
	if p.parsePlanLine(text) {
		return
	}
	if op, ok := parseMongo(text); ok {
		p.name = "MongoDB"
		p.addTime(text, l.Stamp)
		if op.ns >= mongoLeast {
			p.addRun(op.text, op.ns, op.locked, op.docs, l.Number)
		} else {
			p.quick++
		}
		if op.locked >= 1e9 {
			p.addLockWait(op.locked, true, l.Number)
		}
		return
	}
	if op, name, ok := parseElastic(text); ok {
		p.name = name
		p.addTime(bytes.TrimLeft(text, " ["), l.Stamp)
		if op.ns >= searchLeast {
			p.addRun(op.text, op.ns, 0, op.docs, l.Number)
		} else {
			p.quick++
		}
		return
	}
	if i := timeoutOf(text); i >= 0 {
		p.endEntry()
		p.name = lockTimeouts[i].of
		p.addTime(text, l.Stamp)
		if p.timeoutLine == 0 {
			p.timeoutLine = l.Number
		}
		if ns, ok := waitedFor(text); ok {
			words := string(text[bytes.Index(text, lockTimeouts[i].mark):])
			if words == p.told {
				return
			}
			p.told = words
			p.addLockWait(ns, true, l.Number)
		}
		p.timeouts[i]++
		return
	}
	if name := databaseOf(text); name != "" {
		p.endEntry()
		p.name = name
		p.addTime(text, l.Stamp)
		if p.deadlocks++; p.deadLine == 0 {
			p.deadLine = l.Number
		}
		return
	}
	if bytes.HasSuffix(bytes.TrimSpace(text), deadlockHint) {
		if p.hints++; p.deadLine == 0 {
			p.deadLine = l.Number
		}
		return
	}
	if i := bytes.Index(text, logLevel); i >= 0 {
		p.endEntry()
		p.endPlan(0)
		rest := bytes.TrimLeft(text[i+len(logLevel):], " ")
		what, ns, ok := parsePostgres(rest)
		if !ok {
			return
		}
		p.name = "PostgreSQL"
		p.addTime(text[:i], l.Stamp)
		switch what {
		case aStatement:
			_, sql, _ := bytes.Cut(rest, []byte(" ms "))
			sql = bytes.TrimLeft(sql, " ")
			for _, kind := range []string{"statement: ", "execute ", "parse ", "bind "} {
				if s, found := bytes.CutPrefix(sql, []byte(kind)); found {
					if sql = s; kind != "statement: " {
						_, sql, _ = bytes.Cut(s, []byte(": "))
					}
					break
				}
			}
			p.explained = bytes.HasPrefix(sql, []byte("plan:"))
			p.addStatement(string(sql[:min(len(sql), maxText)]), ns, 0, math.NaN(), l.Number)
		case aLock:
			p.addLockWait(ns, bytes.Contains(rest, waiting), l.Number)
		case aCheckpoint:
			p.checkpoints++
			if ns > p.checkMost {
				p.checkMost, p.checkLine = ns, l.Number
			}
			if longest, ok := parseSecondsAfter(rest, "longest="); ok {
				p.syncMost = max(p.syncMost, longest)
				if longest >= longSync {
					p.syncsLong++
				}
			}
		case aWarning:
			if p.often++; p.oftenLine == 0 || ns < p.oftenLeast {
				p.oftenLeast, p.oftenLine = ns, l.Number
			}
		}
		return
	}
	switch {
	case bytes.HasPrefix(text, []byte("# Time: ")):
		p.endEntry()
		p.addTime(text[len("# Time: "):], l.Stamp)
	case bytes.HasPrefix(text, []byte("# User@Host: ")):
		p.endEntry()
	case bytes.HasPrefix(text, queryTime):
		p.endEntry()
		took, ok := parseNumber(text[len(queryTime):], 1e9)
		if !ok {
			return
		}
		if p.name == "" {
			p.name = "MySQL"
		}
		locked, _ := parseSecondsAfter(text, "Lock_time: ")
		examined := math.NaN()
		if v, ok := parseSecondsAfter(text, "Rows_examined: "); ok {
			examined = v / 1e9
		}
		p.took, p.locked, p.examined, p.open, p.from = took, locked, examined, true, l.Number
	case bytes.Contains(text, []byte("MariaDB")) && !p.open:
		p.name = "MariaDB"
	case p.open && len(text) > 0 && text[0] != '#':
		lower := bytes.ToLower(text[:min(len(text), 16)])
		if bytes.HasPrefix(lower, []byte("set timestamp=")) || bytes.HasPrefix(lower, []byte("use ")) {
			return
		}
		if p.text.Len() < maxText {
			p.text.Write(text[:min(len(text), maxText)])
			p.text.WriteByte(' ')
		}
	case p.open && bytes.HasPrefix(text, []byte("# Thread_id: ")), bytes.Contains(text, []byte("QC_hit: ")):
		p.name = "MariaDB"
	}
	if bytes.Contains(text, []byte("QC_hit: ")) {
		p.name = "MariaDB"
	}
}

// endEntry ends an entry of MySQL's slow log.
func (p *parser) endEntry() {
	if !p.open {
		return
	}
	p.open = false
	p.addStatement(p.text.String(), p.took, p.locked, p.examined, p.from)
	if p.locked >= 1e9 {
		p.addLockWait(p.locked, true, p.from)
	}
	p.text.Reset()
}

func (p *parser) addLockWait(ns float64, counts bool, line int64) {
	if counts {
		p.locks++
	}
	if ns > p.lockMost {
		p.lockMost, p.lockLine = ns, line
	}
}

func (p *parser) addStatement(sql string, ns, locked, examined float64, line int64) {
	text := Fingerprint(sql)
	if sleepsOnPurpose(text) {
		p.asleep++
		return
	}
	p.addRun(text, ns, locked, examined, line)
}

// addRun adds a run of a statement, whose text has no literals.
func (p *parser) addRun(text string, ns, locked, examined float64, line int64) {
	p.n++
	p.sum += ns
	if ns > p.most {
		p.most, p.mostText, p.mostLine = ns, text, line
	}
	s := p.statements[text]
	if s == nil {
		if len(p.statements) == maxStatements {
			p.dropped++
			return
		}
		s = &statement{text: text, first: line}
		p.statements[text] = s
	}
	s.n++
	s.sum += ns
	s.most, s.locked = max(s.most, ns), max(s.locked, locked)
	if examined > s.examined {
		s.examined = examined
	}
}

// sleepers begin statements that sleep as long as asked, such as a test of a log or a timeout.
var sleepers = []string{"select sleep(", "do sleep(", "select pg_sleep(", "select pg_sleep_for(", "select pg_sleep_until(", "select pg_catalog.pg_sleep(", "waitfor delay ", "select benchmark(", "do benchmark("}

// sleepsOnPurpose says whether a statement, by its fingerprint, only sleeps.
func sleepsOnPurpose(text string) bool {
	lower := strings.ToLower(text)
	for _, s := range sleepers {
		if rest, ok := strings.CutPrefix(lower, s); ok {
			return !strings.Contains(rest, " from ")
		}
	}
	return false
}

// layouts of times: PostgreSQL's, MySQL's since 5.7 and before.
var layouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "060102 15:04:05"}

// addTime widens the log's range of times by the time at the beginning of a line, else by its stamp.
func (p *parser) addTime(text []byte, stamp int64) {
	t := stamp
	s := strings.TrimSpace(string(text[:min(len(text), 64)]))
	for _, layout := range layouts {
		if len(s) < len(layout) {
			continue
		}
		x := s[:len(layout)]
		if layout[0] == '0' {
			x = strings.Replace(x, "  ", " 0", 1)
		}
		if v, err := time.Parse(layout, x); err == nil {
			t = v.UnixNano()
			p.unzoned = p.unzoned || !strings.Contains(s, "UTC") && !strings.Contains(s, "GMT") && !strings.Contains(s, "Z")
			break
		}
	}
	if t <= 0 {
		return
	}
	if p.times[0] == 0 || t < p.times[0] {
		p.times[0] = t
	}
	p.times[1] = max(p.times[1], t)
}

func (p *parser) emitFacts() {
	b := p.b
	*b.Clock() = evidence.Clock{Name: "times of the log", Error: 1e9, Resolution: 1e9}
	if p.times[0] == 0 {
		b.Clock().Error = evidence.Unanchored
	} else if p.unzoned {
		b.Warnf(0, "the times of this log have no time zone that is known, and were read as UTC: check them against the other files")
	}
	subject := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: p.name})
	fact := func(key, value string, v float64, line int64) {
		b.Fact(evidence.Fact{Subject: subject, Key: key, Value: value, Number: v, From: p.times[0], Until: p.times[1], Origin: b.Origin(line)})
	}
	if p.n > 0 {
		fact(evidence.FactStatementsSlow, strconv.FormatInt(p.n, 10), float64(p.n), p.mostLine)
		fact(evidence.FactStatementMost, p.mostText, p.most, p.mostLine)
		t := evidence.Table{Title: "slow statements of " + p.name + ", most time first", Columns: []string{"", "times", "total s", "mean ms", "max ms", "longest wait for a lock ms", "rows examined"}}
		all := make([]*statement, 0, len(p.statements))
		for _, s := range p.statements {
			all = append(all, s)
		}
		slices.SortFunc(all, func(x, y *statement) int { return cmp.Or(cmp.Compare(y.sum, x.sum), cmp.Compare(x.text, y.text)) })
		for _, s := range all[:min(len(all), mostShown)] {
			t.Rows = append(t.Rows, []string{s.text, strconv.FormatInt(s.n, 10), formatFigure(s.sum / 1e9), formatFigure(s.sum / float64(s.n) / 1e6), formatFigure(s.most / 1e6), formatFigure(s.locked / 1e6), formatFigure(s.examined)})
		}
		b.Table(t)
	}
	if p.locks > 0 || p.lockMost > 0 {
		fact(evidence.FactLockWaits, strconv.FormatInt(p.locks, 10), float64(p.locks), p.lockLine)
		fact(evidence.FactLockWaitMost, "", p.lockMost, p.lockLine)
	}
	if p.checkpoints > 0 {
		fact(evidence.FactCheckpointMost, strconv.FormatInt(p.checkpoints, 10), p.checkMost, p.checkLine)
		fact(evidence.FactCheckpointSync, "", p.syncMost, p.checkLine)
		fact(evidence.FactCheckpointSyncs, "", float64(p.syncsLong), p.checkLine)
		b.Table(evidence.Table{Title: "checkpoints of " + p.name, Columns: []string{"", "times", "longest s", "longest sync of a file s"},
			Rows: [][]string{{"checkpoints", strconv.FormatInt(p.checkpoints, 10), formatFigure(p.checkMost / 1e9), formatFigure(p.syncMost / 1e9)}}})
	}
	if p.often > 0 {
		b.Warnf(p.oftenLine, "checkpoints that came sooner than checkpoint_warning: %d, %.0f s apart at least: a larger max_wal_size spreads them", p.often, p.oftenLeast/1e9)
	}
	if p.deadlocks > 0 {
		p.deadlocks = max(p.deadlocks, p.hints)
		fact(evidence.FactDeadlocks, "", float64(p.deadlocks), p.deadLine)
		b.Warnf(p.deadLine, "deadlocks that ended with an error of one statement: %d: transactions take the same rows in different orders", p.deadlocks)
	}
	if n := slices.Max(p.timeouts[:]); n > 0 {
		fact(evidence.FactLockTimeouts, "", float64(n), p.timeoutLine)
	}
	if len(p.planTable.Rows) > 0 {
		b.Table(p.planTable)
	}
	if p.quick > 0 {
		b.Warnf(0, "operations of less than a second, which are only counted: %d", p.quick)
	}
	if p.asleep > 0 {
		b.Warnf(0, "statements that sleep on purpose, which are not counted as slow: %d", p.asleep)
	}
	if p.dropped > 0 {
		b.Warnf(0, "statements beyond the first %d kinds, which are only counted: %d", maxStatements, p.dropped)
	}
}

func formatFigure(v float64) string {
	if v == 0 || math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.4g", v)
}
