package databaseactivity

import (
	"strconv"
	"strings"
)

// isScreen says whether a line is the heading of a pg_activity screen.
func (p *parser) isScreen(text string) bool {
	if !strings.HasPrefix(text, "PID ") || !strings.Contains(text, " DATABASE ") || !strings.Contains(text, " TIME+ ") || !strings.Contains(text, "Query") {
		return false
	}
	p.product, p.screen, p.columns = "PostgreSQL", true, nil
	return true
}

// screenRow reads a row of such a screen: "265210 tests postgres local 0.0 0.1 0B 0B 01:45.61 transactionid N active UPDATE …". Cells may be empty: the time tells
// where the others are.
func (p *parser) screenRow(text string, line int64) bool {
	f := strings.Fields(text)
	if len(f) < 5 {
		return false
	}
	if _, err := strconv.ParseUint(f[0], 10, 31); err != nil {
		return false
	}
	for i := 1; i+2 < len(f); i++ {
		took, ok := parseClock(f[i])
		if !ok {
			continue
		}
		if len(p.rows) == mostRows {
			p.dropped++
			return true
		}
		s := session{took: took, line: line}
		rest := f[i+1:]
		if rest[0] != "N" && rest[0] != "Y" {
			s.waits, s.locked = rest[0], lockEvents[rest[0]]
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0] == "N" || rest[0] == "Y") {
			rest = rest[1:]
		}
		state := 0
		for state < len(rest) && (rest[state] == "active" || rest[state] == "idle" || state > 0 && (rest[state] == "in" || rest[state] == "trans" || rest[state] == "(a)")) {
			state++
		}
		s.state, s.statement = strings.Join(rest[:state], " "), strings.Join(rest[state:], " ")
		p.rows = append(p.rows, s)
		return true
	}
	return false
}

// parseClock reads the time "01:45.61" or "00:03:11.2" of a screen in seconds.
func parseClock(s string) (float64, bool) {
	minutes, rest, ok := strings.Cut(s, ":")
	if !ok || !strings.Contains(rest, ".") && strings.Count(s, ":") < 2 {
		return 0, false
	}
	if strings.Contains(rest, ":") {
		return parseSeconds(s)
	}
	m, err := strconv.ParseFloat(minutes, 64)
	v, err2 := strconv.ParseFloat(rest, 64)
	return 60*m + v, err == nil && err2 == nil && m >= 0 && m < 1e6 && v >= 0 && v < 61
}
