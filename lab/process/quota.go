package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// Quota is a control group with a CPU quota, a memory limit or a limit of writes, made for one program.
type Quota struct{ dir string }

const (
	quotaPeriod = 100_000 // µs, as in Kubernetes and Docker
	groupPrefix = "unstall-lab-"
)

// ErrNoQuota says that this host or user cannot set a CPU quota.
var ErrNoQuota = errors.New("no cgroup with a CPU quota can be made: run it as root where /sys/fs/cgroup is writable and hands out the cpu controller")

type hierarchy struct{ dir, file, after string }

// hierarchies are where groups with a quota are made: version 2, then version 1
// if /sys/fs/cgroup itself is no group.
var hierarchies = []hierarchy{
	{"/sys/fs/cgroup", "cpu.max", " " + strconv.Itoa(quotaPeriod)},
	{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", ""},
}

// made counts the groups of this process, so that their names differ.
var made atomic.Int64

// ErrNoMemory says that this host or user cannot limit memory.
var ErrNoMemory = errors.New("no cgroup with a memory limit can be made: run it as root where /sys/fs/cgroup is writable and hands out the memory controller")

// NewQuota makes a group whose processes may use that many CPUs.
func NewQuota(cpus float64) (*Quota, error) {
	return newGroup(hierarchies, int64(cpus*quotaPeriod), ErrNoQuota)
}

// memories are where groups with a memory limit are made.
var memories = []hierarchy{
	{"/sys/fs/cgroup", "memory.max", ""},
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", ""},
}

// NewMemory makes a group whose processes may use that many MiB of memory, including files that they
// read.
func NewMemory(mib int) (*Quota, error) { return newGroup(memories, int64(mib)<<20, ErrNoMemory) }

// ErrNoIOPS says that this host or user cannot limit writes.
var ErrNoIOPS = errors.New("no cgroup with a limit of writes can be made: run it as root where /sys/fs/cgroup is writable and hands out the blkio or io controller, on a file system of a disk")

// NewIOPS makes a group whose processes may do that many writes a second to the disk of a folder.
// The kernel allows some at once and then none for a while, as cloud volumes do.
func NewIOPS(dir string, writes int) (*Quota, error) {
	disk, err := diskOf(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoIOPS, err)
	}
	for _, h := range []struct{ dir, file, before string }{
		{"/sys/fs/cgroup", "io.max", disk + " wiops="},
		{"/sys/fs/cgroup/blkio", "blkio.throttle.write_iops_device", disk + " "},
	} {
		q, err := newLimited(hierarchy{h.dir, h.file, ""}, h.before+strconv.Itoa(writes))
		if q != nil || err != nil {
			return q, err
		}
	}
	return nil, ErrNoIOPS
}

func newGroup(hierarchies []hierarchy, limit int64, none error) (*Quota, error) {
	for _, h := range hierarchies {
		q, err := newLimited(h, strconv.FormatInt(limit, 10)+h.after)
		if q != nil || err != nil {
			return q, err
		}
	}
	return nil, none
}

// newLimited makes a group of one hierarchy; nil where the hierarchy has no such limit.
func newLimited(h hierarchy, limit string) (*Quota, error) {
	left, _ := filepath.Glob(filepath.Join(h.dir, groupPrefix+"*"))
	for _, dir := range left {
		if !makerLives(dir) {
			os.Remove(dir) // groups in use stay
		}
	}
	q := &Quota{filepath.Join(h.dir, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), made.Add(1)))}
	if os.Mkdir(q.dir, 0o755) != nil {
		return nil, nil //nolint:nilerr // no quota can be set here
	}
	err := writeExisting(filepath.Join(q.dir, h.file), limit)
	if err == nil {
		_, err = os.Stat(q.membersFile()) // a folder that is no group has no such file
	}
	if err == nil {
		return q, nil
	}
	return nil, q.Remove()
}

// makerLives says whether the process that made a group still runs: it may be about to put a
// program into it.
func makerLives(dir string) bool {
	pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// Prefer gives the group the highest weight, so that other programs on the host do not take CPU from
// its processes.
func (q *Quota) Prefer() error {
	for file, most := range map[string]string{"cpu.weight": "10000", "cpu.shares": "262144"} { // of version 2 and version 1
		if at := filepath.Join(q.dir, file); fileExists(at) {
			return writeExisting(at, most)
		}
	}
	return nil
}

// membersFile returns the file that lists a group's processes, and takes one more.
func (q *Quota) membersFile() string { return filepath.Join(q.dir, "cgroup.procs") }

// Add puts a process into the group.
func (q *Quota) Add(pid int) error { return writeExisting(q.membersFile(), strconv.Itoa(pid)) }

// writeExisting writes to a file that exists and creates none: in a folder that is no cgroup a new
// file would look like success.
func writeExisting(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Files returns the paths of the files that describe the quota.
func (q *Quota) Files() (out []string) {
	for _, name := range []string{"cpu.stat", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"} {
		at := filepath.Join(q.dir, name)
		if fileExists(at) {
			out = append(out, at)
		}
	}
	return out
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Membership keeps only this group's line of /proc/PID/cgroup: the other lines describe the
// recorder's own environment.
func (q *Quota) Membership(groups []byte) (line []byte) {
	for l := range strings.Lines(string(groups)) {
		if strings.HasSuffix(strings.TrimSpace(l), "/"+filepath.Base(q.dir)) {
			line = append(line, l...)
		}
	}
	return line
}

// Remove removes the group; processes that are still in it move to its parent.
func (q *Quota) Remove() error {
	if q == nil {
		return nil
	}
	pids, _ := os.ReadFile(q.membersFile())
	for _, pid := range strings.Fields(string(pids)) {
		writeExisting(filepath.Join(filepath.Dir(q.dir), "cgroup.procs"), pid)
	}
	if err := os.Remove(q.dir); err != nil {
		return fmt.Errorf("a cgroup is left behind: %w", err)
	}
	return nil
}
