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
	quotaPeriod = 100_000 // µs, what Kubernetes and Docker use
	groupPrefix = "unstall-lab-"
)

// ErrNoQuota says that this host, or this user, can give nobody a quota.
var ErrNoQuota = errors.New("no cgroup with a CPU quota can be made: run it as root where /sys/fs/cgroup is writable and hands out the cpu controller")

type hierarchy struct{ dir, file, after string }

// hierarchies are where groups with a quota are made: version 2, then version 1,
// where /sys/fs/cgroup itself is no group.
var hierarchies = []hierarchy{
	{"/sys/fs/cgroup", "cpu.max", " " + strconv.Itoa(quotaPeriod)},
	{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", ""},
}

// made counts the groups of this process, whose names must differ.
var made atomic.Int64

// ErrNoMemory says that this host, or this user, can limit nobody's memory.
var ErrNoMemory = errors.New("no cgroup with a memory limit can be made: run it as root where /sys/fs/cgroup is writable and hands out the memory controller")

// NewQuota makes a group whose processes may use so many CPUs.
func NewQuota(cpus float64) (*Quota, error) {
	return newGroup(hierarchies, int64(cpus*quotaPeriod), ErrNoQuota)
}

// memories are where groups with a memory limit are made.
var memories = []hierarchy{
	{"/sys/fs/cgroup", "memory.max", ""},
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", ""},
}

// NewMemory makes a group whose processes may have so many MiB of memory, files that they read
// included.
func NewMemory(mib int) (*Quota, error) { return newGroup(memories, int64(mib)<<20, ErrNoMemory) }

// ErrNoIOPS says that this host, or this user, can slow nobody's disk down.
var ErrNoIOPS = errors.New("no cgroup with a limit of writes can be made: run it as root where /sys/fs/cgroup is writable and hands out the blkio or io controller, on a file system of a disk")

// NewIOPS makes a group whose processes may do so many writes a second to the disk that a folder
// is on. The kernel lets them do some at once and then none for a while, as the volumes of clouds do.
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

// newLimited makes a group of one hierarchy; nil where that has none with such a limit.
func newLimited(h hierarchy, limit string) (*Quota, error) {
	left, _ := filepath.Glob(filepath.Join(h.dir, groupPrefix+"*"))
	for _, dir := range left {
		if !makerLives(dir) {
			os.Remove(dir) // those in use stay
		}
	}
	q := &Quota{filepath.Join(h.dir, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), made.Add(1)))}
	if os.Mkdir(q.dir, 0o755) != nil {
		return nil, nil
	}
	err := writeExisting(filepath.Join(q.dir, h.file), limit)
	if err == nil {
		_, err = os.Stat(q.membersFile()) // a folder that is no group has none
	}
	if err == nil {
		return q, nil
	}
	return nil, q.Remove()
}

// makerLives says whether who made a group still runs: it may be about to put a program
// into it.
func makerLives(dir string) bool {
	pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// Prefer gives the group the most weight there is: what others do on the host is then no part
// of what its processes lack.
func (q *Quota) Prefer() error {
	for file, most := range map[string]string{"cpu.weight": "10000", "cpu.shares": "262144"} { // of version 2, of version 1
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

// writeExisting writes to a file that exists and creates none: in a folder that is no cgroup that
// would look like success.
func writeExisting(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Files are those that tell of the quota.
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

// Membership keeps this group's line of /proc/PID/cgroup: the others say where who
// started the program ran.
func (q *Quota) Membership(groups []byte) (line []byte) {
	for l := range strings.Lines(string(groups)) {
		if strings.HasSuffix(strings.TrimSpace(l), "/"+filepath.Base(q.dir)) {
			line = append(line, l...)
		}
	}
	return line
}

// Remove takes the group away, whoever still is in it: they go one up.
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
