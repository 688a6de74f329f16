package accesslog

import (
	"bytes"
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
)

// recognizeEnvoy recognises Envoy's default format and Istio's:
//
//	[2026-10-10T13:55:36.123Z] "GET / HTTP/1.1" 200 - 0 154 12 11 "xff" "agent" "id" "authority" "10.0.0.1:8080"
//
// Four numbers follow each other: bytes received and sent, duration, upstream service
// time ("-" if there was none), all times in ms. Istio has details before them.
func (t *textual) recognizeEnvoy(l *layout, rows []row) bool {
	if t.time != 0 || t.request != 1 || t.status != 2 {
		return false
	}
	run := func(r row) int {
		if r.toks[0].kind != bracketed || columnText(r, 0)[4] != '-' {
			return -1
		}
		for c := 4; c+3 < len(r.toks); c++ {
			if parseDigits(columnText(r, c)) >= 0 && parseDigits(columnText(r, c+1)) >= 0 && parseDigits(columnText(r, c+2)) >= 0 && (parseDigits(columnText(r, c+3)) >= 0 || string(columnText(r, c+3)) == "-") {
				return c
			}
		}
		return -1
	}
	first := run(rows[0])
	if first < 0 {
		return false
	}
	same := 0
	for _, r := range rows {
		if run(r) == first {
			same++
		}
	}
	if same*10 < len(rows)*9 {
		return false
	}
	l.name, l.stamp, l.proxy = "Envoy", evidence.StampStart, true
	t.duration = field{column: first + 2, measure: measure{unit: 1e6}}
	t.upstream = field{column: first + 3, measure: measure{unit: 1e6}}
	if c := first + 6; c < t.columns && rows[0].toks[c].kind == quoted {
		t.key = c
	}
	if c := first + 8; c < t.columns && rows[0].toks[c].kind == quoted {
		t.peer = c
	}
	if c := first + 7; c < t.columns && rows[0].toks[c].kind == quoted {
		t.host = c
	}
	t.flags = 3 // behind the status: UO is a request that the circuit breaker refused
	l.fields = append(l.fields, fmt.Sprintf("duration column %d: milliseconds", first+3), fmt.Sprintf("upstream column %d: milliseconds", first+4))
	return true
}

// recognizeTraefik recognises Traefik's common log format, which ends in the number of
// the request, the router, the server and the duration in ms:
//
//	… "agent" 17 "api@docker" "http://10.0.0.1:8080" 12ms
func (t *textual) recognizeTraefik(l *layout, stats []columnStats, rows []row) bool {
	last := t.columns - 1
	if last < 4 || !stats[last].isNearlyAll(stats[last].units) || !bytes.HasSuffix(columnText(rows[0], last), []byte("ms")) ||
		rows[0].toks[last-1].kind != quoted || rows[0].toks[last-2].kind != quoted || parseDigits(columnText(rows[0], last-3)) < 0 {
		return false
	}
	l.name, l.stamp, l.proxy = "Traefik", evidence.StampStart, true
	t.duration = field{column: last}
	l.fields = append(l.fields, fmt.Sprintf("duration column %d: milliseconds", last+1))
	return true
}

// haproxy reads the HTTP log format of HAProxy:
//
//	10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {host} {} "GET / HTTP/1.1"
//
// The five timers are, from 1.7 on, TR (reading the request), Tw (queued for a
// slot on the server), Tc (connecting), Tr (the server's answer), Ta (the total),
// in ms; -1 for a step that was not reached, + before Ta if the log was written
// before the end (option logasap).
type haproxy struct{ toks []token }

func (h *haproxy) forkReader() reader { return &haproxy{} }

func (h *haproxy) parseLine(line []byte, e *entry) verdict {
	open := bytes.IndexByte(line, '[')
	for open >= 0 && (open+25 >= len(line) || line[open+3] != '/' || line[open+25] != ']') {
		next := bytes.IndexByte(line[open+1:], '[')
		if next < 0 {
			return other
		}
		open += 1 + next
	}
	if open < 0 {
		return other
	}
	m, ok := parseMoment(line[open+1 : open+25])
	if !ok {
		return other
	}
	quote := bytes.IndexByte(line[open:], '"')
	head := line[open+26:]
	if quote >= 26 {
		head = line[open+26 : open+quote]
	}
	h.toks = splitColumns(head, h.toks[:0])
	if len(h.toks) < 5 {
		return garbled
	}
	var timers [5]int64
	b := h.toks[2].textIn(head)
	for i := range timers {
		if i == 4 && len(b) > 0 && b[0] == '+' {
			b = b[1:]
		}
		d, n := parseDecimal(b)
		if n == 0 || i < 4 && (n >= len(b) || b[n] != '/') || i == 4 && n != len(b) {
			return other // TCP log, or a format of its own
		}
		timers[i] = d.mantissa
		b = b[min(n+1, len(b)):]
	}
	*e = entry{time: m.ns, duration: -1, upstream: -1, queue: -1, status: statusOf(h.toks[3].textIn(head))}
	if ms := timers[4]; ms >= 0 && ms < longest/1e6 {
		e.duration = ms * 1e6
	}
	if ms := max(0, timers[2]) + timers[3]; timers[3] >= 0 && ms < longest/1e6 {
		e.upstream = ms * 1e6
		e.peer = h.toks[1].textIn(head)
	}
	if ms := timers[1]; ms > 0 && ms < longest/1e6 {
		e.queue = ms * 1e6
		e.peer = h.toks[1].textIn(head)
	}
	e.proxied = timersOf(timers)
	if timers[3] == -1 && e.status == 504 && e.duration > 0 { // timeout server was up
		e.upstream, e.unanswered = e.duration-1e6*max(0, timers[0])-1e6*max(0, timers[1]), true
		e.peer = h.toks[1].textIn(head)
	}
	if len(h.toks) > 7 {
		if e.overdue = bytes.HasPrefix(h.toks[7].textIn(head), []byte("sQ")); e.overdue { // how it ended: by timeout queue
			e.limit = "maxconn"
			e.peer = h.toks[1].textIn(head)
		}
	}
	if quote < 0 {
		if len(h.toks) > 5 && isConnectionCounts(h.toks[5].textIn(head)) { // a log-format without how it ended and without the request
			return understood
		}
		return garbled
	}
	request := line[open+quote+1:]
	if end := bytes.LastIndexByte(request, '"'); end >= 0 {
		request = request[:end]
	}
	e.method, e.target, _ = parseRequest(request)
	return understood
}

// isConnectionCounts says whether a word is HAProxy's counts of connections, "1/1/0/0/0": of the process, the frontend, the backend and the server, and retries.
func isConnectionCounts(b []byte) bool {
	slashes := 0
	for i, c := range b {
		switch {
		case c == '/' && i > 0 && b[i-1] != '/':
			slashes++
		case !isDigit(c) && !(c == '+' && slashes == 4):
			return false
		}
	}
	return slashes == 4
}

// timersOf returns the parts of a request from its five timers; they are ordered if the request passed all of them.
func timersOf(ms [5]int64) (p proxied) {
	sum := int64(0)
	for i, v := range ms {
		if v < 0 || v >= longest/1e6 {
			return proxied{}
		}
		if i < 4 {
			sum += v
		}
	}
	return proxied{reading: ms[0] * 1e6, connect: ms[2] * 1e6, sending: max(0, ms[4]-sum) * 1e6, ordered: sum <= ms[4]}
}

func compileHAProxy(sample []sampled) *layout {
	h := &haproxy{}
	var e entry
	for _, s := range sample {
		if h.parseLine(s.text, &e) == understood {
			return &layout{name: "HAProxy HTTP log", reader: h, resolution: 1e6, stamp: evidence.StampStart, timed: true, http: true, proxy: true,
				fields: []string{"time: 1 ms, when the request began", "duration Ta: milliseconds", "upstream Tc + Tr: milliseconds", "queue Tw: milliseconds", "connecting Tc: milliseconds"}}
		}
	}
	return nil
}
