package symbol

import (
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
	if !x.addSymbols(f, elf.SHT_SYMTAB, f.Symbols) && !x.goFunctions(f) {
		x.addSymbols(f, elf.SHT_DYNSYM, f.DynamicSymbols)
	}
	x.sort()
	return x
}

func (x *file) addSymbols(f *elf.File, typ elf.SectionType, read func() ([]elf.Symbol, error)) bool {
	s := f.SectionByType(typ)
	if s == nil || s.Size > mostSymbols {
		return false
	}
	all, err := read()
	if err != nil {
		return false
	}
	for _, y := range all {
		if t := elf.ST_TYPE(y.Info); (t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC || t == elf.STT_NOTYPE && y.Size > 0) && y.Value != 0 && y.Section != elf.SHN_UNDEF && y.Name != "" {
			x.addEntry(y.Value, y.Size, y.Name)
		}
	}
	return len(x.starts) > 0
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
