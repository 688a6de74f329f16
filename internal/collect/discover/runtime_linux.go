package discover

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// recogniseRuntime recognises the runtime of a process by its traces, the cheapest ones first.
func (h *host) recogniseRuntime(p *process, container string) (runtime string, seen Seen) {
	for _, r := range h.known {
		if r.Traces != nil {
			if seen, ok := r.Traces(p); ok {
				return r.Runtime, seen
			}
		}
	}
	e, ok := h.cachedExecutable(p, container)
	for _, r := range h.known {
		if r.Built != nil {
			if seen, ok := r.Built(e); ok {
				return r.Runtime, seen
			}
		}
	}
	for _, r := range h.known {
		if ok && p.exe == "" && slices.Contains(r.Launchers, p.comm) { // its loaded libraries are hidden, too
			return r.Runtime, Seen{}
		}
	}
	for _, r := range h.known {
		if e.Dynamic && p.exe != "" && r.Library != "" {
			if where, ok := p.Library(r.Library); ok {
				return r.Runtime, Seen{Version: r.Version(p, where)}
			}
		}
	}
	return "", Seen{}
}

// describeWay says how this user can ask a process of its runtime, "" if that is unknown or
// impossible.
func (h *host) describeWay(p *process, t Target) string {
	for _, r := range h.known {
		if r.Runtime == t.Runtime && r.Way != nil {
			return r.Way(p, t.Listens)
		}
	}
	return ""
}

// cachedExecutable reads the executable of a process, once for each file. The executable of another user's process is hidden, but its
// command line usually names the file. That file is used if it has the process's name, except for processes in containers, which have
// other files.
func (h *host) cachedExecutable(p *process, container string) (Executable, bool) {
	name := procPath(p.pid, "exe")
	if p.exe == "" {
		if container != "" || len(p.status.pids) > 1 {
			return Executable{}, true
		}
		name = p.command
		if !strings.Contains(name, "/") {
			name, _ = exec.LookPath(name)
		}
		if !filepath.IsAbs(name) || !strings.HasPrefix(path.Base(name), p.comm) {
			return Executable{}, true
		}
	}
	id, ok := identifyFile(name)
	if !ok {
		return Executable{}, p.exe == ""
	}
	e, ok := h.executables[id]
	if !ok {
		if f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			e, _ = readExecutable(f) // a file that is not ELF gives nothing
			_ = f.Close()
		}
		h.executables[id] = e
	}
	return e, true
}

func identifyFile(name string) (file, bool) {
	fi, err := os.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return file{}, false
	}
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return file{}, false
	}
	return file{uint64(s.Dev), s.Ino, fi.ModTime().UnixNano()}, true
}

// ServesPprof is [HasPprof], once for each executable.
func (p *process) ServesPprof() bool {
	h := p.host
	name := procPath(p.pid, "exe")
	id, ok := identifyFile(name)
	if !ok {
		return false
	}
	has, ok := h.programs[id]
	if !ok {
		has, _ = HasPprof(name)
		h.programs[id] = has
	}
	return has
}

// mapsLimit bounds what is read of a process's mappings. The kernel holds the process's page tables while it prints them.
const mapsLimit = 8 << 20

// Library returns the path of a shared library that a process has mapped.
func (p *process) Library(name string) (where string, mapped bool) {
	f, err := os.Open(procPath(p.pid, "maps"))
	if err != nil {
		return "", false
	}
	defer f.Close()
	want := []byte("/" + name)
	lines := bufio.NewScanner(io.LimitReader(f, mapsLimit))
	lines.Buffer(make([]byte, 16<<10), 64<<10)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), want) {
			continue
		}
		_, where, _ = strings.Cut(lines.Text(), "/")
		where = "/" + strings.TrimSuffix(where, " (deleted)")
		if path.Base(where) != name {
			continue
		}
		return where, true
	}
	return "", false
}

func (p *process) PID() int        { return p.pid }
func (p *process) Comm() string    { return p.comm }
func (p *process) Exe() string     { return p.exe }
func (p *process) Started() uint64 { return p.start }

func (p *process) Ours() bool { return p.uid == os.Geteuid() || os.Geteuid() == 0 }

func (p *process) Open(path string) (*os.File, error) {
	f, _, err := openRegular(procPath(p.pid, "root") + path)
	return f, err
}
