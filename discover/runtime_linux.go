package discover

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// runtime tells a process's runtime by what it leaves behind, the cheapest trace
// first.
func (h *host) runtime(p *process, container string) (name, version, main string) {
	for _, k := range kinds {
		if version, main, ok := k.traces(h, p, container); ok {
			return k.id, version, main
		}
	}
	e, ok := h.executable(p, container)
	for _, k := range kinds {
		if ok && p.exe == "" && k.launcher != "" && p.comm == k.launcher { // which libraries it has loaded is hidden, too
			return k.id, "", ""
		}
	}
	for _, k := range kinds {
		if e.dynamic && p.exe != "" && k.library != "" {
			if where, ok := h.library(p, k.library); ok {
				return k.id, k.version(procPath(p.pid, "root"), where), ""
			}
		}
	}
	return "", "", ""
}

// executable reads what a process runs. That of other users' processes is
// hidden, but most of them say where they were started from: that file is taken
// for it if it bears the process's name, except for processes in containers,
// whose files are others.
func (h *host) executable(p *process, container string) (executable, bool) {
	name := procPath(p.pid, "exe")
	if p.exe == "" {
		if container != "" || len(p.status.pids) > 1 {
			return executable{}, true
		}
		name = p.command
		if !strings.Contains(name, "/") {
			name, _ = exec.LookPath(name)
		}
		if !filepath.IsAbs(name) || !strings.HasPrefix(path.Base(name), p.comm) {
			return executable{}, true
		}
	}
	id, ok := identify(name)
	if !ok {
		return executable{}, p.exe == ""
	}
	e, ok := h.executables[id]
	if !ok {
		if f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			e, _ = readExecutable(f) // what is no ELF file tells nothing
			_ = f.Close()
		}
		h.executables[id] = e
	}
	return e, true
}

func identify(name string) (file, bool) {
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

// pprof is HasPprof, once for each executable.
func (h *host) pprof(pid int) bool {
	name := procPath(pid, "exe")
	id, ok := identify(name)
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

// mapsLimit bounds what is read of a process's mappings. The kernel holds the
// target's page tables while it prints them.
const mapsLimit = 8 << 20

// library says where a shared library is that a process has mapped.
func (h *host) library(p *process, name string) (where string, mapped bool) {
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

// coreVersion takes the version out of where a shared .NET runtime is installed:
// …/shared/Microsoft.NETCore.App/8.0.4/libcoreclr.so. Programs that bring their
// own have none.
func coreVersion(_, library string) string {
	dir := path.Dir(library)
	if path.Base(path.Dir(dir)) != "Microsoft.NETCore.App" {
		return ""
	}
	return path.Base(dir)
}

// releaseVersion reads JAVA_VERSION from the file "release" of a JDK or JRE,
// which is above its lib/server/libjvm.so, up to 1.8 lib/amd64/server.
func releaseVersion(root, library string) string {
	dir := path.Dir(library)
	for range 4 {
		dir = path.Dir(dir)
		f, _, err := openRegular(root + path.Join(dir, "release"))
		if err != nil {
			continue
		}
		defer f.Close()
		for lines := bufio.NewScanner(io.LimitReader(f, procLimit)); lines.Scan(); {
			if v, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
				return strings.Trim(v, `"`)
			}
		}
		return ""
	}
	return ""
}
