package sysstat

import (
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// parseRow reads a row under the current heading, and says whether it understood it.
func (p *parser) parseRow(f []string) bool {
	h := p.h
	if h.kind == memoryOfHost {
		return p.parseVmstat(f)
	}
	switch h.timed {
	case none:
		if p.clock.now == 0 {
			p.clock.nextReport()
		}
	case epoch:
		if v, ok := parseNumber(f[0]); ok && v.v > 1e8 && v.v < 4e9 {
			p.clock.setEpoch(int64(v.v))
			f = f[1:]
			break
		}
		fallthrough
	case tod:
		at, n := timeOf(f)
		if n == 0 {
			return false
		}
		p.clock.setTimeOfDay(at)
		f = f[n:]
	}
	if len(f) == 0 {
		return false
	}
	if p.sumsAt != p.clock.now {
		p.flushSums()
		p.sumsAt = p.clock.now
	}
	if h.kind == processor && h.columns[0] == "%user" { // iostat
		f = append([]string{"all"}, f...)
		return p.parseProcessor(f, 1)
	}
	switch h.kind {
	case processor:
		return p.parseProcessor(f, 0)
	case softnet:
		return p.perCPU(f, softnetColumns)
	case softirqs:
		return p.perCPU(f, softirqColumns)
	case interrupts:
		v, ok := p.columnValue(f, "intr/s")
		if ok && f[0] == "all" {
			p.addValue(&p.host, evidence.SeriesHostInterrupts, "1/s", v.v, false)
		}
		return ok
	case disk:
		return p.parseDisk(p.withName(f))
	case network:
		return p.parseInterface(f, networkColumns)
	case networkErrors:
		in, ok := p.columnValue(f, "rxdrop/s")
		out, ok2 := p.columnValue(f, "txdrop/s")
		if name := cleanText(f[0]); ok && ok2 && p.admitName(name) {
			p.addValue(&p.host, evidence.SeriesNetDropped+":"+name, "1/s", in.v+out.v, false)
		}
		return ok && ok2
	case ofProcess:
		return p.parseProcess(f)
	}
	return p.ofHost(f)
}

// columnValue returns the value of a row in a column.
func (p *parser) columnValue(f []string, name string) (figure, bool) {
	i, ok := p.h.at[name]
	if !ok || i >= len(f) {
		return figure{}, false
	}
	return parseNumber(f[i])
}

// addColumns adds the columns of a row that become series, and says whether there was any.
func (p *parser) addColumns(t *tracks, f []string, columns map[string]column, suffix string) (any bool) {
	for i, name := range p.h.columns {
		c := columns[name]
		if c.name == "" || i >= len(f) || p.h.at[name] != i {
			continue
		}
		if v, ok := parseNumber(f[i]); ok {
			p.addValue(t, c.name+suffix, c.unit, v.scaledBy(c.factor), c.gauge)
			any = true
		}
	}
	return any
}

// parseProcessor reads a row of CPU time by mode, of all processors or of one. behind is by how
// many places the row's columns lie behind those of the heading.
func (p *parser) parseProcessor(f []string, behind int) bool {
	of := func(names ...string) (sum float64, any bool) {
		for _, n := range names {
			i, ok := p.h.at[n]
			if !ok || i+behind >= len(f) {
				continue
			}
			v, ok := parseNumber(f[i+behind])
			if !ok {
				return 0, false
			}
			sum, any = sum+v.v/100, true
		}
		return sum, any
	}
	idle, ok := of("%idle")
	if !ok || idle > 1.01 || len(f) < len(p.h.columns)+behind {
		return false
	}
	user, _ := of("%user", "%usr", "%nice", "%guest", "%gnice")
	system, _ := of("%system", "%sys")
	iowait, waits := of("%iowait")
	steal, stolen := of("%steal")
	soft, apart := of("%soft", "%irq")
	busy := max(0, 1-idle-iowait-steal)
	if f[0] != "all" && f[0] != "-1" {
		n, ok := parseNumber(f[0])
		if !ok {
			return false
		}
		if len(p.cpuRows) < mostCPUs && n.v >= 0 && n.v < mostCPUs {
			p.cpuRows[int(n.v)] = true
		}
		p.keepMax(&p.host, evidence.SeriesHostCPUBusiest, "cores", busy)
		if apart {
			p.keepMax(&p.host, evidence.SeriesHostCPUSoftirqMost, "cores", soft)
		}
		return true
	}
	p.addModes(mode{evidence.SeriesHostCPUBusy, busy, true}, mode{evidence.SeriesHostCPUUser, user, true}, mode{evidence.SeriesHostCPUSystem, system, true},
		mode{evidence.SeriesHostCPUIowait, iowait, waits}, mode{evidence.SeriesHostCPUSteal, steal, stolen}, mode{evidence.SeriesHostCPUSoftirq, soft, apart})
	return true
}

// mode is a share of all CPUs.
type mode struct {
	name  string
	share float64
	told  bool
}

// addModes adds CPU time by mode: in cores where the number of CPUs is known, else as shares of
// all of them.
func (p *parser) addModes(all ...mode) {
	for _, m := range all {
		switch {
		case !m.told:
		case p.cpus > 0:
			p.addValue(&p.host, m.name, "cores", m.share*float64(p.cpus), false)
		default:
			p.addValue(&p.host, evidence.ShareOf(m.name), "1", m.share, false)
		}
	}
}

// parseVmstat reads " 1  0      0 11214368 205304 1043060    0    0  1041  2871 2045 4211  9  5 86  0  0".
func (p *parser) parseVmstat(f []string) bool {
	h := p.h
	n := len(h.columns)
	if len(f) == n+1 { // collectors put the time before
		if at, words := timeOf(f); words == 1 {
			p.clock.setTimeOfDay(at)
			return p.vmstatRow(f[1:], n)
		}
	}
	zone := h.columns[n-1] // of -t: a time follows
	if _, timed := vmstatShares[zone]; timed {
		zone = ""
	} else {
		n--
	}
	if len(f) < n || len(f) > n+2 {
		return false
	}
	for _, x := range f[:n] {
		if _, ok := parseNumber(x); !ok {
			return false
		}
	}
	if day, ok := dayOf(f[min(n, len(f)-1)]); ok && len(f) == n+2 {
		tod, words := timeOf(f[n+1:])
		if words == 0 {
			return false
		}
		p.clock.timed, p.clock.zoned, p.clock.now = true, zone == "UTC" || zone == "GMT", day+tod
	} else {
		p.clock.nextReport()
	}
	return p.vmstatRow(f, n)
}

// vmstatRow takes the figures of a row with a known time.
func (p *parser) vmstatRow(f []string, n int) bool {
	for _, x := range f[:n] {
		if _, ok := parseNumber(x); !ok {
			return false
		}
	}
	p.flushSums()
	p.sumsAt = p.clock.now
	p.boot[memoryOfHost]++
	p.addColumns(&p.host, f, vmstatColumns, "")
	if a, ok := p.columnValue(f, "buff"); ok {
		if b, ok := p.columnValue(f, "cache"); ok {
			p.addValue(&p.host, evidence.SeriesHostMemoryCache, "bytes", a.scaledBy(kib)+b.scaledBy(kib), true)
		}
	}
	share := make(map[string]float64, len(vmstatShares))
	for name := range vmstatShares {
		if v, ok := p.columnValue(f, name); ok {
			share[name] = v.v / 100
		} else if name != "gu" && name != "st" {
			return false
		}
	}
	_, stolen := p.h.at["st"]
	p.addModes(mode{evidence.SeriesHostCPUBusy, max(0, 1-share["id"]-share["wa"]-share["st"]), true}, mode{evidence.SeriesHostCPUUser, share["us"] + share["gu"], true},
		mode{evidence.SeriesHostCPUSystem, share["sy"], true}, mode{evidence.SeriesHostCPUIowait, share["wa"], true}, mode{evidence.SeriesHostCPUSteal, share["st"], stolen})
	return true
}

// vmstatShares are vmstat's columns of CPU time, in percent.
var vmstatShares = map[string]bool{"us": true, "sy": true, "id": true, "wa": true, "st": true, "gu": true}

// perCPU reads a row of one CPU, or of all.
func (p *parser) perCPU(f []string, columns map[string]column) bool {
	if len(f) < len(p.h.columns) {
		return false
	}
	if f[0] == "all" {
		return true // it is the sum of those that follow, and not always there
	}
	if _, ok := parseNumber(f[0]); !ok {
		return false
	}
	any := false
	for i, name := range p.h.columns {
		if c := columns[name]; c.name != "" {
			if v, ok := parseNumber(f[i]); ok {
				p.addToSum(&p.host, c.name, c.unit, v.v)
				any = true
			}
		}
	}
	return any
}

// withName returns a row of a disk with its name as the first word. A name alone is kept for the row below it.
func (p *parser) withName(f []string) []string {
	h := p.h
	switch {
	case h.last && len(f) == len(h.columns):
		return deviceFirst(f)
	case h.name != "" && len(f) == len(h.columns)-1:
		f = append([]string{h.name}, f...)
		h.name = ""
	}
	return f
}

// parseDisk reads a row of a disk.
func (p *parser) parseDisk(f []string) bool {
	if len(f) == 1 && len(p.h.columns) > 2 {
		p.h.name = f[0]
		return true
	}
	if len(f) < len(p.h.columns) {
		return false
	}
	name := cleanText(f[0])
	reads, rok := p.columnValue(f, "r/s")
	writes, wok := p.columnValue(f, "w/s")
	tps, tok := p.columnValue(f, "tps")
	if !rok && !tok || rok != wok {
		return false
	}
	if !p.admitName(name) {
		return true
	}
	p.addColumns(&p.host, f, diskColumns, ":"+name)
	// How many were under way in the mean is how many a second, times how long one took.
	underWay := func(series, each string, rate figure) {
		if ms, ok := p.columnValue(f, each); ok {
			p.addValue(&p.host, series+":"+name, "1", rate.v*ms.v/1e3, false)
		}
	}
	if rok {
		p.addValue(&p.host, evidence.SeriesDiskReads+":"+name, "1/s", reads.v, false)
		underWay(evidence.SeriesDiskReading, "r_await", reads)
		underWay(evidence.SeriesDiskWriting, "w_await", writes)
		if _, apart := p.h.at["w_await"]; !apart { // before sysstat 10.0.3: of both together
			underWay(evidence.SeriesDiskReading, "await", reads)
			underWay(evidence.SeriesDiskWriting, "await", writes)
		}
		tps = figure{v: reads.v + writes.v}
	}
	if flushes, ok := p.columnValue(f, "f/s"); ok {
		underWay(evidence.SeriesDiskFlushing, "f_await", flushes)
	}
	if format.PartOfDisk(name, p.disks) || format.MadeOfDisks(name) {
		return true
	}
	if !slices.Contains(p.disks, name) {
		p.disks = append(p.disks, name)
	}
	p.addToSum(&p.host, evidence.SeriesHostDiskRequests, "1/s", tps.v)
	if queue, ok := p.columnValue(f, "aqu-sz"); ok {
		p.addToSum(&p.host, evidence.SeriesHostDiskInFlight, "1", queue.v)
	} else if queue, ok := p.columnValue(f, "avgqu-sz"); ok {
		p.addToSum(&p.host, evidence.SeriesHostDiskInFlight, "1", queue.v)
	}
	return true
}

// parseInterface reads a row of a network interface.
func (p *parser) parseInterface(f []string, columns map[string]column) bool {
	if len(f) < len(p.h.columns) {
		return false
	}
	name := cleanText(f[0])
	return !p.admitName(name) || p.addColumns(&p.host, f, columns, ":"+name)
}

// admitName bounds the number of disks and interfaces: it returns false for one too many.
func (p *parser) admitName(name string) bool {
	if p.names[name] {
		return true
	}
	if len(p.names) >= mostNames {
		p.dropped++
		return false
	}
	p.names[name] = true
	return true
}

// ofHost reads a row of the host.
func (p *parser) ofHost(f []string) bool {
	if len(f) < len(p.h.columns) {
		return false
	}
	any := p.addColumns(&p.host, f, hostColumns, "")
	if a, ok := p.columnValue(f, "kbbuffers"); ok {
		if b, ok := p.columnValue(f, "kbcached"); ok {
			p.addValue(&p.host, evidence.SeriesHostMemoryCache, "bytes", a.scaledBy(kib)+b.scaledBy(kib), true)
		}
	}
	return any
}

// parseProcess reads a row of pidstat. The command is all that follows the other columns, blanks
// included.
func (p *parser) parseProcess(f []string) bool {
	at, ok := p.h.at["Command"]
	if !ok || len(f) <= at || at != len(p.h.columns)-1 {
		return false
	}
	command := cleanText(strings.Join(f[at:], " "))
	if i, ok := p.h.at["TID"]; ok {
		if f[i] != "-" { // a thread's, below its process
			if p.thread != nil {
				for i, name := range p.h.columns[:at] {
					if c := threadColumns[name]; c.name != "" {
						if v, ok := parseNumber(f[i]); ok {
							p.addToSum(&p.thread.tracks, c.name, c.unit, v.v*c.factor)
						}
					}
				}
			}
			_, ok := parseNumber(f[i])
			return ok
		}
	}
	pid, ok := p.columnValue(f, "PID")
	if !ok {
		pid, ok = p.columnValue(f, "TGID")
	}
	if !ok || pid.v < 1 || pid.v > 1<<30 || pid.v != math.Trunc(pid.v) {
		return false
	}
	q := p.byPID[int(pid.v)]
	if q == nil {
		if len(p.processes) >= mostProcesses {
			p.dropped++
			return true
		}
		q = &process{pid: int(pid.v), name: command}
		p.processes = append(p.processes, q)
		p.byPID[q.pid] = q
	}
	p.thread = q
	return p.addColumns(&q.tracks, f[:at], processColumns, "")
}

// process is a process in pidstat's rows.
type process struct {
	tracks
	pid  int
	name string
}
