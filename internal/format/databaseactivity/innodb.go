package databaseactivity

import (
	"strconv"
	"strings"
	"time"
)

// parseInnoDBLine reads a line of InnoDB's monitor; it returns false for other lines.
func (p *parser) parseInnoDBLine(text string, line int64) bool {
	switch {
	case strings.Contains(text, "INNODB MONITOR OUTPUT"):
		p.innodb, p.product = true, "MySQL"
		p.looked = parseLineTime(text)
	case strings.HasPrefix(text, "LATEST DETECTED DEADLOCK"):
		p.innodb, p.product, p.reading, p.deadLine = true, "MySQL", true, line
	case p.reading && p.dead.IsZero() && !parseLineTime(text).IsZero():
		p.dead = parseLineTime(text)
	case p.reading && (strings.HasPrefix(text, "*** (1) TRANSACTION:") || strings.HasPrefix(text, "*** WE ROLL BACK TRANSACTION ")):
		p.deadlock = true
	case strings.HasPrefix(text, "BUFFER POOL AND MEMORY"):
		p.innodb, p.product = true, "MySQL"
	case p.innodb && strings.HasPrefix(text, "Buffer pool hit rate "):
		rate, _, _ := strings.Cut(text[len("Buffer pool hit rate "):], ",")
		p.addFigure("buffer pool hit rate", rate)
	case p.innodb && strings.HasSuffix(text, " writes/s") && strings.Contains(text, " reads/s, "):
		p.addFigure("pages of the buffer pool", text)
	case p.innodb && strings.HasSuffix(text, " queries in queue") && strings.Contains(text, " queries inside InnoDB, "):
		p.addFigure("statements", text)
	case strings.HasPrefix(text, "---TRANSACTION "):
		p.innodb, p.product = true, "MySQL"
		p.active = 0
		_, prepared, committing := strings.Cut(text, ", ACTIVE (PREPARED) ")
		if v, ok := parseFigureAfter(text, "ACTIVE "); ok {
			p.active = v
		} else if v, ok := parseFigureAfter(", "+prepared, ", "); ok && committing {
			p.active = v
			if v > p.committing {
				p.committing, p.committingLine = v, line
			}
		}
		p.oldest = max(p.oldest, p.active)
	case strings.Contains(text, "TRX HAS BEEN WAITING "):
		if v, ok := parseFigureAfter(text, "HAS BEEN WAITING "); ok && len(p.waits) < mostRows {
			p.waits = append(p.waits, v)
		}
		if p.firstWait == 0 {
			p.firstWait = line
		}
	case strings.HasPrefix(text, "--Thread ") && strings.Contains(text, " has waited at "):
		id, _, _ := strings.Cut(text[len("--Thread "):], " ")
		if v, ok := parseFigureAfter(text, " for "); ok && (len(p.semaphores) < mostRows || p.semaphores[id] > 0) {
			if p.semaphores == nil {
				p.semaphores = make(map[string]float64)
			}
			p.semaphores[id] = max(v, p.semaphores[id])
		}
	case strings.HasPrefix(text, "Pending flushes (fsync) log: ") || strings.HasSuffix(text, " pending chkp writes"):
		p.innodb, p.product = true, "MySQL"
		n, ok := parseFigureAfter(text, "log: ")
		if !ok {
			n, _ = parseFigureAfter(" "+text, " ")
		}
		p.flushing = max(p.flushing, n)
	case strings.HasPrefix(text, "History list length "):
		p.history, _ = parseFigureAfter(text, "length ")
	default:
		return false
	}
	p.cells = nil
	return true
}

// addFigure keeps a line of InnoDB's as a figure. Of several buffer pools it keeps the first line,
// which is the sum.
func (p *parser) addFigure(name, value string) {
	for _, f := range p.figures {
		if f[0] == name {
			return
		}
	}
	p.figures = append(p.figures, [2]string{name, clipText(value)})
}

// parseLineTime reads the time at the beginning of a line: "2017-06-02 12:26:24", and "170602
// 12:26:24" before MySQL 5.6. The result is zero if there is none.
func parseLineTime(text string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05", "060102 15:04:05", "060102  3:04:05"} {
		if len(text) >= len(layout) {
			if t, err := time.Parse(layout, text[:len(layout)]); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}

// parseFigureAfter reads the number behind words.
func parseFigureAfter(text, words string) (float64, bool) {
	_, rest, ok := strings.Cut(text, words)
	n := 0
	for n < len(rest) && n < 12 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(strings.TrimRight(rest[:n], "."), 64)
	return v, ok && err == nil
}
