// Package databaseactivity reads the sessions of a database at a moment, as people copy them from a client:
//
//	pg_stat_activity            rows of psql, aligned or expanded (\x), any choice of columns    PostgreSQL 9.2 to 17
//	pg_locks                    its rows that are not granted wait; 14 and later tell since when (waitstart)
//	SHOW [FULL] PROCESSLIST     rows of mysql, in a frame, with tabs or vertical (\G)           MySQL 5.1 to 8.4, MariaDB
//	SHOW ENGINE INNODB STATUS   transactions that wait for locks, threads that wait for semaphores, the latest deadlock
//	pg_stat_statements          statements by what they took in all, any choice of columns      PostgreSQL 9.2 to 18
//	pg_activity                 its screen (https://github.com/dalibo/pg_activity, 1.5 to 3)
//
// https://www.postgresql.org/docs/current/monitoring-stats.html, https://dev.mysql.com/doc/refman/8.4/en/innodb-standard-monitor.html
//
// The runtime of a statement stands for its wait: if it waits for a lock now, nearly all of its runtime was the lock, or the
// wait would hardly have been seen. Only a statement's fingerprint is kept (package databaselog).
package databaseactivity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/databaselog"
)

// Format reads such a list.
var Format = format.Format{
	Name:  "databaseactivity",
	About: "what PostgreSQL, MySQL and MariaDB do at a moment: pg_stat_activity, pg_stat_statements, SHOW PROCESSLIST, SHOW ENGINE INNODB STATUS",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine    = 16 << 10
	mostRows    = 50_000
	mostColumns = 64
)

func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, []byte("INNODB MONITOR OUTPUT")) || bytes.Contains(head, []byte("LATEST DETECTED DEADLOCK")) || bytes.Contains(head, []byte("BUFFER POOL AND MEMORY")) && bytes.Contains(head, []byte("Buffer pool hit rate ")) || bytes.Contains(head, []byte("---TRANSACTION ")) && bytes.Contains(head, []byte("MySQL thread id ")) {
		return format.Sure
	}
	if bytes.Contains(head, []byte("| Query ")) && hasBareProcess(head) {
		return format.Sure
	}
	if !bytes.Contains(head, []byte("wait_event")) && !bytes.Contains(head, []byte("Command")) && !bytes.Contains(head, []byte("query_start")) && !bytes.Contains(head, []byte("locktype")) && !bytes.Contains(head, []byte("mean_")) && !bytes.Contains(head, []byte("total_")) && !bytes.Contains(head, []byte("state")) && !bytes.Contains(head, []byte("State")) {
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
	if len(p.rows) > 0 || len(p.sums) > 0 || p.granted > 0 {
		return format.Sure
	}
	return format.No
}

// session is a row.
type session struct {
	state, waits, statement string
	took                    float64 // s, -1 unknown
	locked                  bool
	since                   time.Time // of a wait for a lock, or of a statement, zero unknown
	line                    int64
}

// statement is a row of pg_stat_statements; times are ms, −1 unknown.
type statement struct {
	text               string
	calls, total, mean float64
	line               int64
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
	granted int64 // rows of it that hold their lock

	// of InnoDB
	innodb       bool
	active       float64 // s, of the transaction being read
	waits        []float64
	semaphores   []float64
	firstWait    int64
	oldest       float64
	history      float64
	reading      bool // the section of the latest deadlock
	deadlock     bool
	looked, dead time.Time // of the list, and of the latest deadlock
	deadLine     int64
	figures      [][2]string
}

// kinds of columns, by their usual names.
var (
	stateColumns = []string{"state"}
	timeColumns  = []string{"time", "age", "duration", "runtime", "running_for", "query_age", "query_time", "elapsed", "wait_time", "xact_age", "running", "query_duration", "wait_duration", "blocked_duration", "time_running", "?column?"}
	textColumns  = []string{"query", "info", "q", "statement", "sql", "current_query", "left", "substr", "substring", "blocked_statement"}
)

// isHeading says whether names are columns of one of these tables.
func (p *parser) isHeading(names []string) bool {
	has := make(map[string]bool)
	for _, n := range names {
		has[strings.ToLower(n)] = true
	}
	switch {
	case has["query"] && has["calls"] && (has["total_time"] || has["mean_time"] || has["total_exec_time"] || has["mean_exec_time"]):
		p.product, p.locks, p.totals = "PostgreSQL", false, true
		return true
	case has["locktype"] && has["mode"] && has["granted"] && has["pid"]:
		p.product, p.locks, p.totals = "PostgreSQL", true, false
		return true
	case has["id"] && (has["command"] || has["..."] && has["info"]) && has["time"] && has["state"] && (has["info"] || has["host"]):
		p.product, p.locks, p.totals = "MySQL", false, false
		return true
	case has["wait_event"] || has["wait_event_type"], has["state"] && has["pid"] && (has["query"] || has["query_start"]), has["waiting"] && (has["pid"] && has["query"] || has["state"] && has["query_start"]):
		p.product, p.locks, p.totals = "PostgreSQL", false, false
		return true
	}
	return false
}

// splitCells splits a row into its cells at bars, else at tabs, else at commas, and says whether
// there were bars.
func splitCells(text string) (cells []string, bars bool) {
	trimmed := strings.TrimSpace(text)
	if strings.Contains(trimmed, "|") {
		cells = strings.Split(strings.Trim(trimmed, "|"), "|")
		bars = true
	} else if cells = strings.Split(trimmed, "\t"); len(cells) == 1 && strings.Contains(trimmed, ",") { // as a client of a database exports it
		cells = strings.Split(trimmed, ",")
	}
	for i := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cells[i]), `'"`)
	}
	return cells, bars
}

func (p *parser) parseLine(text string, line int64) {
	trimmed := strings.TrimSpace(text)
	if p.parseInnoDBLine(trimmed, line) {
		return
	}
	switch {
	case trimmed == "", strings.Trim(trimmed, "-+=") == "":
		return
	case strings.HasPrefix(trimmed, "-[ RECORD "), strings.HasPrefix(trimmed, "****") && strings.HasSuffix(trimmed, "****"):
		p.endRecord()
		p.cells, p.at = make(map[string]string), line
		return
	}
	if p.cells != nil { // "wait_event | tuple", "State: updating"
		key, value, ok := strings.Cut(trimmed, "|")
		if !ok {
			key, value, ok = strings.Cut(trimmed, ":")
		}
		if key = strings.ToLower(strings.TrimSpace(key)); ok && len(p.cells) < mostColumns && len(key) < 64 {
			p.cells[key] = strings.TrimSpace(value)
		}
		return
	}
	if p.isScreen(trimmed) || p.screen && p.screenRow(trimmed, line) {
		return
	}
	cells, bars := splitCells(text)
	switch {
	case len(cells) < 3 || len(cells) > mostColumns:
		return
	case p.isHeading(cells):
		p.columns, p.bars = make([]string, len(cells)), bars
		for i, c := range cells {
			p.columns[i] = strings.ToLower(c)
		}
	case p.columns == nil && bars && isBareProcess(cells):
		p.product, p.columns, p.bars = "MySQL", processColumns, true
		p.addRow(rowOf(p.columns, cells), line)
	case p.columns == nil || bars != p.bars || len(cells) < len(p.columns):
	default:
		p.addRow(rowOf(p.columns, cells), line)
	}
}

// processColumns are those of SHOW PROCESSLIST that all versions have.
var processColumns = []string{"id", "user", "host", "db", "command", "time", "state", "info"}

// isBareProcess says whether cells are of a process in a list whose heading is gone: a number, three names, a command, how long it has lasted, a state and the statement.
func isBareProcess(cells []string) bool {
	if len(cells) < len(processColumns) || !isDigits(cells[0]) || !isDigits(cells[5]) {
		return false
	}
	switch cells[4] {
	case "Query", "Sleep", "Execute", "Connect", "Daemon", "Binlog Dump", "Prepare", "Fetch", "Killed":
		return true
	}
	return false
}

func hasBareProcess(head []byte) bool {
	for l := range bytes.Lines(head) {
		if cells, bars := splitCells(string(l[:min(len(l), mostLine)])); bars && isBareProcess(cells) {
			return true
		}
	}
	return false
}

func isDigits(s string) bool { return s != "" && len(s) < 16 && strings.Trim(s, "0123456789") == "" }

func rowOf(columns, cells []string) map[string]string {
	row := make(map[string]string, len(cells))
	for i, name := range columns {
		row[name] = cells[i]
	}
	return row
}

// isScreen says whether a line is the heading of a pg_activity screen.
func (p *parser) isScreen(text string) bool {
	if !strings.HasPrefix(text, "PID ") || !strings.Contains(text, " DATABASE ") || !strings.Contains(text, " TIME+ ") || !strings.Contains(text, "Query") {
		return false
	}
	p.product, p.screen, p.columns = "PostgreSQL", true, nil
	return true
}

// screenRow reads a row of such a screen: "265210 tests postgres local 0.0 0.1 0B 0B 01:45.61 transactionid N active UPDATE …". Cells may be empty: the time tells
// where the others are.
func (p *parser) screenRow(text string, line int64) bool {
	f := strings.Fields(text)
	if len(f) < 5 {
		return false
	}
	if _, err := strconv.ParseUint(f[0], 10, 31); err != nil {
		return false
	}
	for i := 1; i+2 < len(f); i++ {
		took, ok := parseClock(f[i])
		if !ok {
			continue
		}
		if len(p.rows) == mostRows {
			p.dropped++
			return true
		}
		s := session{took: took, line: line}
		rest := f[i+1:]
		if rest[0] != "N" && rest[0] != "Y" {
			s.waits, s.locked = rest[0], lockEvents[rest[0]]
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0] == "N" || rest[0] == "Y") {
			rest = rest[1:]
		}
		state := 0
		for state < len(rest) && (rest[state] == "active" || rest[state] == "idle" || state > 0 && (rest[state] == "in" || rest[state] == "trans" || rest[state] == "(a)")) {
			state++
		}
		s.state, s.statement = strings.Join(rest[:state], " "), strings.Join(rest[state:], " ")
		p.rows = append(p.rows, s)
		return true
	}
	return false
}

// parseClock reads the time "01:45.61" or "00:03:11.2" of a screen in seconds.
func parseClock(s string) (float64, bool) {
	minutes, rest, ok := strings.Cut(s, ":")
	if !ok || !strings.Contains(rest, ".") && strings.Count(s, ":") < 2 {
		return 0, false
	}
	if strings.Contains(rest, ":") {
		return parseSeconds(s)
	}
	m, err := strconv.ParseFloat(minutes, 64)
	v, err2 := strconv.ParseFloat(rest, 64)
	return 60*m + v, err == nil && err2 == nil && m >= 0 && m < 1e6 && v >= 0 && v < 61
}

// endRecord ends an expanded row.
func (p *parser) endRecord() {
	row := p.cells
	p.cells = nil
	if len(row) < 3 {
		return
	}
	names := make([]string, 0, len(row))
	for n := range row {
		names = append(names, n)
	}
	if p.isHeading(names) {
		p.addRow(row, p.at)
	}
}

func firstCell(row map[string]string, names []string) string {
	for _, n := range names {
		if v := row[n]; v != "" {
			return v
		}
	}
	return ""
}

func (p *parser) addRow(row map[string]string, line int64) {
	if len(p.rows) == mostRows {
		p.dropped++
		return
	}
	if p.locks {
		p.addLock(row, line)
		return
	}
	if p.totals {
		p.addStatement(row, line)
		return
	}
	s := session{state: firstCell(row, stateColumns), statement: firstCell(row, textColumns), took: -1, line: line}
	if p.product == "MySQL" {
		if c := row["command"]; c == "Sleep" || c == "Daemon" || c == "Binlog Dump" || c == "Connect" {
			s.state = c
		}
		lower := strings.ToLower(s.state)
		s.locked = strings.Contains(lower, "lock") && !strings.Contains(lower, "unlock") && !strings.Contains(lower, "closing")
	} else {
		s.waits = row["wait_event_type"]
		s.locked = strings.EqualFold(s.waits, "Lock") || row["wait_event_type"] == "" && lockEvents[row["wait_event"]] || row["waiting"] == "t"
		if e := row["wait_event"]; e != "" {
			s.waits = strings.Trim(s.waits+" "+e, " ")
		}
	}
	for _, n := range timeColumns {
		if v, ok := parseSeconds(row[n]); ok {
			s.took = max(s.took, v)
		}
	}
	s.since = parseInstant(row["query_start"])
	p.rows = append(p.rows, s)
}

// parseInstant reads a time as clients of PostgreSQL print it; the result is zero if it is none.
func parseInstant(s string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999 -0700", "2006-01-02 15:04:05.999999-07:00", "2006-01-02 15:04:05.999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// addStatement adds a row of pg_stat_statements.
func (p *parser) addStatement(row map[string]string, line int64) {
	of := func(names ...string) float64 {
		for _, n := range names {
			if v, err := strconv.ParseFloat(row[n], 64); err == nil && v >= 0 && v < 1e15 {
				return v
			}
		}
		return -1
	}
	s := statement{databaselog.Fingerprint(row["query"]), of("calls"), of("total_exec_time", "total_time"), of("mean_exec_time", "mean_time"), line}
	if s.mean < 0 && s.total >= 0 && s.calls > 0 {
		s.mean = s.total / s.calls
	}
	if len(p.sums) == mostRows {
		p.dropped++
	} else if s.calls > 0 && s.mean >= 0 {
		p.sums = append(p.sums, s)
	}
}

// addSums shows statements by what they took in all, and the slowest of those that came more than once as a fact: its mean time.
func (p *parser) addSums(b *evidence.Builder, subject evidence.SubjectID) {
	if len(p.sums) == 0 {
		return
	}
	sorting.Short(p.sums, func(x, y statement) int { return cmp.Compare(y.mean*y.calls, x.mean*x.calls) })
	t := evidence.Table{Title: "statements of " + p.product, Columns: []string{"", "calls", "mean ms", "all s"}}
	var slow *statement
	for i := range p.sums {
		s := &p.sums[i]
		if s.calls > 1 && (slow == nil || s.mean > slow.mean) {
			slow = s
		}
		if i < 20 {
			t.Rows = append(t.Rows, []string{s.text, fmt.Sprintf("%.0f", s.calls), fmt.Sprintf("%.4g", s.mean), fmt.Sprintf("%.4g", s.mean*s.calls/1e3)})
		}
	}
	b.Table(t)
	if slow == nil {
		return
	}
	b.FactAt(subject, evidence.FactStatementsSlow, "", slow.calls, slow.line)
	b.FactAt(subject, evidence.FactStatementMost, slow.text, slow.mean*1e6, slow.line)
}

// addLock adds a row of pg_locks that waits for its lock.
func (p *parser) addLock(row map[string]string, line int64) {
	switch strings.ToLower(row["granted"]) {
	case "f", "false", "no":
	case "t", "true", "yes":
		p.granted++
		return
	default:
		return
	}
	s := session{waits: strings.TrimSpace("Lock " + row["locktype"]), statement: firstCell(row, textColumns), took: -1, locked: true, line: line}
	s.since = parseInstant(row["waitstart"])
	for _, n := range timeColumns {
		if v, ok := parseSeconds(row[n]); ok {
			s.took = max(s.took, v)
		}
	}
	p.rows = append(p.rows, s)
}

// placeLocks gives waits and statements whose beginning is known the time to the newest of them: they take at least as long.
func (p *parser) placeLocks() {
	var newest time.Time
	for i := range p.rows {
		if p.rows[i].since.After(newest) {
			newest = p.rows[i].since
		}
	}
	for i := range p.rows {
		if s := &p.rows[i]; !s.since.IsZero() {
			s.took = max(s.took, newest.Sub(s.since).Seconds())
		}
	}
}

// lockEvents are PostgreSQL's wait events for heavyweight locks.
var lockEvents = map[string]bool{"relation": true, "extend": true, "page": true, "tuple": true, "transactionid": true, "virtualxid": true, "advisory": true, "object": true, "userlock": true, "frozenid": true, "spectoken": true}

// parseSeconds reads "41", "00:03:11.2", "1 day 02:00:00" and "-00:00:01".
func parseSeconds(s string) (float64, bool) {
	if s == "" || len(s) > 40 {
		return 0, false
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v, v >= 0 && v < 1e9
	}
	total := 0.
	if days, rest, ok := strings.Cut(s, " day"); ok {
		v, err := strconv.ParseFloat(days, 64)
		if err != nil || v < 0 || v > 1e5 {
			return 0, false
		}
		total = v * 86400
		s = strings.TrimLeft(strings.TrimPrefix(rest, "s"), " ")
		if s == "" {
			return total, true
		}
	}
	part := strings.Split(s, ":")
	if len(part) != 3 {
		return 0, false
	}
	for i, unit := range []float64{3600, 60, 1} {
		v, err := strconv.ParseFloat(part[i], 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0, false
		}
		total += v * unit
	}
	return total, true
}

// parseInnoDBLine reads a line of InnoDB's monitor; it returns false for other lines.
func (p *parser) parseInnoDBLine(text string, line int64) bool {
	switch {
	case strings.Contains(text, "INNODB MONITOR OUTPUT"):
		p.innodb, p.product = true, "MySQL"
		p.looked = parseLineTime(text)
	case strings.HasPrefix(text, "LATEST DETECTED DEADLOCK"):
		p.innodb, p.product, p.reading, p.deadLine = true, "MySQL", true, line
	case p.reading && p.dead.IsZero() && !parseLineTime(text).IsZero():
		p.dead = parseLineTime(text)
	case p.reading && (strings.HasPrefix(text, "*** (1) TRANSACTION:") || strings.HasPrefix(text, "*** WE ROLL BACK TRANSACTION ")):
		p.deadlock = true
	case strings.HasPrefix(text, "BUFFER POOL AND MEMORY"):
		p.innodb, p.product = true, "MySQL"
	case p.innodb && strings.HasPrefix(text, "Buffer pool hit rate "):
		rate, _, _ := strings.Cut(text[len("Buffer pool hit rate "):], ",")
		p.addFigure("buffer pool hit rate", rate)
	case p.innodb && strings.HasSuffix(text, " writes/s") && strings.Contains(text, " reads/s, "):
		p.addFigure("pages of the buffer pool", text)
	case p.innodb && strings.HasSuffix(text, " queries in queue") && strings.Contains(text, " queries inside InnoDB, "):
		p.addFigure("statements", text)
	case strings.HasPrefix(text, "---TRANSACTION "):
		p.innodb, p.product = true, "MySQL"
		p.active = 0
		if v, ok := parseFigureAfter(text, "ACTIVE "); ok {
			p.active = v
			p.oldest = max(p.oldest, v)
		}
	case strings.Contains(text, "TRX HAS BEEN WAITING "):
		if v, ok := parseFigureAfter(text, "HAS BEEN WAITING "); ok && len(p.waits) < mostRows {
			p.waits = append(p.waits, v)
		}
		if p.firstWait == 0 {
			p.firstWait = line
		}
	case strings.HasPrefix(text, "--Thread ") && strings.Contains(text, " has waited at "):
		if v, ok := parseFigureAfter(text, " for "); ok && len(p.semaphores) < mostRows {
			p.semaphores = append(p.semaphores, v)
		}
		if p.firstWait == 0 {
			p.firstWait = line
		}
	case strings.HasPrefix(text, "History list length "):
		p.history, _ = parseFigureAfter(text, "length ")
	default:
		return false
	}
	p.cells = nil
	return true
}

// addFigure keeps a line of InnoDB's as a figure. Of several buffer pools it keeps the first line,
// which is the sum.
func (p *parser) addFigure(name, value string) {
	for _, f := range p.figures {
		if f[0] == name {
			return
		}
	}
	p.figures = append(p.figures, [2]string{name, clipText(value)})
}

// parseLineTime reads the time at the beginning of a line: "2017-06-02 12:26:24", and "170602
// 12:26:24" before MySQL 5.6. The result is zero if there is none.
func parseLineTime(text string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05", "060102 15:04:05", "060102  3:04:05"} {
		if len(text) >= len(layout) {
			if t, err := time.Parse(layout, text[:len(layout)]); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}

// parseFigureAfter reads the number behind words.
func parseFigureAfter(text, words string) (float64, bool) {
	_, rest, ok := strings.Cut(text, words)
	n := 0
	for n < len(rest) && n < 12 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(strings.TrimRight(rest[:n], "."), 64)
	return v, ok && err == nil
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.endRecord()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(p.rows) == 0 && len(p.sums) == 0 && !p.innodb && err != nil:
		return err
	case len(p.rows) == 0 && len(p.sums) == 0 && !p.innodb:
		return errors.New("databaseactivity: no session and no transaction in it")
	case err != nil:
		b.Warnf(0, "the text is incomplete: %v", err)
		b.Cut()
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
	for _, v := range append(p.waits, p.semaphores...) {
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
	return nil
}

// recent is how long before the list a deadlock may be to matter.
const recent = time.Hour

// addTables shows the sessions by their activity, and InnoDB's figures.
func (p *parser) addTables(b *evidence.Builder) {
	if p.granted > 0 {
		b.Table(evidence.Table{Title: "locks of " + p.product, Columns: []string{"", "locks"}, Rows: [][]string{{"granted", strconv.FormatInt(p.granted, 10)}, {"waited for", strconv.Itoa(len(p.rows))}}})
	}
	if len(p.rows) > 0 {
		type group struct {
			what, statement string
			n               int
			most            float64
		}
		by := make(map[string]*group)
		var all []*group
		for _, s := range p.rows {
			what := s.state
			if s.waits != "" {
				what = strings.TrimSpace(what + ", waits for " + s.waits)
			}
			what = clipText(what)
			g := by[what]
			if g == nil {
				if len(all) == 1000 {
					continue
				}
				g = &group{what: what, most: -1}
				by[what] = g
				all = append(all, g)
			}
			g.n++
			if s.took > g.most {
				g.most, g.statement = s.took, databaselog.Fingerprint(s.statement)
			}
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].n > all[j].n })
		t := evidence.Table{Title: "sessions of " + p.product, Columns: []string{"", "sessions", "longest s", "statement of it"}}
		for _, g := range all[:min(len(all), 20)] {
			most := ""
			if g.most >= 0 {
				most = fmt.Sprintf("%.4g", g.most)
			}
			t.Rows = append(t.Rows, []string{g.what, strconv.Itoa(g.n), most, g.statement})
		}
		b.Table(t)
	}
	if p.innodb {
		most := func(all []float64) (v float64) {
			for _, x := range all {
				v = max(v, x)
			}
			return v
		}
		b.Table(evidence.Table{Title: "InnoDB", Columns: []string{"", "value"}, Rows: [][]string{
			{"transactions that wait for a lock", strconv.Itoa(len(p.waits))}, {"longest of these s", fmt.Sprintf("%.4g", most(p.waits))},
			{"threads that wait for a semaphore", strconv.Itoa(len(p.semaphores))}, {"longest of these s", fmt.Sprintf("%.4g", most(p.semaphores))},
			{"oldest transaction s", fmt.Sprintf("%.4g", p.oldest)}, {"history list length", fmt.Sprintf("%.0f", p.history)}}})
		if len(p.figures) > 0 {
			t := evidence.Table{Title: "InnoDB, its buffer pool and statements", Columns: []string{"", "value"}}
			for _, f := range p.figures {
				t.Rows = append(t.Rows, []string{f[0], f[1]})
			}
			b.Table(t)
		}
	}
	if p.dropped > 0 {
		b.Warnf(0, "sessions beyond the first %d: %d", mostRows, p.dropped)
	}
}

func clipText(s string) string { return strings.ToValidUTF8(s[:min(len(s), 120)], "") }
