package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
)

// process is the one recorded. Its stat file is kept open: that file is of this
// process and never of another that is given the same number.
type process struct {
	pid  int
	dir  string // "/proc/4711"
	fd   int    // of stat
	room [1024]byte
}

// ticksPerSecond is USER_HZ, 100 on all of Go's architectures.
const ticksPerSecond = 100

// startSlack is by how much two tellings of a process's start may differ: boot
// time is in whole seconds, and moves when the clock is set.
const startSlack = 3 * time.Second

// openProcess opens a target's process. It is an error if the number has been
// given to another one since the target was found.
func openProcess(t discover.Target) (*process, error) {
	p := &process{pid: t.PID, dir: fmt.Sprintf("/proc/%d", t.PID)}
	var err error
	p.fd, err = syscall.Open(p.dir+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH) {
			return nil, fmt.Errorf("pid %d: no such process: it has ended", t.PID)
		}
		return nil, fmt.Errorf("%s/stat: %w", p.dir, err)
	}
	started, ok := p.startTime()
	if d := started.Sub(t.Start); ok && !t.Start.IsZero() && (d > startSlack || d < -startSlack) {
		p.close()
		return nil, fmt.Errorf("pid %d: it ended, and since %s another process has this id: give the process's name instead", t.PID, started.UTC().Format(time.TimeOnly))
	}
	return p, nil
}

func (p *process) close() { _ = syscall.Close(p.fd) }

// readStat returns the fields after the name in the stat file, the state first.
func (p *process) readStat() (rest []byte, ok bool) {
	n, err := syscall.Pread(p.fd, p.room[:], 0)
	for err == syscall.EINTR {
		n, err = syscall.Pread(p.fd, p.room[:], 0)
	}
	if err != nil || n <= 0 {
		return nil, false
	}
	i := bytes.LastIndexByte(p.room[:n], ')')
	if i < 0 || i+2 >= n {
		return nil, false
	}
	return p.room[i+2 : n], true
}

// isAlive says whether the process runs: one that ended and was not waited for (state Z) does not.
func (p *process) isAlive() bool {
	rest, ok := p.readStat()
	return ok && rest[0] != 'Z' && rest[0] != 'X'
}

// residentBytes returns how much of the process is in memory, from field 24 of its stat file; 0 if
// it is unknown.
func (p *process) residentBytes() int64 {
	rest, ok := p.readStat()
	f := bytes.Fields(rest)
	if !ok || len(f) <= 24-3 {
		return 0
	}
	pages, err := strconv.ParseInt(string(f[24-3]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// startTime returns when the process was started, from field 22 of its stat file.
func (p *process) startTime() (time.Time, bool) {
	rest, ok := p.readStat()
	if !ok {
		return time.Time{}, false
	}
	f := bytes.Fields(rest)
	boot, ok := bootTime()
	if len(f) < 20 || !ok {
		return time.Time{}, false
	}
	ticks, err := strconv.ParseInt(string(f[22-3]), 10, 64)
	return boot.Add(time.Duration(ticks) * (time.Second / ticksPerSecond)), err == nil
}

func bootTime() (time.Time, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	_, rest, ok := strings.Cut(string(b), "\nbtime ")
	first, _, _ := strings.Cut(rest, "\n")
	s, err := strconv.ParseInt(first, 10, 64)
	return time.Unix(s, 0), ok && err == nil
}

// buildSubject returns the subject of the process's artifacts, with its start as /proc has it.
func (p *process) buildSubject(t discover.Target) evidence.Subject {
	if started, ok := p.startTime(); ok {
		t.Start = started
	}
	return t.Subject()
}
