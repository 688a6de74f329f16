package linux

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/redact"
)

// ends finds the program at the other end of a pipe or a socket, because a thread that waits for it waits for that program. No table of
// the kernel shows it, so all processes' files are searched, once for each pipe, and no more often than its share of one CPU allows.
type ends struct {
	process *process
	known   map[string]string // by the text of links: "pipe:[4711]"
	next    time.Time
}

const (
	endsEvery = time.Second
	endsShare = .0005
	mostEnds  = 256 // of one process: more are made for each request, and are not searched
)

func newEnds(p *process) *ends { return &ends{process: p, known: make(map[string]string)} }

// pipeHolder returns the program at the other end of a pipe, by the descriptor of this end; "" if there are several, none is visible,
// or it is the process itself.
func (e *ends) pipeHolder(link string, fd int) string {
	return e.cachedHolder(link, func() string { return e.findHolder(link, oppositeMode(accessMode(e.process.dir, strconv.Itoa(fd)))) })
}

// socketHolder returns the program that holds a socket, by the socket's inode.
func (e *ends) socketHolder(inode uint32) string {
	link := fmt.Sprintf("socket:[%d]", inode)
	return e.cachedHolder(link, func() string { return e.findHolder(link, anyAccess) })
}

func (e *ends) cachedHolder(link string, find func() string) string {
	if name, ok := e.known[link]; ok || len(e.known) >= mostEnds || time.Now().Before(e.next) {
		return name
	}
	cost := threadTime()
	e.known[link] = find()
	e.next = time.Now().Add(max(endsEvery, time.Duration(float64(threadTime()-cost)/endsShare)))
	return e.known[link]
}

// How a file was opened: O_ACCMODE of open(2).
const (
	readOnly  = 0
	writeOnly = 1
	anyAccess = -1
)

func oppositeMode(mode int) int {
	switch mode {
	case readOnly:
		return writeOnly
	case writeOnly:
		return readOnly
	}
	return anyAccess
}

// accessMode returns how a process opened a file, from proc_pid_fdinfo(5).
func accessMode(dir, fd string) int {
	b, err := os.ReadFile(filepath.Join(dir, "fdinfo", fd))
	_, flags, ok := bytes.Cut(b, []byte("flags:"))
	if f := bytes.Fields(flags); err == nil && ok && len(f) > 0 {
		if n, err := strconv.ParseUint(string(f[0]), 8, 64); err == nil {
			return int(n & 3)
		}
	}
	return anyAccess
}

// findHolder returns the name of the one other program that has a file open in this mode, "" if there are several.
func (e *ends) findHolder(link string, mode int) (name string) {
	all, err := os.Open("/proc")
	if err != nil {
		return ""
	}
	defer all.Close()
	pids, _ := all.Readdirnames(-1)
	for _, pid := range pids {
		if n, err := strconv.Atoi(pid); err != nil || n == e.process.pid {
			continue
		}
		dir := "/proc/" + pid
		if !holdsFile(dir, link, mode) {
			continue
		}
		b, err := os.ReadFile(dir + "/comm")
		if err != nil {
			continue
		}
		switch found := string(redact.Value([]byte(oneLine(string(b))))); {
		case name == "":
			name = found
		case name != found:
			return ""
		}
	}
	return name
}

func holdsFile(dir, link string, mode int) bool {
	f, err := os.Open(dir + "/fd")
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, fd := range names {
		if to, err := os.Readlink(dir + "/fd/" + fd); err == nil && to == link {
			if has := accessMode(dir, fd); mode == anyAccess || has == mode || has == anyAccess {
				return true
			}
		}
	}
	return false
}
