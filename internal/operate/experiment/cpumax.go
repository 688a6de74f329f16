package experiment

import (
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// The CPU limit of the target's cgroup: cpu.max of version 2, "QUOTA PERIOD" or "max PERIOD"
// (https://docs.kernel.org/admin-guide/cgroup-v2.html), and cpu.cfs_quota_us of version 1, in µs per period or -1
// (https://docs.kernel.org/scheduler/sched-bwc.html). The period stays as it is. A value reads as the user
// types it: CPUs or "max".
var cpuMax = &Setting{
	Name: "cpu.max", About: "the CPU limit of the target's cgroup", Values: "CPUs such as 1.5, or max",
	Settle: 500 * time.Millisecond, Find: findQuota, Value: quotaValue, Read: readQuota, Write: writeQuota,
}

const (
	version2 = "cpu.max"
	version1 = "cpu.cfs_quota_us"
	period1  = "cpu.cfs_period_us"

	leastQuota = 1000 // µs: min_cfs_quota_period of kernel/sched/core.c
)

func findQuota(ctx context.Context, t discover.Target, name string) (Place, error) {
	p := Place{Name: name}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", t.PID))
	if err != nil {
		return p, fmt.Errorf("pid %d: %w", t.PID, ErrGone)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return p, err
	}
	group := ""
	for _, at := range quotaFiles(string(groups), string(mounts)) {
		if _, err := os.Stat(at.file); err == nil {
			p.File, group = at.file, at.group
			break
		}
	}
	own := newUseError("pid %d has no cgroup of its own for a CPU limit: start it in one, such as with systemd-run --scope", t.PID)
	if p.File == "" {
		return p, own
	}
	if err := checkWritable(p.File); err != nil {
		return p, err
	}
	if group == "/" { // the host's root group or, in a container, its own: only the kernel can tell
		if now, err := readFile(p.File); err != nil || writeFile(p.File, now) != nil {
			return p, own
		}
	}
	members, err := readFile(filepath.Join(filepath.Dir(p.File), "cgroup.procs"))
	if err != nil {
		return p, err
	}
	pids := strings.Fields(members)
	for _, pid := range pids {
		if pid == strconv.Itoa(os.Getpid()) {
			return p, newUseError("unstall itself is in the cgroup %s of pid %d, so the limit would also slow unstall: run it from another session", group, t.PID)
		}
	}
	p.Affects = fmt.Sprintf("the cgroup %s with its %d processes", group, len(pids))
	if len(pids) == 1 {
		p.Affects = fmt.Sprintf("the cgroup %s of only pid %d", group, t.PID)
	}
	return p, nil
}

// quotaFile is a file that may exist, and the group it belongs to.
type quotaFile struct{ file, group string }

// quotaFiles returns the files that may hold the CPU limit of a process's group, from its
// /proc/PID/cgroup and the mounts of /proc/self/mountinfo: cgroups(7).
func quotaFiles(groups, mounts string) (all []quotaFile) {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		name := version2
		if parts[1] != "" {
			name = version1
			if !listContains(parts[1], "cpu") {
				continue
			}
		}
		for mount := range strings.Lines(mounts) {
			before, after, ok := strings.Cut(mount, " - ")
			f, g := strings.Fields(before), strings.Fields(after)
			if !ok || len(f) < 5 || len(g) < 3 {
				continue
			}
			is := g[0] == "cgroup2" && name == version2 || g[0] == "cgroup" && name == version1 && listContains(g[2], "cpu")
			group := path.Clean("/" + parts[2])
			below, inside := strings.CutPrefix(group, strings.TrimSuffix(f[3], "/"))
			if is && inside && (below == "" || below[0] == '/') {
				all = append(all, quotaFile{path.Join(f[4], below, name), group})
			}
		}
	}
	return all
}

func listContains(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

const unlimited = "max"

func quotaValue(_ context.Context, p Place, typed string) (string, error) {
	if typed == unlimited {
		return unlimited, nil
	}
	_, period, err := quotaOf(p)
	if err != nil {
		return "", err
	}
	cpus, err := strconv.ParseFloat(typed, 64)
	quota := math.Round(cpus * float64(period))
	if err != nil || !(quota >= leastQuota) || quota > 1e9 {
		return "", newUseError("give a number of CPUs such as 1.5, at least %g, or max", float64(leastQuota)/float64(period))
	}
	return cpusOf(int64(quota), period), nil
}

func cpusOf(quota, period int64) string {
	if quota < 0 {
		return unlimited
	}
	return strconv.FormatFloat(float64(quota)/float64(period), 'g', 6, 64)
}

// quotaOf returns the quota and the period of a cgroup in µs; a quota of −1 means no limit.
func quotaOf(p Place) (quota, period int64, err error) {
	text, err := readFile(p.File)
	if err != nil {
		return 0, 0, err
	}
	f := strings.Fields(text)
	if filepath.Base(p.File) == version1 {
		other, err := readFile(filepath.Join(filepath.Dir(p.File), period1))
		if err != nil {
			return 0, 0, err
		}
		f = append(f, other)
	}
	if len(f) != 2 {
		return 0, 0, fmt.Errorf("%s is not a quota and a period: %.40q", p.File, text)
	}
	quota = -1
	if f[0] != unlimited {
		if quota, err = strconv.ParseInt(f[0], 10, 64); err != nil {
			return 0, 0, fmt.Errorf("%s is not a quota: %.40q", p.File, text)
		}
	}
	if period, err = strconv.ParseInt(f[1], 10, 64); err != nil || period <= 0 {
		return 0, 0, fmt.Errorf("%s has no period: %.40q", p.File, text)
	}
	return quota, period, nil
}

func readQuota(_ context.Context, p Place) (string, error) {
	quota, period, err := quotaOf(p)
	if err != nil {
		return "", err
	}
	return cpusOf(quota, period), nil
}

func writeQuota(_ context.Context, p Place, value string) error {
	_, period, err := quotaOf(p)
	if err != nil {
		return err
	}
	text := unlimited
	if value != unlimited {
		cpus, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return err
		}
		text = strconv.FormatInt(int64(math.Round(cpus*float64(period))), 10)
	} else if filepath.Base(p.File) == version1 {
		text = "-1"
	}
	// Version 2 keeps the period where only a quota is written.
	return writeFile(p.File, text)
}
