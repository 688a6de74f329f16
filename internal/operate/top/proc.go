package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The counters that /proc has for a process, see proc_pid_stat(5) and proc_pid_status(5).

const (
	procGroup = "process (/proc)"
	cpuID     = "proc/cpu"
	threadsID = "proc/threads"
)

// ProcRules are the rules of the counters that every process has.
var ProcRules = []Rule{
	{cpuID, "90 % of its CPUs or more: requests queue for a CPU", func(v View) string {
		bound := saturated * v.Board.availableCores()
		return alertAbove(bound, 5*time.Second, "CPUs saturated: requests queue for a CPU")(v)
	}},
	{threadsID, "growing: more and more threads block", alertGrowing(.5, 10*time.Second, "more and more threads block")},
	{"proc/involuntary", "> 200/s for each CPU: threads compete for the CPUs", func(v View) string {
		// A thread that shares a processor is preempted every 3 to 4 ms.
		return alertAbove(200*v.Board.availableCores(), 5*time.Second, "threads compete for the CPUs")(v)
	}},
	{"proc/major-faults", "> 10/s for seconds: memory is read back from disk", alertAbove(10, 5*time.Second, "memory is read back from disk")},
}

// tick is the unit of times in /proc: USER_HZ is 100 wherever Go runs.
const tick = time.Second / 100

// mostTasks is the largest number of threads whose context switches are read; each thread is a file.
const mostTasks = 512

// proc reads /proc/PID.
type proc struct {
	pid   int
	root  string // "/proc"
	now   func() time.Time
	start string // field starttime of the process; a different one means another process

	switches [2]float64        // of all threads so far: voluntary, involuntary
	tasks    map[string][2]int // of each thread at the last reading
}

func newProc(pid int, now func() time.Time) *proc { return &proc{pid: pid, root: "/proc", now: now} }

func (p *proc) readFile(name string) ([]byte, error) {
	return os.ReadFile(fmt.Sprintf("%s/%d/%s", p.root, p.pid, name))
}

// Read reads the process's files once.
func (p *proc) Read(context.Context) ([]Reading, error) {
	data, err := p.readFile("stat")
	at := p.now()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, ErrEnded
	} else if err != nil {
		return nil, fmt.Errorf("/proc/%d/stat: %w", p.pid, err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from the third field on
	if len(fields) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat: %d fields after the name, want 22 or more", p.pid, len(fields))
	}
	if p.start == "" {
		p.start = fields[19]
	}
	if fields[19] != p.start || fields[0] == "Z" || fields[0] == "X" {
		return nil, ErrEnded
	}
	field := func(n int) float64 { v, _ := strconv.ParseFloat(fields[n-3], 64); return v }
	out := []Reading{
		{ID: cpuID, Title: "CPU (100 % = 1 CPU)", Unit: "%", Kind: Total, Scale: 100 * tick.Seconds(), Value: field(14) + field(15)},
		{ID: "proc/rss", Title: "resident memory (RSS)", Unit: "bytes", Value: field(24) * float64(os.Getpagesize())},
		{ID: threadsID, Title: "threads", Unit: "count", Value: field(20)},
		{ID: "proc/major-faults", Title: "major page faults", Unit: "1/s", Kind: Total, Value: field(12)},
		{ID: "proc/minor-faults", Title: "minor page faults", Unit: "1/s", Kind: Total, Value: field(10)},
	}
	if p.countSwitches(int(field(20))) {
		out = append(out,
			Reading{ID: "proc/voluntary", Title: "context switches, voluntary", Unit: "1/s", Kind: Total, Value: p.switches[0]},
			Reading{ID: "proc/involuntary", Title: "context switches, involuntary", Unit: "1/s", Kind: Total, Value: p.switches[1]})
	}
	for i := range out {
		out[i].Group, out[i].At = procGroup, at
	}
	return out, nil
}

// Close does nothing.
func (p *proc) Close() error { return nil }

// countSwitches adds the growth of the threads' context switches; false if there are too many threads. The kernel
// gives no sum for the process, and the counts of threads that end are lost with them.
func (p *proc) countSwitches(threads int) bool {
	if threads > mostTasks {
		p.tasks = nil
		return false
	}
	dir, err := os.ReadDir(fmt.Sprintf("%s/%d/task", p.root, p.pid))
	if err != nil {
		return false
	}
	seen := make(map[string][2]int, len(dir))
	for _, e := range dir {
		status, err := p.readFile("task/" + e.Name() + "/status")
		if err != nil {
			continue // the thread has ended
		}
		now := [2]int{parseNumberAfter(status, "\nvoluntary_ctxt_switches:"), parseNumberAfter(status, "\nnonvoluntary_ctxt_switches:")}
		was := p.tasks[e.Name()] // zero for a thread that began since
		if p.tasks != nil {
			for i := range now {
				p.switches[i] += float64(max(0, now[i]-was[i]))
			}
		}
		seen[e.Name()] = now
	}
	p.tasks = seen
	return true
}

// parseNumberAfter returns the number behind a key, 0 if there is none.
func parseNumberAfter(text []byte, key string) int {
	_, rest, _ := bytes.Cut(text, []byte(key))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line)))
	return n
}
