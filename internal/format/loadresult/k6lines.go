package loadresult

import (
	"bytes"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// k6Lines reads --out json: a Metric line declares a metric, each Point is a
// sample of one. A request gives some nine points at the same instant, of which
// http_req_duration suffices: its time is the end of the response.
func (p *parser) k6Lines(a *format.Artifact) error {
	rs, r := newRows(p), newK6()
	err := rs.readLines(a, func(text []byte, line int64) bool { return k6Line(rs, r, text, line) })
	if err != nil {
		return err
	}
	if r.unsent > 0 {
		r.k6Dropped(r.unsent)
	}
	p.b.Clock().Stamp = evidence.StampCompletion
	if !rs.finish(r) {
		return errors.New("holds no http_req_duration points: the script made no HTTP request, or the file was cut before the first")
	}
	return nil
}

func k6Line(rs *rows, r *run, text []byte, line int64) bool {
	if text[len(text)-1] != '}' {
		return false
	}
	if name, ok := bytes.CutPrefix(text, []byte(k6Point)); ok {
		end := bytes.IndexByte(name, '"')
		if end < 0 {
			return false
		}
		if k6Read[string(name[:end])] == nil {
			return true
		}
	}
	var metric, data []byte
	point := false
	ok := scanMembers(text, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			point = string(value) == `"Point"`
		case "metric":
			metric = unquoteValue(value)
		case "data":
			data = value
		}
		return true
	})
	if !ok || metric == nil || data == nil {
		return false
	}
	read := k6Read[string(metric)]
	if !point || read == nil {
		return true
	}
	return read(rs, r, data, line)
}

func k6Value(data []byte) (v float64, ok bool) {
	scanMembers(data, func(key, value []byte) bool {
		if string(key) == "value" {
			v, ok = parseNumber(value)
			return false
		}
		return true
	})
	return v, ok
}

func k6Request(rs *rows, _ *run, data []byte, line int64) bool {
	var end, took int64
	var tags []byte
	timed, valued := false, false
	scanMembers(data, func(key, value []byte) bool {
		switch string(key) {
		case "time":
			end, timed = parseInstant(unquoteValue(value))
		case "value":
			var ms float64
			if ms, valued = parseNumber(value); valued {
				took, valued = roundNanoseconds(ms * 1e6)
			}
		case "tags":
			tags = value
		}
		return true
	})
	if !timed || !valued || took > end {
		return false
	}
	var method, name, url, failure, scenario, group []byte
	code, expected := int64(codeUnknown), true
	scanMembers(tags, func(key, value []byte) bool {
		switch string(key) {
		case "method":
			method = unquoteValue(value)
		case "name":
			name = unquoteValue(value)
		case "url":
			url = unquoteValue(value)
		case "scenario":
			scenario = unquoteValue(value)
		case "group":
			group = unquoteValue(value)
		case "status":
			if n, ok := parseNatural(unquoteValue(value)); ok {
				code = n
			}
		case "error":
			failure = unquoteValue(value)
		case "expected_response":
			expected = string(value) == `"true"`
		}
		return true
	})
	if len(name) == 0 {
		name = url
	}
	q := row{start: end - took, end: end, line: line, route: rs.routeName(method, name), step: rs.k6Step(scenario, group)}
	rs.k6Add(q, code, failure, expected)
	return true
}

// k6Step returns the scenario and the groups of a request, "::a::b" by their separator; a
// script without groups has no steps.
func (rs *rows) k6Step(scenario, group []byte) evidence.NameID {
	if group = bytes.TrimPrefix(group, []byte("::")); len(group) == 0 {
		return 0
	}
	return rs.stepName(scenario, group)
}

func (rs *rows) k6Add(q row, code int64, failure []byte, expected bool) {
	switch {
	case timedOut(failure):
		q.outcome = evidence.TimedOut
	case code == codeUnknown && !expected, code != codeUnknown && (code < 200 || code >= 400):
		q.outcome = evidence.Failed
	}
	rs.add(q, code)
}
