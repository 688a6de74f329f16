package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// role is the use of a key of a structured line.
type role uint8

const (
	roleTime role = iota
	roleDuration
	roleUpstream
	roleConnect
	roleMethod
	rolePath
	roleRequest
	roleStatus
	rolePeer
	roleKey
	roleReading
	roleSending
	roleService
	roleRPC
	roleCode
	roleFlags // of Envoy
	numRoles
)

// keyed reads JSON objects, logfmt and LTSV by key.
type keyed struct {
	json               *jsonScanner // one of the two is set
	pairs              *pairScanner
	want               []wantedKey
	prefixes           [][]byte
	timed              bool // lines carry a duration; lines without one are not about requests
	stampless          bool
	headed             bool // the time stands in brackets before the pairs
	duration, upstream measure
	connect            measure
	moments            moments
}

type wantedKey struct {
	key  []byte
	role role
}

func (k *keyed) forkReader() reader {
	c := *k
	c.moments = moments{}
	if k.json != nil {
		c.json = &jsonScanner{wanted: k.json.wanted}
	} else {
		c.pairs = &pairScanner{ltsv: k.pairs.ltsv}
	}
	return &c
}

func (k *keyed) parseLine(line []byte, e *entry) verdict {
	if len(line) < 2 {
		return other
	}
	if k.json != nil {
		if !k.json.startLine(line) {
			return other
		}
	} else if !k.pairs.startLine(line) {
		return other
	}
	*e = entry{duration: -1, upstream: -1, queue: -1, status: -1}
	var p pair
	var service, rpc []byte
	timed, spanned, seen := k.stampless, false, 0
	if k.headed {
		m, ok := momentInBrackets(line)
		e.time, timed = m.ns, ok
	}
	for seen < len(k.want) && k.nextPair(&p) {
		r := numRoles
		for i := range k.want {
			if w := k.want[i].key; len(w) == len(p.key) && string(w) == string(p.key) {
				r = k.want[i].role
				break
			}
		}
		if r == numRoles {
			continue
		}
		seen++
		switch r {
		case roleTime:
			m, ok := k.moments.parseCached(trimBrackets(p.raw))
			e.time, timed = m.ns, ok
		case roleDuration:
			e.duration, spanned = readSpan(k.duration, &p)
		case roleUpstream:
			e.upstream, _ = readSpan(k.upstream, &p)
		case roleConnect:
			e.connect, _ = readSpan(k.connect, &p)
			e.connect = max(0, e.connect)
		case roleReading:
			e.reading, _ = readSpan(k.duration, &p)
			e.reading = max(0, e.reading)
		case roleSending:
			e.sending, _ = readSpan(k.duration, &p)
			e.sending = max(0, e.sending)
		case roleKey:
			e.key = p.unescapedValue()
		case roleMethod:
			e.method = p.raw
		case rolePath:
			e.target = pathOf(&p)
		case roleRequest:
			if method, target, ok := parseRequest(pathOf(&p)); ok {
				e.method, e.target = method, target
			}
		case roleStatus:
			e.status = statusOf(p.raw)
		case rolePeer:
			e.peer = p.unescapedValue()
		case roleService:
			service = p.raw
		case roleRPC:
			rpc = p.raw
		case roleCode:
			e.rpcCode = p.raw
		case roleFlags:
			e.unanswered = hasFlag(p.raw, "UT")
		}
	}
	if e.unanswered && e.upstream < 0 {
		e.upstream = e.duration
	}
	broken := k.json != nil && k.json.broken || k.pairs != nil && k.pairs.broken
	switch {
	case timed && (spanned || !k.timed && (len(e.target) > 0 || rpc != nil || e.status >= 0)):
		if rpc != nil {
			e.method, e.target = nil, rpc
			if service != nil {
				e.target = slices.Concat(service, []byte{'/'}, rpc)
			}
		}
		return understood
	case broken:
		return garbled
	}
	return other
}

// momentInBrackets reads the time that a line begins with: "[2026-10-10T13:55:36Z] method=GET …". Of several words in the brackets the last that is a time counts:
// of "09/12/2019T10:31:08+0000 1575887468" it is not known whether the day or the month stands first.
func momentInBrackets(line []byte) (moment, bool) {
	end := bytes.IndexByte(line[:min(len(line), mostBrackets)], ']')
	if end < 2 || line[0] != '[' {
		return moment{}, false
	}
	inner := line[1:end]
	if m, ok := parseMoment(inner); ok {
		return m, true
	}
	if i := bytes.LastIndexByte(inner, ' '); i >= 0 {
		return parseMoment(inner[i+1:])
	}
	return moment{}, false
}

// mostBrackets bounds the brackets that a line begins with, bytes.
const mostBrackets = 80

func (k *keyed) nextPair(p *pair) bool {
	if k.json != nil {
		return k.json.nextPair(p)
	}
	return k.pairs.nextPair(p)
}

func readSpan(m measure, p *pair) (int64, bool) {
	ns, ok := m.parseDuration(p.unescapedValue())
	if !ok {
		return -1, false
	}
	return ns, true
}

// pathOf returns the value without its query, where most escapes are.
func pathOf(p *pair) []byte {
	if !p.escaped {
		return p.raw
	}
	q := *p
	if i := bytes.IndexByte(q.raw, '?'); i >= 0 && bytes.IndexByte(q.raw[:i], '\\') < 0 {
		return q.raw[:i]
	}
	return q.unescapedValue()
}

func trimBrackets(b []byte) []byte {
	if len(b) > 2 && b[0] == '[' && b[len(b)-1] == ']' {
		return b[1 : len(b)-1]
	}
	return b
}

// statusOf reads an HTTP status; 0 for the placeholders of requests whose client
// left before there was one, -1 for other values.
func statusOf(b []byte) int32 {
	if len(b) == 3 {
		if n := parseDigits(b); n == 0 || n >= 100 && n < 1000 {
			return int32(n)
		}
	}
	if s := string(b); s == "0" || s == "-1" {
		return 0
	}
	return -1
}

func compileJSON(sample []sampled) *layout {
	return compileKeyed(sample, &keyed{json: &jsonScanner{}}, "JSON lines")
}

func compilePairs(sample []sampled) *layout {
	labels, tabs := 0, 0
	for _, s := range sample {
		if bytes.IndexByte(s.text, '=') > 0 {
			labels++
		}
		if bytes.IndexByte(s.text, '\t') > 0 && bytes.IndexByte(s.text, ':') > 0 {
			tabs++
		}
	}
	if tabs > labels {
		return compileKeyed(sample, &keyed{pairs: &pairScanner{ltsv: true}}, "LTSV")
	}
	return compileKeyed(sample, &keyed{pairs: &pairScanner{}}, "logfmt")
}

func compileKeyed(sample []sampled, k *keyed, name string) *layout {
	stats := make(map[string]*keyStats)
	var p pair
	for _, s := range sample {
		if k.json != nil && !k.json.startLine(s.text) || k.pairs != nil && !k.pairs.startLine(s.text) {
			continue
		}
		for pairs := 0; pairs < 200 && k.nextPair(&p); pairs++ {
			st := stats[string(p.key)]
			if st == nil {
				if len(stats) == maxKeys || len(p.key) > 100 {
					continue
				}
				st = &keyStats{key: string(p.key), first: len(stats)}
				stats[st.key] = st
			}
			st.addPair(&p)
		}
	}
	keys := make([]*keyStats, 0, len(stats))
	for _, s := range stats {
		keys = append(keys, s)
	}
	slices.SortFunc(keys, func(a, b *keyStats) int { return a.first - b.first })
	if stats["attack"] != nil && stats["seq"] != nil || isSpan(stats) {
		return nil // a load generator's results, and traces, have formats of their own
	}

	l := &layout{name: name, reader: k}
	k.stampless = !k.chooseTime(l, keys)
	k.chooseDuration(l, keys)
	k.chooseRequest(l, keys)
	if k.stampless && k.pairs != nil && l.timed && l.http {
		k.useBrackets(l, sample)
	}
	if k.stampless {
		if !l.timed || !l.http {
			return nil
		}
		l.useCollectorStamps(sample)
	}
	applyProduct(l, stats)
	if !l.timed && !l.http {
		return nil
	}
	if k.json != nil {
		for _, w := range k.want {
			for i, c := range w.key {
				if c == '.' {
					k.prefixes = append(k.prefixes, w.key[:i+1])
				}
			}
		}
		k.json.wanted = func(prefix []byte) bool {
			for _, p := range k.prefixes {
				if bytes.Equal(p, prefix) {
					return true
				}
			}
			return false
		}
	}
	return l
}

// hasWantedKey says whether the line that was started has one of the keys that are read.
func (k *keyed) hasWantedKey() bool {
	var p pair
	for n := 0; n < maxKeys && k.nextPair(&p); n++ {
		if slices.ContainsFunc(k.want, func(w wantedKey) bool { return bytes.Equal(w.key, p.key) }) {
			return true
		}
	}
	return false
}

// useBrackets makes the times in brackets before the pairs those of the lines if most lines have one.
func (k *keyed) useBrackets(l *layout, sample []sampled) {
	lines, headed := 0, 0
	for _, s := range sample {
		if !k.pairs.startLine(s.text) || !k.hasWantedKey() {
			continue // words around it
		}
		lines++
		if m, ok := momentInBrackets(s.text); ok {
			headed++
			l.resolution, l.zoned = m.resolution, m.zoned
		}
	}
	if headed == 0 || headed*10 < lines*9 {
		return
	}
	k.headed, k.stampless = true, false
	if l.stamp = evidence.StampCompletion; l.proxy { // Envoy's START_TIME
		l.stamp = evidence.StampStart
	}
	l.fields = append(l.fields, fmt.Sprintf("time in brackets: %v, %s", time.Duration(l.resolution), stampName(l.stamp)))
}

// isSpan recognises spans of distributed tracing, which carry times and durations too.
func isSpan(stats map[string]*keyStats) bool {
	for _, k := range []string{"parentId", "parentSpanId", "parent_id", "ParentSpanID", "Parent.SpanID", "SpanContext.SpanID"} {
		if stats[k] != nil {
			return true
		}
	}
	return false
}

func (k *keyed) addKey(r role, key string) {
	k.want = append(k.want, wantedKey{[]byte(key), r})
}
