package linux

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

// table is one file of each of many: /proc/PID/stat of all processes,
// /proc/PID/task/TID/schedstat of all threads.
type table struct {
	dir    string // "/proc"
	as     string // what it is recorded as; "": as dir
	file   string // "stat"
	except int    // is recorded otherwise
	from   string // what stands before this in a file is left out
	sparse bool   // a file is written again only when it changed
	fd     int    // of the directory, -1 not open
	files  map[int]*file
	round  int
	names  []byte // room for a listing
}

func newTable(dir, name string, except int) *table {
	return &table{dir: dir, file: name, except: except, fd: -1, files: make(map[int]*file), names: make([]byte, 32<<10)}
}

// read appends the file of every entry there is now. Entries that went away
// between listing and reading are no error.
func (t *table) read(a *archive) error {
	if t.fd < 0 {
		var err error
		if t.fd, err = syscall.Open(t.dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err != nil {
			return err
		}
	}
	t.round++
	listed := 0
	err := numbers(t.fd, t.names, func(id int) {
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
		if err := a.read(f); errors.Is(err, syscall.ESRCH) && f.fd >= 0 {
			a.gone(f) // its number may have been given to another
			_ = a.read(f)
		}
	})
	if len(t.files) > listed {
		for id, f := range t.files {
			if f.seen != t.round {
				a.gone(f)
				delete(t.files, id)
			}
		}
	}
	return err
}

func (t *table) close(a *archive) {
	for _, f := range t.files {
		a.close(f)
	}
	if t.fd >= 0 {
		_ = syscall.Close(t.fd)
		t.fd = -1
	}
}

// numbers lists the entries of a directory that are numbers. It reads
// linux_dirent64, getdents64(2): os.ReadDir would allocate and sort every name.
func numbers(fd int, room []byte, each func(int)) error {
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
			if id, ok := number(b[19:size]); ok {
				each(id)
			}
			b = b[size:]
		}
	}
}

// number reads digits up to a zero byte.
func number(name []byte) (n int, ok bool) {
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
