package lab

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CPUSeconds is the CPU time of a live process so far, from fields 14 and 15 of
// /proc/PID/stat; clock ticks are 10 ms on every Linux that Go runs on.
func CPUSeconds(pid int) float64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// HostBusySeconds is the CPU time of everything on the host so far, from the
// first line of /proc/stat; stolen says how much of it the hypervisor took.
func HostBusySeconds() (busy, stolen float64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	first, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(first)
	for i, s := range f {
		v, _ := strconv.ParseFloat(s, 64)
		switch i {
		case 0, 4, 5: // "cpu", idle, iowait
		case 8:
			stolen = v / 100
		case 9, 10: // guests are part of user and nice
		default:
			busy += v / 100
		}
	}
	return busy, stolen
}

// memory is what the host could give, in MiB, from /proc/meminfo; false where
// that is not known.
func memory() (available int, ok bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kib, err := strconv.Atoi(f[1])
			return kib >> 10, err == nil
		}
	}
	return 0, false
}

// usage is who used the host's processors up to an instant, s.
type usage struct{ busy, ours float64 }

// usageOf counts the lab's own processes and this one as ours.
func usageOf(pids ...int) usage {
	busy, stolen := HostBusySeconds()
	u := usage{busy: busy + stolen, ours: CPUSeconds(os.Getpid())}
	for _, pid := range pids {
		u.ours += CPUSeconds(pid)
	}
	return u
}

// others is the share of the host's processors that others used between two
// instants that many seconds apart.
func (u usage) others(before usage, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return max(0, (u.busy-before.busy)-(u.ours-before.ours)) / seconds / float64(runtime.NumCPU())
}
