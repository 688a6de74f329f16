package accesslog

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// w3c reads logs in the W3C extended format. A line names the columns, and a later line may
// name others:
//
//	#Software: Microsoft Internet Information Services 10.0
//	#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip sc-status time-taken
//	2026-10-10 13:55:36 10.0.0.5 GET /cart id=7 443 - 10.0.0.9 200 153
//
// date and time are in UTC, when the request had been answered. time-taken is in seconds by
// the specification, and CloudFront and Tomcat write it so, with a point; IIS writes whole
// milliseconds.
type w3c struct {
	columns [numW3C]int // of each field, -1 none
	seconds bool        // time-taken is in seconds
	count   int
	target  []byte // reused
	moment  []byte
}

// Fields that are read.
const (
	w3cDate = iota
	w3cTime
	w3cMethod
	w3cStem
	w3cQuery
	w3cURI
	w3cStatus
	w3cTaken
	numW3C
)

var w3cFields = map[string]int{"date": w3cDate, "time": w3cTime, "cs-method": w3cMethod, "cs-uri-stem": w3cStem, "cs-uri-query": w3cQuery,
	"cs-uri": w3cURI, "sc-status": w3cStatus, "time-taken": w3cTaken}

var fieldsLine = []byte("#Fields:")

// parseDirective reads a line that begins with "#".
func (r *w3c) parseDirective(line []byte) {
	rest, ok := bytes.CutPrefix(line, fieldsLine)
	if !ok {
		return
	}
	for i := range r.columns {
		r.columns[i] = -1
	}
	r.count = 0
	for name := range bytes.FieldsSeq(rest) {
		if f, known := w3cFields[string(name)]; known {
			r.columns[f] = r.count
		}
		r.count++
	}
}

func (r *w3c) forkReader() reader { return nil } // a directive says what follows it

func (r *w3c) parseLine(line []byte, e *entry) verdict {
	if line[0] == '#' {
		r.parseDirective(line)
		return other
	}
	if r.count == 0 || r.columns[w3cDate] < 0 || r.columns[w3cTime] < 0 {
		return other
	}
	var values [numW3C][]byte
	n := 0
	for column := range bytes.FieldsFuncSeq(line, func(c rune) bool { return c == ' ' || c == '\t' }) {
		for f, at := range r.columns {
			if at == n {
				values[f] = column
			}
		}
		n++
	}
	if n != r.count {
		return garbled
	}
	r.moment = append(append(append(r.moment[:0], values[w3cDate]...), ' '), values[w3cTime]...)
	m, ok := parseMoment(r.moment)
	if !ok {
		return garbled
	}
	*e = entry{time: m.ns, duration: -1, upstream: -1, queue: -1, status: -1, method: values[w3cMethod]}
	if b := values[w3cStatus]; len(b) > 0 {
		e.status = statusOf(b)
		if string(b) == "000" { // CloudFront: the viewer closed the connection
			e.status = 0
		}
	}
	r.target = append(r.target[:0], values[w3cStem]...)
	if len(r.target) == 0 {
		r.target = append(r.target, values[w3cURI]...)
	}
	if q := values[w3cQuery]; len(q) > 0 && string(q) != "-" {
		r.target = append(append(r.target, '?'), q...)
	}
	if e.target = r.target; !isMethod(e.method) || !isTarget(e.target) {
		e.method, e.target = nil, nil
	}
	if d, n := parseDecimal(values[w3cTaken]); n > 0 && n == len(values[w3cTaken]) {
		unit := int64(1e6)
		if r.seconds {
			unit = 1e9
		}
		if ns, ok := d.toNanoseconds(unit); ok && ns >= 0 && ns < longest {
			e.duration = ns
		}
	}
	return understood
}

// compileW3C finds the unit of the durations, and the kind of server.
func compileW3C(sample []sampled) *layout {
	r := &w3c{}
	l := &layout{name: "W3C extended log", reader: r, resolution: 1e9, stamp: evidence.StampCompletion, zoned: true, http: true,
		fields: []string{"date, time: 1 s, UTC, when the request ended"}}
	var e entry
	point, known, iis, fields := false, false, false, 0
	for _, s := range sample {
		switch text := s.text[:min(len(s.text), 4096)]; {
		case bytes.HasPrefix(text, []byte("#Software: Microsoft")):
			iis = true
		case bytes.HasPrefix(text, fieldsLine):
			fields++
			if bytes.Contains(text, []byte("x-edge-")) {
				l.name, point = "CloudFront", true
			}
			iis = iis || bytes.Contains(text, []byte("sc-win32-status"))
		}
		if r.parseLine(s.text, &e) != understood || r.columns[w3cTaken] < 0 {
			continue
		}
		known = true
		n := 0
		for column := range bytes.FieldsFuncSeq(s.text, func(c rune) bool { return c == ' ' || c == '\t' }) {
			if n == r.columns[w3cTaken] && bytes.IndexByte(column, '.') >= 0 {
				point = true
			}
			n++
		}
	}
	if fields == 0 {
		return nil
	}
	l.timed, r.seconds = known, point
	switch {
	case !known:
	case point:
		l.fields = append(l.fields, "duration time-taken: seconds")
	default:
		l.fields = append(l.fields, "duration time-taken: milliseconds")
		if !iis {
			l.notes = append(l.notes, "read time-taken as milliseconds, as IIS writes it: it has no point, and nothing says which server wrote it")
		}
	}
	if iis {
		l.name = "IIS (W3C extended log)"
	}
	*r = w3c{seconds: r.seconds, target: r.target, moment: r.moment}
	return l
}
