package linux

import (
	"bytes"
	"os"
	"path"
	"strings"
)

// Files of cgroups by the controller they belong to; "" is version 2, which has
// all in one place.
var (
	groupOften = map[string][]string{
		"":        {"cpu.stat", "cpu.pressure", "memory.pressure", "io.pressure", "irq.pressure", "memory.current"},
		"cpu":     {"cpu.stat"},
		"cpuacct": {"cpuacct.usage"},
		"memory":  {"memory.usage_in_bytes"},
	}
	groupSeldom = map[string][]string{
		"":        {"cpu.max", "memory.max", "memory.high", "memory.events", "memory.stat", "memory.swap.max", "memory.swap.current", "io.stat", "pids.current"},
		"cpu":     {"cpu.cfs_quota_us", "cpu.cfs_period_us"},
		"cpuacct": {"cpuacct.stat"},
		"memory":  {"memory.limit_in_bytes", "memory.failcnt", "memory.stat"},
		"blkio":   {"blkio.throttle.io_service_bytes", "blkio.throttle.io_serviced"},
		"pids":    {"pids.current"},
	}
	// groupLimits also limit the groups below.
	groupLimits = map[string][]string{
		"":       {"cpu.max", "memory.max", "memory.high", "memory.swap.max", "cpu.stat"},
		"cpu":    {"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.stat"},
		"memory": {"memory.limit_in_bytes"},
	}
)

// mostAncestors bounds how far up limits are looked for.
const mostAncestors = 12

// addGroupFiles adds the files of the process's cgroups and of the limits above them. They are
// recorded as /sys/fs/cgroup/PATH, version 1 as /sys/fs/cgroup/CONTROLLER/PATH, wherever they are
// mounted.
func (r *recorder) addGroupFiles() {
	b, err := os.ReadFile(r.process.dir + "/cgroup")
	if err != nil {
		return
	}
	mounts := cgroupMounts()
	for line := range bytes.Lines(b) {
		parts := strings.SplitN(strings.TrimRight(string(line), "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			m, ok := mounts[controller]
			if !ok || groupSeldom[controller] == nil {
				continue
			}
			at := path.Clean("/" + parts[2])
			r.group = append(r.group, m.groupFiles(controller, at, groupOften[controller], newFile)...)
			r.slow = append(r.slow, m.groupFiles(controller, at, groupSeldom[controller], newSparseFile)...)
			for range mostAncestors {
				if at == "/" {
					break
				}
				at = path.Dir(at)
				r.slow = append(r.slow, m.groupFiles(controller, at, groupLimits[controller], newSparseFile)...)
			}
		}
	}
}

// cgroupMount is where a hierarchy is mounted, and which of its groups is there.
type cgroupMount struct {
	root, point string
}

// cgroupMounts are the hierarchies by controller, "" is version 2; from
// /proc/self/mountinfo, proc_pid_mountinfo(5).
func cgroupMounts() map[string]cgroupMount {
	out := make(map[string]cgroupMount)
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return out
	}
	for line := range bytes.Lines(b) {
		before, after, ok := strings.Cut(string(line), " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 3 {
			continue
		}
		m := cgroupMount{root: f[3], point: f[4]}
		switch g[0] {
		case "cgroup2":
			out[""] = m
		case "cgroup":
			for o := range strings.SplitSeq(g[2], ",") {
				if groupSeldom[o] != nil {
					out[o] = m
				}
			}
		}
	}
	return out
}

// groupFiles returns those of some files of a group that exist.
func (m cgroupMount) groupFiles(controller, group string, names []string, of func(path, name string) *file) (out []*file) {
	below, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !ok || below != "" && below[0] != '/' {
		return nil // outside of what is mounted here
	}
	for _, name := range names {
		at := path.Join(m.point, below, name)
		if _, err := os.Stat(at); err == nil {
			out = append(out, of(at, path.Join("/sys/fs/cgroup", controller, group, name)))
		}
	}
	return out
}
