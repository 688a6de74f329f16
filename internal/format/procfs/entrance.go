package procfs

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// longestAddress is the length of a UNIX socket's address, of whose 108 bytes each may be written as three.
const longestAddress = 5 + 3*108

// listenQueue reads a line for each listening socket of a process, recorded as
// /proc/PID/fd/listen and /proc/PID/fd/unread, which are no files of the kernel: the address, then words and numbers.
//
//	0.0.0.0:8080 queue 3 backlog 4096
//	0.0.0.0:8080 unread 2 unaccepted 3
//	unix:/run/app.sock queue 3 backlog 128
func (p *parser) listenQueue(line []byte) bool {
	f := bytes.Fields(line)
	if len(f) < 3 || len(f)%2 == 0 || len(f[0]) > longestAddress {
		return false
	}
	if _, err := netip.ParseAddrPort(string(f[0])); err != nil && !bytes.HasPrefix(f[0], []byte("unix:")) {
		return false
	}
	known := map[string]float64{}
	for i := 1; i < len(f); i += 2 {
		n, ok := format.ParseDigits(f[i+1])
		if !ok {
			return false
		}
		known[string(f[i])] = float64(n)
	}
	p.addListener(string(f[0]), known)
	return true
}

// addListener adds what is known of one listening socket to its address.
func (p *parser) addListener(address string, known map[string]float64) {
	t := p.networkOf()
	if !p.addresses[address] {
		if len(p.addresses) >= maxDisks {
			p.dropped++
			return
		}
		if p.addresses == nil {
			p.addresses = make(map[string]bool)
		}
		p.addresses[address] = true
	}
	for _, x := range []struct{ word, series string }{
		{"queue", evidence.SeriesListenQueue}, {"backlog", evidence.SeriesListenBacklog},
		{"unaccepted", evidence.SeriesUnacceptedConnections}, {"unread", evidence.SeriesUnreadConnections},
	} {
		if v, ok := known[x.word]; ok {
			p.sumGauge(t, x.series+":"+address, "connections", v)
		}
	}
	if backlog := known["backlog"]; backlog > 0 {
		p.maxGauge(t, evidence.SeriesListenFullest+":"+address, "1", known["queue"]/backlog)
	}
}

// networkOf returns the owner of a section's network namespace: a process, or the host.
func (p *parser) networkOf() *tracks {
	if p.subject != nil {
		return &p.subject.tracks
	}
	return &p.host
}

// netstatSeries are the counters of TcpExt that become series.
var netstatSeries = map[string]string{
	"ListenOverflows":      evidence.SeriesListenOverflows,
	"ListenDrops":          evidence.SeriesListenDrops,
	"SyncookiesSent":       evidence.SeriesSyncookiesSent,
	"TCPReqQFullDrop":      evidence.SeriesSYNQueueDrops,
	"TCPReqQFullDoCookies": evidence.SeriesSYNQueueCookies,
	"TCPAbortOnOverflow":   evidence.SeriesAbortOnOverflow,
}

// parseNetstat reads a line of names and, behind it, a line of values: "TcpExt: SyncookiesSent
// …", "TcpExt: 0 …".
func (p *parser) parseNetstat(line []byte) bool {
	of, rest, ok := strings.Cut(string(line), ":")
	if !ok {
		return false
	}
	if of != "TcpExt" {
		p.ignored++
		return true
	}
	f := strings.Fields(rest)
	if len(p.columns) == 0 {
		p.columns = f
		return len(f) > 0
	}
	columns := p.columns
	if p.columns = p.columns[:0]; len(f) != len(columns) {
		return false
	}
	for i, name := range columns {
		series := netstatSeries[name]
		if series == "" {
			continue
		}
		if !p.parseCounter([]byte(f[i]), p.networkOf(), series, "1/s") {
			return false
		}
	}
	return true
}

// States of TCP sockets as the tables write them (include/net/tcp_states.h).
const (
	tcpEstablished = "01"
	tcpCloseWait   = "08"
	tcpListen      = "0A"
)

// tcpTable reads a line of /proc/net/tcp or tcp6, those that listen first
// (https://docs.kernel.org/networking/proc_net_tcp.html):
//
//	sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//	 0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 4711 …
//
// The rx_queue of a listening socket is its accept queue, without its limit. A connection without an inode is
// held by no process yet. The final message of a peer that closed counts as one byte.
func (p *parser) tcpTable(line []byte) bool {
	f := bytes.Fields(line)
	if len(f) > 0 && string(f[0]) == "sl" {
		return true
	}
	if len(f) < 10 {
		return false
	}
	state := string(f[3])
	if state != tcpListen && state != tcpEstablished && state != tcpCloseWait {
		p.ignored++
		return true
	}
	at, ok := tableAddress(f[1])
	_, received, two := bytes.Cut(f[4], []byte(":"))
	queue, err := strconv.ParseUint(string(received), 16, 32)
	if !ok || !two || err != nil {
		return false
	}
	if state == tcpListen {
		if p.listening == nil {
			p.listening = make(map[string]bool)
		}
		if len(p.listening) < maxDisks {
			p.listening[at.String()] = true
		}
		p.addListener(at.String(), map[string]float64{"queue": float64(queue), "unread": 0, "unaccepted": 0})
		return true
	}
	address := at.String()
	if !p.listening[address] {
		any := netip.IPv4Unspecified()
		if at.Addr().Is6() {
			any = netip.IPv6Unspecified()
		}
		if address = netip.AddrPortFrom(any, at.Port()).String(); !p.listening[address] {
			p.ignored++
			return true
		}
	}
	switch {
	case string(f[9]) == "0":
		p.addListener(address, map[string]float64{"unaccepted": 1})
	case queue > 1 || queue == 1 && state == tcpEstablished:
		p.addListener(address, map[string]float64{"unread": 1})
	}
	return true
}

// tableAddress reads "0100007F:1F90": words of four bytes, each in the order of a little-endian host.
func tableAddress(s []byte) (netip.AddrPort, bool) {
	digits, port, ok := bytes.Cut(s, []byte(":"))
	n, err := strconv.ParseUint(string(port), 16, 16)
	b, err2 := hex.DecodeString(string(digits[:min(len(digits), 33)]))
	if !ok || err != nil || err2 != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
	}
	a, _ := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a, uint16(n)), true
}

// coverEntrance emits for how long the entrance was recorded, so that it can be ruled out.
func (p *parser) coverEntrance(id evidence.SubjectID, t *tracks) {
	p.emitCoverage(id, evidence.CoverTCPDrops, t.get(evidence.SeriesListenDrops))
	for _, x := range []struct{ kind, series string }{
		{evidence.CoverListenQueues, evidence.SeriesListenQueue}, {evidence.CoverUnread, evidence.SeriesUnreadConnections},
	} {
		var longest *track
		for _, c := range t.list {
			if strings.HasPrefix(c.name, x.series+":") && (longest == nil || len(c.t) > len(longest.t)) {
				longest = c
			}
		}
		p.emitCoverage(id, x.kind, longest)
	}
}
