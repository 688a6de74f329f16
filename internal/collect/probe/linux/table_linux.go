package linux

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

// table is one file for each of many entries: /proc/PID/stat of all processes, /proc/PID/task/TID/schedstat of all threads.
type table struct {
	dir    string // "/proc"
	as     string // path under which it is recorded; "": dir
	file   string // "stat"
	except int    // entry that is recorded elsewhere
	from   string // text before this in a file is left out
	sparse bool   // a file is written again only after a change
	fd     int    // of the directory, -1 not open
	files  map[int]*file
	round  int
	names  []byte // buffer for a listing
}

func newTable(dir, name string, except int) *table {
	return &table{dir: dir, file: name, except: except, fd: -1, files: make(map[int]*file), names: make([]byte, 32<<10)}
}

// appendEntries appends the file of every current entry. An entry that disappears between listing and reading is no error.
func (t *table) appendEntries(a *archive) error {
	if t.fd < 0 {
		var err error
		if t.fd, err = syscall.Open(t.dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err != nil {
			return err
		}
	}
	t.round++
	listed := 0
	err := eachNumber(t.fd, t.names, func(id int) {
		if id == t.except {
			return
		}
		listed++
		f := t.files[id]
		if f == nil {
			f = newFile(fmt.Sprintf("%s/%d/%s", t.dir, id, t.file), fmt.Sprintf("%s/%d/%s", cmp.Or(t.as, t.dir), id, t.file))
			if f.sparse = t.sparse; t.from != "" {
				f.from = []byte(t.from)
			}
			t.files[id] = f
		}
		f.seen = t.round
		if err := a.appendFile(f); errors.Is(err, syscall.ESRCH) && f.fd >= 0 {
			a.endFile(f) // another process or thread may have its number now
			_ = a.appendFile(f)
		}
	})
	if len(t.files) > listed {
		for id, f := range t.files {
			if f.seen != t.round {
				a.endFile(f)
				delete(t.files, id)
			}
		}
	}
	return err
}

func (t *table) close(a *archive) {
	for _, f := range t.files {
		a.closeFile(f)
	}
	if t.fd >= 0 {
		_ = syscall.Close(t.fd)
		t.fd = -1
	}
}

// eachNumber calls each with the entries of a directory that are numbers. It reads linux_dirent64,
// getdents64(2): os.ReadDir would allocate and sort every name.
func eachNumber(fd int, room []byte, each func(int)) error {
	if _, err := syscall.Seek(fd, 0, 0); err != nil {
		return err
	}
	for {
		n, err := syscall.ReadDirent(fd, room)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for b := room[:n]; len(b) > 19; {
			size := int(binary.NativeEndian.Uint16(b[16:]))
			if size < 19 || size > len(b) {
				break
			}
			if id, ok := parseNumber(b[19:size]); ok {
				each(id)
			}
			b = b[size:]
		}
	}
}

// parseNumber reads digits up to a zero byte.
func parseNumber(name []byte) (n int, ok bool) {
	for i, c := range name {
		if c == 0 {
			return n, i > 0
		}
		if c < '0' || c > '9' || n > 1<<40 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(name) > 0
}
