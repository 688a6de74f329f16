package symbol

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"io"

	"github.com/ianlancetaylor/demangle"
)

// Bounds of one file: what is larger is not read, and its functions are told by offset.
const (
	mostSymbols = 64 << 20 // bytes of a table of symbols
	mostLines   = 64 << 20 // bytes of .gopclntab
)

// file is what a mapped file says of its functions, by the addresses it was linked for.
type file struct {
	table
	loads []elf.ProgHeader // that are executed
}

// readFile reads a program or library. A file that is none has no functions.
func readFile(r io.ReaderAt) *file {
	f, err := elf.NewFile(r)
	if err != nil {
		return &file{}
	}
	x := &file{}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			x.loads = append(x.loads, p.ProgHeader)
		}
	}
	if !x.addSymbols(f, elf.SHT_SYMTAB) && !x.goFunctions(f) {
		x.addSymbols(f, elf.SHT_DYNSYM)
	}
	x.sort()
	return x
}

// addSymbols reads a table of symbols. The names stay where the file has them, because a program like node has 100,000.
func (x *file) addSymbols(f *elf.File, typ elf.SectionType) bool {
	s := f.SectionByType(typ)
	if s == nil || s.Size > mostSymbols || int(s.Link) >= len(f.Sections) || f.Sections[s.Link].Size > mostSymbols {
		return false
	}
	size := elf.Sym64Size
	if f.Class == elf.ELFCLASS32 {
		size = elf.Sym32Size
	}
	text, err := f.Sections[s.Link].Data()
	if err != nil {
		return false
	}
	t := table{text: append(text, 0)}
	entries := bufio.NewReaderSize(s.Open(), 64<<10)
	for b := make([]byte, size); ; {
		if _, err := io.ReadFull(entries, b); err != nil {
			break
		}
		name, info, section, value, length := readSymbol(f, b)
		if typ := elf.ST_TYPE(info); typ != elf.STT_FUNC && typ != elf.STT_GNU_IFUNC && (typ != elf.STT_NOTYPE || length == 0) || value == 0 || section == elf.SHN_UNDEF {
			continue
		}
		if int(name) < len(text) && text[name] != 0 {
			end := uint64(0)
			if length > 0 {
				end = value + length
			}
			t.starts, t.ends, t.names = append(t.starts, value), append(t.ends, end), append(t.names, name)
		}
	}
	if len(t.starts) == 0 {
		return false
	}
	x.table = t
	return true
}

// readSymbol reads an entry of a table of symbols.
func readSymbol(f *elf.File, b []byte) (name uint32, info byte, section elf.SectionIndex, value, length uint64) {
	order := f.ByteOrder
	if f.Class == elf.ELFCLASS32 {
		return order.Uint32(b), b[12], elf.SectionIndex(order.Uint16(b[14:])), uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:]))
	}
	return order.Uint32(b), b[4], elf.SectionIndex(order.Uint16(b[6:])), order.Uint64(b[8:]), order.Uint64(b[16:])
}

// goFunctions reads the table by which Go's runtime unwinds stacks: no strip takes it away.
func (x *file) goFunctions(f *elf.File) bool {
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil {
		lines = f.Section(".data.rel.ro.gopclntab") // of position-independent programs
	}
	if lines == nil || text == nil || lines.Size > mostLines {
		return false
	}
	data, err := lines.Data()
	if err != nil {
		return false
	}
	t, err := goTable(data, text.Addr)
	if err != nil {
		return false
	}
	for i := range t.Funcs {
		y := &t.Funcs[i]
		if y.End > y.Entry {
			x.addEntry(y.Entry, y.End-y.Entry, y.Name)
		}
	}
	return len(x.starts) > 0
}

// goTable reads .gopclntab; gosym panics at damaged ones.
func goTable(data []byte, text uint64) (t *gosym.Table, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = elf.ErrNoSymbols
		}
	}()
	return gosym.NewTable(nil, gosym.NewLineTable(data, text))
}

// functionAtOffset returns the function at an offset of the file, and the address it was linked
// for.
func (x *file) functionAtOffset(offset uint64) (name string, addr uint64) {
	addr, ok := x.linkedAddress(offset)
	if !ok {
		return "", offset
	}
	return x.table.functionAt(addr), addr
}

// linkedAddress returns the address that code at an offset of the file was linked for.
func (x *file) linkedAddress(offset uint64) (addr uint64, ok bool) {
	for _, p := range x.loads {
		if offset >= p.Off && offset-p.Off < p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// readObjects reads the variables of a program, by the addresses they were linked for.
func readObjects(r io.ReaderAt) (t table) {
	f, err := elf.NewFile(r)
	if err != nil {
		return t
	}
	s := f.SectionByType(elf.SHT_SYMTAB)
	if s == nil || s.Size > mostSymbols {
		return t
	}
	all, _ := f.Symbols()
	for _, y := range all {
		if elf.ST_TYPE(y.Info) == elf.STT_OBJECT && y.Size > 0 && y.Section != elf.SHN_UNDEF && y.Name != "" {
			t.addEntry(y.Value, y.Size, y.Name)
		}
	}
	t.sort()
	return t
}

// demangleName returns a name as its source has it: names of C++ and Rust are mangled.
func demangleName(name string) string {
	return demangle.Filter(name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams)
}
