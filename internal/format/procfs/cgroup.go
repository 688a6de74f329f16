package procfs

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// cgroup is a control group some of whose files were read. Its path is that of
// version 2, or the controller and the path of version 1: /memory/docker/1a2b.
type cgroup struct {
	tracks
	path   string
	line   int64
	memory reading // limit in bytes, 0 none or not read
	high   reading // bytes from which on it is slowed down, 0 none or not read
	swap   reading // limit in bytes; no line: none or not read
	quota  reading // µs in a period, 0 none or not read
	period float64 // µs
}

var cgroupFiles = map[string]func(*parser, []byte) bool{
	"cpu.stat":              (*parser).cgroupCPU,
	"cpu.max":               (*parser).cgroupQuota,
	"cpu.cfs_quota_us":      (*parser).cgroupQuotaV1,
	"cpu.cfs_period_us":     (*parser).cgroupPeriod,
	"cpuacct.usage":         (*parser).cgroupUsage,
	"memory.max":            (*parser).cgroupMemory,
	"memory.limit_in_bytes": (*parser).cgroupMemory,
	"memory.current":        (*parser).cgroupCurrent,
	"memory.usage_in_bytes": (*parser).cgroupCurrent,
	"memory.events":         (*parser).cgroupEvents,
	"memory.failcnt":        (*parser).cgroupFailures,
	"memory.stat":           (*parser).cgroupMemoryStat,
	"memory.high":           (*parser).cgroupHigh,
	"memory.swap.max":       (*parser).cgroupSwapMax,
	"memory.swap.current":   (*parser).cgroupSwap,
	"cpuacct.stat":          (*parser).cgroupModes,
	"pids.current":          (*parser).cgroupTasks,
	"io.stat":               (*parser).cgroupIO,
	"irq.pressure":          (*parser).parsePressure,

	"blkio.throttle.io_service_bytes": (*parser).cgroupBytes,
	"blkio.throttle.io_serviced":      (*parser).cgroupRequests,
	"cpu.pressure":                    (*parser).parsePressure,
	"memory.pressure":                 (*parser).parsePressure,
	"io.pressure":                     (*parser).parsePressure,
}

// ownerOfGroups gives the only control groups that were read to a process of which nothing else is known. Version 1 has a
// directory for each controller.
func (p *parser) ownerOfGroups() {
	if len(p.processes) > 0 || len(p.cgroups) == 0 {
		return
	}
	groups := slices.SortedFunc(maps.Values(p.cgroups), func(x, y *cgroup) int { return cmp.Compare(x.line, y.line) })
	q := &process{line: groups[0].line}
	for _, g := range groups {
		if path.Base(g.path) == path.Base(groups[0].path) {
			q.cgroups = append(q.cgroups, g.path)
		}
	}
	p.processes = append(p.processes, q)
}

func (p *parser) openCgroup(name string) {
	dir, file := path.Split(path.Clean("/" + name))
	reader := cgroupFiles[file]
	if reader == nil {
		return
	}
	dir = path.Clean(strings.Replace(dir, "/cpu,cpuacct/", "/cpu/", 1))
	g := p.cgroups[dir]
	if g == nil {
		if len(p.cgroups) >= maxCgroups {
			p.dropped++
			return
		}
		g = &cgroup{path: dir, line: p.number}
		p.cgroups[dir] = g
	}
	p.group, p.reader, p.pressures = g, reader, groupPressure[file]
}

// cgroupCPU reads cpu.stat; version 1 counts throttled_time in ns.
func (p *parser) cgroupCPU(line []byte) bool {
	key, value, ok := cutKey(line)
	n, digits := format.ParseDigits(value)
	if !ok || !digits {
		return false
	}
	t := &p.group.tracks
	switch string(key) {
	case "usage_usec":
		p.addCounter(t, evidence.SeriesCgroupCPU, "cores", float64(n)/1e6)
	case "user_usec":
		p.addCounter(t, evidence.SeriesCgroupCPUUser, "cores", float64(n)/1e6)
	case "system_usec":
		p.addCounter(t, evidence.SeriesCgroupCPUSystem, "cores", float64(n)/1e6)
	case "nr_periods":
		p.addPeriods(float64(n))
		p.addCounter(t, evidence.SeriesCgroupCPUPeriods, "1/s", float64(n))
	case "nr_throttled":
		p.addCounter(t, evidence.SeriesCgroupCPUThrottledPeriods, "1/s", float64(n))
	case "throttled_usec":
		p.addCounter(t, evidence.SeriesCgroupCPUThrottled, "cores", float64(n)/1e6)
	case "throttled_time":
		p.addCounter(t, evidence.SeriesCgroupCPUThrottled, "cores", float64(n)/1e9)
	default:
		p.ignored++
	}
	return true
}

// cgroupUsage reads the CPU time of version 1, in ns.
func (p *parser) cgroupUsage(line []byte) bool {
	n, ok := format.ParseDigits(line)
	if ok {
		p.addCounter(&p.group.tracks, evidence.SeriesCgroupCPU, "cores", float64(n)/1e9)
	}
	return ok
}

// cgroupModes reads "user 12345" and "system 678" of version 1, in ticks.
func (p *parser) cgroupModes(line []byte) bool {
	key, value, ok := cutKey(line)
	n, digits := format.ParseDigits(value)
	if !ok || !digits {
		return false
	}
	name := evidence.SeriesCgroupCPUUser
	if string(key) == "system" {
		name = evidence.SeriesCgroupCPUSystem
	}
	p.addCounter(&p.group.tracks, name, "cores", float64(n)/hz)
	return true
}

func (p *parser) cgroupTasks(line []byte) bool {
	return p.parseGauge(line, &p.group.tracks, evidence.SeriesCgroupTasks, "1")
}

// ioKeys are the keys of io.stat that become series, summed over devices.
var ioKeys = map[string][2]string{
	"rbytes": {evidence.SeriesCgroupIORead, "bytes/s"}, "wbytes": {evidence.SeriesCgroupIOWritten, "bytes/s"},
	"rios": {evidence.SeriesCgroupIOReads, "1/s"}, "wios": {evidence.SeriesCgroupIOWrites, "1/s"},
}

// cgroupIO reads "8:0 rbytes=90430464 wbytes=299008000 rios=8950 wios=1252 dbytes=0 dios=0"; a
// device without I/O has only its number.
func (p *parser) cgroupIO(line []byte) bool {
	f := bytes.Fields(line)
	if len(f) == 0 || !bytes.Contains(f[0], []byte(":")) {
		return false
	}
	for _, x := range f[1:] {
		key, value, ok := bytes.Cut(x, []byte("="))
		if !ok {
			return false
		}
		if s, ok := ioKeys[string(key)]; ok {
			n, ok := format.ParseDigits(value)
			if !ok {
				return false
			}
			p.sumCounter(&p.group.tracks, s[0], s[1], float64(n))
		}
	}
	return true
}

func (p *parser) cgroupBytes(line []byte) bool {
	return p.cgroupDevice(line, "bytes/s", evidence.SeriesCgroupIORead, evidence.SeriesCgroupIOWritten)
}

func (p *parser) cgroupRequests(line []byte) bool {
	return p.cgroupDevice(line, "1/s", evidence.SeriesCgroupIOReads, evidence.SeriesCgroupIOWrites)
}

// cgroupDevice reads "8:0 Read 90430464" of version 1; Sync, Async and Total are the same again.
func (p *parser) cgroupDevice(line []byte, unit, read, written string) bool {
	f := bytes.Fields(line)
	if len(f) < 2 {
		return false
	}
	n, ok := format.ParseDigits(f[len(f)-1])
	switch string(f[len(f)-2]) {
	case "Read":
		p.sumCounter(&p.group.tracks, read, unit, float64(n))
	case "Write":
		p.sumCounter(&p.group.tracks, written, unit, float64(n))
	}
	return ok
}

// cgroupQuota reads "200000 100000", µs of CPU time in a period of that many µs, and
// "max 100000".
func (p *parser) cgroupQuota(line []byte) bool {
	quota, period, ok := bytes.Cut(line, []byte(" "))
	return ok && p.cgroupQuotaV1(quota) && p.cgroupPeriod(period)
}

// cgroupQuotaV1 reads µs; "-1", and "max" in version 2, is no quota.
func (p *parser) cgroupQuotaV1(line []byte) bool {
	if s := string(line); s == "max" || s == "-1" {
		p.group.quota = reading{0, p.number}
		return true
	}
	n, ok := format.ParseDigits(line)
	if ok {
		p.group.quota = reading{float64(n), p.number}
	}
	return ok
}

func (p *parser) cgroupPeriod(line []byte) bool {
	n, ok := format.ParseDigits(line)
	if ok {
		p.group.period = float64(n)
	}
	return ok
}

// isAbove says whether a path is this group's or one of a group below it.
func (g *cgroup) isAbove(at string) bool {
	return at == g.path || g.path == "/" || strings.HasPrefix(at, g.path+"/")
}

// quotaCPUs returns the quota in CPUs, 0 none.
func (g *cgroup) quotaCPUs() float64 {
	if g.period <= 0 {
		return 0
	}
	return g.quota.value / g.period
}

// cgroupMemory reads a limit: "max", or bytes; version 1 prints the largest
// number of whole pages for none.
func (p *parser) cgroupMemory(line []byte) bool {
	if string(line) == "max" {
		p.group.memory = reading{0, p.number}
		return true
	}
	n, ok := format.ParseDigits(line)
	if ok && n < 1<<60 {
		p.group.memory = reading{float64(n), p.number}
	}
	return ok
}

// cgroupHigh reads the size from which on a group is slowed down.
func (p *parser) cgroupHigh(line []byte) bool { return p.parseLimit(line, &p.group.high) }

// cgroupSwapMax reads how much may be swapped out; 0 is a limit, too.
func (p *parser) cgroupSwapMax(line []byte) bool { return p.parseLimit(line, &p.group.swap) }

// parseLimit reads a limit: "max", or bytes.
func (p *parser) parseLimit(line []byte, to *reading) bool {
	if string(line) == "max" {
		*to = reading{}
		return true
	}
	n, ok := format.ParseDigits(line)
	if ok {
		*to = reading{float64(n), p.number}
	}
	return ok
}

func (p *parser) cgroupSwap(line []byte) bool {
	return p.parseGauge(line, &p.group.tracks, evidence.SeriesCgroupSwap, "bytes")
}

func (p *parser) cgroupCurrent(line []byte) bool {
	return p.parseGauge(line, &p.group.tracks, evidence.SeriesCgroupMemory, "bytes")
}

// eventSeries are the counters of memory.events that become series.
var eventSeries = map[string]string{
	"high":     evidence.SeriesCgroupMemoryHigh, // times it was slowed down for memory.high
	"max":      evidence.SeriesCgroupMemoryMax,  // times it met its limit and had to reclaim
	"oom":      evidence.SeriesCgroupMemoryOOM,
	"oom_kill": evidence.SeriesCgroupMemoryOOMKills,
}

func (p *parser) cgroupEvents(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	name, ok := eventSeries[string(key)]
	if !ok {
		p.ignored++
		return true
	}
	return p.parseCounter(value, &p.group.tracks, name, "1/s")
}

// cgroupFailures reads version 1's count of times the limit was met.
func (p *parser) cgroupFailures(line []byte) bool {
	return p.parseCounter(line, &p.group.tracks, evidence.SeriesCgroupMemoryMax, "1/s")
}

// memoryGauges and memoryCounters are the lines of memory.stat that become series.
var (
	memoryGauges = map[string]string{
		"anon": evidence.SeriesCgroupMemoryAnonymous, "total_rss": evidence.SeriesCgroupMemoryAnonymous,
		"file": evidence.SeriesCgroupMemoryFiles, "total_cache": evidence.SeriesCgroupMemoryFiles,
		"file_dirty": evidence.SeriesCgroupMemoryDirty, "total_dirty": evidence.SeriesCgroupMemoryDirty,
		"file_writeback": evidence.SeriesCgroupMemoryWriteback, "total_writeback": evidence.SeriesCgroupMemoryWriteback,
		"anon_thp": evidence.SeriesCgroupMemoryHugePages, "total_rss_huge": evidence.SeriesCgroupMemoryHugePages,
		"total_swap": evidence.SeriesCgroupSwap,
	}
	memoryCounters = map[string]string{
		"pgscan_direct":           evidence.SeriesCgroupReclaimScanned,
		"pgsteal_direct":          evidence.SeriesCgroupReclaimDirect,
		"workingset_refault_anon": evidence.SeriesCgroupRefaultsAnonymous,
		"workingset_refault_file": evidence.SeriesCgroupRefaultsFiles,
		"pgmajfault":              evidence.SeriesCgroupMajorFaults, "total_pgmajfault": evidence.SeriesCgroupMajorFaults,
		"pgfault": evidence.SeriesCgroupFaults, "total_pgfault": evidence.SeriesCgroupFaults,
		"thp_fault_alloc": evidence.SeriesCgroupTHPFaults, "thp_collapse_alloc": evidence.SeriesCgroupTHPCollapses,
		"total_workingset_refault_anon": evidence.SeriesCgroupRefaultsAnonymous, "total_workingset_refault_file": evidence.SeriesCgroupRefaultsFiles,
	}
)

func (p *parser) cgroupMemoryStat(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	if name, ok := memoryGauges[string(key)]; ok {
		return p.parseGauge(value, &p.group.tracks, name, "bytes")
	}
	if name, ok := memoryCounters[string(key)]; ok {
		return p.parseCounter(value, &p.group.tracks, name, "1/s")
	}
	p.ignored++
	return true
}
