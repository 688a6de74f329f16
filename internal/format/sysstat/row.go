package sysstat

import (
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// row reads a row under the heading that is in force, and says whether it understood it.
func (p *parser) row(f []string) bool {
	h := p.h
	if h.kind == memoryOfHost {
		return p.vmstat(f)
	}
	switch h.timed {
	case none:
		if p.clock.now == 0 {
			p.clock.next()
		}
	case epoch:
		if v, ok := number(f[0]); ok && v.v > 1e8 && v.v < 4e9 {
			p.clock.since(int64(v.v))
			f = f[1:]
			break
		}
		fallthrough
	case tod:
		at, n := timeOf(f)
		if n == 0 {
			return false
		}
		p.clock.at(at)
		f = f[n:]
	}
	if len(f) == 0 {
		return false
	}
	if p.sumsAt != p.clock.now {
		p.flush()
		p.sumsAt = p.clock.now
	}
	if h.kind == processor && h.columns[0] == "%user" { // iostat
		f = append([]string{"all"}, f...)
		return p.processor(f, 1)
	}
	switch h.kind {
	case processor:
		return p.processor(f, 0)
	case softnet:
		return p.perCPU(f, softnetColumns)
	case softirqs:
		return p.perCPU(f, softirqColumns)
	case interrupts:
		v, ok := p.get(f, "intr/s")
		if ok && f[0] == "all" {
			p.put(&p.host, evidence.SeriesHostInterrupts, "1/s", v.v, false)
		}
		return ok
	case disk:
		return p.disk(f)
	case network:
		return p.named(f, networkColumns)
	case networkErrors:
		in, ok := p.get(f, "rxdrop/s")
		out, ok2 := p.get(f, "txdrop/s")
		if name := clean(f[0]); ok && ok2 && p.keep(name) {
			p.put(&p.host, evidence.SeriesNetDropped+":"+name, "1/s", in.v+out.v, false)
		}
		return ok && ok2
	case ofProcess:
		return p.process(f)
	}
	return p.ofHost(f)
}

// get is a column of a row.
func (p *parser) get(f []string, name string) (figure, bool) {
	i, ok := p.h.at[name]
	if !ok || i >= len(f) {
		return figure{}, false
	}
	return number(f[i])
}

// all puts the columns of a row that become series, and says whether there was any.
func (p *parser) all(t *tracks, f []string, columns map[string]column, suffix string) (any bool) {
	for i, name := range p.h.columns {
		c := columns[name]
		if c.name == "" || i >= len(f) || p.h.at[name] != i {
			continue
		}
		if v, ok := number(f[i]); ok {
			p.put(t, c.name+suffix, c.unit, v.of(c.factor), c.gauge)
			any = true
		}
	}
	return any
}

// processor reads a row of CPU time by mode, of all processors or of one. Columns of the row lie by
// so many behind those of the heading.
func (p *parser) processor(f []string, behind int) bool {
	of := func(names ...string) (sum float64, any bool) {
		for _, n := range names {
			i, ok := p.h.at[n]
			if !ok || i+behind >= len(f) {
				continue
			}
			v, ok := number(f[i+behind])
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
		n, ok := number(f[0])
		if !ok {
			return false
		}
		if len(p.cpuRows) < mostCPUs && n.v >= 0 && n.v < mostCPUs {
			p.cpuRows[int(n.v)] = true
		}
		p.most(&p.host, evidence.SeriesHostCPUBusiest, "cores", busy)
		if apart {
			p.most(&p.host, evidence.SeriesHostCPUSoftirqMost, "cores", soft)
		}
		return true
	}
	p.modes(mode{evidence.SeriesHostCPUBusy, busy, true}, mode{evidence.SeriesHostCPUUser, user, true}, mode{evidence.SeriesHostCPUSystem, system, true},
		mode{evidence.SeriesHostCPUIowait, iowait, waits}, mode{evidence.SeriesHostCPUSteal, steal, stolen}, mode{evidence.SeriesHostCPUSoftirq, soft, apart})
	return true
}

// mode is a share of all CPUs.
type mode struct {
	name  string
	share float64
	told  bool
}

// modes puts CPU time by mode: in cores where it is known how many CPUs there are, else as shares
// of all of them.
func (p *parser) modes(all ...mode) {
	for _, m := range all {
		switch {
		case !m.told:
		case p.cpus > 0:
			p.put(&p.host, m.name, "cores", m.share*float64(p.cpus), false)
		default:
			p.put(&p.host, evidence.ShareOf(m.name), "1", m.share, false)
		}
	}
}

// vmstat reads " 1  0      0 11214368 205304 1043060    0    0  1041  2871 2045 4211  9  5 86  0  0".
func (p *parser) vmstat(f []string) bool {
	h := p.h
	n := len(h.columns)
	if len(f) == n+1 { // collectors put the time before
		if at, words := timeOf(f); words == 1 {
			p.clock.at(at)
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
		if _, ok := number(x); !ok {
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
		p.clock.next()
	}
	return p.vmstatRow(f, n)
}

// vmstatRow takes the figures of a row whose time is known.
func (p *parser) vmstatRow(f []string, n int) bool {
	for _, x := range f[:n] {
		if _, ok := number(x); !ok {
			return false
		}
	}
	p.flush()
	p.sumsAt = p.clock.now
	p.boot[memoryOfHost]++
	p.all(&p.host, f, vmstatColumns, "")
	if a, ok := p.get(f, "buff"); ok {
		if b, ok := p.get(f, "cache"); ok {
			p.put(&p.host, evidence.SeriesHostMemoryCache, "bytes", a.of(kib)+b.of(kib), true)
		}
	}
	share := make(map[string]float64, len(vmstatShares))
	for name := range vmstatShares {
		if v, ok := p.get(f, name); ok {
			share[name] = v.v / 100
		} else if name != "gu" && name != "st" {
			return false
		}
	}
	_, stolen := p.h.at["st"]
	p.modes(mode{evidence.SeriesHostCPUBusy, max(0, 1-share["id"]-share["wa"]-share["st"]), true}, mode{evidence.SeriesHostCPUUser, share["us"] + share["gu"], true},
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
	if _, ok := number(f[0]); !ok {
		return false
	}
	any := false
	for i, name := range p.h.columns {
		if c := columns[name]; c.name != "" {
			if v, ok := number(f[i]); ok {
				p.add(&p.host, c.name, c.unit, v.v)
				any = true
			}
		}
	}
	return any
}

// disk reads a row of a disk.
func (p *parser) disk(f []string) bool {
	if len(f) < len(p.h.columns) {
		return false
	}
	name := clean(f[0])
	reads, rok := p.get(f, "r/s")
	writes, wok := p.get(f, "w/s")
	tps, tok := p.get(f, "tps")
	if !rok && !tok || rok != wok {
		return false
	}
	if !p.keep(name) {
		return true
	}
	p.all(&p.host, f, diskColumns, ":"+name)
	// How many were under way in the mean is how many a second, times how long one took.
	underWay := func(series, each string, rate figure) {
		if ms, ok := p.get(f, each); ok {
			p.put(&p.host, series+":"+name, "1", rate.v*ms.v/1e3, false)
		}
	}
	if rok {
		p.put(&p.host, evidence.SeriesDiskReads+":"+name, "1/s", reads.v, false)
		underWay(evidence.SeriesDiskReading, "r_await", reads)
		underWay(evidence.SeriesDiskWriting, "w_await", writes)
		if _, apart := p.h.at["w_await"]; !apart { // before sysstat 10.0.3: of both together
			underWay(evidence.SeriesDiskReading, "await", reads)
			underWay(evidence.SeriesDiskWriting, "await", writes)
		}
		tps = figure{v: reads.v + writes.v}
	}
	if flushes, ok := p.get(f, "f/s"); ok {
		underWay(evidence.SeriesDiskFlushing, "f_await", flushes)
	}
	if format.PartOfDisk(name, p.disks) || format.MadeOfDisks(name) {
		return true
	}
	if !contains(p.disks, name) {
		p.disks = append(p.disks, name)
	}
	p.add(&p.host, evidence.SeriesHostDiskRequests, "1/s", tps.v)
	if queue, ok := p.get(f, "aqu-sz"); ok {
		p.add(&p.host, evidence.SeriesHostDiskInFlight, "1", queue.v)
	} else if queue, ok := p.get(f, "avgqu-sz"); ok {
		p.add(&p.host, evidence.SeriesHostDiskInFlight, "1", queue.v)
	}
	return true
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// named reads a row of an interface.
func (p *parser) named(f []string, columns map[string]column) bool {
	if len(f) < len(p.h.columns) {
		return false
	}
	name := clean(f[0])
	return !p.keep(name) || p.all(&p.host, f, columns, ":"+name)
}

// keep bounds how many disks and interfaces there are.
func (p *parser) keep(name string) bool {
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
	any := p.all(&p.host, f, hostColumns, "")
	if a, ok := p.get(f, "kbbuffers"); ok {
		if b, ok := p.get(f, "kbcached"); ok {
			p.put(&p.host, evidence.SeriesHostMemoryCache, "bytes", a.of(kib)+b.of(kib), true)
		}
	}
	return any
}

// process reads a row of pidstat; the command is what is behind the other columns, blanks included.
func (p *parser) process(f []string) bool {
	at, ok := p.h.at["Command"]
	if !ok || len(f) <= at || at != len(p.h.columns)-1 {
		return false
	}
	command := clean(strings.Join(f[at:], " "))
	if i, ok := p.h.at["TID"]; ok {
		if f[i] != "-" { // a thread's, below its process
			if p.thread != nil {
				for i, name := range p.h.columns[:at] {
					if c := threadColumns[name]; c.name != "" {
						if v, ok := number(f[i]); ok {
							p.add(&p.thread.tracks, c.name, c.unit, v.v*c.factor)
						}
					}
				}
			}
			_, ok := number(f[i])
			return ok
		}
	}
	pid, ok := p.get(f, "PID")
	if !ok {
		pid, ok = p.get(f, "TGID")
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
	return p.all(&q.tracks, f[:at], processColumns, "")
}

// process is one of which pidstat told.
type process struct {
	tracks
	pid  int
	name string
}
