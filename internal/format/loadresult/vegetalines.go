package loadresult

import (
	"bytes"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

func isVegetaLine(line []byte) bool {
	found := 0
	scanMembers(line, func(key, _ []byte) bool {
		switch string(key) {
		case "attack", "code", "timestamp", "latency":
			found++
		}
		return true
	})
	return found == 4
}

// vegetaLines reads `vegeta encode`: a JSON object per request.
func (p *parser) vegetaLines(a *format.Artifact) error {
	rs := newRows(p)
	return p.vegetaRows(rs, rs.readLines(a, rs.vegetaLine))
}

// vegetaCSV reads `vegeta encode --to csv`.
func (p *parser) vegetaCSV(a *format.Artifact) error {
	rs := newRows(p)
	fields := 0
	return p.vegetaRows(rs, rs.readLines(a, func(text []byte, line int64) bool {
		return rs.vegetaRow(text, line, &fields)
	}))
}

func (p *parser) vegetaRows(rs *rows, err error) error {
	if err != nil {
		return err
	}
	p.b.Clock().Stamp = evidence.StampStart
	if !rs.finish(newVegeta()) {
		return errors.New("it ends before the first request: run the load again and let it finish")
	}
	return nil
}

func (rs *rows) vegetaLine(text []byte, line int64) bool {
	var start, took, code, in int64
	var failure, method, url []byte
	var timed, valued, coded bool
	ok := scanMembers(text, func(key, value []byte) bool {
		switch string(key) {
		case "code":
			code, coded = parseNatural(value)
		case "timestamp":
			start, timed = parseInstant(unquoteValue(value))
		case "latency":
			took, valued = parseNatural(value)
		case "bytes_in":
			in, _ = parseNatural(value)
		case "error":
			failure = unquoteValue(value)
		case "method":
			method = unquoteValue(value)
		case "url":
			url = unquoteValue(value)
		}
		return true
	})
	if !ok || !timed || !valued || !coded || took > 1e15 {
		return false
	}
	rs.vegetaAdd(start, took, code, in, failure, method, url, line)
	return true
}

func (rs *rows) vegetaAdd(start, took, code, in int64, failure, method, url []byte, line int64) {
	rs.bytesIn += float64(in)
	rs.add(row{start: start, end: start + took, line: line, route: rs.routeName(method, url), outcome: decideOutcome(code, failure)}, code)
}

// isVegetaRow recognises a CSV line by its first three columns: a time in ns, a
// status, a latency. There is no header.
func isVegetaRow(line []byte) bool {
	var f [3][]byte
	for i := range f {
		var more bool
		if f[i], line, more = bytes.Cut(line, []byte(",")); !more {
			return false
		}
	}
	at, ok1 := parseNatural(f[0])
	code, ok2 := parseNatural(f[1])
	_, ok3 := parseNatural(f[2])
	return ok1 && ok2 && ok3 && at > 1e18 && code < 1000 && bytes.Count(line, []byte(",")) >= 4
}

// vegetaRow reads: timestamp, code, latency, bytes out, bytes in, error, body,
// attack, seq, and since version 12 method, URL, headers. An error with a quote
// in it is quoted, one with a line end in it is not understood.
func (rs *rows) vegetaRow(text []byte, line int64, width *int) bool {
	var f [12][]byte
	n := 0
	for rest, more := text, true; more; n++ {
		var field []byte
		if field, rest, more = csvField(rest); n < len(f) {
			f[n] = field
		}
	}
	if *width == 0 {
		*width = n
	}
	start, ok1 := parseNatural(f[0])
	code, ok2 := parseNatural(f[1])
	took, ok3 := parseNatural(f[2])
	in, ok4 := parseNatural(f[4])
	if n != *width || !ok1 || !ok2 || !ok3 || !ok4 || took > 1e15 {
		return false
	}
	rs.vegetaAdd(start, took, code, in, f[5], f[9], f[10], line)
	return true
}

// csvField splits the first field off. Doubled quotes within stay doubled.
func csvField(b []byte) (field, rest []byte, more bool) {
	if len(b) > 0 && b[0] == '"' {
		for i := 1; i < len(b); i++ {
			if b[i] != '"' {
				continue
			}
			if i+1 < len(b) && b[i+1] == '"' {
				i++
				continue
			}
			_, rest, more = bytes.Cut(b[i+1:], []byte(","))
			return b[1:i], rest, more
		}
		return b, nil, false
	}
	return bytes.Cut(b, []byte(","))
}
