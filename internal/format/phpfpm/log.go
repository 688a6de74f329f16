package phpfpm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Log reads the log of the process manager (error_log), which also has the output of workers.
var Log = format.Format{
	Name:  "phpfpm-log",
	About: "php-fpm.log: pools that reached pm.max_children or are short of workers, requests ended, workers that crashed",
	Match: func(head []byte) format.Confidence {
		return format.SureIf(hasLog(head))
	},
	Parse: parseLog,
}

// Both reads a file with the log and lines of the access log: the official image's PHP-FPM writes both to stderr.
var Both = format.Format{
	Name:  "phpfpm",
	About: "php-fpm.log and PHP-FPM's access log in one, as containers write them",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		return format.SureIf(hasLog(head) && hasAccess(head))
	},
	Parse: func(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
		subject := newSubject(b)
		if err := readLog(ctx, a, b, subject); err != nil {
			return err
		}
		if err := readAccess(ctx, a, b, subject); err != nil && ctx.Err() == nil { // the log's content is good
			b.Warnf(0, "%v", err)
		}
		return ctx.Err()
	},
}

// hasLog says whether lines are of FPM's log, of one of its pools or of its start.
func hasLog(head []byte) bool {
	for line := range bytes.Lines(head) {
		if _, rest, ok := logTime(line); ok {
			for _, level := range levels {
				if rest, ok := bytes.CutPrefix(rest, []byte(level+": ")); ok {
					rest = withoutPlace(rest)
					if _, _, ok := ofPool(rest); ok || bytes.HasPrefix(rest, []byte("fpm is running")) || bytes.HasPrefix(rest, []byte("ready to handle connections")) {
						return true
					}
				}
			}
		}
	}
	return false
}

// levels are those of zlog.c.
var levels = []string{"DEBUG", "NOTICE", "WARNING", "ERROR", "ALERT"}

// messages are those about a pool, by words that they have had since 5.4; the first match counts.
var messages = []struct{ has, says string }{
	{"max_children setting", "it has as many workers as it may (pm.max_children)"},
	{"seems busy", "it is short of idle workers, and starts more"},
	{"executing too slow", "a request took longer than request_slowlog_timeout"},
	{"execution timed out", "a request took longer than request_terminate_timeout, and its worker was ended"},
	{"exited on signal", "a worker crashed or was killed"},
	{"exited with code", "a worker ended"},
	{"said into std", "a worker wrote something"},
}

// withoutPlace removes the place in FPM's source, which messages have at log_level = debug:
// "pid 1, fpm_event_loop(), line 419: " (zlog_ex in sapi/fpm/fpm/zlog.c).
func withoutPlace(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("pid ")) {
		return text
	}
	place, rest, ok := bytes.Cut(text[:min(len(text), 4096)], []byte(": "))
	if !ok || !bytes.Contains(place, []byte("(), line ")) {
		return text
	}
	return rest
}

// reading is how many workers of a pool served requests at a time. FPM checks that each second and logs it with each
// check at log_level = debug, else when workers are short.
type reading struct {
	at     int64 // ns
	active float64
	line   int64
}

// readingOf reads "currently 5 active children, 0 spare children, 5 running children" and
// "seems busy (…), spawning 8 children, there are 0 idle, and 5 total children".
func readingOf(text []byte) (active float64, ok bool) {
	if _, rest, is := bytes.Cut(text, []byte("currently ")); is {
		digits, _, is := bytes.Cut(rest, []byte(" active children, "))
		n, ok := parseWhole(digits)
		return float64(n), is && ok && n < 1e6
	}
	_, rest, is := bytes.Cut(text, []byte(" children, there are "))
	digits, rest, is2 := bytes.Cut(rest, []byte(" idle, and "))
	idle, ok := parseWhole(digits)
	digits, _, is3 := bytes.Cut(rest, []byte(" total children"))
	total, ok2 := parseWhole(digits)
	return float64(total - idle), is && is2 && is3 && ok && ok2 && total >= idle && total < 1e6
}

type told struct {
	pool, says  string
	n           int64
	first, last int64 // ns
	line        int64
	most        int64 // the pool's maximum, by the newest line; -1 unknown
}

// noneIdle is when a pool told that none of its workers was idle: "there are 0 idle".
type noneIdle struct{ n, first, last, line int64 }

func parseLog(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	return readLog(ctx, a, b, newSubject(b))
}

func readLog(ctx context.Context, a *format.Artifact, b *evidence.Builder, subject evidence.SubjectID) error {
	by := make(map[string]*told)
	var order []*told
	var lines, from, until int64
	readings := make(map[string][]reading)
	busy := make(map[string]*noneIdle)
	kept := 0
	var open begun
	err := a.Lines(func(l format.Line) bool {
		at, text, ok := logTime(l.Text)
		if !ok {
			if at, text, ok = open.joinNext(l.Text); !ok {
				return l.Number&0xfff != 0 || ctx.Err() == nil
			}
		} else {
			lines++
			if from == 0 || at < from {
				from = at
			}
			until = max(until, at)
			if _, rest, ok := bytes.Cut(text[:min(len(text), 4096)], []byte(": ")); ok {
				text = withoutPlace(rest)
			}
			open.keepMessage(at, text)
		}
		name, text, ok := ofPool(text)
		if !ok {
			return true
		}
		if active, ok := readingOf(text); ok && kept < mostReadings && (len(readings) < mostPools || readings[name] != nil) {
			readings[name] = append(readings[name], reading{at, active, l.Number})
			kept++
		}
		if bytes.Contains(text, []byte(" children, there are 0 idle, and ")) && (len(busy) < mostPools || busy[name] != nil) {
			x := busy[name]
			if x == nil {
				x = &noneIdle{first: at, line: l.Number}
				busy[name] = x
			}
			x.n, x.last = x.n+1, max(x.last, at)
		}
		for _, m := range messages {
			if !bytes.Contains(text, []byte(m.has)) {
				continue
			}
			x := by[name+m.says]
			if x == nil {
				if len(by) == mostPools*len(messages) {
					break
				}
				x = &told{pool: name, says: m.says, first: at, line: l.Number, most: -1}
				by[name+m.says] = x
				order = append(order, x)
			}
			open = begun{}
			x.n, x.last = x.n+1, max(x.last, at)
			if _, rest, ok := bytes.Cut(text, []byte("max_children setting (")); ok {
				digits, _, _ := bytes.Cut(rest, []byte(")"))
				if n, ok := parseWhole(digits); ok && n > 0 && n < 1e6 {
					x.most = n
				}
			}
			break
		}
		return true
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case lines == 0:
		return errors.New("php-fpm log: none of its lines has a time of PHP-FPM's")
	case err != nil:
		b.Warnf(0, "the file is incomplete: %v", err)
		b.Cut()
	}
	b.Clock().Resolution = int64(time.Second)
	b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
	sorting.Short(order, func(x, y *told) int { return cmp.Or(cmp.Compare(x.pool, y.pool), cmp.Compare(y.n, x.n)) })
	table := evidence.Table{Title: "php-fpm log", Columns: []string{"pool", "what", "times", "first", "last"}}
	for _, x := range order {
		table.Rows = append(table.Rows, []string{x.pool, x.says, strconv.FormatInt(x.n, 10), formatTime(x.first), formatTime(x.last)})
		if x.most > 0 {
			b.FactAt(subject, evidence.FactWorkersMost, x.pool, float64(x.most), x.line)
			b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactWorkersReached, Value: x.pool, Number: float64(x.n), From: x.first, Until: x.last, Origin: b.Origin(x.line)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(busy)) {
		x := busy[name]
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactWorkersNoneIdle, Value: name, Number: float64(x.n), From: x.first, Until: x.last, Origin: b.Origin(x.line)})
	}
	b.Table(table)
	if len(order) > 0 {
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactWorkersLogSpan, Number: float64(until - from), Origin: b.Origin(order[0].line)})
	}
	emitReadings(b, subject, readings, by)
	return nil
}

// begun is a message that a page or a tool may have broken at its width: its rest is in the next line.
type begun struct {
	at   int64
	text []byte
}

// longestMessage bounds what is kept of one, bytes.
const longestMessage = 1024

func (m *begun) keepMessage(at int64, text []byte) {
	m.at, m.text = at, append(m.text[:0], bytes.TrimRight(text[:min(len(text), longestMessage)], "\r\n ")...)
}

// joinNext returns the message with the next line, which has no time, behind it. It joins only once.
func (m *begun) joinNext(line []byte) (at int64, text []byte, ok bool) {
	line = bytes.TrimSpace(line)
	if len(m.text) == 0 || len(line) == 0 {
		return 0, nil, false
	}
	at, text = m.at, append(append(m.text, ' '), line[:min(len(line), longestMessage)]...)
	*m = begun{}
	return at, text, true
}

// emitReadings writes the number of busy workers, and the pool's maximum.
func emitReadings(b *evidence.Builder, subject evidence.SubjectID, readings map[string][]reading, by map[string]*told) {
	var from, until, line int64
	for _, name := range slices.Sorted(maps.Keys(readings)) {
		all := readings[name]
		sorting.Short(all, func(x, y reading) int { return cmp.Compare(x.at, y.at) })
		all = slices.CompactFunc(all, func(x, y reading) bool { return x.at == y.at })
		used := evidence.Series{Subject: subject, Name: evidence.SeriesClientPoolUsed + ":" + poolName(name), Unit: "workers", Origin: b.Origin(all[0].line)}
		size := evidence.Series{Subject: subject, Name: evidence.SeriesClientPoolMax + ":" + poolName(name), Unit: "workers", Origin: used.Origin}
		most := int64(-1)
		if x := by[name+messages[0].says]; x != nil {
			most = x.most
		}
		for _, r := range all {
			used.T, used.V = append(used.T, r.at), append(used.V, r.active)
			if most > 0 {
				size.T, size.V = append(size.T, r.at), append(size.V, float64(most))
			}
		}
		b.Series(used)
		if most > 0 {
			b.Series(size)
		}
		if from == 0 || all[0].at < from {
			from, line = all[0].at, all[0].line
		}
		until = max(until, all[len(all)-1].at)
	}
	if from > 0 {
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverPool, From: from, Until: max(until, from+1), Sampled: int64(time.Second), Origin: b.Origin(line)})
	}
}

func formatTime(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05") }

// Slow reads the slow log.
var Slow = format.Format{
	Name:  "phpfpm-slow",
	About: "PHP-FPM's slow log: PHP stacks of requests that took longer than request_slowlog_timeout",
	Match: func(head []byte) format.Confidence {
		heads, named := false, false
		for line := range bytes.Lines(head) {
			line = bytes.TrimSpace(line)
			switch {
			case bytes.HasPrefix(line, scriptFilename):
				if heads {
					return format.Sure
				}
				named = true
			case named && bytes.HasPrefix(line, []byte("[0x")): // as panels show an entry, without its first line
				if _, _, _, ok := phpFrame(line); ok {
					return format.Sure
				}
			case len(line) > 0:
				_, _, heads = slowHead(line)
				named = false
			}
		}
		return format.No
	},
	Parse: parseSlow,
}

// scriptFilename begins the line above an entry's stack.
var scriptFilename = []byte("script_filename = ")

// slowHead reads "[23-Nov-2026 08:00:00]  [pool www] pid 4711".
func slowHead(line []byte) (at int64, pool string, ok bool) {
	at, rest, ok := logTime(line)
	if !ok {
		return 0, "", false
	}
	pool, rest, ok = ofPool(rest)
	digits, is := bytes.CutPrefix(rest, []byte("pid "))
	_, number := parseWhole(digits)
	return at, pool, ok && is && number
}

func parseSlow(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := newSubject(b)
	kind, unit := b.Name(evidence.SampleSlowRequest), b.Name("count")
	type place struct {
		call, at string
		n        int
	}
	places := make(map[string]*place)
	var (
		frames                  []evidence.Frame
		call, at                string
		when, line              int64
		entries, strange, first int64
		failed, dropped         int64
		from, until             int64
		open, dated             bool
	)
	locked := make(map[string]*place)
	awaits, seen := make(map[string]*place), 0
	own := "" // the innermost place outside of packages
	end := func() {
		if !open {
			return
		}
		open = false
		if entries >= mostEntries {
			dropped++
			return
		}
		entries++
		if when != 0 && (from == 0 || when < from) {
			from = when
		}
		until = max(until, when)
		if len(frames) > 0 {
			b.Sample(evidence.Sample{Subject: subject, Time: when, Stack: b.Stack(frames), Type: kind, Unit: unit, Value: 1, Origin: b.Origin(line)})
		}
		if call == "" {
			return
		}
		seen++
		if own == "" {
			own = at
		}
		where := call + " (" + own[strings.LastIndexByte(own, '/')+1:] + ")"
		countAt := func(all map[string]*place) {
			if x := all[where]; x != nil {
				x.n++
			} else if len(all) < mostRoutes {
				all[where] = &place{call: where, n: 1}
			}
		}
		if awaitsNetwork[call] {
			countAt(awaits)
		}
		if awaitsLock[call] {
			countAt(locked)
		}
		p := places[call+"\x00"+at]
		if p == nil && len(places) < mostRoutes {
			p = &place{call: call, at: at}
			places[call+"\x00"+at] = p
		}
		if p != nil {
			p.n++
		}
	}
	err := a.Lines(func(l format.Line) bool {
		text := bytes.TrimSpace(l.Text)
		t, _, headed := slowHead(text)
		if headed || bytes.HasPrefix(text, scriptFilename) && (!open || call != "") { // without its first line an entry begins with its script
			end()
			open, when, line, frames, call, at, own = true, t, l.Number, frames[:0], "", "", ""
			dated = dated || headed
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		switch {
		case len(text) == 0 || bytes.HasPrefix(text, scriptFilename):
		case bytes.Contains(text, []byte("+++ dump failed")):
			failed++
		case open && bytes.HasPrefix(text, []byte("[0x")):
			function, file, number, ok := phpFrame(text)
			if !ok {
				if strange++; strange == 1 {
					first = l.Number
				}
				break
			}
			if len(frames) < 64 { // FPM writes 20
				frames = append(frames, evidence.Frame{Func: b.Name(function), File: b.Name(file), Line: int32(number)})
			}
			if own == "" && !strings.Contains(file, "/vendor/") {
				own = fmt.Sprintf("%s:%d", file, number)
			}
			if call == "" {
				call, at = function, fmt.Sprintf("%s:%d", file, number)
			}
		default:
			if strange++; strange == 1 {
				first = l.Number
			}
		}
		return true
	})
	end()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case entries == 0:
		return errors.New("php-fpm slow log: it holds no entry")
	case err != nil:
		b.Warnf(0, "the file is incomplete: %v", err)
		b.Cut()
	}
	if dated {
		b.Clock().Resolution = int64(time.Second)
		b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
	} else {
		*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
		b.Warnf(0, "when these requests were is not in it")
	}
	order := make([]*place, 0, len(places))
	for _, p := range places {
		order = append(order, p)
	}
	sorting.Short(order, func(x, y *place) int { return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.call+x.at, y.call+y.at)) })
	table := evidence.Table{Title: "where slow requests were", Columns: []string{"in", "called from", "requests"}}
	for _, p := range order[:min(10, len(order))] {
		table.Rows = append(table.Rows, []string{p.call, p.at, strconv.Itoa(p.n)})
	}
	b.Table(table)
	for _, of := range []struct {
		key string
		all map[string]*place
	}{{evidence.FactSlowAwait, awaits}, {evidence.FactSlowLocked, locked}} {
		most := &place{}
		for _, p := range of.all {
			if p.n > most.n || p.n == most.n && p.call < most.call {
				most = p
			}
		}
		if most.n > 0 {
			b.Fact(evidence.Fact{Subject: subject, Key: of.key, Value: most.call, Number: float64(most.n), From: from, Until: until, Origin: b.Origin(1)})
		}
	}
	if len(awaits) > 0 || len(locked) > 0 {
		b.FactAt(subject, evidence.FactSlowSeen, "", float64(seen), 1)
	}
	if failed > 0 {
		b.Warnf(0, "of %d requests FPM could not read the stack: it needs the capability SYS_PTRACE", failed)
	}
	if strange > 0 {
		b.Warnf(first, "lines not understood: %d; the first is line %d", strange, first)
	}
	if dropped > 0 {
		b.Warnf(0, "it holds more than %d entries: %d left out", mostEntries, dropped)
	}
	return nil
}

// awaitsNetwork are PHP's own functions that wait for an answer of another process, whatever they are given.
var awaitsNetwork = map[string]bool{
	"curl_exec": true, "curl_multi_exec": true, "curl_multi_select": true, "fsockopen": true, "pfsockopen": true, "stream_socket_client": true, "gethostbyname": true,
	"mysqli_query": true, "mysqli_real_query": true, "mysqli_real_connect": true, "mysqli_stmt_execute": true, "mysql_query": true, "mysql_connect": true,
	"pg_query": true, "pg_query_params": true, "pg_execute": true, "pg_connect": true, "ldap_bind": true, "ldap_search": true, "__dorequest": true, "__doRequest": true,
}

// awaitsLock are PHP's own functions that wait until another process gives something free: session_start waits for its session, which its handlers lock or read from a store.
var awaitsLock = map[string]bool{"flock": true, "session_start": true, "sem_acquire": true}

// phpFrame reads "[0x00007f1c2aa13100] hgetall() /srv/shop/cart.php:31".
func phpFrame(text []byte) (function, file string, line int64, ok bool) {
	_, rest, ok := bytes.Cut(text, []byte("] "))
	i := bytes.LastIndex(rest, []byte("() "))
	j := bytes.LastIndexByte(rest, ':')
	if !ok || i <= 0 || j < i+3 {
		return "", "", 0, false
	}
	line, ok = parseWhole(rest[j+1:])
	return clipName(rest[:i]), clipName(rest[i+3 : j]), line, ok && line < 1<<31
}
