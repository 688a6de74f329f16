package symbol

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"weak"
)

// Process names addresses of a process. It is safe for concurrent use, but for [Process.Waiting].
type Process struct {
	mu      sync.Mutex
	pid     int
	inside  int // its number in its own PID namespace
	maps    []mapping
	read    time.Time     // when its maps were
	wait    time.Duration // until they are read again for an address that lies in none
	files   map[fileID]*file
	bytes   int // of tables that are kept
	jit     table
	jitSize int64
	jitRead time.Time

	frames  map[fileID]*frames
	objects map[fileID]*table
	rows    map[uint64]*row   // how frames are left, by address
	rooms   map[uint64]int64  // that functions make on the stack, by their start
	calls   map[uint64]called // what is before addresses
	stack   memory
	callers []uint64
}

// mapping is code that is mapped.
type mapping struct {
	start, end, offset uint64
	id                 fileID
	path               string // "" of anonymous memory
}

type fileID struct{ dev, inode string }

// Bounds of what is kept of one process.
const (
	mostMaps   = 1 << 14
	mostTables = 24 << 20 // bytes of names of all files together
	mostJIT    = 16 << 20 // bytes of a perf map
	again      = time.Second
	seldom     = 16 * time.Second
)

// shared are the processes whose symbols are in use, by PID and start.
var (
	sharing sync.Mutex
	shared  = make(map[string]weak.Pointer[Process])
)

// SharedProcess returns the symbols of a process of this host, which all that ask for it at the same time have in common: those of a large program
// take 20 MB.
func SharedProcess(pid int) *Process {
	key := fmt.Sprintf("%d %s", pid, startOf(pid))
	sharing.Lock()
	defer sharing.Unlock()
	if p := shared[key].Value(); p != nil {
		return p
	}
	for k, p := range shared {
		if p.Value() == nil {
			delete(shared, k)
		}
	}
	p := NewProcess(pid)
	shared[key] = weak.Make(p)
	return p
}

// startOf returns when a process was started, in clock ticks since the start of the host (proc_pid_stat(5), field 22); "" if it has ended.
func startOf(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

// NewProcess is for a process of this host.
func NewProcess(pid int) *Process {
	return &Process{pid: pid, wait: again, inside: innerPID(pid), files: make(map[fileID]*file), frames: make(map[fileID]*frames), objects: make(map[fileID]*table), rows: make(map[uint64]*row), rooms: make(map[uint64]int64), calls: make(map[uint64]called)}
}

// Name is the function an address lies in, and the file: either may be "", and a function
// that is not known is told by the address in its file ("0x1234").
func (p *Process) Name(addr uint64) (function, in string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.mappingAt(addr)
	if m == nil {
		return "", ""
	}
	switch {
	case isAnonymous(m.path):
		return demangleName(p.jitFunction(addr)), "code made at run time"
	case m.path[0] == '[':
		return "", m.path // [vdso]
	}
	f := p.fileOf(m)
	name, linked := f.functionAtOffset(addr - m.start + m.offset)
	if name == "" {
		name = fmt.Sprintf("%#x", linked)
	}
	return demangleName(name), path.Base(m.path)
}

// Made says whether code was made at run time, or lies in a file of some other kind than the kernel runs,
// and nothing here names it: who made it may tell its functions by their addresses.
func (p *Process) Made(addr uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.mappingAt(addr)
	switch {
	case m == nil:
		return false
	case isAnonymous(m.path):
		return p.jitFunction(addr) == ""
	}
	return m.path[0] != '[' && len(p.fileOf(m).loads) == 0
}

// isAnonymous says whether mapped memory has no file, or a file that never had a name in a file
// system.
func isAnonymous(path string) bool {
	return path == "" || strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/zero")
}

// mappingAt returns the mapped code an address lies in, nil if none. It reads the maps again for
// an address that lies in none.
func (p *Process) mappingAt(addr uint64) *mapping {
	tried := false
	for {
		for i := range p.maps {
			if m := &p.maps[i]; addr >= m.start && addr < m.end {
				if tried {
					p.wait = again
				}
				return m
			}
		}
		if tried && p.wait < seldom { // an address where no code is, of a frame that was not followed: there will be more
			p.wait *= 2
		}
		if tried || time.Since(p.read) < p.wait {
			return nil
		}
		tried = true
		p.read = time.Now()
		if f, err := os.Open(fmt.Sprintf("/proc/%d/maps", p.pid)); err == nil {
			p.maps = readMaps(f)
			_ = f.Close()
		}
	}
}

// readMaps reads what is mapped to be executed (proc_pid_maps(5)).
func readMaps(r io.Reader) (all []mapping) {
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(all) < mostMaps {
		f := strings.SplitN(lines.Text(), " ", 6) // the path may hold spaces
		if len(f) < 5 || len(f[1]) < 3 || f[1][2] != 'x' {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		m := mapping{id: fileID{f[3], f[4]}}
		var err [3]error
		m.start, err[0] = strconv.ParseUint(from, 16, 64)
		m.end, err[1] = strconv.ParseUint(to, 16, 64)
		m.offset, err[2] = strconv.ParseUint(f[2], 16, 64)
		if errors.Join(err[:]...) != nil {
			continue
		}
		if len(f) == 6 {
			m.path = strings.TrimSuffix(strings.TrimLeft(f[5], " "), " (deleted)")
		}
		all = append(all, m)
	}
	return all
}

// fileOf returns the functions of a mapped file. It opens the file as the process sees it, and a
// file that was replaced or deleted since as the kernel kept it, which needs root.
func (p *Process) fileOf(m *mapping) *file {
	if f := p.files[m.id]; f != nil {
		return f
	}
	f := &file{}
	if p.bytes < mostTables {
		if r := p.openMapped(m); r != nil {
			f = readFile(r)
			_ = r.Close()
			p.bytes += len(f.text) + 20*len(f.starts)
		}
	}
	p.files[m.id] = f
	return f
}

// framesOf are the rules of the mapped file's frames, nil if it has none.
func (p *Process) framesOf(m *mapping) *frames {
	x, known := p.frames[m.id]
	if known {
		return x
	}
	if r := p.openMapped(m); r != nil && p.bytes < mostTables {
		if f, err := elf.NewFile(r); err == nil {
			x = readFrames(f)
		}
		_ = r.Close()
		if x != nil {
			p.bytes += len(x.data) + 48*len(x.all)
		}
	}
	p.frames[m.id] = x
	return x
}

// Variable is the variable of a program that an address lies in, with how far behind its start
// ("stock+0x40") where it is larger than a lock; "" if none is known.
func (p *Process) Variable(addr uint64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.maps {
		m := &p.maps[i]
		if m.path == "" || m.path[0] == '[' {
			continue
		}
		linked, ok := p.fileOf(m).linkedAddress(m.offset)
		if !ok || addr < m.start-linked {
			continue
		}
		if name, behind := p.objectsOf(m).functionAndDistance(addr - (m.start - linked)); name != "" {
			if name = demangleName(name); behind >= largestLock {
				name += fmt.Sprintf("+%#x", behind)
			}
			return name
		}
	}
	return ""
}

// largestLock is larger than a lock or condition variable of glibc (pthreadtypes.h), in bytes.
const largestLock = 64

func (p *Process) objectsOf(m *mapping) *table {
	t, known := p.objects[m.id]
	if known {
		return t
	}
	t = &table{}
	if r := p.openMapped(m); r != nil && p.bytes < mostTables {
		*t = readObjects(r)
		_ = r.Close()
		p.bytes += len(t.text) + 20*len(t.starts)
	}
	p.objects[m.id] = t
	return t
}

func (p *Process) openMapped(m *mapping) *os.File {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/root%s", p.pid, m.path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		var st syscall.Stat_t
		if syscall.Fstat(int(f.Fd()), &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG && strconv.FormatUint(st.Ino, 10) == m.id.inode {
			return f
		}
		_ = f.Close()
	}
	if f, err = os.Open(fmt.Sprintf("/proc/%d/map_files/%x-%x", p.pid, m.start, m.end)); err != nil {
		return nil
	}
	return f
}

// jitFunction returns the function of code that was made at run time, "" if none is known.
func (p *Process) jitFunction(addr uint64) string {
	if name := p.jit.functionAt(addr); name != "" || time.Since(p.jitRead) < 5*again {
		return name
	}
	p.jitRead = time.Now()
	// Any user can put a file or a pipe into /tmp: it must be the process's own.
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/root/tmp/perf-%d.map", p.pid, p.inside), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	var st, own syscall.Stat_t
	if syscall.Fstat(int(f.Fd()), &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size == p.jitSize || st.Size > mostJIT ||
		syscall.Stat(fmt.Sprintf("/proc/%d", p.pid), &own) != nil || st.Uid != own.Uid && st.Uid != 0 {
		return p.jit.functionAt(addr)
	}
	p.jitSize, p.jit = st.Size, readPerfMap(f)
	return p.jit.functionAt(addr)
}

// readPerfMap reads lines "start size name", both in hexadecimal digits; of code that took the
// place of older code the later line holds.
func readPerfMap(r io.Reader) (t table) {
	lines := bufio.NewScanner(r)
	var all [][]byte
	for lines.Scan() {
		all = append(all, bytes.Clone(lines.Bytes()))
	}
	for i := len(all) - 1; i >= 0; i-- {
		f := strings.SplitN(string(all[i]), " ", 3)
		if len(f) < 3 {
			continue
		}
		start, err := strconv.ParseUint(strings.TrimPrefix(f[0], "0x"), 16, 64)
		size, err2 := strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 64)
		if err == nil && err2 == nil && size > 0 {
			t.addEntry(start, size, f[2])
		}
	}
	t.sort()
	return t
}

// innerPID returns a process's id in its innermost PID namespace, by which the perf map is named.
func innerPID(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return pid
	}
	_, rest, ok := strings.Cut(string(b), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	f := strings.Fields(line)
	if !ok || len(f) == 0 {
		return pid
	}
	if n, err := strconv.Atoi(f[len(f)-1]); err == nil {
		return n
	}
	return pid
}
