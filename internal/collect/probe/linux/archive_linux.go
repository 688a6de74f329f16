package linux

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// archive collects the files of one moment in the form that internal/format/procfs reads, and writes them in one piece.
type archive struct {
	out  io.Writer
	buf  []byte
	open int // files kept open
	most int // most files that may be open

	whole bool   // also write unchanged files
	at    int64  // ns: when the latest file was begun
	room  []byte // buffer for one file
}

// file is a file of /proc or /sys/fs/cgroup that is read repeatedly.
type file struct {
	path   string                   // path of the file
	header []byte                   // " /proc/stat --\n": follows the moment in the header
	fd     int                      // -1: not open
	seen   int                      // the last listing that named it
	from   []byte                   // text before this is left out; nil: nothing
	keep   func(text []byte) []byte // returns the part to write, in the same buffer; nil: all

	// For a file that is written again only after a change:
	sparse bool
	last   []byte // the last written text
	same   int64  // ns: when it was last read with this text, 0 never
}

// newFile returns a file that is recorded under its own path, or under another name.
func newFile(path, name string) *file {
	return &file{path: path, header: []byte(" " + name + " --\n"), fd: -1}
}

// newSparseFile returns a file that is written again only after a change, and then first once more with its old text. So a change
// between two readings is not spread over all the time before.
func newSparseFile(path, name string) *file {
	f := newFile(path, name)
	f.sparse = true
	return f
}

// chunk is the first size of the buffer, in bytes; most files are smaller.
const chunk = 4096

// openIn opens a file in the network namespace of a process, and keeps it open.
func (a *archive) openIn(dir string, f *file) error {
	return socketdiag.Inside(dir, func() (err error) {
		if f.fd, err = syscall.Open(f.path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
			f.fd = -1
			return err
		}
		a.open++
		return nil
	})
}

// appendFile appends the current content of the file. For a file that cannot be read it appends nothing.
func (a *archive) appendFile(f *file) error {
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
	a.beginSection(f.header)
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
	a.endLine()
	if f.from != nil {
		if i := bytes.Index(a.buf[start:], f.from); i > 0 {
			a.buf = slices.Delete(a.buf, start, start+i)
		}
	}
	if f.keep != nil {
		a.buf = a.buf[:start+len(f.keep(a.buf[start:]))]
	}
	if f.sparse {
		a.dropRepeated(f, before, start)
	}
	return nil
}

// dropRepeated removes the new text if it equals the last written one, unless all is to be written.
func (a *archive) dropRepeated(f *file, before, start int) {
	if bytes.Equal(a.buf[start:], f.last) {
		if a.whole {
			f.same = 0
			return
		}
		f.same = a.at
		a.buf = a.buf[:before]
		return
	}
	old := f.last
	a.room = append(a.room[:0], a.buf[before:]...)
	header := start - before
	a.buf = a.buf[:before]
	a.writeLastRepeat(f, old)
	a.buf = append(a.buf, a.room...)
	f.last = append(f.last[:0], a.room[header:]...)
}

// writeLastRepeat writes the file's text as of its last reading, if that reading was not written.
func (a *archive) writeLastRepeat(f *file, text []byte) {
	if f.same == 0 {
		return
	}
	a.beginAt(f.same, f.header)
	a.buf = append(a.buf, text...)
	f.same = 0
}

// appendSection appends a section with a given text.
func (a *archive) appendSection(name string, lines []string) {
	a.beginSection([]byte(" " + name + " --\n"))
	for _, l := range lines {
		a.buf = append(append(a.buf, l...), '\n')
	}
}

func (a *archive) beginSection(header []byte) {
	a.at = time.Now().UnixNano()
	a.beginAt(a.at, header)
}

func (a *archive) beginAt(at int64, header []byte) {
	a.buf = append(a.buf, "-- "...)
	a.buf = strconv.AppendInt(a.buf, at, 10)
	a.buf = append(a.buf, header...)
}

// endLine makes sure that the next header begins a line.
func (a *archive) endLine() {
	if !bytes.HasSuffix(a.buf, []byte("\n")) {
		a.buf = append(a.buf, '\n')
	}
}

// flush writes the moment to the output.
func (a *archive) flush() error {
	if len(a.buf) == 0 {
		return nil
	}
	_, err := a.out.Write(a.buf)
	a.buf = a.buf[:0]
	return err
}

// endFile writes the last text of a file that no longer exists, if that was not written, and closes the file.
func (a *archive) endFile(f *file) {
	a.writeLastRepeat(f, f.last)
	a.closeFile(f)
}

func (a *archive) closeFile(f *file) {
	if f.fd >= 0 {
		_ = syscall.Close(f.fd)
		f.fd = -1
		a.open--
	}
}

// mostOpen returns how many files may be kept open: half of this process's limit, and no more than a host needs.
func mostOpen() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 256
	}
	return int(min(limit.Cur/2, 4096))
}
