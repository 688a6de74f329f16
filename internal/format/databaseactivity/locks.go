package databaseactivity

import (
	"strings"
	"time"
)

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
