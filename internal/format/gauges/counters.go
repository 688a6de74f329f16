package gauges

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Counters reads the statistics of a pool as programs print them, in whatever frame their language gives them, on one line or several:
//
//	map[acquireCount:110079 acquiredConns:32 canceledAcquireCount:265 idleConns:0 maxConns:32 …]     pgxpool.Stat of Go
//	db pool pressure max_conns=4 acquired_conns=4 idle_conns=0 canceled_acquire_delta=94 …           the same in a logger's fields
//	{ totalCount: 10, idleCount: 0, waitingCount: 52 }                                               pg.Pool of Node.js
//	used: numUsed=10 numFree=0 numPendingAcquires=31                                                 tarn, knex
//	{'pool_max': 20, 'pool_size': 20, 'pool_available': 0, 'requests_waiting': 12, …}                psycopg_pool of Python
//	Pool size: 5  Connections in pool: 0 Current Overflow: 10 Current Checked out connections: 15    SQLAlchemy's Pool.status()
//
// https://pkg.go.dev/github.com/jackc/pgx/v5/pgxpool#Stat, https://node-postgres.com/apis/pool, https://github.com/vincit/tarn.js,
// https://www.psycopg.org/psycopg3/docs/advanced/pool.html#pool-stats, QueuePool.status of SQLAlchemy (1.4 to 2).
//
// Names are compared without case and signs. Acquires that were cancelled are of requests that ended while they waited; they count only
// beside a pool that is full.
var Counters = format.Format{
	Name:  "pool-counters",
	About: "statistics of a pool as a program prints them: pgxpool, pg.Pool of Node.js, tarn, psycopg_pool, SQLAlchemy",
	Match: func(head []byte) format.Confidence {
		c := counters{}
		for l := range bytes.Lines(head) {
			if c.addLine(string(l[:min(len(l), mostCounted)]), 1); c.found > 0 {
				return format.Sure
			}
		}
		c.flush()
		return format.SureIf(c.found > 0)
	},
	Parse: parseCounters,
}

// Bounds of what is read.
const (
	mostCounted = 4096 // of a line, bytes
	mostApart   = 15   // lines between the first figure of a reading and the last
)

// meaning says which property of a pool a printed figure counts.
type meaning uint8

const (
	countedUsed meaning = iota
	countedIdle
	countedOpen
	countedMost
	countedWaits
	countedGaveUp // since the start, or since the line before
	countedExtra  // places above the size
	countedKinds
)

// dialect is the names of one library. All of needs must be there.
type dialect struct {
	pool, runtime string
	names         map[string]meaning
	needs         []meaning
}

var dialects = []dialect{
	{"pgxpool", "go", map[string]meaning{"acquiredconns": countedUsed, "idleconns": countedIdle, "maxconns": countedMost, "canceledacquirecount": countedGaveUp, "canceledacquiredelta": countedGaveUp, "canceledacquires": countedGaveUp}, []meaning{countedUsed, countedMost}},
	{"pg.Pool", "node", map[string]meaning{"totalcount": countedOpen, "idlecount": countedIdle, "waitingcount": countedWaits}, []meaning{countedOpen, countedIdle, countedWaits}},
	{"tarn", "node", map[string]meaning{"numused": countedUsed, "numfree": countedIdle, "numpendingacquires": countedWaits}, []meaning{countedUsed, countedIdle, countedWaits}},
	{"psycopg_pool", "", map[string]meaning{"poolmax": countedMost, "poolsize": countedOpen, "poolavailable": countedIdle, "requestswaiting": countedWaits, "requestserrors": countedGaveUp}, []meaning{countedOpen, countedIdle}},
	{"SQLAlchemy QueuePool", "", map[string]meaning{"poolsize": countedOpen, "connectionsinpool": countedIdle, "currentoverflow": countedExtra, "currentcheckedoutconnections": countedUsed}, []meaning{countedUsed, countedOpen, countedExtra}},
}

// isCounted says whether a name is one of some library.
var isCounted = func() map[string]bool {
	all := make(map[string]bool)
	for _, d := range dialects {
		for n := range d.names {
			all[n] = true
		}
	}
	return all
}()

// counters is the figures of the reading that is being read.
type counters struct {
	p     *parser // nil while only looked at
	of    map[string]float64
	since int64 // line of the first
	found int
	line  format.Line
}

// addLine adds the figures of a line.
func (c *counters) addLine(text string, line int64) {
	if len(c.of) > 0 && line-c.since > mostApart {
		c.flush()
	}
	for from := 0; from < len(text); {
		i := strings.IndexAny(text[from:], ":=")
		if i < 0 {
			return
		}
		i += from
		name := nameBefore(text[from:i])
		from = i + 1
		if !isCounted[name] {
			continue
		}
		v := leadingFigure(strings.TrimLeft(text[from:], ` "'`))
		if math.IsNaN(v) {
			continue
		}
		if _, again := c.of[name]; again {
			c.flush()
		}
		if len(c.of) == 0 {
			c.of, c.since = make(map[string]float64), line
		}
		c.of[name] = v
	}
}

// nameBefore returns the name at the end of text, without case and signs: "acquired_conns", "'pool_max'", "Current Checked out connections".
func nameBefore(text string) string {
	text = strings.TrimRight(text, ` "'`)
	from := len(text)
	for from > 0 && len(text)-from < 40 {
		c := text[from-1]
		if c != '_' && c != ' ' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		from--
	}
	words := strings.Fields(text[from:])
	for n := range words { // the shortest that is a name, of several words
		if name := strings.ToLower(strings.ReplaceAll(strings.Join(words[len(words)-1-n:], ""), "_", "")); isCounted[name] && (n > 0 || !isCounted[strings.ToLower(strings.Join(words, ""))]) {
			return name
		}
	}
	return strings.ToLower(strings.Join(words, ""))
}

// leadingFigure reads the number that text begins with, NaN without one.
func leadingFigure(text string) float64 {
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	v, err := strconv.ParseUint(text[:n], 10, 40)
	if err != nil {
		return math.NaN()
	}
	return float64(v)
}

// flush ends a reading.
func (c *counters) flush() {
	of := c.of
	c.of = nil
	for i := range dialects {
		d := &dialects[i]
		var v [countedKinds]float64
		for k := range v {
			v[k] = math.NaN()
		}
		for name, k := range d.names {
			if x, ok := of[name]; ok {
				v[k] = x
			}
		}
		whole := true
		for _, k := range d.needs {
			whole = whole && !math.IsNaN(v[k])
		}
		if !whole {
			continue
		}
		c.found++
		if c.p != nil {
			c.p.addCounters(d, &v, c.since, c.line)
		}
		return
	}
}

// addCounters adds a reading.
func (p *parser) addCounters(d *dialect, v *[countedKinds]float64, line int64, last format.Line) {
	p.process.runtime = d.runtime
	g := gauge{active: v[countedUsed], idle: v[countedIdle], pending: v[countedWaits], max: v[countedMost]}
	if math.IsNaN(g.active) {
		g.active = max(0, v[countedOpen]-v[countedIdle])
	}
	if extra := v[countedExtra]; extra > 0 { // of SQLAlchemy: size and overflow, how much of which is allowed is not told
		g.max = v[countedOpen] + extra
	}
	if math.IsNaN(g.max) && g.pending > 0 { // requests wait because the pool opens no more
		g.max = g.active + max(0, g.idle)
	}
	at, zoned, timed := parseLineTime(string(last.Text))
	if !timed {
		at = last.Stamp
	}
	p.unzoned = p.unzoned || timed && !zoned
	g.t = at
	p.addReading(p.ensurePool(d.pool, "connections", line), g)
	if n := v[countedGaveUp]; n > 0 && g.active >= g.max {
		x := p.timeouts[d.pool]
		if x == nil {
			x = &timeouts{line: line}
			p.timeouts[d.pool] = x
		}
		x.bare = max(x.bare, int(min(n, 1e9)))
	}
}

func parseCounters(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(ctx, b)
	c := counters{p: p}
	err := a.Lines(func(l format.Line) bool {
		if l.Number%8192 == 0 && ctx.Err() != nil {
			return false
		}
		c.addLine(string(l.Text[:min(len(l.Text), mostCounted)]), l.Number)
		if c.since == l.Number {
			c.line = format.Line{Number: l.Number, Stamp: l.Stamp, Text: append([]byte(nil), l.Text[:min(len(l.Text), 64)]...)}
		}
		return true
	})
	c.flush()
	return p.emitReadings(err)
}
