package gauges

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/unstall/unstall/internal/format"
)

// role is the meaning of a column.
type role uint8

const (
	noRole role = iota
	moment
	name
	active
	idle
	total
	most
	pending
	count     // calls since the row before
	rate      // calls per second
	mean      // of calls
	high      // p99 of calls
	calls     // of a statement, since the last reset
	meanTime  // of a statement
	totalTime // of a statement
	maxTime   // of a statement
	query
	foreign // of a log of requests: it makes the table none of ours
)

// columns are the names that pools and monitors use, without case, blanks and signs.
var columns = map[string]role{
	"time": moment, "timestamp": moment, "ts": moment, "date": moment, "datetime": moment, "at": moment, "t": moment,
	"pool": name, "poolname": name, "name": name, "datasource": name, "datasourcename": name, "db": name, "database": name, "dependency": name, "peer": name, "target": name,
	"active": active, "activeconnections": active, "connectionsactive": active, "inuse": active, "inuseconnections": active, "used": active, "usedconnections": active, "busy": active, "busyconnections": active,
	"numactive": active, "numbusyconnections": active, "checkedout": active, "borrowed": active, "acquired": active, "activecount": active, "hikaricpconnectionsactive": active, "poolactive": active,
	"idle": idle, "idleconnections": idle, "numidle": idle, "numidleconnections": idle, "available": idle, "free": idle, "poolingcount": idle, "connectionsidle": idle, "hikaricpconnectionsidle": idle,
	"total": total, "totalconnections": total, "size": total, "open": total, "openconnections": total, "numconnections": total, "hikaricpconnections": total,
	"max": most, "maximum": most, "maxsize": most, "maxactive": most, "maxtotal": most, "maxpoolsize": most, "maximumpoolsize": most, "maxconnections": most, "maxopen": most, "maxopenconnections": most, "limit": most, "connectionsmax": most, "hikaricpconnectionsmax": most,
	"pending": pending, "waiting": pending, "waiters": pending, "numwaiters": pending, "waitcount": pending, "awaiting": pending, "queued": pending, "threadsawaitingconnection": pending, "threadsawaiting": pending, "pendingthreads": pending,
	"pendingconnections": pending, "connectionspending": pending, "notemptywaitthreadcount": pending, "waitthreadcount": pending, "numthreadsawaitingcheckout": pending, "hikaricpconnectionspending": pending,
	"count": count, "queries": count, "calls": count, "requests": count, "executions": count, "n": count,
	"qps": rate, "rate": rate, "callspersecond": rate, "queriespersecond": rate, "tps": rate,
	"mean": mean, "avg": mean, "average": mean, "rt": mean, "avgrt": mean, "meanrt": mean, "latency": mean, "avglatency": mean, "meanlatency": mean, "responsetime": mean, "avgresponsetime": mean, "meanresponsetime": mean, "avgtime": mean, "meantime": mean,
	"p99": high, "p99rt": high, "p99latency": high, "q99": high, "rtp99": high, "99": high, "99th": high,
	"query": query, "digesttext": query, "querytext": query,
	"countstar":     calls,
	"meanexectime":  meanTime,
	"totalexectime": totalTime, "totaltime": totalTime, "sumtimerwait": totalTime, "avgtimerwait": meanTime,
	"maxexectime": maxTime, "maxtime": maxTime, "maxtimerwait": maxTime,
	"path": foreign, "url": foreign, "uri": foreign, "method": foreign, "status": foreign, "route": foreign, "msg": foreign, "message": foreign, "level": foreign, "traceid": foreign, "requesturi": foreign,
}

// units are the units that a column's name may end in, in ns.
var units = []struct {
	suffix string
	ns     float64
}{{"milliseconds", 1e6}, {"microseconds", 1e3}, {"nanoseconds", 1}, {"seconds", 1e9}, {"millis", 1e6}, {"micros", 1e3}, {"nanos", 1}, {"msec", 1e6}, {"usec", 1e3}, {"sec", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"ns", 1}, {"s", 1e9}}

// column is a column of a table.
type column struct {
	role role
	ns   float64 // length of a unit, for times
}

// table is the columns of a table.
type table struct {
	columns    []column
	pools      bool
	statements bool
	total      bool
}

func columnOf(header string) column {
	var key strings.Builder
	for _, c := range strings.ToLower(header) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == 'µ' {
			key.WriteRune(c)
		}
	}
	k := key.String()
	if r, ok := columns[k]; ok {
		c := column{role: r, ns: 1e6}
		if strings.HasSuffix(k, "timerwait") {
			c.ns = 1e-3 // ps
		}
		return c
	}
	for _, u := range units {
		if rest, ok := strings.CutSuffix(k, u.suffix); ok {
			if r := columns[rest]; r == mean || r == high || r == meanTime || r == totalTime || r == maxTime {
				return column{role: r, ns: u.ns}
			}
		}
	}
	return column{}
}

// tableOf returns the columns of a header, nil if it is of another table.
func tableOf(header []string) *table {
	t := &table{}
	var has [foreign + 1]bool
	for _, h := range header {
		c := columnOf(h)
		has[c.role] = true
		t.columns = append(t.columns, c)
	}
	t.total = has[total]
	if goStats(header) { // it has how many waited since the start, and not how many wait
		for i, h := range header {
			if h == "WaitCount" {
				t.columns[i].role = noRole
			}
		}
		t.pools = true
		return t
	}
	switch {
	case has[foreign]:
		return nil
	case has[query] && (has[calls] || has[count]) && (has[meanTime] || has[mean] || has[totalTime]):
		t.statements = true
	case has[active] && (has[moment] && (has[most] || has[pending] || has[idle] || has[total]) || has[most] && has[pending]):
		t.pools = true
	case has[mean] && (has[moment] || has[name]) && (has[count] || has[rate] || has[high]):
	default:
		return nil
	}
	return t
}

// goStats says whether names are the fields of Go's sql.DBStats (https://pkg.go.dev/database/sql#DBStats).
func goStats(header []string) bool {
	n := 0
	for _, h := range header {
		if h == "MaxOpenConnections" || h == "InUse" || h == "WaitDuration" {
			n++
		}
	}
	return n == 3
}

// findSeparator returns what separates the columns of a header, 0 if there is one column.
func findSeparator(line []byte) byte {
	for _, c := range []byte{'\t', ';', ','} {
		if bytes.IndexByte(line, c) >= 0 {
			return c
		}
	}
	return 0
}

// appendFields appends the fields of a row. Quotes are as in RFC 4180.
func appendFields(fields []string, line string, sep byte) []string {
	for {
		if len(line) > 0 && line[0] == '"' {
			var w strings.Builder
			i := 1
			for i < len(line) {
				if line[i] == '"' {
					if i+1 < len(line) && line[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				w.WriteByte(line[i])
				i++
			}
			fields = append(fields, w.String())
			line = line[min(i+1, len(line)):]
			if k := strings.IndexByte(line, sep); k >= 0 {
				line = line[k+1:]
				continue
			}
			return fields
		}
		k := strings.IndexByte(line, sep)
		if k < 0 {
			return append(fields, trimBlanks(line))
		}
		fields = append(fields, trimBlanks(line[:k]))
		line = line[k+1:]
	}
}

// trimBlanks returns s without the blanks around it. Most fields have none.
func trimBlanks(s string) string {
	if n := len(s); n > 0 && isSign[s[0]] && isSign[s[n-1]] {
		return s
	}
	return strings.TrimSpace(s)
}

// isSign says which bytes are visible ASCII signs.
var isSign = func() (is [256]bool) {
	for c := '!'; c <= '~'; c++ {
		is[c] = true
	}
	return is
}()

// maxRow bounds the length of a row: the text of a statement may have line breaks.
const maxRow = 256 << 10

// readTable reads a table of text.
func (p *parser) readTable(a *format.Artifact) error {
	var t *table
	var sep byte
	var row []byte
	var fields []string
	var begin int64
	take := func(row []byte) {
		if len(row) > 0 && row[0] != '#' && (isSign[row[0]] || len(bytes.TrimSpace(row)) > 0) {
			// Kept text is cloned, see clipName. A copy of each row would be a seventh of all the time.
			fields = appendFields(fields[:0], unsafe.String(&row[0], len(row)), sep)
			p.addRow(t, fields, begin)
		}
	}
	err := a.Lines(func(l format.Line) bool {
		if l.Number%8192 == 0 && p.ctx.Err() != nil {
			return false
		}
		text := bytes.TrimRight(l.Text, "\r")
		switch {
		case t == nil:
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
			if len(bytes.TrimSpace(text)) == 0 {
				return true
			}
			sep = findSeparator(text)
			t = tableOf(appendFields(nil, string(text), sep))
			return t != nil
		case len(row) == 0:
			begin = l.Number
			if bytes.IndexByte(text, '"') < 0 { // it is all on this line
				take(text)
				return true
			}
		default:
			row = append(row, '\n')
		}
		row = append(row, text...)
		if bytes.Count(row, []byte(`"`))%2 == 1 && len(row) < maxRow {
			return true
		}
		take(row)
		row = row[:0]
		return true
	})
	if len(row) > 0 {
		p.countUnparsed(begin)
	}
	return err
}

// addRow adds one row of a table.
func (p *parser) addRow(t *table, fields []string, line int64) {
	x := untold
	for i, f := range fields {
		if i >= len(t.columns) {
			break
		}
		c := t.columns[i]
		switch c.role {
		case noRole, foreign:
		case moment:
			at, zoned, ok := parseTime(f)
			if !ok {
				p.countUnparsed(line)
				return
			}
			x.at = at
			p.unzoned = p.unzoned || !zoned
		case name:
			x.name = f
		case query:
			x.query = f
		default:
			v, ok := parseFigure(f)
			if !ok {
				continue // empty, NULL
			}
			if c.role == mean || c.role == high || c.role == meanTime || c.role == totalTime || c.role == maxTime {
				v *= c.ns
			}
			x.v[c.role] = v
		}
	}
	switch {
	case t.statements:
		p.addStatement(&x, line)
	case t.pools:
		p.poolRow(&x, line)
	default:
		p.addResponse(&x, line)
	}
}

// parseFigure reads a finite number that is not negative.
func parseFigure(s string) (v float64, ok bool) {
	if n, ok := wholeNumber(s); ok {
		return float64(n), true
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v-v == 0 && v >= 0
}

// values are the figures of a row.
type values struct {
	at          int64
	name, query string
	v           [foreign]float64
}

// untold is a row without figures.
var untold = func() (x values) {
	for i := range x.v {
		x.v[i] = math.NaN()
	}
	return x
}()

func (p *parser) poolRow(x *values, line int64) {
	if math.IsNaN(x.v[active]) {
		p.countUnparsed(line)
		return
	}
	if x.name == "" {
		x.name = "connections"
	}
	if math.IsNaN(x.v[most]) && !math.IsNaN(x.v[total]) && !math.IsNaN(x.v[pending]) && x.v[pending] > 0 {
		x.v[most] = x.v[total] // requests wait because the pool opens no more
	}
	p.addReading(p.ensurePool(x.name, "connections", line), gauge{x.at, x.v[active], x.v[idle], x.v[pending], x.v[most]})
}
