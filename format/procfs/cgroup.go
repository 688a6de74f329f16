package procfs

import (
	"path"
	"strings"
)

// cgroup is a control group some of whose files were read. Its path is that of
// version 2, or the controller and the path of version 1: /memory/docker/1a2b.
type cgroup struct {
	tracks
	path   string
	line   int64
	memory float64 // limit in bytes, 0 none or not read
}

var cgroupFiles = map[string]func(*parser, []byte) bool{
	"cpu.stat":              (*parser).cgroupCPU,
	"memory.max":            (*parser).cgroupMemory,
	"memory.limit_in_bytes": (*parser).cgroupMemory,
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
	p.group, p.reader = g, reader
}

// cgroupCPU reads cpu.stat; version 1 counts throttled_time in ns.
func (p *parser) cgroupCPU(line []byte) bool {
	key, value, ok := keyed(line)
	n, digits := whole(value)
	if !ok || !digits {
		return false
	}
	t := &p.group.tracks
	switch string(key) {
	case "usage_usec":
		p.count(t, "cgroup.cpu", "cores", float64(n)/1e6)
	case "nr_periods":
		p.count(t, "cgroup.cpu.periods", "1/s", float64(n))
	case "nr_throttled":
		p.count(t, "cgroup.cpu.throttledPeriods", "1/s", float64(n))
	case "throttled_usec":
		p.count(t, "cgroup.cpu.throttled", "cores", float64(n)/1e6)
	case "throttled_time":
		p.count(t, "cgroup.cpu.throttled", "cores", float64(n)/1e9)
	default:
		p.ignored++
	}
	return true
}

// cgroupMemory reads a limit: "max", or bytes; version 1 prints the largest
// number of whole pages for none.
func (p *parser) cgroupMemory(line []byte) bool {
	if string(line) == "max" {
		return true
	}
	n, ok := whole(line)
	if ok && n < 1<<60 {
		p.group.memory = float64(n)
	}
	return ok
}
