package accesslog

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
)

// chooseInteger assigns the last column of whole numbers that is not a size, port,
// process id, counter or second status, and infers its unit.
func (t *textual) chooseInteger(l *layout, stats []columnStats, rows []row) {
	if t.duration.column >= 0 {
		return
	}
	size := -1
	var found []int
	for c := t.status + 1; c < t.columns; c++ {
		s := &stats[c]
		if t.isAssigned(c) || s.label != nil {
			continue
		}
		if s.isNearlyAll(s.slashes) {
			if unit := findRatioUnit(rows, c, c); unit != 0 {
				t.duration = field{column: c, measure: measure{unit: unit}, slashed: true}
				l.name = "common log format, Apache %T/%D"
				l.stamp = evidence.StampStart
				l.fields = append(l.fields, fmt.Sprintf("duration column %d: %s after the slash", c+1, unitName(unit)))
				return
			}
		}
		whole := s.isNearlyAll(s.whole) || s.blank == s.n
		if size < 0 && whole && rows[0].toks[c].kind == bare {
			size = c // %b, $body_bytes_sent
			continue
		}
		if s.isNearlyAll(s.whole) && s.n > s.blank && rows[0].toks[c].kind != quoted && !t.isIdentifier(s, rows, c) {
			found = append(found, c)
		}
	}
	// combinedio: %I %O, bytes in and out with headers.
	if n := len(found); n > 0 && headersLarger(rows, size, found[n-1]) {
		found = found[:max(0, n-2)]
	} else if n > 1 && headersLarger(rows, size, found[n-2]) {
		// … %I %O %D
		found = found[n-1:]
	}
	if len(found) == 0 {
		return
	}
	c := found[len(found)-1]
	var g guess
	if n := len(found); n > 1 {
		switch a, b := found[n-2], found[n-1]; {
		case findRatioUnit(rows, a, b) != 0: // %T %D
			g = guess{unit: findRatioUnit(rows, a, b), stamp: evidence.StampStart}
		case findRatioUnit(rows, b, a) != 0: // %D %T
			c, g = a, guess{unit: findRatioUnit(rows, b, a), stamp: evidence.StampStart}
		}
	}
	l.name = "common log format, Apache %T %D"
	if g.unit == 0 {
		readings := make([]reading, 0, len(rows))
		for _, r := range rows {
			if d, n := parseDecimal(columnText(r, c)); n > 0 {
				readings = append(readings, reading{r.at, d})
			}
		}
		g = guessUnit(readings)
		source := map[int64]string{1e3: "Apache's %D", 1e6: "Tomcat's %D", 1e9: "Apache's %T"}[g.unit]
		if g.stamp == evidence.StampStart && g.unit == 1e6 {
			source = "Apache's %{ms}T"
		}
		if g.stamp == evidence.StampCompletion && g.unit == 1e3 {
			source = "%D of Tomcat 10 and newer"
		}
		l.name = "common log format, " + source
		l.notes = append(l.notes, fmt.Sprintf("read the number in column %d as %s (%s) and the time as %s (%s): log it with its unit (us=%%D, ms=%%{ms}T) to be sure",
			c+1, unitName(g.unit), source, stampName(g.stamp), g.why))
	}
	t.duration = field{column: c, measure: measure{unit: g.unit}}
	l.stamp = g.stamp
	l.whole = g.unit == 1e9
	l.fields = append(l.fields, fmt.Sprintf("duration column %d: %s", c+1, unitName(g.unit)))
}

// isIdentifier says whether a column's numbers are names or counters.
func (t *textual) isIdentifier(s *columnStats, rows []row, c int) bool {
	n := len(s.readings)
	if n < 20 {
		return false
	}
	least := s.readings[0].v.mantissa
	for _, r := range s.readings {
		least = min(least, r.v.mantissa)
	}
	if len(s.distinct) <= 3 && least >= 30 { // port, process
		return true
	}
	if s.falling*20 < s.rising && len(s.distinct) > 10 { // connection or request number
		return true
	}
	same := 0
	for _, r := range rows {
		if string(columnText(r, c)) == string(columnText(r, t.status)) {
			same++
		}
	}
	return same*2 > len(rows)
}

// headersLarger says whether column c is column size plus the length of response headers.
func headersLarger(rows []row, size, c int) bool {
	if size < 0 {
		return false
	}
	n, seen := 0, 0
	for _, r := range rows {
		a, na := parseDecimal(columnText(r, size))
		b, nb := parseDecimal(columnText(r, c))
		if nb == 0 || na == 0 && string(columnText(r, size)) != "-" {
			continue
		}
		seen++
		if d := b.mantissa - a.mantissa; d >= 40 && d < 8192 {
			n++
		}
	}
	// The spread of a duration around the size would not stay this close.
	return seen >= 3 && n*10 >= seen*9
}

// findRatioUnit returns the unit of column b if column a (or the part of b before a
// slash, for a == b) has the same value in whole seconds; else 0.
func findRatioUnit(rows []row, a, b int) int64 {
	for _, unit := range []int64{1e3, 1e6} {
		fits, told := 0, 0
		for _, r := range rows {
			x, n := parseDecimal(columnText(r, a))
			rest := columnText(r, b)
			if a == b {
				rest = rest[min(len(rest), n+1):]
			}
			y, m := parseDecimal(rest)
			if n == 0 || m == 0 {
				continue
			}
			if y.mantissa/(1e9/unit) == x.mantissa {
				fits++
				if x.mantissa > 0 {
					told++
				}
			}
		}
		// If all values are 0 s, µs and ms both fit: Apache's %D is µs.
		if fits*100 >= len(rows)*98 && (told > 0 || a == b || unit == 1e3 && len(rows) >= 20) {
			return unit
		}
	}
	return 0
}
