package gauges

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Log reads HikariCP's statistics in the log of its program, at the level DEBUG every
// 30 s, and its messages about requests that waited in vain
// (https://github.com/brettwooldridge/HikariCP/blob/dev/src/main/java/com/zaxxer/hikari/pool/HikariPool.java):
//
//	2026-11-21 14:02:00.123 DEBUG … HikariPool-1 - Pool stats (total=10, active=7, idle=3, waiting=0)
//	2026-11-21 14:02:01.123 … HikariPool-1 - Timeout failure stats (total=10, active=10, idle=0, waiting=5)
//	2026-11-21 14:02:01.123 … HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=5)
//
// The last has no statistics before version 5.1. Several lines report a failure; the kind with the highest count counts. Up to version 2.4 the
// pool stands before or behind the word stats, up to 2.3 places have other names, and the exception does not name the pool:
//
//	… HikariPool - After cleanup pool HikariPool-0 stats (total=10, active=10, idle=0, waiting=3)
//	… HikariPool - Timeout failure pool stats HikariPool-0 (total=20, inUse=20, avail=0, waiting=1)
//	java.sql.SQLTimeoutException: Timeout after 30002ms of waiting for a connection.
//
// Npgsql up to 3.2 logs its pool with each connection that is asked for: "[1 busy, 0 idle, 18 waiting]".
var Log = format.Format{
	Name:  "hikaricp",
	About: "HikariCP's pool statistics in a log, and messages of other pools that are used up (Tomcat JDBC, DBCP, Druid, c3p0, Npgsql, SQLAlchemy, …)",
	Match: func(head []byte) format.Confidence {
		for line := range bytes.Lines(head) {
			if _, _, ok := parseHikari(string(line)); ok {
				return format.Sure
			}
			if _, _, ok := gaveUp(string(line)); ok {
				return format.Sure
			}
			if _, ok := parseBusyLine(line); ok || bytes.Contains(line, []byte(whileConnecting)) {
				return format.Sure
			}
		}
		for i := range exhaustions {
			if bytes.Contains(head, []byte(exhaustions[i].mark)) {
				for line := range bytes.Lines(head) {
					if findExhaustion(line) != nil {
						return format.Sure
					}
				}
				return format.No
			}
		}
		return format.No
	},
	Parse: parseLog,
}

func parseLog(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(ctx, b)
	untimed := false
	err := a.Lines(func(l format.Line) bool {
		if l.Number%8192 == 0 && ctx.Err() != nil {
			return false
		}
		if x := findExhaustion(l.Text); x != nil {
			p.addExhaustion(x, &l)
			return true
		}
		if p.addConnecting(l.Text, l.Number) {
			return true
		}
		if g, ok := parseBusyLine(l.Text); ok {
			p.process.runtime = "dotnet"
			var zoned, timed bool
			if g.t, zoned, timed = parseLineTime(string(l.Text)); !timed {
				g.t = l.Stamp
			}
			p.unzoned = p.unzoned || !zoned && timed
			untimed = untimed || g.t == 0
			p.addReading(p.ensurePool("Npgsql", "connections", l.Number), g)
			return true
		}
		if !bytes.Contains(l.Text, []byte("(total=")) && !bytes.Contains(l.Text, []byte(notAvailable)) && !bytes.Contains(l.Text, []byte(ofWaiting)) {
			return true
		}
		p.process.runtime = "jvm"
		text := string(l.Text)
		p.addTimeout(text, &l)
		name, g, ok := parseHikari(text)
		if !ok {
			return true
		}
		var zoned bool
		if g.t, zoned, ok = parseLineTime(text); !ok {
			g.t = l.Stamp
		}
		p.unzoned = p.unzoned || !zoned && ok
		if g.t == 0 {
			untimed = true
		}
		if name == "" {
			name = cmp.Or(p.hikari, nameless)
		} else {
			p.hikari = name
		}
		p.addReading(p.ensurePool(name, "connections", l.Number), g)
		return true
	})
	if untimed {
		b.Warnf(0, "pool statistics without a time: only the last is used; log the date and the time of day")
	}
	if len(p.pools)+len(p.timeouts)+p.connecting.untold == 0 && err == nil {
		return errors.New("it holds no pool statistics")
	}
	p.nameNameless()
	for _, name := range sortedKeys(p.timeouts) { // only the end of a stack trace tells of the pool
		if x := p.timeouts[name]; x.hasReading && p.pools[name] == nil {
			p.addReading(p.ensurePool(name, "connections", x.line), x.reading)
		}
	}
	if !p.hasTimes() {
		b.Clock().Error, b.Clock().Name = evidence.Unanchored, "messages without a time"
	}
	return p.emitReadings(err)
}

// hasTimes says whether any message tells when it was.
func (p *parser) hasTimes() bool {
	for _, x := range p.pools {
		if slices.ContainsFunc(x.at, func(g gauge) bool { return g.t != 0 }) {
			return true
		}
	}
	for _, x := range p.timeouts {
		if x.last != 0 {
			return true
		}
	}
	return false
}

// nameless is the pool of lines that name none: of old versions, or of which the beginning is cut.
const nameless = "HikariCP"

// nameNameless gives what such lines tell to the one pool that other lines name, if there is only one.
func (p *parser) nameNameless() {
	name := ""
	for _, names := range [][]string{sortedKeys(p.pools), sortedKeys(p.timeouts)} {
		for _, n := range names {
			if n != nameless && n != name {
				if name != "" {
					return
				}
				name = n
			}
		}
	}
	if name == "" {
		return
	}
	if x := p.pools[nameless]; x != nil && p.pools[name] == nil {
		x.name = name
		p.pools[name] = x
		delete(p.pools, nameless)
	}
	if x := p.timeouts[nameless]; x != nil {
		if y := p.timeouts[name]; y != nil {
			y.stats, y.messages, y.bare, y.causes = y.stats+x.stats, y.messages+x.messages, y.bare+x.bare, y.causes+x.causes
			y.longest, y.last, y.line = max(y.longest, x.longest), max(y.last, x.last), min(y.line, x.line)
			if x.first > 0 && (y.first == 0 || x.first < y.first) {
				y.first = x.first
			}
		} else {
			p.timeouts[name] = x
		}
		delete(p.timeouts, nameless)
	}
}

// parseBusyLine reads "… [1 busy, 0 idle, 18 waiting]", as Npgsql 3.0 to 3.2 logs its pool. While requests wait it opens no more connections.
func parseBusyLine(line []byte) (g gauge, ok bool) {
	if !bytes.Contains(line, []byte(" waiting]")) {
		return g, false
	}
	before, after, ok := strings.Cut(string(line), " busy, ")
	idle, after, ok2 := strings.Cut(after, " idle, ")
	waiting, _, ok3 := strings.Cut(after, " waiting]")
	open := strings.LastIndexByte(before, '[')
	if !ok || !ok2 || !ok3 || open < 0 {
		return g, false
	}
	g = gauge{max: math.NaN()}
	for _, x := range []struct {
		digits string
		to     *float64
	}{{before[open+1:], &g.active}, {idle, &g.idle}, {waiting, &g.pending}} {
		n, err := strconv.ParseUint(x.digits, 10, 20)
		if err != nil {
			return g, false
		}
		*x.to = float64(n)
	}
	if g.pending > 0 {
		g.max = g.active + g.idle
	}
	return g, true
}

// notAvailable is in the message of the exception for a request that waited in vain.
const notAvailable = "Connection is not available, request timed out after "

// The message up to version 2.4: Timeout after 30002ms of waiting for a connection.
const (
	timeoutAfter = "Timeout after "
	ofWaiting    = "ms of waiting for a connection"
)

// gaveUp reads that message: the pool, "" unknown, and how long the request waited (ns).
func gaveUp(text string) (pool string, waited int64, ok bool) {
	if _, after, old := strings.Cut(text, timeoutAfter); old {
		digits, _, old := strings.Cut(after, ofWaiting)
		if ms, err := strconv.ParseInt(digits, 10, 64); old && err == nil && ms >= 0 && ms <= 1e9 {
			return "", ms * 1e6, true
		}
	}
	before, after, ok := strings.Cut(text, " - "+notAvailable)
	if !ok {
		return "", 0, false
	}
	digits, _, ok := strings.Cut(after, "ms")
	ms, err := strconv.ParseInt(digits, 10, 64)
	pool = poolBefore(before)
	if !ok || err != nil || ms < 0 || ms > 1e9 || pool == "" {
		return "", 0, false
	}
	return pool, ms * 1e6, true
}

// poolBefore returns the pool's name at the end of what stands before a message: what stands behind the name of an exception or of
// a logger, as it may have a blank, else the last word.
func poolBefore(before string) string {
	if i := strings.LastIndex(before, "Exception: "); i >= 0 {
		if name := strings.TrimSpace(before[i+len("Exception: "):]); name != "" && !strings.Contains(name, ": ") {
			return clipName(name)
		}
	}
	for _, sep := range []string{" - ", " : "} { // behind the name of its logger
		if i := strings.LastIndex(before, sep); i >= 0 {
			if name := strings.TrimSpace(before[i+len(sep):]); len(strings.Fields(name)) == 2 {
				return clipName(name)
			}
		}
	}
	words := strings.Fields(before)
	if len(words) == 0 {
		return ""
	}
	return clipName(words[len(words)-1])
}

// timeouts are the requests that waited in vain for a connection of a pool, by the lines of a log.
type timeouts struct {
	stats, messages, bare, causes int // lines by kind; bare: messages without a time, as in a stack trace below a line with one
	longest                       int64
	first, last                   int64 // ns
	line                          int64
	reading                       gauge // of the pool, in a message without a time below another
	hasReading                    bool
}

// minCount returns the least number of timeouts.
func (x *timeouts) minCount() int {
	if x.stats+x.messages == 0 {
		if x.bare == 0 { // only the end of a stack trace
			return x.causes
		}
		return x.bare
	}
	return max(x.stats, x.messages)
}

// addTimeout adds a line about a timeout; other lines are ignored.
func (p *parser) addTimeout(text string, l *format.Line) {
	pool, waited, gave := gaveUp(text)
	if !gave {
		name, _, ok := parseHikari(text)
		if !ok || !strings.Contains(text, "Timeout failure ") {
			return
		}
		pool = name
	}
	if pool == "" {
		pool = cmp.Or(p.hikari, nameless)
	}
	at, zoned, timed := parseLineTime(text)
	if !timed {
		at = l.Stamp
	}
	p.unzoned = p.unzoned || timed && !zoned
	x := p.timeouts[pool]
	if x == nil {
		if len(p.timeouts) == maxSubjects {
			return
		}
		x = &timeouts{line: l.Number}
		p.timeouts[pool] = x
	}
	switch {
	case gave && at == 0:
		if !strings.HasPrefix(text, "Caused by: ") {
			x.bare++
		} else {
			x.causes++
		}
	case gave:
		x.messages++
	default:
		x.stats++
	}
	x.longest = max(x.longest, waited)
	if at > 0 {
		x.last = max(x.last, at)
		if x.first == 0 || at < x.first {
			x.first = at
		}
	}
}

// connectingFor are Druid's words before how long (ms) it has been making a connection.
const connectingFor = "createElapseMillis "

// connecting is the longest attempt to connect that a message tells of, and how many tell of one without its length.
type connecting struct {
	longest int64 // ns
	untold  int
	pool    string
	line    int64
}

// whileConnecting is the message of Agroal for a request that gave up while a connection was made for it: the pool had places
// (https://github.com/agroal/agroal/blob/main/agroal-pool/src/main/java/io/agroal/pool/ConnectionPool.java).
const whileConnecting = "Acquisition timeout while waiting for new connection"

// addConnecting counts such a message; one line may have it several times.
func (p *parser) addConnecting(line []byte, number int64) bool {
	if !bytes.Contains(line, []byte(whileConnecting)) {
		return false
	}
	p.process.runtime = "jvm"
	if p.connecting.untold++; p.connecting.line == 0 {
		p.connecting.pool, p.connecting.line = "Agroal", number
	}
	return true
}

// emitConnecting writes that a pool waited for a connection to be made though it had places.
func (p *parser) emitConnecting(subject evidence.SubjectID) {
	x := &p.connecting
	b := p.b
	switch {
	case x.longest > 0:
		b.FactAt(subject, evidence.FactConnectingMost, x.pool, float64(x.longest), x.line)
	case x.untold > 0:
		b.Table(evidence.Table{Title: "requests that gave up while a connection was made for them", Columns: []string{"pool", "lines"}, Rows: [][]string{{x.pool, strconv.Itoa(x.untold)}}})
	default:
		return
	}
	b.Warnf(x.line, "the pool has places, and waits for a connection that is being made: the database, or the way to it, accepts no connection")
}

// addExhaustion adds a message of a library whose pool was exhausted.
func (p *parser) addExhaustion(e *exhaustion, l *format.Line) {
	if e.runtime != "" {
		p.process.runtime = e.runtime
	}
	text := string(l.Text)
	g, waited := e.parseReading(text)
	at, zoned, timed := parseLineTime(text)
	if !timed {
		at = l.Stamp
	}
	p.unzoned = p.unzoned || timed && !zoned
	if ms := figureBehind(text, connectingFor); ms > 0 && ms < 1e9 && g.active < g.max/2 { // places are free: the server does not let it connect
		if p.connecting.longest < int64(ms*millisecond) {
			p.connecting.longest, p.connecting.line, p.connecting.pool = int64(ms*millisecond), l.Number, e.pool
		}
		p.process.runtime = cmp.Or(e.runtime, p.process.runtime)
		if g.t = at; g.t == 0 {
			g.t = p.b.Modified()
		}
		p.addReading(p.ensurePool(e.pool, "connections", l.Number), g)
		return // it is not used up
	}
	x := p.timeouts[e.pool]
	if x == nil {
		if len(p.timeouts) == maxSubjects {
			return
		}
		x = &timeouts{line: l.Number}
		p.timeouts[e.pool] = x
	}
	x.longest = max(x.longest, waited)
	switch {
	case at > 0:
		x.messages++
		x.last = max(x.last, at)
		if x.first == 0 || at < x.first {
			x.first = at
		}
	case !strings.HasPrefix(strings.TrimSpace(text), "Caused by: "):
		x.bare++
	default:
		x.causes++
		x.reading, x.hasReading = g, !math.IsNaN(g.active)
		return
	}
	if g.t = at; !math.IsNaN(g.active) {
		p.addReading(p.ensurePool(e.pool, "connections", l.Number), g)
	}
}

// emitTimeouts writes the timeouts.
func (p *parser) emitTimeouts(subject evidence.SubjectID) {
	b := p.b
	for _, name := range sortedKeys(p.timeouts) {
		x := p.timeouts[name]
		if x.minCount() == 0 {
			continue
		}
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactPoolTimedOut, Value: name, Number: float64(x.minCount()), From: x.first, Until: x.last, Origin: b.Origin(x.line)})
		if x.longest > 0 {
			b.FactAt(subject, evidence.FactPoolTimeout, name, float64(x.longest), x.line)
		}
	}
}

// parseHikari reads a line with HikariCP's statistics. Older versions omit the total in
// some.
func parseHikari(text string) (pool string, g gauge, ok bool) {
	i := strings.LastIndex(text, "(total=")
	if i < 0 {
		return "", g, false
	}
	before := text[:i]
	j := strings.Index(text[i:], ")")
	k := strings.LastIndex(before, " - ")
	if j < 0 { // the line's end is cut: its last figure may have lost digits
		j = len(text) - i
		if !strings.Contains(text[i:], "waiting=") {
			return "", g, false
		}
	}
	if k < 0 { // what stands before the message is cut
		if trimmed := strings.TrimLeft(before, " \t"); !strings.HasPrefix(trimmed, "Pool stats ") && !strings.HasPrefix(trimmed, "Timeout failure ") {
			return "", g, false
		}
		k = 0
	}
	if !strings.Contains(before[k:], "tats") && !strings.Contains(before[k:], "is not available") && !strings.Contains(before[k:], "closed") {
		return "", g, false
	}
	g = gauge{active: math.NaN(), idle: math.NaN(), pending: math.NaN(), max: math.NaN()}
	total := math.NaN()
	for _, pair := range strings.Split(text[i+1:i+j], ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value, most, bounded := strings.Cut(value, "/") // total=10/10, from version 6 on
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || v < 0 || v > 1e9 {
			return "", g, false
		}
		if n, err := strconv.ParseFloat(most, 64); bounded && key == "total" && err == nil {
			g.max = n
		}
		switch key {
		case "total":
			total = v
		case "active", "inUse":
			g.active = v
		case "idle", "avail":
			g.idle = v
		case "waiting":
			g.pending = v
		}
	}
	if math.IsNaN(g.active) {
		return "", g, false
	}
	if math.IsNaN(g.max) && g.pending > 0 {
		g.max = total // requests wait because the pool opens no more
	}
	pool = poolBefore(before[:k])
	if named := oldPoolName(before[k:]); named != "" {
		pool = named
	}
	return clipName(pool), g, true
}

// oldPoolName returns the pool of " - After cleanup pool HikariPool-0 stats " and of " - After cleanup pool stats HikariPool-0 ", "" of other words.
func oldPoolName(words string) string {
	_, after, ok := strings.Cut(words, " pool ")
	f := strings.Fields(after)
	switch {
	case !ok || len(f) != 2:
	case f[0] == "stats":
		return f[1]
	case f[1] == "stats":
		return f[0]
	}
	return ""
}

// parseLineTime reads the time that a line of a log begins with.
func parseLineTime(text string) (ns int64, zoned, ok bool) {
	for _, level := range []string{"DEBUG", "INFO", "WARN", "ERROR", "TRACE"} { // Dropwizard and others write it first
		if rest, ok := strings.CutPrefix(text, level); ok {
			text = strings.TrimLeft(rest, ": ")
			break
		}
	}
	text = strings.TrimLeft(text, " [")
	for _, n := range []int{35, 33, 31, 30, 29, 28, 27, 26, 25, 24, 23, 20, 19} {
		if len(text) > n {
			if t, zoned, ok := parseTime(strings.TrimRight(text[:n], " ]")); ok {
				return t, zoned, true
			}
		}
	}
	return 0, false, false
}
