package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const quotaPeriod = 100_000 // µs, what Kubernetes and Docker use

// withQuota puts a process into a control group of its own that may use so many
// CPUs; remove takes the group away when the process has ended.
func withQuota(pid int, cpus float64) (remove func(), err error) {
	quota := strconv.Itoa(int(cpus * quotaPeriod))
	for _, h := range []struct{ dir, file, line, weight, most string }{
		{"/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%s %d", quota, quotaPeriod), "cpu.weight", "10000"},
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", quota, "cpu.shares", "262144"},
	} {
		dir := filepath.Join(h.dir, "thirdparty-"+strconv.Itoa(pid))
		if err = os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		if err = errors.Join(put(filepath.Join(dir, h.file), h.line), put(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid))); err == nil {
			_ = put(filepath.Join(dir, h.weight), h.most) // what others do on this machine shall not matter
			return func() {
				left, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
				for _, pid := range strings.Fields(string(left)) {
					_ = put(filepath.Join(h.dir, "cgroup.procs"), pid)
				}
				_ = os.Remove(dir)
			}, nil
		}
		_ = os.Remove(dir)
	}
	return nil, fmt.Errorf("no control group with a CPU quota can be made (as root?): %w", err)
}

// put does not create: in a folder that is no control group that would look like success.
func put(file, line string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
