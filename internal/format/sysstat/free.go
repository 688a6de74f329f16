package sysstat

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// parseFree reads what free of procps prints:
//
//	              total        used        free      shared  buff/cache   available
//	Mem:          15898       14911         120        1012         866          98
//	Swap:          2047        2047           0
//
// Without a unit behind them (-h) figures are KiB, with -m MiB and with -g GiB, which the output does not show: a total that is implausible for
// a Linux host is taken for the next larger unit. Before procps 3.3.10 there was no column of available memory, but a line of
// free memory without buffers and caches.
func (p *parser) parseFree(text string) bool {
	f := strings.Fields(text)
	switch {
	case len(f) >= 5 && f[0] == "total" && f[1] == "used" && f[2] == "free":
		p.freeColumns = f
		return true
	case p.freeColumns == nil || len(f) < 2:
		return false
	}
	of := f[0]
	if of == "-/+" && len(f) == 4 { // "-/+ buffers/cache: used free"
		if v, ok := parseNumber(f[3]); ok {
			p.addValue(&p.host, evidence.SeriesHostMemoryAvailable, "bytes", v.scaledBy(p.freeUnit), true)
			p.used++
		}
		return true
	}
	if of != "Mem:" && of != "Swap:" {
		return of == "Total:" || of == "Low:" || of == "High:"
	}
	values := make(map[string]figure)
	for i, name := range p.freeColumns {
		if i+1 < len(f) {
			if v, ok := parseNumber(strings.TrimSuffix(f[i+1], "i")); ok { // 15Gi
				values[name] = v
			}
		}
	}
	total, ok := values["total"]
	if !ok {
		return false
	}
	if of == "Mem:" {
		p.freeUnit = kib
		for most := float64(leastKiB); p.freeUnit < 1<<30 && total.v < most; most /= kib {
			p.freeUnit *= kib
		}
		p.clock.nextReport()
		p.flushSums()
		if p.freeTotal == 0 {
			p.freeTotal, p.freeTotalLine = total.scaledBy(p.freeUnit), p.number
		}
		if v, ok := values["free"]; ok {
			p.addValue(&p.host, evidence.SeriesHostMemoryFree, "bytes", v.scaledBy(p.freeUnit), true)
		}
		if v, ok := values["available"]; ok {
			p.addValue(&p.host, evidence.SeriesHostMemoryAvailable, "bytes", v.scaledBy(p.freeUnit), true)
		}
	} else if v, ok := values["used"]; ok {
		p.addValue(&p.host, evidence.SeriesHostSwapUsed, "bytes", v.scaledBy(p.freeUnit), true)
	}
	p.used++
	return true
}

// leastKiB is the least plausible memory of a host in KiB: 64 MiB. A smaller total is in MiB, and one below 64 of these in GiB.
const leastKiB = 64 << 10

// isFree says whether a line is the heading of free, with a line of memory below.
func isFree(text string, below []byte) bool {
	f := strings.Fields(text)
	return len(f) >= 5 && f[0] == "total" && f[1] == "used" && f[2] == "free" && strings.HasPrefix(string(below[:min(len(below), 4)]), "Mem:")
}
