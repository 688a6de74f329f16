package linux

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/unstall/unstall/internal/base/sorting"
)

// busyList finds in every process's stat the processes that have used CPU time since the recording began.
type busyList struct {
	ticks map[int]int64 // CPU time of each process when it was listed first
}

// used is the CPU time that a process has used since.
type used struct {
	pid, parent int
	ticks       int64
}

// listBusy returns the processes that used [leastTicks] or more since they were first listed, the busiest first. The first call
// returns none.
func (l *busyList) listBusy(sections []byte, first bool) (all []used) {
	if l.ticks == nil {
		l.ticks = make(map[int]int64)
	}
	eachStat(sections, func(pid, parent int, ticks int64) {
		was, known := l.ticks[pid]
		if !known {
			if first {
				was = ticks
			}
			l.ticks[pid] = was // 0 for a process that began since
		}
		if ticks < was {
			l.ticks[pid], was = 0, 0 // another process has its PID
		}
		if ticks-was >= leastTicks {
			all = append(all, used{pid, parent, ticks - was})
		}
	})
	sorting.Short(all, func(a, b used) int { return cmp.Or(cmp.Compare(b.ticks, a.ticks), cmp.Compare(a.pid, b.pid)) })
	return all
}

// eachStat finds processes, their parents and their CPU time among the sections that were read: fields 4, 14 and 15 of
// proc_pid_stat(5).
func eachStat(sections []byte, each func(pid, parent int, ticks int64)) {
	for line := range bytes.Lines(sections) {
		i := bytes.LastIndexByte(line, ')')
		open := bytes.IndexByte(line, '(')
		if i < 0 || open < 1 || i+2 >= len(line) || line[0] == '-' {
			continue
		}
		pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
		f := bytes.Fields(line[i+2:])
		if err != nil || len(f) < 13 {
			continue
		}
		parent, err1 := strconv.Atoi(string(f[1]))
		user, err2 := strconv.ParseInt(string(f[11]), 10, 64)
		system, err3 := strconv.ParseInt(string(f[12]), 10, 64)
		if err1 == nil && err2 == nil && err3 == nil {
			each(pid, parent, user+system)
		}
	}
}

// Limits of the neighbours of a process that are recorded: those that used most CPU time.
const (
	mostNeighbours       = 48
	mostNeighbourThreads = 192
)

// neighbours are the other busy processes during a recording. How long their threads ran and were runnable, and at which addresses
// they listen, shows whether those that the process waits for lack a CPU.
type neighbours struct {
	table
	busyList
	entrance *entrance
	looked   map[int]*atWork // by PID; nil: it has too many threads
	listens  map[int]bool    // processes whose addresses were written
	threads  int             // threads of all recorded neighbours
}

// atWork is a neighbour whose threads are recorded.
type atWork struct {
	runs    *table // schedstat of them
	threads int    // when it was first seen at work
}

func newNeighbours(except int, e *entrance) *neighbours {
	n := &neighbours{table: *newTable("/proc", "stat", except), entrance: e, looked: make(map[int]*atWork), listens: make(map[int]bool)}
	n.sparse = true // most processes are idle
	return n
}

// listProcesses appends every process's stat, and begins to record busy ones.
func (n *neighbours) listProcesses(a *archive, first bool) {
	start := len(a.buf)
	_ = n.table.appendEntries(a)
	for _, u := range n.listBusy(a.buf[start:], first) {
		n.watchProcess(a, u)
	}
}

// readThreads appends how long the threads of busy processes were runnable. One that has ended is replaced by another.
func (n *neighbours) readThreads(a *archive) {
	for pid, x := range n.looked {
		if x != nil && x.runs.appendEntries(a) != nil {
			x.runs.close(a)
			n.threads -= x.threads
			delete(n.looked, pid)
		}
	}
}

// watchProcess begins to record a process.
func (n *neighbours) watchProcess(a *archive, u used) {
	if _, known := n.looked[u.pid]; known || len(n.looked) >= mostNeighbours {
		return
	}
	n.looked[u.pid] = nil
	dir := fmt.Sprintf("/proc/%d/task", u.pid)
	threads := threadsIn(dir)
	if threads == 0 || n.threads+threads > mostNeighbourThreads {
		return
	}
	n.threads += threads
	n.looked[u.pid] = &atWork{newTable(dir, "schedstat", 0), threads}
	for _, pid := range []int{u.pid, u.parent} { // a server's workers are its children, and do not always hold its listening sockets
		if pid > 1 && pid != n.except && !n.listens[pid] {
			n.listens[pid] = true
			n.entrance.writeListeners(a, pid)
		}
	}
}

// threadsIn returns how many threads a directory of tasks lists, 0 if it is gone.
func threadsIn(dir string) int {
	fi, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	if s, ok := fi.Sys().(*syscall.Stat_t); ok && s.Nlink > 2 {
		return int(s.Nlink) - 2
	}
	return 1
}

func (n *neighbours) close(a *archive) {
	n.table.close(a)
	for _, x := range n.looked {
		if x != nil {
			x.runs.close(a)
		}
	}
}
