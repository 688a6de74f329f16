package lab

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CPUSeconds returns the CPU time of a live process so far.
func CPUSeconds(pid int) float64 {
	p, err := statOf(pid)
	if err != nil {
		return 0
	}
	return p.user + p.system
}

// childPIDs returns the live children of a process.
func childPIDs(pid int) (all []int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	for _, f := range strings.Fields(string(b)) {
		if child, err := strconv.Atoi(f); err == nil {
			all = append(all, child)
		}
	}
	return all
}

// stat is what /proc/PID/stat says of a live process: proc_pid_stat(5).
type stat struct {
	user, system float64 // s
	minorFaults  int64
	threads      int
	resident     int64 // bytes
}

func statOf(pid int) (stat, error) {
	name := "/proc/" + strconv.Itoa(pid) + "/stat"
	b, err := os.ReadFile(name)
	if err != nil {
		return stat{}, err
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])) // the third field and later ones
	if len(f) < 22 {
		return stat{}, fmt.Errorf("%s: %d fields after the name", name, len(f))
	}
	number := func(field int) int64 {
		v, e := strconv.ParseInt(f[field-3], 10, 64)
		err = errors.Join(err, e)
		return v
	}
	const ticks = 100 // per second, on every Linux that Go runs on
	return stat{
		user: float64(number(14)) / ticks, system: float64(number(15)) / ticks,
		minorFaults: number(10), threads: int(number(20)), resident: number(24) * int64(os.Getpagesize()),
	}, err
}

// HostBusySeconds returns the CPU time of everything on the host so far, from the
// first line of /proc/stat; stolen is how much of it the hypervisor took.
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

// availableMemory returns how much memory the host can give, in MiB, from /proc/meminfo; false if
// that is not known.
func availableMemory() (available int, ok bool) {
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

// usage is the CPU time that the host and the lab's own processes have used up to an instant, s.
type usage struct{ busy, ours float64 }

// usageOf counts the given processes and this one as ours.
func usageOf(pids ...int) usage {
	busy, stolen := HostBusySeconds()
	u := usage{busy: busy + stolen, ours: CPUSeconds(os.Getpid())}
	for _, pid := range pids {
		u.ours += CPUSeconds(pid)
	}
	return u
}

// othersShare returns the share of the host's CPUs that other programs used between two
// instants, which are that many seconds apart.
func (u usage) othersShare(before usage, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return max(0, (u.busy-before.busy)-(u.ours-before.ours)) / seconds / float64(runtime.NumCPU())
}
