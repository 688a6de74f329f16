package procfs

import (
	"bytes"
	"slices"
)

// hz is USER_HZ: how many ticks the files count in a second.
const hz = 100

// Columns of a cpu line.
const (
	user = iota
	nice
	system
	idle
	iowait
	irq
	softirq
	steal
	cpuColumns
)

var cpuSeries = []struct {
	name    string
	columns []int
}{
	{"host.cpu.busy", []int{user, nice, system, irq, softirq}},
	{"host.cpu.user", []int{user, nice}},
	{"host.cpu.system", []int{system}},
	{"host.cpu.iowait", []int{iowait}},
	{"host.cpu.softirq", []int{irq, softirq}},
	{"host.cpu.steal", []int{steal}},
}

func (p *parser) stat(line []byte) bool {
	key, value, ok := keyed(line)
	if !ok {
		return false
	}
	var v [cpuColumns]int64
	switch string(key) {
	case "cpu":
		n := fields(value, v[:])
		if n <= softirq || n < p.wide {
			return false
		}
		p.wide = n
		for _, x := range cpuSeries {
			if slices.Max(x.columns) < n {
				var ticks float64
				for _, i := range x.columns {
					ticks += float64(v[i])
				}
				p.count(&p.host, x.name, "cores", ticks/hz)
			}
		}
		return true
	case "ctxt":
		return p.counter(value, &p.host, "host.contextSwitches", "1/s")
	case "btime":
		n, ok := whole(value)
		p.btime = n
		return ok
	case "processes":
		return p.counter(value, &p.host, "host.forks", "1/s")
	case "procs_running":
		return p.gauge(value, &p.host, "host.procs_running", "1")
	case "procs_blocked":
		return p.gauge(value, &p.host, "host.procs_blocked", "1")
	}
	if digits, ok := bytes.CutPrefix(key, []byte("cpu")); ok {
		n, ok := whole(digits)
		if !ok || n >= 1<<16 || p.online >= 1<<16 {
			return false
		}
		p.online++ // those that are off have no line
		p.cpus = max(p.cpus, p.online)
		return true
	}
	p.ignored++
	return true
}

// loadavg reads "2.61 2.06 1.52 9/116 17576".
func (p *parser) loadavg(line []byte) bool {
	first, rest, _ := bytes.Cut(line, []byte(" "))
	if bytes.Count(rest, []byte(" ")) != 3 {
		return false
	}
	v, ok := decimal(first)
	if ok {
		p.put(&p.host, "host.load1", "1", false, v)
	}
	return ok
}

// decimal reads digits with an optional point.
func decimal(s []byte) (float64, bool) {
	i, f, point := bytes.Cut(s, []byte("."))
	n, ok := whole(i)
	if !ok || !point {
		return float64(n), ok
	}
	m, ok := whole(f)
	scale := 1.0
	for range f {
		scale *= 10
	}
	return float64(n) + float64(m)/scale, ok
}

// pressure reads "some avg10=24.70 avg60=21.85 avg300=20.06 total=354853060", of
// the host or of a cgroup.
func (p *parser) pressure(line []byte) bool {
	what, _, _ := bytes.Cut(line, []byte(" "))
	name := p.pressures[0]
	switch string(what) {
	case "some":
	case "full":
		name = p.pressures[1]
	default:
		return false
	}
	_, total, ok := bytes.Cut(line, []byte(" total="))
	us, whole := whole(total)
	if !ok || !whole {
		return false
	}
	t := &p.host
	if p.group != nil {
		t = &p.group.tracks
	}
	p.count(t, name, "1", float64(us)/1e6)
	return true
}

// hostPressure and groupPressure are the series of what some, and all, waited for.
var (
	hostPressure = map[string][2]string{
		"cpu":    {"host.pressure.cpu.some", "host.pressure.cpu.full"},
		"memory": {"host.pressure.memory.some", "host.pressure.memory.full"},
		"io":     {"host.pressure.io.some", "host.pressure.io.full"},
	}
	groupPressure = map[string][2]string{
		"cpu.pressure":    {"cgroup.pressure.cpu.some", "cgroup.pressure.cpu.full"},
		"memory.pressure": {"cgroup.pressure.memory.some", "cgroup.pressure.memory.full"},
		"io.pressure":     {"cgroup.pressure.io.some", "cgroup.pressure.io.full"},
	}
)

// vmstatSeries are the counters of /proc/vmstat that become series.
var vmstatSeries = map[string]string{
	"pgfault":            "host.faults", // minor and major
	"pgmajfault":         "host.majorFaults",
	"pswpin":             "host.swapIn",
	"pswpout":            "host.swapOut",
	"pgsteal_kswapd":     "host.reclaim.background",
	"pgsteal_direct":     "host.reclaim.direct",
	"compact_stall":      "host.compactStalls",
	"thp_fault_alloc":    "host.thp.faults",
	"thp_fault_fallback": "host.thp.fallbacks",
	"thp_collapse_alloc": "host.thp.collapses",
	"thp_split_page":     "host.thp.splits",
	"oom_kill":           "host.oomKills",
}

func (p *parser) vmstat(line []byte) bool {
	key, value, ok := keyed(line)
	if !ok {
		return false
	}
	name, ok := vmstatSeries[string(key)]
	if !ok {
		p.ignored++
		return true
	}
	return p.counter(value, &p.host, name, "1/s")
}

func (p *parser) meminfo(line []byte) bool {
	key, value, ok := keyed(line)
	if !ok {
		return false
	}
	switch string(key) {
	case "MemTotal":
		p.memory.value, ok = kib(value)
		p.memory.line = p.number
		return ok
	case "MemAvailable":
		v, ok := kib(value)
		if ok {
			p.put(&p.host, "host.memory.available", "bytes", false, v)
		}
		return ok
	}
	p.ignored++
	return true
}

func (p *parser) hostname(line []byte) bool {
	p.name = clean(line, 64)
	return true
}
