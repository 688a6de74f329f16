package socketstat

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// counters are what netstat -s calls the counters of TcpExt that tell of full queues; newer ones have no words, and
// stand with their names.
var counters = []struct{ text, series string }{
	{"times the listen queue of a socket overflowed", evidence.SeriesListenOverflows},
	{"SYNs to LISTEN sockets dropped", evidence.SeriesListenDrops},
	{"SYNs to LISTEN sockets ignored", evidence.SeriesListenDrops}, // up to net-tools 1.60
	{"SYN cookies sent", evidence.SeriesSyncookiesSent},
	{"TCPReqQFullDrop:", evidence.SeriesSYNQueueDrops},
	{"TCPReqQFullDoCookies:", evidence.SeriesSYNQueueCookies},
	{"TCPAbortOnOverflow:", evidence.SeriesAbortOnOverflow},
}

// beginCounters begins the counters of TcpExt: those that are not printed are 0.
func (p *parser) beginCounters(number int64) {
	if p.last == nil || p.last.at == 0 && p.last.counts != nil {
		p.beginReading(0, number)
	}
	p.last.counts = make(map[string]float64)
	for _, c := range counters {
		p.last.counts[c.series] = 0
	}
	p.keepReading()
}

// parseCounter reads "    12 times the listen queue of a socket overflowed" and "    TCPReqQFullDrop: 12".
func (p *parser) parseCounter(text string) {
	first, rest, _ := strings.Cut(text, " ")
	for _, c := range counters {
		digits := ""
		switch {
		case rest == c.text:
			digits = first
		case first == c.text:
			digits = rest
		default:
			continue
		}
		if n, err := strconv.ParseUint(digits, 10, 53); err == nil {
			p.last.counts[c.series] = float64(n)
		}
	}
}

// isCounter says whether a line is one of these counters: what grep took out of netstat -s.
func isCounter(text string) bool {
	first, rest, _ := strings.Cut(text, " ")
	for _, c := range counters {
		digits := first
		switch {
		case rest == c.text:
		case first == c.text:
			digits = rest
		default:
			continue
		}
		if _, err := strconv.ParseUint(digits, 10, 53); err == nil {
			return true
		}
	}
	return false
}

// parseLoneCounter reads a line of a counter outside of its section, as grep finds it. Other
// counters may have been left out, and a counter that comes again belongs to the next reading.
func (p *parser) parseLoneCounter(text string, number int64) {
	p.layout = nil
	first, rest, _ := strings.Cut(text, " ")
	again := false
	if p.last != nil && p.last.counts != nil {
		for _, c := range counters {
			if _, known := p.last.counts[c.series]; known && (rest == c.text || first == c.text) {
				again = true
			}
		}
	}
	if p.last == nil || again {
		p.beginReading(0, number)
	}
	if p.last.counts == nil {
		p.last.counts = make(map[string]float64)
		p.keepReading()
	}
	p.parseCounter(text)
}
