package procfs

import (
	"bytes"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// softirqSeries are the kinds of soft interrupts that become series (include/linux/interrupt.h).
var softirqSeries = map[string]string{
	"NET_RX":  evidence.SeriesHostSoftirqsNetRX,
	"NET_TX":  evidence.SeriesHostSoftirqsNetTX,
	"BLOCK":   evidence.SeriesHostSoftirqsBlock,
	"TIMER":   evidence.SeriesHostSoftirqsTimer,
	"SCHED":   evidence.SeriesHostSoftirqsSched,
	"RCU":     evidence.SeriesHostSoftirqsRCU,
	"TASKLET": evidence.SeriesHostSoftirqsTasklet,
}

// parseSoftirqs reads "      NET_RX:    7501633    6841246", a column for each processor.
func (p *parser) parseSoftirqs(line []byte) bool {
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("CPU")) {
		return true
	}
	kind, rest, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return false
	}
	name := softirqSeries[string(kind)]
	if name == "" {
		p.ignored++
		return true
	}
	var all int64
	for rest = bytes.TrimLeft(rest, " "); len(rest) > 0; rest = bytes.TrimLeft(rest, " ") {
		var digits []byte
		digits, rest, _ = bytes.Cut(rest, []byte(" "))
		n, ok := format.ParseDigits(digits)
		if !ok {
			return false
		}
		all += n
	}
	p.addCounter(&p.host, name, "1/s", float64(all))
	return true
}

// parseSoftnet reads a line for each processor, hexadecimal: packets, of them dropped because its
// backlog was full, and times that NET_RX stopped with packets left (net/core/net-procfs.c).
func (p *parser) parseSoftnet(line []byte) bool {
	for i, name := range []string{evidence.SeriesHostSoftnetPackets, evidence.SeriesHostSoftnetDropped, evidence.SeriesHostSoftnetSqueezed} {
		digits, rest, more := bytes.Cut(line, []byte(" "))
		n, err := strconv.ParseUint(string(digits[:min(len(digits), 16)]), 16, 32)
		if err != nil || !more && i < 2 {
			return false
		}
		p.sumCounter(&p.host, name, "1/s", float64(n))
		line = rest
	}
	return true
}

// parseInterfaces reads "  eth0: 1428908483   31196    0    0 …": eight columns of what was received,
// eight of what was sent. Those of a process are of its network namespace.
func (p *parser) parseInterfaces(line []byte) bool {
	name, rest, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return bytes.Contains(line, []byte("|")) // the headings
	}
	var v [16]int64
	if name = bytes.TrimSpace(name); parseFields(rest, v[:]) < len(v) || len(name) == 0 {
		return false
	}
	if v[0] == 0 && v[8] == 0 {
		p.ignored++ // never used
		return true
	}
	if of := cleanText(name, 32); p.network[of] || len(p.network) < maxDisks {
		if p.network == nil {
			p.network = make(map[string]bool)
		}
		p.network[of] = true
		for _, x := range []struct {
			name, unit string
			v          int64
		}{
			{evidence.SeriesNetReceived, "bytes/s", v[0]}, {evidence.SeriesNetSent, "bytes/s", v[8]},
			{evidence.SeriesNetPacketsReceived, "1/s", v[1]}, {evidence.SeriesNetPacketsSent, "1/s", v[9]}, {evidence.SeriesNetDropped, "1/s", v[3] + v[11]},
		} {
			p.addCounter(&p.host, x.name+":"+of, x.unit, float64(x.v))
		}
		return true
	}
	p.dropped++
	return true
}
