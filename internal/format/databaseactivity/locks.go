package databaseactivity

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// mostCounted bounds the sessions of one row that counts them.
const mostCounted = 10_000

// addLock adds a row of pg_locks that waits for its lock, or one that counts those of a kind.
func (p *parser) addLock(row map[string]string, line int64) {
	n := 1
	for _, c := range countColumns {
		if v, err := strconv.Atoi(row[c]); err == nil && row["pid"] == "" {
			n = min(max(0, v), mostCounted)
			break
		}
	}
	who := firstCell(row, blockedColumns)
	switch state := strings.ToLower(cmp.Or(row["granted"], row["lock_status"])); {
	case state == "f", state == "false", state == "no", state == "pending", state == "waiting":
	case state == "t", state == "true", state == "yes", state == "granted":
		p.granted += int64(n)
		return
	case state != "" || who == "" || firstCell(row, blockerColumns) == "" || firstCell(row, blockerColumns) == "{}":
		return
	case p.waiters[who]: // it waits for several
		return
	case len(p.waiters) == mostRows:
		p.dropped++
		return
	default:
		if p.waiters == nil {
			p.waiters = make(map[string]bool)
		}
		p.waiters[who] = true
	}
	what := cmp.Or(row["locktype"], row["mode"], row["lock_type"])
	if row["pid"] == "" && row["mode"] != "" {
		what = strings.TrimSpace(row["mode"] + " " + row["relation"])
	}
	if row["locktype"] == "relation" || row["object_type"] == "TABLE" || row["locktype"] == "" && row["relation"] != "" && row["mode"] != "" {
		p.tables += n
	}
	s := session{waits: strings.TrimSpace("Lock " + what), statement: firstCell(row, textColumns), took: -1, locked: true, line: line}
	s.since = parseInstant(row["waitstart"])
	for _, n := range timeColumns {
		if v, ok := parseSeconds(row[n]); ok {
			s.took = max(s.took, v)
		}
	}
	for name, cell := range row { // "oldest_wait_ms", "max_wait_s"
		for suffix, unit := range map[string]float64{"_ms": 1e3, "_s": 1, "_sec": 1, "_seconds": 1} {
			if v, ok := parseSeconds(cell); ok && strings.Contains(name, "wait") && strings.HasSuffix(name, suffix) {
				s.took = max(s.took, v/unit)
			}
		}
	}
	for range n {
		if len(p.rows) == mostRows {
			p.dropped++
			return
		}
		p.rows = append(p.rows, s)
	}
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
