package socketstat

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
)

// emitReadings writes the readings as series of each address, of the process that listens there if
// it is known.
func (p *parser) emitReadings(b *evidence.Builder) {
	p.setTimes(b)
	host := b.Subject(evidence.Subject{Kind: evidence.Host})
	holders := make(map[string]*listener)
	for _, r := range p.readings {
		for address, x := range r.listens {
			if h := holders[address]; h == nil || h.pid == 0 {
				holders[address] = x
			}
		}
	}
	processes := make(map[int]evidence.SubjectID)
	for _, address := range slices.SortedFunc(maps.Keys(holders), func(x, y string) int {
		return cmp.Or(cmp.Compare(holders[x].line, holders[y].line), cmp.Compare(x, y))
	}) {
		of, h := host, holders[address]
		if h.pid != 0 {
			id, known := processes[h.pid]
			if !known {
				id = b.Subject(evidence.Subject{Kind: evidence.Process, Name: h.process, PID: h.pid})
				processes[h.pid] = id
			}
			of = id
		} else if len(processes) == 0 && p.hasWaiting(address) { // who listens there is not told: what waits there waits for a program all the same
			of = b.Subject(evidence.Subject{Kind: evidence.Process, Name: cmp.Or(h.process, "listener "+address)})
		}
		p.emitAddress(b, of, address)
	}
	if len(holders) == 0 && slices.ContainsFunc(p.readings, func(r *reading) bool { return r.tables[1] }) {
		b.Warnf(0, "no socket listens in it, so that what requests wait for is not known: give ss -tan, or ss -ltn as well")
	}
	p.emitCounts(b, host)
	p.addTables(b, holders)
}

// hasWaiting says whether connections ever waited at an address.
func (p *parser) hasWaiting(address string) bool {
	return slices.ContainsFunc(p.readings, func(r *reading) bool { return r.listens[address] != nil && r.listens[address].queue > 0 })
}

// setTimes drops readings without a time if others have one, else puts all one second apart.
func (p *parser) setTimes(b *evidence.Builder) {
	*b.Clock() = evidence.Clock{Name: "unix", Error: 1e9, Resolution: 1e9}
	timed := p.readings[:0:0]
	for _, r := range p.readings {
		if r.at != 0 && (len(timed) == 0 || r.at > timed[len(timed)-1].at) {
			timed = append(timed, r)
		}
	}
	if len(timed) > 0 {
		p.dropped += int64(len(p.readings) - len(timed))
		p.readings = timed
		return
	}
	if len(p.readings) == 1 && b.Recorded() {
		p.readings[0].at = b.Modified()
		return
	}
	*b.Clock() = evidence.Clock{Name: "readings, one after the other", Error: evidence.Unanchored}
	for i, r := range p.readings {
		r.at = int64(i+1) * 1e9
	}
}

func (p *parser) emitAddress(b *evidence.Builder, of evidence.SubjectID, address string) {
	series := make([]evidence.Series, 4)
	for i, name := range []string{evidence.SeriesListenQueue, evidence.SeriesListenBacklog, evidence.SeriesListenFullest, evidence.SeriesUnreadConnections} {
		series[i] = evidence.Series{Subject: of, Name: name + ":" + address, Unit: "connections"}
	}
	series[2].Unit = "1"
	add := func(s *evidence.Series, at int64, v float64, line int64) {
		if len(s.T) == 0 {
			s.Origin = b.Origin(line)
		}
		s.T, s.V = append(s.T, at), append(s.V, v)
	}
	for _, r := range p.readings {
		if x := r.listens[address]; x != nil {
			add(&series[0], r.at, x.queue, x.line)
			if x.backlog > 0 {
				add(&series[1], r.at, x.backlog, x.line)
				add(&series[2], r.at, x.fuller, x.line)
			}
		}
		if r.tables[1] {
			add(&series[3], r.at, r.unreadAt(address), r.line)
		}
	}
	for i, s := range series {
		if len(s.T) == 0 {
			continue
		}
		b.Series(s)
		if kind := map[int]string{0: evidence.CoverListenQueues, 3: evidence.CoverUnread}[i]; kind != "" {
			b.Cover(evidence.Coverage{Subject: of, Kind: kind, From: s.T[0], Until: s.T[len(s.T)-1], Origin: s.Origin})
		}
	}
}

// unreadAt is how many connections to an address have unread bytes: to a socket of all addresses, those of any
// that has none of its own.
func (r *reading) unreadAt(address string) float64 {
	n := r.unread[address]
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsUnspecified() {
		return n
	}
	for own, more := range r.unread {
		x, err := netip.ParseAddrPort(own)
		if err == nil && own != address && x.Port() == at.Port() && x.Addr().Is4() == at.Addr().Is4() && r.listens[own] == nil {
			n += more
		}
	}
	return n
}

// emitCounts writes what the kernel counted between readings as rates. The last rate repeats the
// one before and ends the series.
func (p *parser) emitCounts(b *evidence.Builder, host evidence.SubjectID) {
	var counted []*reading
	for _, r := range p.readings {
		if r.counts != nil {
			counted = append(counted, r)
		}
	}
	last := len(counted) - 1
	if last < 0 {
		return
	}
	if last == 0 {
		b.Warnf(counted[0].line, "counters since the host was started: give a second reading, some seconds later, to know what is dropped now")
		return
	}
	done := make(map[string]bool)
	for _, c := range counters {
		if done[c.series] {
			continue
		}
		if slices.ContainsFunc(counted, func(r *reading) bool { _, known := r.counts[c.series]; return !known }) {
			continue // grep left it out
		}
		done[c.series] = true
		s := evidence.Series{Subject: host, Name: c.series, Unit: "1/s", Origin: b.Origin(counted[0].line)}
		for i, r := range counted[:last] {
			next := counted[i+1]
			s.T = append(s.T, r.at)
			s.V = append(s.V, max(0, next.counts[c.series]-r.counts[c.series])/(float64(next.at-r.at)/1e9))
		}
		s.T, s.V = append(s.T, counted[last].at), append(s.V, s.V[last-1])
		b.Series(s)
	}
	b.Cover(evidence.Coverage{Subject: host, Kind: evidence.CoverTCPDrops, From: counted[0].at, Until: counted[last].at, Origin: b.Origin(counted[0].line)})
}

func (p *parser) addTables(b *evidence.Builder, holders map[string]*listener) {
	const most = 20
	t := evidence.Table{Title: "sockets that listen, at the last reading", Columns: []string{"address", "process", "waiting for accept", "limit", "with unread bytes"}}
	r := p.readings[len(p.readings)-1]
	for _, address := range slices.Sorted(maps.Keys(r.listens)) {
		x, limit, unread := r.listens[address], "", ""
		if x.backlog > 0 {
			limit = strconv.FormatFloat(x.backlog, 'f', 0, 64)
		}
		if r.tables[1] {
			unread = strconv.FormatFloat(r.unreadAt(address), 'f', 0, 64)
		}
		if len(t.Rows) < most {
			t.Rows = append(t.Rows, []string{address, holders[address].process, strconv.FormatFloat(x.queue, 'f', 0, 64), limit, unread})
		}
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	if r.counts == nil {
		return
	}
	t = evidence.Table{Title: "TCP drops since the host was started", Columns: []string{"figure", "value"}}
	for _, name := range slices.Sorted(maps.Keys(r.counts)) {
		t.Rows = append(t.Rows, []string{name, strconv.FormatFloat(r.counts[name], 'f', 0, 64)})
	}
	b.Table(t)
}
