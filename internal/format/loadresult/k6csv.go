package loadresult

import (
	"bytes"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// k6's --out csv has a line for each sample, as --out json has. The user chooses which system tags
// have a column (output/csv, MakeHeader), and the form of times
// (K6_CSV_TIME_FORMAT: unix, which is the default, unix_milli, unix_micro,
// unix_nano, rfc3339, rfc3339_nano).
const k6CSVHeader = "metric_name,timestamp,metric_value,"

func isK6CSV(line []byte) bool { return bytes.HasPrefix(line, []byte(k6CSVHeader)) }

// k6Columns are the positions of the columns to read; -1 for missing ones.
type k6Columns struct {
	width                                                         int
	method, name, url, status, failure, expected, scenario, group int
}

func (p *parser) k6CSV(a *format.Artifact) error {
	rs, r := newRows(p), newK6()
	var at *k6Columns
	var resolution int64
	err := rs.readLines(a, func(text []byte, line int64) bool {
		if isK6CSV(text) {
			at = k6Header(text)
			return true
		}
		return at != nil && rs.k6Row(r, at, text, line, &resolution)
	})
	if err != nil {
		return err
	}
	if r.unsent > 0 {
		r.k6Dropped(r.unsent)
	}
	c := p.b.Clock()
	c.Stamp, c.Resolution = evidence.StampCompletion, resolution
	if !rs.finish(r) {
		return errors.New("holds no http_req_duration samples: the script made no HTTP request, or the file was cut before the first")
	}
	return nil
}

func k6Header(text []byte) *k6Columns {
	c := &k6Columns{method: -1, name: -1, url: -1, status: -1, failure: -1, expected: -1, scenario: -1, group: -1}
	places := map[string]*int{"method": &c.method, "name": &c.name, "url": &c.url, "status": &c.status, "error": &c.failure,
		"expected_response": &c.expected, "scenario": &c.scenario, "group": &c.group}
	for name := range bytes.SplitSeq(text, []byte(",")) {
		if place := places[string(name)]; place != nil {
			*place = c.width
		}
		c.width++
	}
	return c
}

// k6Row reads one sample; it keeps those of requests.
func (rs *rows) k6Row(r *run, at *k6Columns, text []byte, line int64, resolution *int64) bool {
	metric, _, _ := bytes.Cut(text, []byte(","))
	switch string(metric) {
	case "http_req_duration", "data_received", "dropped_iterations", "vus_max":
	default:
		return bytes.Count(text, []byte(",")) >= at.width-1
	}
	var f [32][]byte
	n := 0
	for rest, more := text, true; more; n++ {
		var field []byte
		if field, rest, more = csvField(rest); n < len(f) {
			f[n] = field
		}
	}
	if n != at.width || n > len(f) {
		return false
	}
	value, ok := parseNumber(f[2])
	if !ok {
		return false
	}
	switch string(metric) {
	case "data_received":
		rs.bytesIn += value
		return true
	case "dropped_iterations":
		r.unsent += int64(min(max(value, 0), 1e9))
		return true
	case "vus_max":
		r.Connection = max(r.Connection, int(min(max(value, 0), 1e9)))
		return true
	}
	end, unit, ok := k6Time(f[1])
	took, timed := roundNanoseconds(value * 1e6)
	if !ok || !timed || took > end {
		return false
	}
	*resolution = max(*resolution, unit)
	column := func(i int) []byte {
		if i < 0 {
			return nil
		}
		return f[i]
	}
	code := int64(codeUnknown)
	if v, ok := parseNatural(column(at.status)); ok {
		code = v
	}
	name := column(at.name)
	if len(name) == 0 {
		name = column(at.url)
	}
	q := row{start: end - took, end: end, line: line, route: rs.routeName(column(at.method), name), step: rs.k6Step(column(at.scenario), column(at.group))}
	rs.k6Add(q, code, column(at.failure), string(column(at.expected)) != "false")
	return true
}

// k6Time reads a time and returns its resolution in ns: usually seconds.
func k6Time(b []byte) (at, unit int64, ok bool) {
	if n, isNumber := parseNatural(b); isNumber {
		switch {
		case n < 1e8: // before 1973
			return 0, 0, false
		case n < 1e11:
			return n * 1e9, 1e9, true
		case n < 1e14:
			return n * 1e6, 1e6, true
		case n < 1e17:
			return n * 1e3, 1e3, true
		}
		return n, 1, true
	}
	at, ok = parseInstant(b)
	if unit = 1; bytes.IndexByte(b, '.') < 0 {
		unit = 1e9
	}
	return at, unit, ok
}
