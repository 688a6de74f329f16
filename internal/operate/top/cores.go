package top

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// Cores returns how many CPUs a process of this host may use; 0: unknown.
func Cores(pid int) float64 { return readCores("/proc", "/sys/fs/cgroup", pid) }

// readCores returns how many CPUs a process may use: those in its affinity mask, limited by the
// CPU quotas of its cgroups. 0: unknown.
func readCores(root, groups string, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("%s/%d/status", root, pid))
	if err != nil {
		return 0
	}
	_, list, _ := bytes.Cut(status, []byte("\nCpus_allowed_list:"))
	list, _, _ = bytes.Cut(list, []byte("\n"))
	n := float64(countListed(strings.TrimSpace(string(list))))
	member, err := os.ReadFile(fmt.Sprintf("%s/%d/cgroup", root, pid))
	if err != nil {
		return n
	}
	for lines := bufio.NewScanner(bytes.NewReader(member)); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3) // "0::/a", of version 1 "4:cpu,cpuacct:/a"
		if len(parts) != 3 {
			continue
		}
		mount := groups
		if parts[1] != "" {
			if !strings.Contains(","+parts[1]+",", ",cpu,") {
				continue
			}
			mount = path.Join(groups, "cpu")
		}
		for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) { // a group above may have less
			if q := readQuota(path.Join(mount, dir)); q > 0 && q < n {
				n = q
			}
			if dir == "/" {
				break
			}
		}
	}
	return n
}

// readQuota returns how many CPUs a control group may use, 0: no limit.
func readQuota(dir string) float64 {
	var text [2]string
	if max, err := os.ReadFile(path.Join(dir, "cpu.max")); err == nil {
		copy(text[:], strings.Fields(string(max)))
	} else {
		for i, name := range []string{"cpu.cfs_quota_us", "cpu.cfs_period_us"} {
			b, _ := os.ReadFile(path.Join(dir, name))
			text[i] = strings.TrimSpace(string(b))
		}
	}
	allowed, err := strconv.ParseFloat(text[0], 64) // "max", −1: no limit
	period, err2 := strconv.ParseFloat(text[1], 64)
	if err != nil || err2 != nil || allowed <= 0 || period <= 0 {
		return 0
	}
	return allowed / period
}

// countListed returns how many numbers a list like "0-3,8" names.
func countListed(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		low, high, ok := strings.Cut(part, "-")
		if !ok {
			high = low
		}
		a, err := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if err == nil && err2 == nil && b >= a {
			n += b - a + 1
		}
	}
	return n
}
