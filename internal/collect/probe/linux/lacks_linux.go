package linux

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/unstall/unstall/internal/collect/probe"
)

// kernelLacks are the data about a process that this kernel, or its configuration, does not give.
func kernelLacks(dir string) (out []probe.Lack) {
	const onHost = "run unstall on the host itself"
	if b, err := os.ReadFile("/proc/pressure/cpu"); err != nil || len(b) == 0 { // with psi=0 the file exists and cannot be read
		out = append(out, probe.Lack{What: "pressure (time in which threads waited for CPU, memory or disk)", Why: "this kernel does not measure it", Do: "boot with psi=1 (Linux 4.20 and later)"})
	}
	if b, err := os.ReadFile("/proc/self/schedstat"); err != nil || strings.HasPrefix(string(b), "0 0 0") {
		out = append(out, probe.Lack{What: "how long its threads waited for a CPU", Why: "this kernel does not count it", Do: "a kernel with CONFIG_SCHED_INFO"})
	}
	for _, x := range []struct{ what, file string }{
		{"disks", "/proc/diskstats"},
		{"memory of the host", "/proc/vmstat"},
		{"settings of huge pages", hugePages},
	} {
		switch _, err := os.Stat(x.file); {
		case x.file == hugePages && !hasHugePages(): // there are no huge pages to set
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, probe.Lack{What: x.what, Why: x.file + " is not here", Do: onHost})
		case err == nil && x.file != hugePages && isDenied(x.file):
			out = append(out, probe.Lack{What: x.what, Why: x.file + " may not be read", Do: onHost})
		}
	}
	if b, err := os.ReadFile(dir + "/cgroup"); err == nil {
		out = append(out, groupLacks(string(b), cgroupMounts())...)
	}
	return out
}

const hugePages = "/sys/kernel/mm/transparent_hugepage"

// hasHugePages says whether the kernel counts transparent huge pages, as every kernel with them does.
func hasHugePages() bool {
	b, err := os.ReadFile("/proc/vmstat")
	return err == nil && strings.Contains(string(b), "\nthp_fault_alloc ")
}

// groupLacks are the data that a process's control group does not count although others do.
func groupLacks(groups string, mounts map[string]cgroupMount) (out []probe.Lack) {
	if !groupsHere(groups, mounts) {
		return []probe.Lack{{What: "limits and throttling of its cgroup", Why: "the files of control groups are not at /sys/fs/cgroup here", Do: "mount the host's /sys/fs/cgroup into this container"}}
	}
	m, ok := mounts[""]
	if !ok || len(mounts) > 1 { // version 1 has all controllers everywhere
		return nil
	}
	_, at, ok := strings.Cut("\n"+groups, "\n0::")
	at, _, _ = strings.Cut(at, "\n")
	if at = path.Clean("/" + at); !ok || at == "/" || len(m.groupFiles("", at, []string{"cgroup.procs"}, newFile)) == 0 {
		return nil
	}
	for _, x := range []struct{ controller, file, what string }{
		{"io", "io.stat", "disk I/O of its cgroup"},
		{"memory", "memory.stat", "memory of its cgroup"},
		{"cpu", "cpu.max", "CPU quota of its cgroup"},
	} {
		if len(m.groupFiles("", at, []string{x.file}, newFile)) == 0 {
			above := path.Join(m.point, strings.TrimPrefix(path.Dir(at), strings.TrimSuffix(m.root, "/")), "cgroup.subtree_control")
			out = append(out, probe.Lack{What: x.what, Why: "the controller " + x.controller + " is off for " + at, Do: "echo +" + x.controller + " | sudo tee " + above})
		}
	}
	return out
}

// groupsHere says whether the files of any of a process's groups exist here. A later mount may hide a hierarchy, and a group may be
// invisible in a container.
func groupsHere(groups string, mounts map[string]cgroupMount) bool {
	any := false
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if _, limits := groupSeldom[controller]; !limits {
				continue
			}
			any = true
			if m, ok := mounts[controller]; ok && len(m.groupFiles(controller, path.Clean("/"+parts[2]), []string{"cgroup.procs"}, newFile)) > 0 {
				return true
			}
		}
	}
	return !any
}
