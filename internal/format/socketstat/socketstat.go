// Package socketstat reads tables of a host's TCP sockets: from ss (iproute2), netstat (net-tools), and
// the counters of netstat -s. It reads where requests wait before a program sees them: accept queues of
// listening sockets, connections with unread bytes, and what the kernel dropped because queues were full.
//
//	State   Recv-Q  Send-Q   Local Address:Port    Peer Address:Port  Process
//	LISTEN  3       4096     127.0.0.1:8080        0.0.0.0:*          users:(("gateway",pid=4711,fd=3))
//	ESTAB   512     0        127.0.0.1:8080        127.0.0.1:51234
//
//	Proto Listen         Local Address                                                            netstat -L of FreeBSD: waiting/half open/limit
//	tcp4  76/0/50        192.0.2.7.5043
//
//	TcpExtListenDrops               15                 0.0                                                nstat
//
//	Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program name
//	tcp        3      0 127.0.0.1:8080          0.0.0.0:*               LISTEN      4711/gateway
//
// Sources: https://man7.org/linux/man-pages/man8/ss.8.html, misc/ss.c of iproute2; netstat.c and
// statistics.c of net-tools.
//
// Where the figures mislead:
//   - Of a socket that listens, Recv-Q is how many connections wait for accept. Its Send-Q is the limit of
//     that in ss, and always 0 in netstat.
//   - netstat -s leaves out most counters that are 0: one that is missing is 0 where TcpExt is there. Of lines that grep took out of it
//     nothing is known of the others.
//   - ss counts what a peer that closed sent last as a byte, so that CLOSE-WAIT with 1 has nothing unread.
//   - Neither tells which connections no process has accepted: with unread bytes they are among the others.
//
// Times stand above a table in the form of date, or of date +%s. Without them tables are consecutive
// readings. The package's opinion: only connections to listening addresses matter.
package socketstat

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads tables of sockets.
var Format = format.Format{
	Name:  "socketstat",
	About: "TCP sockets of a host: ss -tan, ss -ltn, netstat -tan, and the counters of netstat -s and nstat",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

func matchHead(head []byte) format.Confidence {
	for line := range bytes.Lines(head) {
		text := strings.TrimSpace(string(line))
		switch _, timed := parseTime([]byte(text)); {
		case text == "" || timed || strings.HasPrefix(text, "Active Internet connections") || strings.HasPrefix(text, "Current listen queue sizes") || strings.HasPrefix(text, "#"):
		case isCommand(text):
		case isCounter(text), isBare(text) && manyBare(head):
			return format.Sure
		case parseHeading(text) != nil && line[len(line)-1] == '\n', text == "Ip:" && bytes.Contains(head, []byte("\n    ")) && bytes.Contains(head, []byte("packets received")),
			text == "TcpExt:" && bytes.Contains(head, []byte("TcpExt:\n    ")):
			return format.Sure
		default:
			return format.No
		}
	}
	return format.No
}

// layout is where the columns of a table are; −1: it has none.
type layout struct {
	state, received, sent, local int
	limits                       bool // the Send-Q of a socket that listens is its limit
	fields                       int  // of a row, at least
	queues                       bool // of BSD: waiting, half open and the limit in one word
}

// parseHeading reads the line above a table, nil if it is none.
func parseHeading(text string) *layout {
	if f := strings.Fields(text); len(f) >= 4 && f[0] == "Proto" && f[1] == "Listen" && f[2] == "Local" { // netstat -L of BSD
		return &layout{queues: true, fields: 3, local: 2}
	}
	i := strings.Index(text, "Recv-Q")
	if i < 0 || !strings.Contains(text, "Local Address") {
		return nil
	}
	switch before := strings.Fields(text[:i]); {
	case len(before) == 0: // ss with one state
		return &layout{-1, 0, 1, 2, true, 4, false}
	case len(before) == 1 && before[0] == "State":
		return &layout{0, 1, 2, 3, true, 5, false}
	case len(before) == 2 && before[0] == "Netid" && before[1] == "State":
		return &layout{1, 2, 3, 4, true, 6, false}
	case len(before) == 1 && before[0] == "Proto":
		return &layout{5, 1, 2, 3, false, 6, false}
	}
	return nil
}

// bare is the table of ss without the line above it, as grep leaves it.
var bare = layout{0, 1, 2, 3, true, 5, false}

// isBare says whether a line is a row of that.
func isBare(text string) bool {
	f := strings.Fields(text)
	if len(f) < 5 || !strings.Contains(f[3], ":") || !strings.Contains(f[4], ":") {
		return false
	}
	switch f[0] {
	case "ESTAB", "LISTEN", "CLOSE-WAIT", "TIME-WAIT", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "LAST-ACK", "CLOSING":
	default:
		return false
	}
	_, err := strconv.ParseUint(f[1], 10, 32)
	_, err2 := strconv.ParseUint(f[2], 10, 32)
	return err == nil && err2 == nil
}

// manyBare says whether text has two such rows: one may stand in words.
func manyBare(head []byte) bool {
	n := 0
	for line := range bytes.Lines(head) {
		if isBare(strings.TrimSpace(string(line))) {
			if n++; n == 2 {
				return true
			}
		}
	}
	return false
}

// parseTime reads a line that is a time and nothing else, ns since the epoch.
func parseTime(line []byte) (int64, bool) {
	if s, ok := format.Dated(line); ok {
		return s * 1e9, true
	}
	n, err := strconv.ParseInt(string(line[:min(len(line), 20)]), 10, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	for _, unit := range []int64{1, 1e3, 1e6, 1e9} { // ns, µs, ms, s
		if at := n * unit; len(line) <= 19 && n <= 4e18/unit && at > 6e17 {
			return at, true
		}
	}
	return 0, false
}

// Bounds of what is kept.
const (
	mostAddresses   = 1024
	mostReadings    = 100_000
	mostConnections = 1 << 17 // local addresses of one reading
)

// reading is what was printed at one time.
type reading struct {
	at      int64 // ns; 0: not told
	line    int64
	tables  [2]bool // of sockets that listen, of others
	listens map[string]*listener
	unread  map[string]float64 // connections, by their own address
	counts  map[string]float64 // of TcpExt
}

// listener is the sockets that listen at an address.
type listener struct {
	process                string
	pid                    int
	queue, backlog, fuller float64
	line                   int64
}

type parser struct {
	readings []*reading
	last     *reading
	layout   *layout
	fresh    bool // no row of the table came yet
	extended bool // in the section TcpExt of netstat -s
	known    map[string]bool

	damaged, first, dropped int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{known: make(map[string]bool)}
	err := a.Lines(func(l format.Line) bool {
		if l.Long || !p.parseLine(l.Text, l.Number) {
			if p.damaged++; p.damaged == 1 {
				p.first = l.Number
			}
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case len(p.readings) == 0:
		return errors.New("socketstat: it holds no table of sockets: give the output of ss -tan")
	case err != nil:
		b.Warnf(0, "the file is incomplete: %v", err)
		b.Cut()
	}
	p.emitReadings(b)
	if p.damaged > 0 {
		b.Warnf(p.first, "%s not understood", format.Count(p.damaged, "line was", "lines were"))
	}
	if p.dropped > 0 {
		b.Warnf(0, "%s not kept: more than %d addresses or %d readings", format.Count(p.dropped, "row was", "rows were"), mostAddresses, mostReadings)
	}
	return nil
}

// parseLine reads a line, false if its kind is unknown.
func (p *parser) parseLine(raw []byte, number int64) bool {
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return true
	}
	if at, ok := parseTime([]byte(text)); ok {
		p.beginReading(at, number)
		p.layout, p.extended = nil, false
		return true
	}
	if l := parseHeading(text); l != nil {
		p.layout, p.fresh, p.extended = l, true, false
		return true
	}
	if isCommand(text) {
		p.layout, p.extended = nil, false
		return true
	}
	indented := raw[0] == ' ' || raw[0] == '\t'
	if !indented && strings.HasSuffix(text, ":") && !strings.Contains(text, " ") { // a section of netstat -s
		p.layout, p.extended = nil, text == "TcpExt:"
		if p.extended {
			p.beginCounters(number)
		}
		return true
	}
	switch {
	case p.extended && indented:
		p.parseCounter(text)
		return true
	case !p.extended && isCounter(text):
		p.parseLoneCounter(text, number)
		return true
	case indented && !p.parseRow(text, number): // of netstat -s, or what ss -i tells below a socket
		return true
	case indented:
		return true
	case strings.HasPrefix(text, "Active ") || strings.HasPrefix(text, "Proto ") || strings.HasPrefix(text, "#"):
		p.layout = nil // of UNIX sockets, until another heading
		return true
	case p.layout == nil && len(p.readings) > 0:
		return true
	}
	return p.parseRow(text, number)
}

// beginReading begins a reading. Of times without any table in between the last counts.
func (p *parser) beginReading(at, number int64) *reading {
	p.last = &reading{at: at, line: number, listens: make(map[string]*listener), unread: make(map[string]float64)}
	return p.last
}

// keepReading keeps the current reading, of which something is known now, and returns false if
// there are too many.
func (p *parser) keepReading() bool {
	if n := len(p.readings); n > 0 && p.readings[n-1] == p.last {
		return true
	} else if n >= mostReadings {
		p.dropped++
		return false
	}
	p.readings = append(p.readings, p.last)
	return true
}

// parseRow reads a socket, false if the line is none.
func (p *parser) parseRow(text string, number int64) bool {
	l := p.layout
	f := strings.Fields(text)
	if l == nil && len(p.readings) == 0 && isBare(text) {
		p.layout, p.fresh = &bare, true
		l = p.layout
	}
	if l == nil || len(f) < l.fields {
		return false
	}
	if l.queues {
		return p.parseBSDRow(f, number)
	}
	state, listening := "ESTAB", false
	if l.state >= 0 {
		state = f[l.state]
	}
	received, err := strconv.ParseUint(f[l.received], 10, 32)
	sent, err2 := strconv.ParseUint(f[l.sent], 10, 32)
	if err != nil || err2 != nil {
		return false
	}
	switch state {
	case "LISTEN":
		listening = true
	case "ESTAB", "ESTABLISHED", "CLOSE-WAIT", "CLOSE_WAIT":
	default:
		return true // closed, or of UDP
	}
	of := 1
	if listening {
		of = 0
	}
	if p.last == nil || p.fresh && p.last.at == 0 && p.last.tables[of] {
		p.beginReading(0, number)
	}
	p.fresh = false
	p.last.tables[of] = true
	if !p.keepReading() {
		return true
	}
	address := addressOf(f[l.local])
	if !listening {
		if closing := strings.HasPrefix(state, "CLOSE"); (received > 1 || received == 1 && !closing) && len(p.last.unread) < mostConnections {
			p.last.unread[address]++
		}
		return true
	}
	x := p.listenerAt(address, number)
	if x == nil {
		return true
	}
	x.queue += float64(received)
	if l.limits && sent > 0 {
		x.backlog += float64(sent)
		x.fuller = max(x.fuller, float64(received)/float64(sent))
	}
	x.setHolder(f[l.fields-1:])
	return true
}

// listenerAt returns the listener at an address in the last reading; nil if there are too many addresses.
func (p *parser) listenerAt(address string, number int64) *listener {
	x := p.last.listens[address]
	if x == nil {
		if !p.known[address] && len(p.known) >= mostAddresses {
			p.dropped++
			return nil
		}
		p.known[address] = true
		x = &listener{line: number}
		p.last.listens[address] = x
	}
	return x
}

// parseBSDRow reads a socket of netstat -L: "tcp4 76/0/50 192.0.2.7.5043".
func (p *parser) parseBSDRow(f []string, number int64) bool {
	part := strings.Split(f[1], "/")
	if len(part) != 3 || !strings.HasPrefix(f[0], "tcp") {
		return strings.HasPrefix(f[0], "unix")
	}
	waiting, err := strconv.ParseUint(part[0], 10, 32)
	limit, err2 := strconv.ParseUint(part[2], 10, 32)
	if err != nil || err2 != nil {
		return false
	}
	if p.last == nil || p.fresh && p.last.at == 0 && p.last.tables[0] {
		p.beginReading(0, number)
	}
	p.fresh = false
	p.last.tables[0] = true
	if !p.keepReading() {
		return true
	}
	address := f[2]
	if i := strings.LastIndexByte(address, '.'); i > 0 {
		address = addressOf(address[:i] + ":" + address[i+1:])
	}
	x := p.listenerAt(address, number)
	if x == nil {
		return true
	}
	x.queue += float64(waiting)
	if limit > 0 {
		x.backlog += float64(limit)
		x.fuller = max(x.fuller, float64(waiting)/float64(limit))
	}
	return true
}

// setHolder finds the process among the last words of a row:
// `users:(("nginx",pid=7,fd=6),("nginx",pid=6,fd=6))` of ss, 7/nginx of netstat. Of several that
// share a socket it is the first that was started.
func (x *listener) setHolder(words []string) {
	text := strings.Join(words, " ")
	if _, users, ok := strings.Cut(text, "users:(("); ok {
		for u := range strings.SplitSeq(users, "),(") {
			name, rest, ok := strings.Cut(strings.TrimPrefix(u, `"`), `",pid=`)
			digits, _, ok2 := strings.Cut(rest, ",")
			if pid, err := strconv.Atoi(digits); ok && ok2 && err == nil && pid >= 0 && (x.pid == 0 || pid < x.pid) { // 0: not known
				x.pid, x.process = pid, name
			}
		}
		return
	}
	for _, w := range words {
		digits, name, ok := strings.Cut(w, "/")
		if pid, err := strconv.Atoi(digits); ok && err == nil && pid > 0 && name != "" && x.pid == 0 {
			x.pid, x.process = pid, strings.TrimSuffix(name, ":")
		}
	}
}

// addressOf returns an address as ss and netstat write it, in one way: "*:80" of ss and ":::80" of netstat are "[::]:80".
func addressOf(s string) string {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s
	}
	host, port := strings.Trim(s[:i], "[]"), s[i+1:]
	host, _, _ = strings.Cut(host, "%") // the interface that it is bound to
	host = strings.TrimSuffix(host, "]")
	if host == "*" {
		host = "::"
	}
	addr, err := netip.ParseAddr(host)
	n, err2 := strconv.ParseUint(port, 10, 16)
	if err != nil || err2 != nil {
		return host + ":" + port
	}
	return netip.AddrPortFrom(addr, uint16(n)).String()
}
