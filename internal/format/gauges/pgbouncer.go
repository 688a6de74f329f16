package gauges

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// PgBouncer reads what SHOW POOLS prints in psql, aligned or expanded (\x), versions 1.5 to 1.24
// (https://www.pgbouncer.org/usage.html#show-pools):
//
//	database |  user  | cl_active | cl_waiting | sv_active | sv_idle | sv_used | …
//	shopdb   | shop   |       361 |        423 |        80 |       0 |       0 | …
//
// A pool belongs to a database and a user. SHOW POOLS does not print its size. If clients wait and no connection to the server is
// idle, the size is the number of open connections.
var PgBouncer = format.Format{
	Name:  "pgbouncer",
	About: "PgBouncer's SHOW POOLS",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, clientsWaiting) {
			return format.No
		}
		t := &poolTable{}
		for l := range bytes.Lines(head) {
			if _, ok := t.parseLine(string(l)); ok {
				return format.Sure
			}
		}
		if _, ok := t.endRecord(); ok {
			return format.Sure
		}
		return format.No
	},
	Parse: parsePgBouncer,
}

var clientsWaiting = []byte("cl_waiting")

// mostCells bounds the columns of a row: 1.24 has 20.
const mostCells = 64

// poolTable reads rows of SHOW POOLS.
type poolTable struct {
	columns []string
	record  map[string]string // of an expanded row
}

// parseLine returns the cells of a row by their columns; false for other lines, and for those of an expanded row until it ends.
func (t *poolTable) parseLine(line string) (row map[string]string, ok bool) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "-[ RECORD ") {
		row, ok = t.endRecord()
		t.record = make(map[string]string)
		return row, ok
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) < 2 || len(cells) > mostCells {
		return nil, false
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	switch {
	case t.record != nil && len(cells) == 2:
		if len(t.record) < mostCells {
			t.record[cells[0]] = cells[1]
		}
		return nil, false
	case strings.Contains(line, "cl_waiting") && strings.Contains(line, "sv_active"):
		t.columns, t.record = cells, nil
		return nil, false
	case len(cells) != len(t.columns):
		return nil, false
	}
	row = make(map[string]string, len(cells))
	for i, name := range t.columns {
		row[name] = cells[i]
	}
	return row, isPoolRow(row)
}

// endRecord ends an expanded row.
func (t *poolTable) endRecord() (row map[string]string, ok bool) {
	row, t.record = t.record, nil
	return row, isPoolRow(row)
}

func isPoolRow(row map[string]string) bool {
	_, ok := parseFigure(row["cl_waiting"])
	_, ok2 := parseFigure(row["sv_active"])
	return ok && ok2 && row["database"] != ""
}

func parsePgBouncer(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p, t := newParser(ctx, b), &poolTable{}
	last := int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number%8192 == 0 && ctx.Err() != nil {
			return false
		}
		last = l.Number
		if row, ok := t.parseLine(string(l.Text[:min(len(l.Text), maxRow)])); ok {
			p.addPool(row, l.Number)
		}
		return true
	})
	if row, ok := t.endRecord(); ok {
		p.addPool(row, last)
	}
	if len(p.pools) == 0 && err == nil {
		return errors.New("it holds no row of SHOW POOLS")
	}
	return p.emitReadings(err)
}

// addPool adds a row of SHOW POOLS.
func (p *parser) addPool(row map[string]string, line int64) {
	figure := func(name string) float64 {
		v, ok := parseFigure(row[name])
		if !ok {
			return math.NaN()
		}
		return v
	}
	g := gauge{active: figure("sv_active"), idle: figure("sv_idle"), pending: figure("cl_waiting"), max: math.NaN()}
	if g.pending > 0 && !(g.idle > 0) {
		g.max = g.active
		for _, name := range []string{"sv_used", "sv_tested", "sv_login", "sv_active_cancel", "sv_being_canceled"} {
			if v := figure(name); v > 0 {
				g.max += v
			}
		}
	}
	name := row["database"]
	if user := row["user"]; user != "" {
		name += "/" + user
	}
	p.addReading(p.ensurePool(clipName(name), "connections", line), g)
}
