package loadresult

import (
	"bytes"
	"errors"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// requestsHeader begins the requests that our own load generator stores.
const requestsHeader = "# unstall.requests/v1"

func isRequests(first []byte) bool {
	rest, ok := bytes.CutPrefix(first, []byte(requestsHeader))
	return ok && (len(rest) == 0 || rest[0] == ' ')
}

// unstallRequests reads the output of unstall load --rows: intended, sent and end in ns since the
// epoch, the generator's own delay in ns, status, bytes, outcome, and the route. The route ends at the line's
// end or at a tab; behind the tab stand the journey that the request was a part of, a tab and the step.
// Other lines with # are notes. Pieces of one run may follow each other, each with its header.
func (p *parser) unstallRequests(a *format.Artifact) error {
	rs := newRows(p)
	rs.intended = true
	r := &run{}
	r.Tool, r.Mode = "unstall", "open"
	var never int64
	err := rs.readLines(a, func(text []byte, line int64) bool {
		if text[0] == '#' {
			if isRequests(text) {
				r.readHeader(string(text[len(requestsHeader):]))
			}
			return true
		}
		q, code, bytesIn, sent, ok := rs.requestLine(text, line)
		if !ok {
			return false
		}
		if sent == 0 {
			never++
		}
		rs.bytesIn += float64(bytesIn)
		rs.add(q, code)
		return true
	})
	if err != nil {
		return err
	}
	r.unsent = never
	if r.Mode == "closed" {
		rs.intended = false // a closed loop intends no time before a connection is free
	}
	p.b.Clock().Stamp = evidence.StampStart
	if !rs.finish(r) {
		return errors.New("it ends before the first request: run the load again and let it finish")
	}
	return nil
}

// readHeader reads the name=value pairs of a header line, and keeps known ones.
func (r *run) readHeader(text string) {
	for field := range strings.FieldsSeq(text) {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "url":
			r.URL = value
		case "mode":
			if value == "open" || value == "closed" {
				r.Mode = value
			}
		}
	}
}

var outcomes = map[string]evidence.Outcome{
	"ok": evidence.OK, "error": evidence.Failed, "timeout": evidence.TimedOut, "unfinished": evidence.Unfinished,
}

func (rs *rows) requestLine(text []byte, line int64) (q row, code, bytesIn, sent int64, ok bool) {
	var v [6]int64 // intended, sent, end, lag, status, bytes
	for i := range v {
		field, rest, more := bytes.Cut(text, []byte(" "))
		if v[i], ok = parseNatural(field); !ok || !more {
			return q, 0, 0, 0, false
		}
		text = rest
	}
	word, route, more := bytes.Cut(text, []byte(" "))
	outcome, known := outcomes[string(word)]
	if !more || !known || v[2] < v[0] || v[2]-v[0] > 1e15 || v[3] > v[2]-v[0] || v[1] != 0 && (v[1] < v[0] || v[1] > v[2]) {
		return q, 0, 0, 0, false
	}
	route, part, _ := bytes.Cut(route, []byte("\t"))
	method, path, split := bytes.Cut(route, []byte(" "))
	if !split {
		method, path = nil, route
	}
	q = row{start: v[0], end: v[2], lag: v[3], line: line, route: rs.routeName(method, path), outcome: outcome}
	if journey, step, ok := bytes.Cut(part, []byte("\t")); ok {
		q.step = rs.stepName(journey, step)
	}
	return q, v[4], v[5], v[1], true
}
