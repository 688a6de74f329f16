// Package redislog reads the log of a Redis server: Redis 3 to 8, Valkey, KeyDB.
//
//	4711:M 23 Nov 2026 08:46:14.123 * Background saving started by pid 4712
//
// pid, role (X sentinel, C child, S replica, M master), the server's local time, level and text;
// Valkey 8.1 on also writes times as ISO 8601 and lines as name=value (log-timestamp-format,
// log-format). Source: serverLogRaw in src/server.c, and the texts where they are written.
//
// The package's opinion: of what a server says only that counts which tells why it answered late, or
// nobody: each such kind of line is counted, and its first is kept. All else is known and ignored.
package redislog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format is a server's log.
var Format = format.Format{
	Name:  "redislog",
	About: "log of a Redis, Valkey or KeyDB server: forks, saving, AOF, memory, limits of clients",
	Match: match,
	Parse: parse,
}

// match wants most of the first lines to be of it; what the server draws when it starts is not.
func match(head []byte) format.Confidence {
	seen, lines := 0, 0
	for l := range bytes.Lines(head) {
		if lines++; lines > 60 {
			break
		}
		if _, ok := entryOf(string(l[:min(len(l), 1<<10)])); ok {
			seen++
		}
	}
	if seen > 0 && (seen >= 3 || 2*seen > lines) {
		return format.Sure
	}
	return format.No
}

// entry is a line.
type entry struct {
	pid  int
	role byte
	at   int64 // ns; of the server's local time unless zoned
	text string

	zoned bool
}

// entryOf reads a line, false if it is none of a server's.
func entryOf(s string) (e entry, ok bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "pid=") {
		return fields(s)
	}
	i := strings.IndexByte(s, ':')
	if i <= 0 || i > 10 || len(s) < i+4 || s[i+2] != ' ' || !strings.ContainsRune("XCSM", rune(s[i+1])) {
		return e, false
	}
	pid, err := strconv.ParseUint(s[:i], 10, 31)
	if err != nil {
		return e, false
	}
	e.pid, e.role = int(pid), s[i+1]
	rest := s[i+3:]
	if e.at, e.zoned, rest, ok = moment(rest); !ok || len(rest) < 2 || !strings.ContainsRune(".-*#", rune(rest[0])) || rest[1] != ' ' {
		return e, false
	}
	e.text = rest[2:]
	return e, true
}

// moment reads "23 Nov 2026 08:46:14.123 ", "2026-11-23T08:46:14.123+01:00 " or "1795423574123 ".
func moment(s string) (at int64, zoned bool, rest string, ok bool) {
	const local = "02 Jan 2006 15:04:05.000"
	if len(s) > len(local) && s[len(local)] == ' ' {
		if t, err := time.Parse(local, s[:len(local)]); err == nil {
			return dated(t, false, s[len(local)+1:])
		}
	}
	word, rest, ok := strings.Cut(s, " ")
	if !ok {
		return 0, false, "", false
	}
	if ms, err := strconv.ParseInt(word, 10, 64); err == nil && len(word) == 13 {
		return dated(time.UnixMilli(ms), true, rest)
	}
	if t, err := time.Parse("2006-01-02T15:04:05.000Z07:00", word); err == nil {
		return dated(t, true, rest)
	}
	return 0, false, "", false
}

func dated(t time.Time, zoned bool, rest string) (int64, bool, string, bool) {
	if y := t.Year(); y < 2000 || y > 2200 {
		return 0, false, "", false
	}
	return t.UnixNano(), zoned, rest, true
}

var field = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S+)`)

// fields reads pid=4711 role=primary timestamp="…" level=notice message="…".
func fields(s string) (e entry, ok bool) {
	of := make(map[string]string)
	for _, m := range field.FindAllStringSubmatch(s[:min(len(s), 4<<10)], 10) {
		if text, err := strconv.Unquote(m[2]); err == nil {
			m[2] = text
		}
		of[m[1]] = m[2]
	}
	pid, err := strconv.ParseUint(of["pid"], 10, 31)
	if err != nil || of["timestamp"] == "" || of["level"] == "" {
		return e, false
	}
	e.pid, e.text = int(pid), of["message"]
	e.role = cmp.Or(map[string]byte{"sentinel": 'X', "RDB/AOF": 'C', "replica": 'S'}[of["role"]], 'M')
	e.at, e.zoned, _, ok = moment(of["timestamp"] + " ")
	return e, ok
}

// kinds are the texts that matter, by what they hold.
var kinds = []struct{ text, kind string }{
	{"in background: fork", evidence.RedisForkFailed},
	{"Asynchronous AOF fsync is taking too long", evidence.RedisSlowFsync},
	{"overcoming of output buffer limits", evidence.RedisOutputClosed},
	{"Out Of Memory allocating", evidence.RedisOutOfMemory},
	{"max number of clients reached", evidence.RedisMaxClients},
	{"maxclients has been reduced", evidence.RedisMaxClients},
	{"low script detected", evidence.RedisSlowScript},
	{"Background saving error", evidence.RedisSaveFailed},
	{"Background saving terminated by signal", evidence.RedisSaveFailed},
	{"Background AOF rewrite terminated by signal", evidence.RedisSaveFailed},
	{"Error writing to the AOF file", evidence.RedisSaveFailed},
	{"Short write while writing to the AOF file", evidence.RedisSaveFailed},
	{"Failed opening the temp RDB file", evidence.RedisSaveFailed},
	{"Write error saving DB on disk", evidence.RedisSaveFailed},
	{"Write error while saving DB", evidence.RedisSaveFailed},
	{"Transparent Huge Pages (THP) support enabled", evidence.RedisHugeWarning},
	{"overcommit_memory is set to 0", evidence.RedisOvercommit},
	{"Memory overcommit must be enabled", evidence.RedisOvercommit},
	{"The TCP backlog setting of", evidence.RedisBacklog},
	{"Full resync requested by", evidence.RedisResync},
	{"Full resync from master", evidence.RedisResync},
	{"Full resync from primary", evidence.RedisResync},
	{"DB loaded from", evidence.RedisLoading},
	{"Background saving started by pid", evidence.RedisSaveBegan},
	{"Background append only file rewriting started by pid", evidence.RedisRewriteBegan},
	{" just started", evidence.RedisStarted},
}

var (
	copied  = regexp.MustCompile(`(?:Fork CoW for [\w ]+: current (\d+) MB, peak (\d+) MB|: (\d+) MB of memory used by copy-on-write)`)
	loaded  = regexp.MustCompile(`DB loaded from .*: (\d+\.\d+) seconds`)
	version = regexp.MustCompile(`^(\w+) version=([\w.-]+), bits=\d+, .*just started`)
	named   = regexp.MustCompile(`\b(name|user|lib-name|lib-ver)=\S*`)
)

func parse(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, kinds: make(map[string]*told)}
	p.about.Runtime = "redis"
	var number int64
	err := a.Lines(func(l format.Line) bool {
		number = l.Number
		p.line(l)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.lines == 0 && err != nil && !errors.Is(err, format.ErrCut):
		return err
	case p.lines == 0:
		return errors.New("redis log: it holds no line of a server's")
	}
	if err != nil {
		b.Warnf(number, "the log is incomplete after this line")
		b.Cut()
	}
	p.emit()
	return nil
}

type parser struct {
	b     *evidence.Builder
	about evidence.Subject
	kinds map[string]*told
	order []string

	lines         int
	first, last   int64 // ns
	line1         int64
	unzoned       bool
	odd, oddFirst int64
	copied        []point
	loads         []load
	saves         int // that are told of
}

type told struct {
	count int
	text  string
	line  int64

	last        []int64 // ns: when those of the last rush long were written
	most        int     // within rush
	from, until int64   // when that was
}

// rush is within how long (ns) as many lines of a kind as there were at most are told of: a log goes back for years.
const rush = 600e9

// rushes is how many are counted within it at most.
const rushes = 10_000

// at notes when one was written.
func (k *told) at(t int64) {
	for len(k.last) > 0 && (k.last[0] < t-rush || len(k.last) == rushes) {
		k.last = k.last[1:]
	}
	k.last = append(k.last, t)
	if len(k.last) > k.most {
		k.most, k.from, k.until = len(k.last), k.last[0], t
	}
}

type point struct {
	at, line int64
	v        float64
}

type load struct{ at, took, line int64 }

// mostPoints bounds what is kept of saves: of a log of years that is the newest.
const mostPoints = 100_000

func (p *parser) line(l format.Line) {
	text := string(l.Text[:min(len(l.Text), 4<<10)])
	e, ok := entryOf(text)
	if !ok {
		// What it draws when it starts, and the rest of texts of several lines: they begin with blanks, or not like a line.
		if p.lines > 0 && strings.IndexByte(text, ':') == 5 && strings.Contains(text, " * ") {
			if p.odd++; p.odd == 1 {
				p.oddFirst = l.Number
			}
		}
		return
	}
	switch {
	case l.Stamp > 0:
		e.at = l.Stamp
	case !e.zoned:
		p.unzoned = true
	}
	if p.lines++; p.lines == 1 {
		p.first, p.line1 = e.at, l.Number
	}
	p.last = max(p.last, e.at)
	p.first = min(p.first, e.at)
	if (e.role == 'M' || e.role == 'S') && !p.b.Recorded() {
		p.about.PID = e.pid
	}
	if m := version.FindStringSubmatch(e.text); m != nil {
		p.about.Version = strings.ToUpper(m[1][:1]) + m[1][1:] + " " + m[2]
	}
	for _, k := range kinds {
		if strings.Contains(e.text, k.text) {
			p.note(k.kind, e.text, l.Number, e.at)
			break
		}
	}
	if m := copied.FindStringSubmatch(e.text); m != nil {
		if mb, err := strconv.ParseFloat(cmp.Or(m[2], m[3]), 64); err == nil {
			p.copied = newest(append(p.copied, point{e.at, l.Number, mb * (1 << 20)}), 2*mostPoints)
			p.saves++
		}
	}
	if m := loaded.FindStringSubmatch(e.text); m != nil {
		if s, err := strconv.ParseFloat(m[1], 64); err == nil && s < 1e6 {
			p.loads = newest(append(p.loads, load{e.at, int64(s * 1e9), l.Number}), 2*mostPoints)
		}
	}
}

// newest drops the older half of as many as are too much.
func newest[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	return append(all[:0], all[len(all)-most/2:]...)
}

// note counts a line. The name and user of a client are not kept.
func (p *parser) note(kind, text string, line, at int64) {
	if p.kinds[kind] == nil {
		text = named.ReplaceAllString(text, "$1=")
		p.kinds[kind] = &told{text: strings.ToValidUTF8(text[:min(len(text), 300)], "?"), line: line}
		p.order = append(p.order, kind)
	}
	p.kinds[kind].count++
	p.kinds[kind].at(at)
}

func (p *parser) emit() {
	b := p.b
	if p.unzoned {
		p.zone()
	}
	id := b.Subject(p.about)
	for _, kind := range p.order {
		k := p.kinds[kind]
		b.Fact(evidence.Fact{Subject: id, Key: evidence.FactRedisTold, Value: kind + evidence.Link + k.text, Number: float64(k.count), Origin: b.Origin(k.line)})
		b.Fact(evidence.Fact{Subject: id, Key: evidence.FactRedisRush, Value: kind, Number: float64(k.most), From: k.from, Until: max(k.until, k.from+1), Origin: b.Origin(k.line)})
	}
	p.copied, p.loads = p.copied[max(0, len(p.copied)-mostPoints):], p.loads[max(0, len(p.loads)-mostPoints):]
	s := evidence.Series{Subject: id, Name: evidence.SeriesRedisCopiedPeak, Unit: "bytes"}
	for _, c := range p.copied {
		if n := len(s.T); n > 0 && c.at <= s.T[n-1] {
			if c.at == s.T[n-1] {
				s.V[n-1] = math.Max(s.V[n-1], c.v)
			}
			continue
		}
		if len(s.T) == 0 {
			s.Origin = b.Origin(c.line)
		}
		s.T, s.V = append(s.T, c.at), append(s.V, c.v)
	}
	if len(s.T) > 0 {
		b.Series(s)
	}
	for _, x := range p.loads {
		b.Interval(evidence.Interval{Subject: id, Lane: evidence.AllLanes, Kind: evidence.ServerStall, Start: x.at - x.took, End: x.at, Cause: b.Name(evidence.RedisLoading), Origin: b.Origin(x.line)})
	}
	b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedisLog, From: p.first, Until: max(p.last, p.first+1), Origin: b.Origin(p.line1)})
	rows := make([][]string, 0, len(p.order))
	for _, kind := range p.order {
		rows = append(rows, []string{kind, fmt.Sprint(p.kinds[kind].count), p.kinds[kind].text})
	}
	if len(rows) > 0 {
		b.Table(evidence.Table{Title: "what the server said", Columns: []string{"", "lines", "the first"}, Rows: rows})
	}
	if p.odd > 0 {
		b.Warnf(p.oddFirst, "lines not understood: %d; the first is line %d", p.odd, p.oddFirst)
	}
	if older := p.saves - len(p.copied); older > 0 {
		b.Warnf(0, "it has %d saves: the newest %d are kept", p.saves, len(p.copied))
	}
}

// zone finds by how much the server's local time differs from UTC: of a log that was recorded while it
// was written, its newest line is about as old as the file. Zones differ by quarters of an hour.
func (p *parser) zone() {
	const quarter = int64(15 * time.Minute)
	if d := p.last - p.b.Modified(); p.b.Recorded() && p.b.Modified() > 0 && d > -14*4*quarter && d < 14*4*quarter {
		zone := int64(math.Round(float64(d)/float64(quarter))) * quarter
		if rest := d - zone; rest <= int64(5*time.Second) && rest > -int64(5*time.Minute) {
			p.b.Clock().Offset = -zone
			return
		}
	}
	p.b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
}
