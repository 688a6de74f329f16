package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// columnStats are the values of one column in the sample.
type columnStats struct {
	n, blank, whole, units, slashes, moments int
	label                                    []byte
	readings                                 []reading
	rising, falling                          int
	sum                                      float64
	resolution                               int64
	distinct                                 map[int64]bool
	suffix                                   int64 // the unit stands in the next column: 12 ms
}

func (s *columnStats) isNearlyAll(n int) bool { return n > 0 && n*10 >= (s.n-s.blank)*9 }

type row struct {
	line  []byte
	toks  []token
	at    int64
	stamp int64
}

// compileText finds the layout of lines in columns.
func compileText(sample []sampled) *layout {
	type form struct {
		shape
		columns int
	}
	votes := make(map[form]int)
	var best form
	rows := make([]row, 0, len(sample))
	forms := make([]form, 0, len(sample))
	var toks []token
	for _, s := range sample {
		if len(s.text) < 20 || s.text[0] == '{' {
			continue
		}
		toks = splitColumns(s.text, toks[:0])
		found, ok := findShape(s.text, toks)
		if !ok {
			continue
		}
		f := form{found, len(toks)}
		rows, forms = append(rows, row{line: s.text, toks: slices.Clone(toks), stamp: s.stamp}), append(forms, f)
		if votes[f]++; votes[f] > votes[best] {
			best = f
		}
	}
	kept, requests := rows[:0], 0
	for i, f := range forms {
		if f != best {
			continue
		}
		r := rows[i]
		kept = append(kept, r)
		if f.request < 0 {
			requests++
		} else if _, _, ok := parseRequest(columnText(r, f.request)); ok {
			requests++
		}
	}
	if requests == 0 {
		return nil
	}
	t := &textual{shape: best.shape, columns: best.columns, clock: best.time, clockSpan: best.span, peer: -1, key: -1, connect: field{column: -1},
		duration: field{column: -1}, upstream: field{column: -1}}
	l := &layout{name: "common log format", reader: t, http: true, stamp: evidence.StampCompletion}
	stats := t.measureColumns(l, kept)
	switch {
	case t.recognizeEnvoy(l, kept):
	case t.recognizeTraefik(l, stats, kept):
	default:
		t.chooseLabelled(l, stats)
		t.chooseWritten(l, stats)
		t.chooseDecimals(l, stats)
		t.chooseInteger(l, stats, kept)
		t.findPeer(kept)
		t.findKey(stats)
	}
	l.timed = t.duration.column >= 0
	if !l.timed {
		l.stamp = evidence.StampUnknown // nginx and Apache write the same text for different moments
	}
	if t.clock < 0 {
		l.useCollectorStamps(sample)
		return l
	}
	l.fields = append([]string{fmt.Sprintf("time column %d: %v, %s", t.clock+1, time.Duration(l.resolution), stampName(l.stamp))}, l.fields...)
	return l
}

// measureColumns takes the statistics of all columns and chooses the finest time.
func (t *textual) measureColumns(l *layout, rows []row) []columnStats {
	stats := make([]columnStats, t.columns)
	for i := range rows {
		r := &rows[i]
		if t.time < 0 {
			r.at = r.stamp
		} else if m, ok := parseMoment(r.line[r.toks[t.time].from:r.toks[t.time+t.span].to]); ok {
			r.at = m.ns
			l.zoned = l.zoned || m.zoned
			if l.resolution == 0 || m.resolution < l.resolution {
				l.resolution = m.resolution
			}
		}
		for c, tok := range r.toks {
			s := &stats[c]
			b := tok.textIn(r.line)
			label, value := splitLabel(b)
			s.n++
			if s.n == 1 && label != nil {
				s.label = label
			} else if !bytes.Equal(s.label, label) {
				s.label = nil
			}
			if label == nil {
				value = trimQuotes(value)
			}
			s.addValue(value, r.at, len(rows))
		}
	}
	for c := range stats {
		s := &stats[c]
		if c+1 < len(stats) {
			word := rows[0].toks[c+1].textIn(rows[0].line)
			if u := unitNames[string(word)]; u != 0 && u <= 1e9 && stats[c+1].n > 0 && rows[0].toks[c+1].kind == bare {
				s.suffix = u
			}
		}
		// The same moment appears twice: $time_local and $msec. An older date is from a header.
		if c != t.time && t.time >= 0 && s.n > 0 && s.moments == s.n && s.resolution < l.resolution {
			m, ok := parseMoment(columnText(rows[0], c))
			if ok && max(m.ns-rows[0].at, rows[0].at-m.ns) < 2e9 && s.label == nil {
				t.clock, t.clockSpan, l.resolution, l.zoned = c, 0, s.resolution, m.zoned
			}
		}
	}
	return stats
}

func columnText(r row, c int) []byte { return r.toks[c].textIn(r.line) }

// addValue adds a value of a line at a time, ns; most bounds how many values there will be.
func (s *columnStats) addValue(b []byte, at int64, most int) {
	if len(b) == 0 || string(b) == "-" {
		s.blank++
		return
	}
	if len(b) > 64 {
		return
	}
	if m, ok := parseMoment(b); ok {
		s.moments++
		s.resolution = max(s.resolution, m.resolution)
	}
	d, n := parseDecimal(b)
	switch {
	case n == len(b):
		if d.places == 0 && bytes.IndexByte(b, '.') < 0 {
			s.whole++
		}
	case n > 0 && b[n] == '/':
		if e, m := parseDecimal(b[n+1:]); m == len(b)-n-1 && d.places == 0 && e.places == 0 {
			s.slashes++
			d = e
			break
		}
		return
	default:
		if _, ok := parseWithUnit(b); ok {
			s.units++
			ns, _ := parseWithUnit(b)
			s.sum += float64(ns)
			return
		}
		ns, ok := measure{unit: 1e9}.parseDuration(b)
		if !ok {
			return
		}
		d = decimal{ns / 1e6, 3}
	}
	if last := len(s.readings) - 1; last >= 0 {
		switch old := s.readings[last].v.toFloat(); {
		case d.toFloat() > old:
			s.rising++
		case d.toFloat() < old:
			s.falling++
		}
	}
	if s.readings == nil { // a column that has numbers mostly has them in all lines
		s.readings = make([]reading, 0, min(most, 512))
	}
	s.readings = append(s.readings, reading{at, d})
	s.sum += d.toFloat()
	if s.distinct == nil {
		s.distinct = make(map[int64]bool)
	}
	if len(s.distinct) < 64 {
		s.distinct[d.mantissa] = true
	}
}

// isAssigned says whether a column already has a meaning.
func (t *textual) isAssigned(c int) bool {
	return c >= t.time && c <= t.time+t.span || c == t.request || t.method >= 0 && (c == t.method || c == t.method+1) || c == t.status || c == t.clock ||
		c == t.duration.column || c == t.upstream.column || c == t.connect.column
}

// chooseLabelled assigns columns such as rt=0.003 urt="0.002" by their names.
func (t *textual) chooseLabelled(l *layout, stats []columnStats) {
	var keys []*keyStats
	columns := make(map[*keyStats]int)
	for c := range stats {
		if s := &stats[c]; s.label != nil && !t.isAssigned(c) {
			k := &keyStats{key: string(s.label), first: c, n: s.n, blanks: s.blank, units: s.units, numbers: s.readings}
			keys = append(keys, k)
			columns[k] = c
		}
	}
	k, m, assumed, why := pickDuration(keys, durationKeys)
	if k == nil {
		return
	}
	t.duration = field{column: columns[k], label: []byte(k.key), measure: m}
	l.fields = append(l.fields, fmt.Sprintf("duration %s=: %s", k.key, unitName(m.unit)))
	if assumed {
		l.notes = append(l.notes, fmt.Sprintf("read %s= as %s (%s): log it with its unit, as %s_ms=, to be sure", k.key, unitName(m.unit), why, toSnakeCase(k.key)))
	}
	if up, um, _, _ := pickDuration(keys, upstreamKeys); up != nil {
		t.upstream = field{column: columns[up], label: []byte(up.key), measure: um}
		l.proxy = true
		l.fields = append(l.fields, fmt.Sprintf("upstream %s=: %s", up.key, unitName(um.unit)))
		if c, cm, _, _ := pickDuration(keys, connectKeys); c != nil {
			t.connect = field{column: columns[c], label: []byte(c.key), measure: cm}
			l.fields = append(l.fields, fmt.Sprintf("connecting %s=: %s", c.key, unitName(cm.unit)))
		}
	}
}

// chooseWritten assigns values that carry their unit: 12.3ms, or 12.3 ms.
func (t *textual) chooseWritten(l *layout, stats []columnStats) {
	if t.duration.column >= 0 {
		return
	}
	best := -1
	for c := range stats {
		s := &stats[c]
		written := s.isNearlyAll(s.units) || s.suffix != 0 && s.isNearlyAll(len(s.readings))
		if written && s.label == nil && !t.isAssigned(c) && (best < 0 || s.sum > stats[best].sum) {
			best = c
		}
	}
	if best < 0 {
		return
	}
	m := measure{}
	if stats[best].suffix != 0 && stats[best].units == 0 {
		m.unit = stats[best].suffix
	}
	t.duration = field{column: best, measure: m}
	l.fields = append(l.fields, fmt.Sprintf("duration column %d: unit %s", best+1, unitName(m.unit)))
}

// chooseDecimals assigns columns whose numbers always have three decimals, or always
// six: seconds. The column with the largest sum is the request's time, as no part takes
// longer than the whole; the next is the upstream's response time.
func (t *textual) chooseDecimals(l *layout, stats []columnStats) {
	if t.duration.column >= 0 {
		return
	}
	var found []int
	for c := range stats {
		s := &stats[c]
		if s.label == nil && !t.isAssigned(c) && s.isNearlyAll(len(s.readings)) && s.whole == 0 && s.slashes == 0 && s.moments == 0 && secondsByForm(s.readings) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return
	}
	slices.SortStableFunc(found, func(a, b int) int {
		switch d := stats[b].sum - stats[a].sum; {
		case d > 1e-9:
			return 1
		case d < -1e-9:
			return -1
		}
		return stats[a].blank - stats[b].blank
	})
	form := measure{1e9, stats[found[0]].readings[0].v.places}
	t.duration = field{column: found[0], measure: form}
	l.fields = append(l.fields, fmt.Sprintf("duration column %d: seconds", found[0]+1))
	l.name = "common log format, seconds with 3 decimals (nginx $request_time, Tomcat %T)"
	if form.places == 6 {
		l.name = "common log format, seconds with 6 decimals"
	}
	if len(found) > 1 {
		t.upstream, l.proxy = field{column: found[1], measure: form}, true
		l.fields = append(l.fields, fmt.Sprintf("upstream column %d: seconds", found[1]+1))
	}
}

// findPeer finds the upstream's address: a column whose values look like host:port. It may be empty in most lines, because
// requests that the server answers itself, such as a site's pictures, have none.
func (t *textual) findPeer(rows []row) {
	if t.upstream.column < 0 {
		return
	}
	for c := t.anchorColumn() + 1; c < t.columns; c++ {
		n, told := 0, 0
		for _, r := range rows {
			_, v := splitLabel(columnText(r, c))
			if isAddress(v) {
				n++
			}
			if len(v) > 0 && string(v) != "-" {
				told++
			}
		}
		if n*2 > told {
			t.peer = c
			return
		}
	}
}

// findKey finds the column that is labelled as an id of the request or of its trace.
func (t *textual) findKey(stats []columnStats) {
	best := -1
	for c := range stats {
		if label := stats[c].label; label != nil && !t.isAssigned(c) {
			if r := rankOf(string(label), traceKeys); r >= 0 && (best < 0 || r < best) {
				t.key, best = c, r
			}
		}
	}
}

func isAddress(b []byte) bool {
	i := bytes.LastIndexByte(b, ':')
	if i <= 0 || i > 64 || !isDigit(b[0]) && b[0] != '[' {
		return bytes.HasPrefix(b, []byte("unix:/"))
	}
	return parseDigits(b[i+1:]) > 0
}
