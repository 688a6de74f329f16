package linux

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Bounds of what is looked at.
const (
	mostLogs  = 8        // that are recorded
	mostFiles = 64       // open for writing, that are watched for becoming a log
	tailSize  = 64 << 10 // of a file, by which it is recognised
)

// writable is a regular file the process has open for writing.
type writable struct {
	fd   int
	path string // when it was found; rotation renames it
	id   inode
}

type inode struct{ device, number uint64 }

// listWritables returns a process's regular files open for writing, one for each file, by
// descriptor.
func listWritables(p *process) ([]writable, error) {
	dir, err := os.Open(p.dir + "/fd")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			fds = append(fds, n)
		}
	}
	slices.Sort(fds)
	var out []writable
	for _, fd := range fds {
		link := fmt.Sprintf("%s/fd/%d", p.dir, fd)
		id, regular := identifyFile(link)
		if !regular || slices.ContainsFunc(out, func(w writable) bool { return w.id == id }) || !isOpenForWriting(p, fd) {
			continue
		}
		path, err := os.Readlink(link)
		if err != nil || strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/shm/") || strings.HasPrefix(path, "/proc/") ||
			strings.HasPrefix(filepath.Base(path), probe.OwnFile) {
			continue
		}
		out = append(out, writable{fd: fd, path: strings.TrimSuffix(path, " (deleted)"), id: id})
	}
	return out, nil
}

// identifyFile returns which file a path leads to, and whether it is a regular one.
func identifyFile(path string) (inode, bool) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return inode{}, false
	}
	return inode{uint64(st.Dev), st.Ino}, st.Mode&syscall.S_IFMT == syscall.S_IFREG
}

// isOpenForWriting reads the flags a file was opened with, in octal: proc_pid_fdinfo(5).
func isOpenForWriting(p *process, fd int) bool {
	b, err := os.ReadFile(fmt.Sprintf("%s/fdinfo/%d", p.dir, fd))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseInt(strings.TrimSpace(v), 8, 64)
			mode := flags & syscall.O_ACCMODE
			return err == nil && (mode == syscall.O_WRONLY || mode == syscall.O_RDWR)
		}
	}
	return false
}

// openLogs finds the logs among a process's open files. Those that no format
// knows yet are watched for what they become: a log may just have begun.
func openLogs(p *process, about evidence.Subject, sink probe.Sink) *logs {
	l := &logs{process: p, about: about, sink: sink, names: make(map[string]bool)}
	files, err := listWritables(p)
	if err != nil {
		return l // Find has said so
	}
	for _, w := range files {
		if len(l.files) == mostFiles {
			break
		}
		f, err := os.Open(fmt.Sprintf("%s/fd/%d", p.dir, w.fd))
		if err != nil {
			sink.Lack(probe.Lack{What: "log " + w.path, Why: "this user may not read it", Do: fmt.Sprintf("sudo unstall %d", p.pid)})
			continue
		}
		x := &log{writable: w, f: f}
		head, ok := x.readTail()
		if !ok {
			_ = f.Close()
			continue
		}
		l.files = append(l.files, x)
		if len(head) > 0 && sink.Known(head) {
			l.startArtifact(x)
		}
	}
	return l
}

// readTail reads the last lines of a file, by which it is recognised, and sets the log's offset to
// the beginning of a last line that has no end yet. It is false for what is no text.
func (x *log) readTail() ([]byte, bool) {
	size, err := x.f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false
	}
	from := max(0, size-tailSize)
	b := make([]byte, size-from)
	n, err := x.f.ReadAt(b, from)
	if err != nil && err != io.EOF {
		return nil, false
	}
	b = b[:n]
	end := bytes.LastIndexByte(b, '\n') + 1
	x.offset = from + int64(end)
	if end == 0 && from > 0 {
		return nil, false // a line of more than 64 KiB is none
	}
	if from > 0 {
		_, b, _ = bytes.Cut(b[:end], []byte("\n"))
	} else {
		b = b[:end]
	}
	return b, isText(b)
}

// isText says whether bytes are lines of readable text.
func isText(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	strange := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\x1b' {
			strange++
		}
		i += size
	}
	return strange <= len(b)/100
}

// artifactName is what a log is called in a capture: its own name, once.
func (l *logs) artifactName(path string) string {
	base := strings.Map(func(r rune) rune {
		if r < ' ' || r == '/' || r == utf8.RuneError {
			return '_'
		}
		return r
	}, filepath.Base(path))
	if base == "procfs.txt" || base == "build.txt" {
		base = "log-" + base
	}
	name := base
	for n := 2; l.names[name]; n++ {
		ext := filepath.Ext(base)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(base, ext), n, ext)
	}
	l.names[name] = true
	return name
}
