package procfs

import (
	"bytes"
	"slices"

	"github.com/unstall/unstall/evidence"
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
	{evidence.SeriesHostCPUBusy, []int{user, nice, system, irq, softirq}},
	{evidence.SeriesHostCPUUser, []int{user, nice}},
	{evidence.SeriesHostCPUSystem, []int{system}},
	{evidence.SeriesHostCPUIowait, []int{iowait}},
	{evidence.SeriesHostCPUSoftirq, []int{irq, softirq}},
	{evidence.SeriesHostCPUSteal, []int{steal}},
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
		return p.counter(value, &p.host, evidence.SeriesHostContextSwitches, "1/s")
	case "btime":
		n, ok := whole(value)
		p.btime = n
		return ok
	case "processes":
		return p.counter(value, &p.host, evidence.SeriesHostForks, "1/s")
	case "procs_running":
		return p.gauge(value, &p.host, evidence.SeriesHostProcsRunning, "1")
	case "procs_blocked":
		return p.gauge(value, &p.host, evidence.SeriesHostProcsBlocked, "1")
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
		p.put(&p.host, evidence.SeriesHostLoad1, "1", false, v)
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
		"cpu":    {evidence.SeriesHostPressureCPUSome, evidence.SeriesHostPressureCPUFull},
		"memory": {evidence.SeriesHostPressureMemorySome, evidence.SeriesHostPressureMemoryFull},
		"io":     {evidence.SeriesHostPressureIOSome, evidence.SeriesHostPressureIOFull},
	}
	groupPressure = map[string][2]string{
		"cpu.pressure":    {evidence.SeriesCgroupPressureCPUSome, evidence.SeriesCgroupPressureCPUFull},
		"memory.pressure": {evidence.SeriesCgroupPressureMemorySome, evidence.SeriesCgroupPressureMemoryFull},
		"io.pressure":     {evidence.SeriesCgroupPressureIOSome, evidence.SeriesCgroupPressureIOFull},
	}
)

// vmstatSeries are the counters of /proc/vmstat that become series.
var vmstatSeries = map[string]string{
	"pgfault":            evidence.SeriesHostFaults, // minor and major
	"pgmajfault":         evidence.SeriesHostMajorFaults,
	"pswpin":             evidence.SeriesHostSwapIn,
	"pswpout":            evidence.SeriesHostSwapOut,
	"pgsteal_kswapd":     evidence.SeriesHostReclaimBackground,
	"pgsteal_direct":     evidence.SeriesHostReclaimDirect,
	"compact_stall":      evidence.SeriesHostCompactStalls,
	"thp_fault_alloc":    evidence.SeriesHostTHPFaults,
	"thp_fault_fallback": evidence.SeriesHostTHPFallbacks,
	"thp_collapse_alloc": evidence.SeriesHostTHPCollapses,
	"thp_split_page":     evidence.SeriesHostTHPSplits,
	"oom_kill":           evidence.SeriesHostOOMKills,
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
			p.put(&p.host, evidence.SeriesHostMemoryAvailable, "bytes", false, v)
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
