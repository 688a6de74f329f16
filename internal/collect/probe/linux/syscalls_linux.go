package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// looksEvery is the mean time between looks at threads if they cost little: three of four waits of 20 ms are seen. The moments
// are random, so that they do not keep step with the process.
const looksEvery = 25 * time.Millisecond

// looksBeside is the mean time between looks if the runtime itself gives the stacks of its threads, which the kernel's data adds to.
const looksBeside = 4 * looksEvery

// lookShare is the share of one CPU that looks may take, including writing. With 200 threads that allows some six looks a second, with
// 1,000 one.
const lookShare = .003

// listEvery is the least time between listings of threads while their number does not change. The kernel takes longer to list a thread
// than to say what it does.
const listEvery = 500 * time.Millisecond

// namesEvery is the least time between readings of the name of an older thread. A new thread has the name of its parent, and its name is
// read at every look at which it does something else.
const namesEvery = time.Second

// syscalls writes syscalls.txt, as internal/format/syscalls reads.
type syscalls struct {
	process   *process
	out       io.Writer
	buf       []byte
	dir       int // of the tasks, -1 not open
	names     []byte
	tasks     map[int]*task
	threads   uint64    // links of the directory as it was listed
	listed    time.Time // when it was
	round     int
	now       time.Time // of this round
	began     time.Time // the first
	open      int       // files kept open
	most      int       // most files that may be open
	pace      pace
	fds       openFiles
	callers   map[int]*callers // by PID; nil: callers are not recorded
	functions *functions       // of all callers
	workers   *workers         // nil: only the process's own threads are recorded
	only      bool             // only the first thread of each worker is recorded, and none of the process's own
	room      [512]byte
	check     [512]byte
}

// task is a thread that is read repeatedly.
type task struct {
	pid   int    // of its process
	call  int    // its syscall file, -1 not kept open
	wait  int    // its wchan file, likewise
	last  []byte // its last written text
	seen  int    // the last round that listed it
	name  string
	begun time.Time // when it was first seen
	named time.Time // when its name was read
}

// watchSyscalls reads what the process's threads do until the context ends. It ends early if the kernel does not say what they do.
func watchSyscalls(ctx context.Context, p *process, about evidence.Subject, of discover.Target, sink probe.Sink) {
	switch _, err := os.ReadFile(p.dir + "/syscall"); {
	case errors.Is(err, fs.ErrNotExist):
		sink.Lack(probe.Lack{What: "the system calls its threads wait in", Why: "this kernel does not tell", Do: "a kernel with CONFIG_HAVE_ARCH_TRACEHOOK"})
		return
	case err != nil:
		return // a lack reports it
	}
	out, err := sink.Create(capture.Meta{Name: "syscalls.txt", Probe: name, Origin: p.dir + "/task", About: about})
	if err != nil {
		sink.Warnf("syscalls.txt: %v", err)
		return
	}
	s := &syscalls{process: p, out: out, dir: -1, names: make([]byte, 32<<10), tasks: make(map[int]*task), most: mostOpen(),
		pace: pace{share: lookShare, least: looksEvery}, fds: newOpenFiles(p)}
	if s.only = of.Traits.Workers; s.only || of.HasWorkers() {
		s.workers = newWorkers(p)
	}
	if !s.only && !of.Traits.ShowsLanes {
		s.callers, s.functions = make(map[int]*callers), &functions{numbers: make(map[string]int)}
	}
	if of.Traits.ShowsStacks {
		s.pace.least = looksBeside
	}
	defer s.close()
	if err := errors.Join(s.run(ctx), out.Close()); err != nil {
		sink.Warnf("syscalls.txt: %v", err)
	}
}

func (s *syscalls) run(ctx context.Context) error {
	s.buf = fmt.Appendf(s.buf, "# system calls of pid %d on %s\n", s.process.pid, runtime.GOARCH)
	alarm := newAlarm()
	defer alarm.close()
	defer context.AfterFunc(ctx, alarm.close)()
	for wait := time.Duration(0); alarm.wait(ctx, wait); {
		var err error
		cost := costOf(func() {
			if err = s.lookAtThreads(); len(s.buf) > 0 && err == nil {
				_, err = s.out.Write(s.buf)
				s.buf = s.buf[:0]
			}
		})
		if err != nil {
			if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH) {
				return nil // it ended
			}
			return err
		}
		wait = jitterAround(s.pace.pauseAfter(time.Now(), cost))
	}
	return nil
}

// lookAtThreads writes the changes since the last look.
func (s *syscalls) lookAtThreads() error {
	if s.dir < 0 {
		var err error
		if s.dir, err = syscall.Open(s.process.dir+"/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err != nil {
			return err
		}
	}
	s.round++
	if s.now = time.Now(); s.round == 1 {
		s.began = s.now
	}
	s.buf = append(strconv.AppendInt(append(s.buf, "@ "...), s.now.UnixNano(), 10), '\n')
	if n := linkCount(s.dir); n == 0 || n != s.threads || s.now.Sub(s.listed) >= listEvery || !s.lookAgain() {
		s.threads, s.listed = n, s.now
		return s.lookAtListed()
	}
	return nil
}

// lookAgain reads the threads of the last look, and says whether all of them still exist.
func (s *syscalls) lookAgain() bool {
	for tid, t := range s.tasks {
		if !s.writeTask(tid, t) {
			return false
		}
	}
	return true
}

// lookAtListed lists the current threads, and reads them.
func (s *syscalls) lookAtListed() error {
	listed := 0
	look := func(pid, tid int) {
		listed++
		t := s.tasks[tid]
		if t == nil {
			t = &task{pid: pid, call: -1, wait: -1, begun: s.now}
			s.tasks[tid] = t
		}
		t.seen = s.round
		s.writeTask(tid, t)
	}
	var err error
	if s.only {
		err = s.workers.eachWorker(func(pid int) { look(pid, pid) })
	} else if err = eachNumber(s.dir, s.names, func(tid int) { look(s.process.pid, tid) }); err == nil && listed == 0 {
		return syscall.ENOENT
	}
	if s.workers != nil && !s.only {
		s.workers.eachThread(s.names, look)
	}
	if len(s.tasks) > listed {
		for tid, t := range s.tasks {
			if t.seen != s.round {
				s.forgetThread(tid, t)
			}
		}
	}
	return err
}

func (s *syscalls) forgetThread(tid int, t *task) {
	s.closeFiles(t)
	delete(s.tasks, tid)
	if s.workers != nil && tid == t.pid {
		s.workers.forgetWorker(tid)
		delete(s.callers, tid)
	}
	s.buf = append(strconv.AppendInt(append(s.buf, "ended "...), int64(tid), 10), '\n')
}

func (s *syscalls) closeFiles(t *task) {
	for _, fd := range []int{t.call, t.wait} {
		if fd >= 0 {
			_ = syscall.Close(fd)
			s.open--
		}
	}
}

// writeTask writes what a thread does, if that has changed. It returns false if the thread does not exist.
func (s *syscalls) writeTask(tid int, t *task) bool {
	n, err := s.readTaskFile(&t.call, t, tid, "syscall", s.room[:])
	if err != nil || n <= 0 {
		return false // it ends just now, which the kernel may call EPERM, too: the next listing lacks it
	}
	now := bytes.TrimSpace(s.room[:n])
	if bytes.Equal(now, t.last) {
		return true
	}
	if s.now.Sub(t.named) >= namesEvery || s.now.Sub(t.begun) < namesEvery && t.begun != s.began {
		t.named = s.now
		if name := readName(t, tid); name != t.name {
			t.name = name
			s.buf = fmt.Appendf(s.buf, "name %d %s\n", tid, name)
		}
	}
	if s.workers != nil {
		s.buf = s.workers.writeArgument(s.buf, t.pid, now)
	} else {
		s.buf = s.fds.writeArgument(s.buf, now)
	}
	s.writeCallers(tid, t, now)
	s.buf = append(strconv.AppendInt(s.buf, int64(tid), 10), ' ')
	s.buf = append(s.buf, s.waitFunction(tid, t, now)...)
	s.buf = append(append(append(s.buf, ' '), now...), '\n')
	t.last = append(t.last[:0], now...)
	return true
}

// writeCallers writes by which functions a thread came to its wait, if the thread still waits there once they are known.
func (s *syscalls) writeCallers(tid int, t *task, now []byte) {
	if s.callers == nil || now[0] == 'r' { // running
		return
	}
	c := s.callers[t.pid]
	if c == nil {
		c = newCallers(t.pid, s.functions)
		s.callers[t.pid] = c
	}
	out, line := c.describeCallers(s.buf, tid, now)
	s.buf = out
	if n, err := s.readTaskFile(&t.call, t, tid, "syscall", s.check[:]); err == nil && n > 0 && bytes.Equal(bytes.TrimSpace(s.check[:n]), now) {
		s.buf = append(s.buf, line...)
	}
}

// readTaskFile reads a file of a thread into the room there is, and keeps it open if enough files
// may be.
func (s *syscalls) readTaskFile(keep *int, t *task, tid int, name string, room []byte) (int, error) {
	fd := *keep
	if fd < 0 {
		var err error
		if fd, err = syscall.Open(taskPath(t, tid, name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
			return 0, err
		}
		if s.open < s.most {
			*keep = fd
			s.open++
		} else {
			defer syscall.Close(fd)
		}
	}
	return rawPread(fd, room)
}

// waitFunction returns the function of the kernel in which a thread waits, "-" if it does not wait
// or that is unknown.
func (s *syscalls) waitFunction(tid int, t *task, now []byte) string {
	if now[0] == 'r' { // running
		return "-"
	}
	var room [128]byte
	n, err := s.readTaskFile(&t.wait, t, tid, "wchan", room[:])
	b := bytes.TrimSpace(room[:max(n, 0)])
	if err != nil || len(b) == 0 || bytes.Equal(b, []byte("0")) {
		return "-"
	}
	return string(bytes.ReplaceAll(b, []byte(" "), []byte("_")))
}

// taskPath returns the path of a file of a thread.
func taskPath(t *task, tid int, name string) string {
	return fmt.Sprintf("/proc/%d/task/%d/%s", t.pid, tid, name)
}

func readName(t *task, tid int) string {
	b, err := os.ReadFile(taskPath(t, tid, "comm"))
	if err != nil {
		return ""
	}
	return string(redact.Value([]byte(oneLine(string(b)))))
}

func (s *syscalls) close() {
	for _, t := range s.tasks {
		s.closeFiles(t)
	}
	if s.dir >= 0 {
		_ = syscall.Close(s.dir)
	}
}
