// Package redislog reads the log of a Redis server: Redis 2.2 to 8, Valkey, KeyDB.
//
//	4711:M 23 Nov 2026 08:46:14.123 * Background saving started by pid 4712    5.0 on
//	4711:M 23 Nov 08:46:14.123 * Background saving started by pid 4712         3.0 to 4.0
//	[4711] 23 Nov 08:46:14.123 * Background saving started by pid 4712         2.6 and 2.8; before, without ms
//
// pid, role (X sentinel, C child, S replica, M master), the server's local time, level and text;
// Valkey 8.1 on also writes times as ISO 8601 and lines as name=value (log-timestamp-format,
// log-format). Source: serverLogRaw in src/server.c (redisLogRaw in src/redis.c up to 3.0), and the
// texts where they are written.
//
// A time without a year gets the latest year in which it is not after the file's last write. The duration of a fork
// is not logged, but the server writes a line right before it ("Saving...") and one right after it.
//
// The package's opinion: only lines that explain why the server answered late, or not at
// all, matter: each such kind is counted, and its first line is kept. Other lines are known and ignored.
package redislog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a server's log.
var Format = format.Format{
	Name:  "redislog",
	About: "log of a Redis, Valkey or KeyDB server: forks, saving, AOF, memory, limits of clients",
	Match: matchHead,
	Parse: parseArtifact,
}

// matchHead requires that most of the first lines are entries. Few entries suffice, because the server prints a drawing at its start.
func matchHead(head []byte) format.Confidence {
	seen, lines := 0, 0
	for l := range bytes.Lines(head) {
		if lines++; lines > 60 {
			break
		}
		if _, ok := entryOf(string(l[:min(len(l), 1<<10)])); ok {
			seen++
		}
	}
	return format.SureIf(seen > 0 && (seen >= 3 || 2*seen > lines))
}

// entry is one line of the log.
type entry struct {
	pid  int
	role byte
	at   int64 // ns; of the server's local time unless zoned
	text string

	zoned    bool
	yearless bool
	coarse   bool // its time is whole seconds
	bare     bool // it has no time
}

// overcoming is what the server says of a client that it closes, as it did not take its answers.
const overcoming = "scheduled to be closed ASAP for overcoming of output buffer limits"

// bareTexts are what messages begin with that people copy without the process and the time before them: no other program writes them.
var bareTexts = []string{"Asynchronous AOF fsync is taking too long (disk is busy?)", "Can't save in background: fork: ", "Can't rewrite append only file in background: fork: "}

// isBare says whether text is a message that matters, copied without what stands before it.
func isBare(text string) bool {
	return slices.ContainsFunc(bareTexts, func(b string) bool { return strings.HasPrefix(text, b) }) || strings.HasPrefix(text, "Client id=") && strings.Contains(text, overcoming)
}

// entryOf reads a line; it returns false for lines that are not a server's.
func entryOf(s string) (e entry, ok bool) {
	s = strings.TrimSpace(s)
	if n := len(s); n > 2 && s[0] == '[' && s[n-1] == ']' { // somebody put each line in brackets
		if e, ok := entryOf(s[1 : n-1]); ok {
			return e, true
		}
	}
	if strings.HasPrefix(s, "pid=") {
		return parseFields(s)
	}
	if text := strings.Trim(s, "`>\"*#- "); isBare(text) {
		return entry{text: text, bare: true}, true
	}
	rest, ok := e.parseWriter(s)
	if !ok {
		return e, false
	}
	if after, is := e.parseTime(rest); is {
		rest = after
	} else if rest, ok = e.yearlessMoment(rest); !ok {
		return e, false
	}
	rest = strings.TrimPrefix(rest, `\`) // before a star, which Markdown would take for emphasis
	if len(rest) < 2 || !strings.ContainsRune(".-*#", rune(rest[0])) || rest[1] != ' ' {
		return e, false
	}
	e.text = rest[2:]
	return e, true
}

// parseWriter reads "4711:M " or "[4711] ", which does not tell the role.
func (e *entry) parseWriter(s string) (rest string, ok bool) {
	digits, rest, ok := strings.Cut(s, " ")
	switch n := len(digits); {
	case !ok || n < 3 || n > 12:
		return "", false
	case digits[0] == '[' && digits[n-1] == ']':
		digits = digits[1 : n-1]
	case digits[n-2] == ':' && strings.IndexByte("XCSM", digits[n-1]) >= 0:
		digits, e.role = digits[:n-2], digits[n-1]
	default:
		return "", false
	}
	pid, err := strconv.ParseUint(digits, 10, 31)
	e.pid = int(pid)
	return rest, err == nil
}

// parseTime reads a time with its year.
func (e *entry) parseTime(s string) (rest string, ok bool) {
	e.at, e.zoned, rest, ok = parseStamp(s)
	return rest, ok
}

// yearlessMoment reads "23 Nov 08:46:14.123 " or "23 Nov 08:46:14 "; the year is that of [noYear].
func (e *entry) yearlessMoment(s string) (rest string, ok bool) {
	const seconds = "02 Jan 15:04:05"
	if len(s) <= len(seconds) {
		return "", false
	}
	end := strings.IndexByte(s[len(seconds):], ' ') + len(seconds)
	layout := seconds
	if e.coarse = end == len(seconds); !e.coarse {
		layout = seconds + ".000"
	}
	if end != len(layout) {
		return "", false
	}
	t, err := time.Parse("2006 "+layout, strconv.Itoa(noYear)+" "+s[:end])
	e.at, e.yearless = t.UnixNano(), true
	return s[end+1:], err == nil
}

// noYear is a leap year: the year of times that do not tell theirs, until [inYear] finds it.
const noYear = 1972

// inYear gives a time the latest year in which it is at most a zone after the file's last write.
func inYear(at, written int64) int64 {
	const day = int64(24 * time.Hour)
	t := time.Unix(0, at).UTC()
	if written <= 0 {
		return at
	}
	for year, tries := time.Unix(0, written).UTC().Year()+1, 10; tries > 0; year, tries = year-1, tries-1 {
		in := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if in.Month() == t.Month() && in.UnixNano() <= written+day { // 29 Feb is in leap years only
			return in.UnixNano()
		}
	}
	return at
}

// parseStamp reads "23 Nov 2026 08:46:14.123 ", "2026-11-23T08:46:14.123+01:00 " or "1795423574123
// ".
func parseStamp(s string) (at int64, zoned bool, rest string, ok bool) {
	const local = "02 Jan 2006 15:04:05.000"
	if len(s) > len(local) && s[len(local)] == ' ' {
		if t, err := time.Parse(local, s[:len(local)]); err == nil {
			return checkYear(t, false, s[len(local)+1:])
		}
	}
	word, rest, ok := strings.Cut(s, " ")
	if !ok {
		return 0, false, "", false
	}
	if ms, err := strconv.ParseInt(word, 10, 64); err == nil && len(word) == 13 {
		return checkYear(time.UnixMilli(ms), true, rest)
	}
	if t, err := time.Parse("2006-01-02T15:04:05.000Z07:00", word); err == nil {
		return checkYear(t, true, rest)
	}
	return 0, false, "", false
}

func checkYear(t time.Time, zoned bool, rest string) (int64, bool, string, bool) {
	if y := t.Year(); y < 2000 || y > 2200 {
		return 0, false, "", false
	}
	return t.UnixNano(), zoned, rest, true
}

var field = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S+)`)

// parseFields reads pid=4711 role=primary timestamp="…" level=notice message="…".
func parseFields(s string) (e entry, ok bool) {
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
	e.at, e.zoned, _, ok = parseStamp(of["timestamp"] + " ")
	return e, ok
}

// kinds are the relevant texts, by their content.
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

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, kinds: make(map[string]*lineCount)}
	p.about.Runtime = "redis"
	var number int64
	err := a.Lines(func(l format.Line) bool {
		number = l.Number
		p.parseLine(l)
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
	p.emitFacts()
	return nil
}

type parser struct {
	b     *evidence.Builder
	about evidence.Subject
	kinds map[string]*lineCount
	order []string

	lines                 int
	first, last           int64 // ns
	firstLine             int64
	unzoned               bool
	yearless              bool
	untimed               bool
	coarse                bool
	unsent                float64 // bytes, most that waited for a client that was closed
	unsentLine            int64
	unknown, firstUnknown int64
	copied                []point
	loads                 []load
	forks                 []load
	before                entry // the server's line before
	child                 int   // pid of the newest process that it forked
	saves                 int   // saves that are reported
}

type lineCount struct {
	count int
	text  string
	line  int64

	last        []int64 // ns: times of the last lines, within burstWindow
	most        int     // lines within burstWindow
	from, until int64   // ns: when most were
}

// burstWindow is the window (10 min, in ns) in which the most lines of a kind are counted: a log may cover years.
const burstWindow = 600e9

// maxBurstLines caps the lines whose times are kept for that count.
const maxBurstLines = 10_000

// addTime adds when a line of this kind was written.
func (k *lineCount) addTime(t int64) {
	for len(k.last) > 0 && (k.last[0] < t-burstWindow || len(k.last) == maxBurstLines) {
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

// mostPoints bounds the saves that are kept: the newest.
const mostPoints = 100_000

func (p *parser) parseLine(l format.Line) {
	text := string(l.Text[:min(len(l.Text), 4<<10)])
	e, ok := entryOf(text)
	if !ok {
		// The drawing at the start and continued lines begin with blanks, or otherwise unlike an entry.
		if p.lines > 0 && strings.IndexByte(text, ':') == 5 && strings.Contains(text, " * ") {
			if p.unknown++; p.unknown == 1 {
				p.firstUnknown = l.Number
			}
		}
		return
	}
	switch {
	case l.Stamp > 0:
		e.at = l.Stamp
	case e.bare:
		e.at = max(1, p.b.Modified())
		p.yearless, p.untimed = true, true
	case e.yearless:
		e.at = inYear(e.at, p.b.Modified())
		p.yearless, p.unzoned = true, true
	case !e.zoned:
		p.unzoned = true
	}
	p.coarse = p.coarse || e.coarse
	if p.lines++; p.lines == 1 {
		p.first, p.firstLine = e.at, l.Number
	}
	p.last = max(p.last, e.at)
	p.first = min(p.first, e.at)
	p.addFork(&e, l.Number)
	if (e.role == 'M' || e.role == 'S' || e.role == 0 && e.pid != p.child) && !p.b.Recorded() {
		p.about.PID = e.pid
	}
	if m := version.FindStringSubmatch(e.text); m != nil {
		p.about.Version = strings.ToUpper(m[1][:1]) + m[1][1:] + " " + m[2]
	}
	if strings.Contains(e.text, "overcoming of output buffer limits") && p.addUnsent(e.text, l.Number) {
		p.countLine(evidence.RedisReplicaClosed, &e, l.Number)
		return
	}
	for _, k := range kinds {
		if strings.Contains(e.text, k.text) {
			p.countLine(k.kind, &e, l.Number)
			break
		}
	}
	if m := copied.FindStringSubmatch(e.text); m != nil {
		if mb, err := strconv.ParseFloat(cmp.Or(m[2], m[3]), 64); err == nil {
			p.copied = keepNewest(append(p.copied, point{e.at, l.Number, mb * (1 << 20)}), 2*mostPoints)
			p.saves++
		}
	}
	if m := loaded.FindStringSubmatch(e.text); m != nil {
		if s, err := strconv.ParseFloat(m[1], 64); err == nil && s < 1e6 {
			p.loads = keepNewest(append(p.loads, load{e.at, int64(s * 1e9), l.Number}), 2*mostPoints)
		}
	}
}

// addUnsent reads a client that is closed for its output buffer: "… flags=P … omem=114868232 events=r cmd=psubscribe". It returns true of replicas and monitors, for which
// no request waits.
func (p *parser) addUnsent(text string, line int64) (other bool) {
	var omem float64
	for f := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "flags":
			other = other || strings.ContainsAny(value, "SO")
		case "cmd":
			other = other || value == "monitor" || value == "sync" || value == "psync" || value == "replconf"
		case "omem":
			if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 && v < 1e15 {
				omem = v
			}
		}
	}
	if !other && omem > p.unsent {
		p.unsent, p.unsentLine = omem, line
	}
	return other
}

// announced are texts that a server writes right before it forks: those of serverCron and syncWithReplicas, and of
// rewriteAppendOnlyFileBackground, which opens a file in between from 7.0 on.
var announced = []string{" seconds. Saving...", "Starting automatic rewriting of AOF", "Starting BGSAVE for SYNC", "Creating AOF incr file"}

// forkedChild matches the line that a server writes right after a fork: "Background saving started by pid 4712".
var forkedChild = regexp.MustCompile(`^Background (?:saving|append only file rewriting|RDB transfer) started by pid (\d+)`)

// longestFork is the longest plausible fork.
const longestFork = 600e9

// addFork adds how long a server took from the line before a fork to the one after it.
func (p *parser) addFork(e *entry, line int64) {
	if p.child != 0 && e.pid == p.child {
		return
	}
	before := p.before
	p.before = *e
	m := forkedChild.FindStringSubmatch(e.text)
	if m == nil {
		return
	}
	p.child, _ = strconv.Atoi(m[1])
	took := e.at - before.at
	if e.coarse { // the distance may be due to the clock's whole seconds
		took -= 1e9
	}
	if before.pid != e.pid || took < 1e6 || took > longestFork || !slices.ContainsFunc(announced, func(text string) bool { return strings.Contains(before.text, text) }) {
		return
	}
	p.forks = keepNewest(append(p.forks, load{e.at, took, line}), 2*mostPoints)
}

// keepNewest drops the oldest if there are more than most, down to half of most.
func keepNewest[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	return append(all[:0], all[len(all)-most/2:]...)
}

// countLine counts a line. It does not keep the name and user of a client, and gives a line without a time none.
func (p *parser) countLine(kind string, e *entry, line int64) {
	if p.kinds[kind] == nil {
		text := named.ReplaceAllString(e.text, "$1=")
		p.kinds[kind] = &lineCount{text: strings.ToValidUTF8(text[:min(len(text), 300)], "?"), line: line}
		p.order = append(p.order, kind)
	}
	p.kinds[kind].count++
	if !e.bare {
		p.kinds[kind].addTime(e.at)
	}
}

func (p *parser) emitFacts() {
	b := p.b
	if p.unzoned {
		p.setZone()
	}
	if p.coarse {
		b.Clock().Resolution = 1e9
	}
	if p.untimed {
		b.Clock().Name, b.Clock().Error = "lines without a time", evidence.Unanchored
	} else if p.yearless && b.Modified() <= 0 {
		b.Clock().Name, b.Clock().Error = "times without a year", evidence.Unanchored
	} else if p.yearless {
		b.Warnf(0, "its times have no year and were read as the latest before the file was written")
	}
	id := b.Subject(p.about)
	if p.unsent > 0 {
		b.FactAt(id, evidence.FactRedisUnsent, "", p.unsent, p.unsentLine)
	}
	for _, kind := range p.order {
		k := p.kinds[kind]
		b.FactAt(id, evidence.FactRedisTold, kind+evidence.Link+k.text, float64(k.count), k.line)
		if k.most == 0 {
			continue
		}
		b.Fact(evidence.Fact{Subject: id, Key: evidence.FactRedisRush, Value: kind, Number: float64(k.most), From: k.from, Until: max(k.until, k.from+1), Origin: b.Origin(k.line)})
	}
	p.copied, p.loads, p.forks = p.copied[max(0, len(p.copied)-mostPoints):], p.loads[max(0, len(p.loads)-mostPoints):], p.forks[max(0, len(p.forks)-mostPoints):]
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
	for _, x := range p.forks {
		b.Interval(evidence.Interval{Subject: id, Lane: evidence.AllLanes, Kind: evidence.ServerStall, Start: x.at - x.took, End: x.at, Cause: b.Name(evidence.RedisForked), Origin: b.Origin(x.line)})
	}
	b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedisLog, From: p.first, Until: max(p.last, p.first+1), Origin: b.Origin(p.firstLine)})
	rows := make([][]string, 0, len(p.order))
	for _, kind := range p.order {
		rows = append(rows, []string{kind, fmt.Sprint(p.kinds[kind].count), p.kinds[kind].text})
	}
	if len(rows) > 0 {
		b.Table(evidence.Table{Title: "what the server said", Columns: []string{"", "lines", "the first"}, Rows: rows})
	}
	if p.unknown > 0 {
		b.Warnf(p.firstUnknown, "lines not understood: %d; the first is line %d", p.unknown, p.firstUnknown)
	}
	if older := p.saves - len(p.copied); older > 0 {
		b.Warnf(0, "it has %d saves: the newest %d are kept", p.saves, len(p.copied))
	}
}

// setZone finds the offset of the server's local time from UTC, without which its lines cannot be laid beside other files.
// In a live recording the newest line is about as old as the file. Zones differ by quarters of an hour.
func (p *parser) setZone() {
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
