package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cgroup is a control group with a CPU quota, made for one service.
type cgroup struct{ dir string }

const (
	quotaPeriod = 100_000 // µs, what Kubernetes and Docker use
	groupPrefix = "unstall-record-"
)

// errNoQuota says that this host, or this user, can give nobody a quota.
var errNoQuota = errors.New("no cgroup with a CPU quota can be made: run it as root where /sys/fs/cgroup is writable and hands out the cpu controller")

// hierarchies are where groups with a quota are made: version 2, then version 1,
// where /sys/fs/cgroup itself is no group.
var hierarchies = []struct{ dir, file, after string }{
	{"/sys/fs/cgroup", "cpu.max", " " + strconv.Itoa(quotaPeriod)},
	{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", ""},
}

// withQuota puts a process into a group of its own that may use so many CPUs.
func withQuota(pid int, cpus float64) (*cgroup, error) {
	for _, h := range hierarchies {
		left, _ := filepath.Glob(filepath.Join(h.dir, groupPrefix+"*"))
		for _, dir := range left {
			os.Remove(dir) // of a recorder that was killed; those in use stay
		}
		g := &cgroup{filepath.Join(h.dir, groupPrefix+strconv.Itoa(pid))}
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		err := g.write(h.file, strconv.Itoa(int(cpus*quotaPeriod))+h.after)
		if err == nil {
			err = g.write("cgroup.procs", strconv.Itoa(pid))
		}
		if err == nil {
			return g, nil
		}
		if err := g.remove(); err != nil {
			return nil, err
		}
	}
	return nil, errNoQuota
}

// write does not create: in a folder that is no cgroup that would look like success.
func (g *cgroup) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// files are those that tell of the quota.
func (g *cgroup) files() (out []string) {
	for _, name := range []string{"cpu.stat", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"} {
		at := filepath.Join(g.dir, name)
		if _, err := os.Stat(at); err == nil {
			out = append(out, at)
		}
	}
	return out
}

// membership keeps this group's line of /proc/PID/cgroup: the others say where
// the recorder ran.
func (g *cgroup) membership(groups []byte) (line []byte) {
	for l := range strings.Lines(string(groups)) {
		if strings.HasSuffix(strings.TrimSpace(l), "/"+filepath.Base(g.dir)) {
			line = append(line, l...)
		}
	}
	return line
}

// remove takes the group away, whoever still is in it: they go one up.
func (g *cgroup) remove() error {
	if g == nil {
		return nil
	}
	pids, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	for _, pid := range strings.Fields(string(pids)) {
		up := &cgroup{filepath.Dir(g.dir)}
		up.write("cgroup.procs", pid)
	}
	if err := os.Remove(g.dir); err != nil {
		return fmt.Errorf("a cgroup is left behind: %w", err)
	}
	return nil
}
