package goroutine

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// registersKnown says whether this machine is one whose struct g is known.
const registersKnown = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// table is the list of all goroutines of a process, which the runtime keeps in allgs (runtime/proc.go).
type table struct {
	*Reader
	length, first uint64 // addresses of how many there are, and of where the list is: runtime.allglen and allgptr, or the words of runtime.allgs
}

// Bounds of what is read of one process.
const (
	mostGoroutines = 1 << 20
	mostStacks     = 20_000 // of more goroutines only each second, third … is looked at
	mostSymbolText = 64 << 20
)

var (
	errNoTable  = errors.New("the list of goroutines was not found in its memory")
	errNoMemory = errors.New("its memory cannot be read")
)

// openTable finds the list of a process that a release of Go built.
func openTable(pid int, release string) (*table, error) {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	f, err := elf.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	base := uint64(0)
	if f.Type == elf.ET_DYN {
		if base, err = loadedAt(pid, f); err != nil {
			return nil, err
		}
	}
	t := &table{Reader: NewReader(pid, release)}
	if at, err := findSymbols(f, "runtime.allglen", "runtime.allgptr"); err == nil {
		t.length, t.first = base+at[0], base+at[1]
	} else if !t.findList(f, base) {
		return nil, err
	}
	n, _, err := t.readList()
	if err == nil && n == 0 {
		err = errNoTable
	}
	return t, err
}

// findSymbols returns the values of variables of an executable.
func findSymbols(f *elf.File, names ...string) ([]uint64, error) {
	symbols := f.Section(".symtab")
	if symbols == nil || symbols.Link == 0 || int(symbols.Link) >= len(f.Sections) || f.Class != elf.ELFCLASS64 {
		return nil, errNoTable
	}
	strings := f.Sections[symbols.Link]
	if strings.Size > mostSymbolText {
		return nil, errNoTable
	}
	text, err := strings.Data()
	if err != nil {
		return nil, err
	}
	values := make([]uint64, len(names))
	wanted := make(map[uint32]int) // by where the name begins
	for i, n := range names {
		at := bytes.Index(text, []byte("\x00"+n+"\x00"))
		if at < 0 {
			return nil, errNoTable
		}
		wanted[uint32(at+1)] = i
	}
	in := symbols.Open()
	room := make([]byte, 24<<10) // of symbols of 24 bytes (elf(5): Elf64_Sym)
	for {
		n, err := io.ReadFull(in, room)
		for s := room[:n]; len(s) >= 24; s = s[24:] {
			if i, is := wanted[f.ByteOrder.Uint32(s)]; is {
				values[i] = f.ByteOrder.Uint64(s[8:])
			}
		}
		if err != nil {
			break
		}
	}
	for _, v := range values {
		if v == 0 {
			return nil, errNoTable
		}
	}
	return values, nil
}

// Bounds of the search for the list in the variables of an executable without symbols.
const (
	mostVariables  = 64 << 20 // bytes
	searchedAtOnce = 256 << 10
)

// findList searches the variables of an executable for runtime.allgs: a slice of addresses of goroutines, of which the first is number 1, the one that
// runs main and never ends.
func (t *table) findList(f *elf.File, base uint64) bool {
	room := make([]byte, searchedAtOnce)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
			continue
		}
		from, until := base+(p.Vaddr+7)&^7, base+p.Vaddr+min(p.Memsz, mostVariables)
		for at := from; at+24 <= until; at += searchedAtOnce - 16 { // a slice may lie across the end
			part := room[:min(searchedAtOnce, until-at)]
			if !t.readMemory(at, part) {
				break
			}
			for i := 0; i+24 <= len(part); i += 8 {
				list, n, held := binary.NativeEndian.Uint64(part[i:]), binary.NativeEndian.Uint64(part[i+8:]), binary.NativeEndian.Uint64(part[i+16:])
				if n > 0 && n <= held && held <= mostGoroutines && list != 0 && list%8 == 0 && t.isList(list, n) {
					t.first, t.length = at+uint64(i), at+uint64(i)+8
					return true
				}
			}
		}
	}
	return false
}

// isList says whether n words at an address are those of goroutines, from number 1 on: each holds its own address.
func (t *table) isList(list, n uint64) bool {
	for _, i := range []uint64{0, n - 1} {
		var word [8]byte
		header := t.header[:t.l.size]
		if !t.readMemory(list+8*i, word[:]) {
			return false
		}
		g := binary.NativeEndian.Uint64(word[:])
		if g == 0 || g%8 != 0 || !t.readMemory(g, header) || binary.NativeEndian.Uint64(header[atSelf:]) != g {
			return false
		}
		if number := binary.NativeEndian.Uint64(header[t.l.state+idAfterState:]); i == 0 && number != 1 {
			return false
		}
	}
	return true
}

// loadedAt returns how far a position-independent executable was moved: where its lowest part is mapped.
func loadedAt(pid int, f *elf.File) (uint64, error) {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0, err
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), " "+exe) {
			continue
		}
		from, _, _ := strings.Cut(line, "-")
		at, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			return 0, err
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD {
				return at - p.Vaddr&^(p.Align-1), nil
			}
		}
	}
	return 0, errNoTable
}

// readList returns how many goroutines the list has, ended ones included, and where it begins.
func (t *table) readList() (n, first uint64, err error) {
	var word [8]byte
	if !t.readMemory(t.length, word[:]) {
		return 0, 0, errNoMemory
	}
	n = binary.NativeEndian.Uint64(word[:])
	if !t.readMemory(t.first, word[:]) || n > mostGoroutines {
		return 0, 0, errNoTable
	}
	return n, binary.NativeEndian.Uint64(word[:]), nil
}

// eachGoroutine yields what each goroutine does, and how many it stands for. What has ended is left out.
func (t *table) eachGoroutine(yield func(state State, frames []uint64, stands int64)) error {
	n, first, err := t.readList()
	if err != nil || n == 0 {
		return err
	}
	list := make([]byte, 8*n)
	if !t.readMemory(first, list) {
		return errNoMemory
	}
	stands := (n + mostStacks - 1) / mostStacks
	for i := uint64(0); i < n; i += stands {
		state, frames := t.Look(binary.NativeEndian.Uint64(list[8*i:]))
		if state != Unknown {
			yield(state, frames, int64(stands))
		}
	}
	return nil
}
