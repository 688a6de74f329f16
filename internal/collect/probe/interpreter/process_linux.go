package interpreter

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is a process whose memory is read.
type process struct {
	pid   int
	files []mapped // its executable first, each file once
}

// mapped is a file of code that a process has mapped.
type mapped struct {
	path  string // as the process knows it
	begin uint64 // where its first page is
	end   uint64 // behind its last page, that of its zeroed data included where the kernel shows this
}

var errMemory = errors.New("its memory cannot be read")

// openProcess lists the files that a process has mapped.
func openProcess(pid int) (*process, error) {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, err
	}
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	p := &process{pid: pid, files: []mapped{{path: exe}}}
	at := map[string]int{exe: 0}
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		span, rest, _ := strings.Cut(lines.Text(), " ")
		i := strings.IndexByte(rest, '/')
		from, until, _ := strings.Cut(span, "-")
		begin, err := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(until, 16, 64)
		if i < 0 || err != nil || err2 != nil {
			continue
		}
		path := rest[i:]
		n, known := at[path]
		if !known {
			n = len(p.files)
			at[path] = n
			p.files = append(p.files, mapped{path: path})
		}
		f := &p.files[n]
		if f.begin == 0 {
			f.begin = begin
		}
		f.end = end
	}
	if p.files[0].begin == 0 {
		return nil, errMemory
	}
	return p, nil
}

// openFile opens a mapped file as an ELF file, as the process sees it, and returns by how much it was moved when it was mapped.
func (p *process) openFile(m *mapped) (f *elf.File, moved uint64, err error) {
	if f, err = elf.Open(p.pathOf(m)); err != nil {
		return nil, 0, err
	}
	if f.Type == elf.ET_DYN {
		for _, s := range f.Progs {
			if s.Type == elf.PT_LOAD {
				moved = m.begin - s.Vaddr&^(max(s.Align, 1)-1)
				break
			}
		}
	}
	return f, moved, nil
}

// pathOf returns by which path a mapped file can be opened here.
func (p *process) pathOf(m *mapped) string {
	if m == &p.files[0] {
		return fmt.Sprintf("/proc/%d/exe", p.pid) // also if the file was replaced meanwhile
	}
	return fmt.Sprintf("/proc/%d/root%s", p.pid, m.path)
}

// read fills a buffer from an address of the process.
func (p *process) read(at uint64, to []byte) bool {
	if at == 0 || len(to) == 0 {
		return false
	}
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(to)}}, 0)
	return err == nil && n == len(to)
}

// word reads a word of 8 bytes; 0 if it cannot be read.
func (p *process) word(at uint64) uint64 {
	var b [8]byte
	if !p.read(at, b[:]) {
		return 0
	}
	return binary.NativeEndian.Uint64(b[:])
}
