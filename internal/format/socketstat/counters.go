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

// named are the counters' own names, with which nstat of iproute2 prints them: "TcpExtListenDrops  15  0.0". Without -a it prints what they
// grew by since it ran last.
var named = map[string]string{
	"TcpExtListenOverflows":      evidence.SeriesListenOverflows,
	"TcpExtListenDrops":          evidence.SeriesListenDrops,
	"TcpExtSyncookiesSent":       evidence.SeriesSyncookiesSent,
	"TcpExtTCPReqQFullDrop":      evidence.SeriesSYNQueueDrops,
	"TcpExtTCPReqQFullDoCookies": evidence.SeriesSYNQueueCookies,
	"TcpExtTCPAbortOnOverflow":   evidence.SeriesAbortOnOverflow,
}

// readCounter reads a line of a counter outside of the section TcpExt: of netstat -s, as grep leaves it, or of nstat, with its own name.
func readCounter(text string) (series string, v float64, own, ok bool) {
	f := strings.Fields(text)
	digits := ""
	if len(f) == 3 && named[f[0]] != "" { // its rate is the last
		if _, err := strconv.ParseFloat(f[2], 64); err == nil {
			series, digits, own = named[f[0]], f[1], true
		}
	} else {
		first, rest, _ := strings.Cut(text, " ")
		for _, c := range counters {
			switch {
			case rest == c.text:
				series, digits = c.series, first
			case first == c.text:
				series, digits = c.series, rest
			}
		}
	}
	n, err := strconv.ParseUint(digits, 10, 53)
	return series, float64(n), own, series != "" && err == nil
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

// isCounter says whether a line is one of these counters, alone.
func isCounter(text string) bool {
	_, _, _, ok := readCounter(text)
	return ok
}

// isCommand says whether a line is the command that printed what follows, as people write it above.
func isCommand(text string) bool {
	first, _, more := strings.Cut(strings.TrimLeft(text, "$# `"), " ")
	return more && (first == "netstat" || first == "nstat" || first == "ss")
}

// parseLoneCounter reads a counter outside of its section, as grep finds it. Other
// counters may have been left out, and a counter that comes again belongs to the next reading: not one of nstat, which
// may be what netstat told, too, and may count from its last run on.
func (p *parser) parseLoneCounter(text string, number int64) {
	p.layout = nil
	series, v, own, _ := readCounter(text)
	again := false
	if !own && p.last != nil && p.last.counts != nil {
		_, again = p.last.counts[series]
	}
	if p.last == nil || again {
		p.beginReading(0, number)
	}
	if p.last.counts == nil {
		p.last.counts = make(map[string]float64)
		p.keepReading()
	}
	p.last.counts[series] = v
}
