package linux

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// archive collects the files of one moment in the form format/procfs reads and
// writes them out in one piece.
type archive struct {
	out  io.Writer
	buf  []byte
	open int // files kept open
	most int // that may be
}

// file is a file of /proc or /sys/fs/cgroup that is read again and again.
type file struct {
	path   string // where it is
	header []byte // " /proc/stat --\n": what follows the moment above it
	fd     int    // -1: not open
	seen   int    // the last listing that named it
}

// newFile is a file that is recorded under its own path, or another name.
func newFile(path, name string) *file {
	return &file{path: path, header: []byte(" " + name + " --\n"), fd: -1}
}

// chunk is how much room a reading is given at first; most files are smaller.
const chunk = 4096

// read appends the file as it is now. What cannot be read leaves nothing behind.
func (a *archive) read(f *file) error {
	fd := f.fd
	if fd < 0 {
		var err error
		if fd, err = syscall.Open(f.path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
			return err
		}
		if a.open < a.most {
			f.fd = fd
			a.open++
		} else {
			defer syscall.Close(fd)
		}
	}
	before := len(a.buf)
	a.begin(f.header)
	start := len(a.buf)
	for {
		a.buf = slices.Grow(a.buf, chunk)
		n, err := syscall.Pread(fd, a.buf[len(a.buf):cap(a.buf)], int64(len(a.buf)-start))
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			a.buf = a.buf[:before]
			return err
		}
		if n <= 0 {
			break
		}
		a.buf = a.buf[:len(a.buf)+n]
	}
	a.end()
	return nil
}

// text appends a section that was put together elsewhere.
func (a *archive) text(name string, lines []string) {
	a.begin([]byte(" " + name + " --\n"))
	for _, l := range lines {
		a.buf = append(append(a.buf, l...), '\n')
	}
}

func (a *archive) begin(header []byte) {
	a.buf = append(a.buf, "-- "...)
	a.buf = strconv.AppendInt(a.buf, time.Now().UnixNano(), 10)
	a.buf = append(a.buf, header...)
}

// end makes sure that the next header begins a line.
func (a *archive) end() {
	if !bytes.HasSuffix(a.buf, []byte("\n")) {
		a.buf = append(a.buf, '\n')
	}
}

// flush writes the moment.
func (a *archive) flush() error {
	if len(a.buf) == 0 {
		return nil
	}
	_, err := a.out.Write(a.buf)
	a.buf = a.buf[:0]
	return err
}

func (a *archive) close(f *file) {
	if f.fd >= 0 {
		_ = syscall.Close(f.fd)
		f.fd = -1
		a.open--
	}
}

// mostOpen is how many files may be kept open: half of what this process is
// allowed, and no more than a host needs.
func mostOpen() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 256
	}
	return int(min(limit.Cur/2, 4096))
}
