package linux

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe"
)

// workers records the workers of a process like its threads: those of a runtime whose workers serve one request at a time, of which the first
// thread counts, or all threads of the workers that a master has beside its own.
type workers struct {
	process *process
	files   map[int]*openFiles // of each worker
	told    map[int]string     // by descriptor: the meaning last written, for any worker
	polled  map[string]string  // by address of a pollfd: the meaning last written, for any worker
}

func newWorkers(p *process) *workers {
	return &workers{process: p, files: make(map[int]*openFiles), told: make(map[int]string), polled: make(map[string]string)}
}

// mostWorkers is how many workers are recorded.
const mostWorkers = 1024

// eachWorker calls each with the children of the process (proc_pid_task(5): CONFIG_PROC_CHILDREN).
func (w *workers) eachWorker(each func(pid int)) error {
	b, err := os.ReadFile(fmt.Sprintf("%s/task/%d/children", w.process.dir, w.process.pid))
	if err != nil {
		return err
	}
	n := 0
	for f := range bytes.FieldsSeq(b) {
		if pid, err := strconv.Atoi(string(f)); err == nil && n < mostWorkers {
			n++
			each(pid)
		}
	}
	return nil
}

// eachThread calls each with the threads of the workers that have the process's name.
func (w *workers) eachThread(room []byte, each func(pid, tid int)) {
	for _, pid := range probe.Workers(w.process.pid) {
		fd, err := syscall.Open(fmt.Sprintf("/proc/%d/task", pid), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if err != nil {
			continue // it has ended
		}
		_ = eachNumber(fd, room, func(tid int) { each(pid, tid) })
		_ = syscall.Close(fd)
	}
}

// writeArgument is [openFiles.writeArgument] for a worker. Each worker has its own descriptors, so a number is written again if it means
// something else than it last did in any worker.
func (w *workers) writeArgument(out []byte, pid int, call []byte) []byte {
	d := w.files[pid]
	if d == nil {
		p := &process{pid: pid, dir: fmt.Sprintf("/proc/%d", pid)}
		x := newOpenFiles(p)
		d = &x
		d.told = w.told
		w.files[pid] = d
	}
	if address, fd, ok := polledDescriptor(pid, call); ok {
		if target, err := os.Readlink(fmt.Sprintf("%s/fd/%d", d.process.dir, fd)); err == nil {
			if words := d.describeTarget(target, int(fd)); w.polled[address] != words {
				w.polled[address] = words
				return fmt.Appendf(out, "word %s %s\n", address, words)
			}
		}
		return out
	}
	return d.writeArgument(out, call)
}

func (w *workers) forgetWorker(pid int) { delete(w.files, pid) }

// polledDescriptor returns the descriptor that a call of poll or ppoll waits for, if it waits for only one, as clients of databases do for
// an answer. The descriptor is the first field of struct pollfd in the caller's memory.
func polledDescriptor(pid int, call []byte) (address string, fd int32, ok bool) {
	f := strings.Fields(string(call))
	if len(f) < 3 || f[0] != strconv.Itoa(unix.SYS_PPOLL) && f[0] != pollNumber || f[2] != "0x1" {
		return "", 0, false
	}
	at, err := strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 64)
	if err != nil {
		return "", 0, false
	}
	var room [4]byte
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &room[0], Len: 4}}, []unix.RemoteIovec{{Base: uintptr(at), Len: 4}}, 0)
	if err != nil || n != 4 {
		return "", 0, false
	}
	fd = int32(binary.NativeEndian.Uint32(room[:]))
	return f[1], fd, fd >= 0
}
