package databaseactivity

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// kinds of columns, by their usual names.
var (
	stateColumns = []string{"state"}
	timeColumns  = []string{"time", "age", "duration", "runtime", "running_for", "query_age", "query_time", "elapsed", "wait_time", "xact_age", "running", "query_duration", "wait_duration", "blocked_duration", "time_running", "wait_age", "wait_age_secs", "waiting_duration", "blocked_for", "?column?"}
	countColumns = []string{"count", "backends", "n", "locks", "cnt"}
	textColumns  = []string{"query", "info", "q", "statement", "sql", "current_query", "left", "substr", "substring", "blocked_statement", "blocked_query", "waiting_query"}
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
	case has["mode"] && has["granted"] && (has["locktype"] && has["pid"] || has["relation"] && countColumnOf(has) != ""):
		p.product, p.locks, p.totals = "PostgreSQL", true, false
		return true
	case has["lock_status"] && has["lock_type"]: // metadata_locks and data_locks of performance_schema
		p.product, p.locks, p.totals = "MySQL", true, false
		return true
	case blockedOf(has) != "" && blockerOf(has) != "": // what people and tools select to find who blocks whom
		p.product, p.locks, p.totals = "PostgreSQL", true, false
		if has["requesting_trx_id"] || has["waiting_trx_id"] || has["waiting_query"] || has["sql_kill_blocking_query"] {
			p.product = "MySQL"
		}
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

// countColumnOf returns the column in which people count rows of pg_locks of a kind, "" without one.
func countColumnOf(has map[string]bool) string {
	for _, n := range countColumns {
		if has[n] {
			return n
		}
	}
	return ""
}

// blockedOf and blockerOf return the columns that name who waits and who holds the lock, "" without one: pg_blocking_pids as people join it, sys.innodb_lock_waits,
// sys.schema_table_lock_waits, information_schema.innodb_lock_waits.
func blockedOf(has map[string]bool) string { return firstOf(has, blockedColumns) }
func blockerOf(has map[string]bool) string { return firstOf(has, blockerColumns) }

var (
	blockedColumns = []string{"blocked_pid", "waiting_pid", "waiting_thread_id", "requesting_trx_id", "waiting_trx_id", "blocked_session_id"}
	blockerColumns = []string{"blocking_pid", "blocking_pids", "blocked_by", "blocker_pid", "blocking_thread_id", "blocking_trx_id", "blocking_session_id"}
)

func firstOf(has map[string]bool, names []string) string {
	for _, n := range names {
		if has[n] {
			return n
		}
	}
	return ""
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

// trimCommentMark takes off what makes a line a comment of SQL, as answers stand below their statements in a script.
func trimCommentMark(text string) string {
	trimmed := strings.TrimSpace(text)
	for _, mark := range []string{"# ", "-- ", "// ", "* "} {
		if rest, ok := strings.CutPrefix(trimmed, mark); ok {
			return rest
		}
	}
	return text
}

func (p *parser) parseLine(text string, line int64) {
	text, ok := p.joinBroken(text, line)
	if !ok {
		return
	}
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "#") && p.readProfileRow(trimmed, line) {
		return
	}
	text = trimCommentMark(text)
	trimmed = strings.TrimSpace(text)
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
	case len(cells) < 3 && !(bars && len(cells) == 2) || len(cells) > mostColumns:
		return
	case p.isHeading(cells):
		p.columns, p.bars = make([]string, len(cells)), bars
		for i, c := range cells {
			p.columns[i] = strings.ToLower(c)
		}
	case p.columns == nil && bars && isBareProcess(cells):
		p.product, p.columns, p.bars = "MySQL", processColumns, true
		p.addRow(rowOf(p.columns, cells), line)
	case bars && p.bars && len(cells) == len(p.columns)-1 && strings.HasSuffix(trimmed, "|") && !strings.HasPrefix(trimmed, "|"): // of psql, whose last cell is empty
		p.addRow(rowOf(p.columns, append(cells, "")), line)
	case p.columns == nil || bars != p.bars || len(cells) < len(p.columns):
	default:
		p.addRow(rowOf(p.columns, cells), line)
	}
}

// joinBroken joins a row of a frame whose statement has line ends: it begins with a bar, and goes on until a line ends with one. False while it goes on.
func (p *parser) joinBroken(text string, line int64) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if p.broken == "" {
		if p.cells != nil || !p.bars || len(p.columns) == 0 || !strings.HasPrefix(trimmed, "|") || strings.HasSuffix(trimmed, "|") {
			return text, true
		}
		p.broken, p.parts, p.begun = trimmed, 1, line
		return "", false
	}
	if strings.HasPrefix(trimmed, "+-") || strings.HasPrefix(trimmed, "| ") && isBareProcess(cellsOf(trimmed)) || p.parts == mostParts || len(p.broken)+len(trimmed) > mostLine {
		p.endBroken()
		return text, true
	}
	p.broken, p.parts = p.broken+" "+trimmed, p.parts+1
	if !strings.HasSuffix(trimmed, "|") {
		return "", false
	}
	text, p.broken = p.broken, ""
	return text, true
}

// endBroken ends a row that the text ends within.
func (p *parser) endBroken() {
	if before := p.broken; before != "" {
		p.broken = ""
		p.parseLine(before+" |", p.begun)
	}
}

// cellsOf returns the cells of a row between bars.
func cellsOf(text string) []string {
	cells, _ := splitCells(text)
	return cells
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
		wsrep := strings.HasPrefix(s.state, "wsrep: ")
		if c := row["command"]; c == "Daemon" || c == "Binlog Dump" || c == "Connect" || c == "Sleep" && !wsrep {
			s.state = c
		}
		if wsrep {
			s.state = trimWriteSet(s.state)
		}
		if s.statement == "NULL" {
			s.statement = ""
		}
		lower := strings.ToLower(s.state)
		s.locked = wsrep && waitsForCluster[s.state] ||
			strings.Contains(lower, "lock") && !strings.Contains(lower, "unlock") && !strings.Contains(lower, "closing")
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

// waitsForCluster are the states in which a session of a Galera node waits for its turn to commit: write sets are committed in one order, so that all wait for a lock
// that the first of them waits for. An applier without work is of no such state, nor is a session that waits for the other nodes.
var waitsForCluster = map[string]bool{
	"wsrep: committing write set": true, "wsrep: committing": true, "wsrep: waiting to replay or commit": true, "wsrep: waiting for commit order": true,
}

// trimWriteSet takes off the number of the write set that a state of Galera ends with: "(4711)", "(-1)".
func trimWriteSet(state string) string {
	if at := strings.LastIndexByte(state, '('); at > 0 && strings.HasSuffix(state, ")") && strings.Trim(state[at+1:len(state)-1], "-0123456789") == "" {
		return strings.TrimSpace(state[:at])
	}
	return state
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
