// Package v8 names the JavaScript functions whose frames are on a stack, by what V8 has in its memory. It only reads.
//
// The layout is the program's own: V8 is built with constants for debuggers that look at memory images (v8dbg_…, src/../gen-postmortem-metadata.py of
// V8's sources), and Node.js keeps them in its table of dynamic symbols. Fields for which newer versions have no constant (the name and the
// script of a function, from Node.js 22 on) are found by the types of the objects that they lead to.
//
// A frame of JavaScript holds its function below the saved frame pointer: JSFunction → SharedFunctionInfo → ScopeInfo with the name, and
// Script with the file. The process runs meanwhile, so an object may have moved or be half written. Each object's type is therefore checked
// before its fields are used, and a function counts as unknown if a check fails.
//
// The package's opinion: a wrong name is worse than none. Only names of functions and scripts are kept, and how many lines come before a function;
// no other text of the program is kept.
package v8

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Layout is where one V8 keeps the fields that name functions. Offsets are in bytes, from the start of an object unless said otherwise.
type Layout struct {
	Function int64 // of the function in a frame of JavaScript, from the frame pointer
	Marker   int64 // of the context there, or of the kind of a frame that is none of JavaScript
	exits    []uint64

	mapOf, typeOfMap                    int64
	shared                              int64 // of a JSFunction
	nameOrScope, script                 int64 // of a SharedFunctionInfo; -1: to be found by type
	scriptName, scriptSource            int64
	length, oneByte, twoByte            int64 // of strings
	first, second, actual, parent, from int64 // of strings made of others

	smiShift uint
	locals   int64 // of the number of local variables in a ScopeInfo
	names    int64 // of the first one's name
	early    bool  // a ScopeInfo has the function's place before the names

	typeMap, typeShared, typeScope, typeScript, typeDebug int32

	firstNonString, representation, encodingMask, oneByteTag int32
	seq, cons, sliced, thin                                  int32
}

// ErrNone is returned for a program without V8's constants.
var ErrNone = errors.New("no constants of V8 (v8dbg_…)")

// Bounds of the tables of dynamic symbols and of their names, in bytes.
const mostSymbols = 64 << 20

// ReadLayout reads the layout from a program or library (ELF).
func ReadLayout(r io.ReaderAt) (*Layout, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	c, err := readConstants(f)
	if err != nil {
		return nil, err
	}
	return c.layout()
}

// constants are V8's, without "v8dbg_".
type constants map[string]int32

var prefix = []byte("v8dbg_")

// readConstants reads variables of 4 bytes. A variable in memory that the file does not hold is 0.
func readConstants(f *elf.File) (constants, error) {
	symbols := f.SectionByType(elf.SHT_DYNSYM)
	if f.Class != elf.ELFCLASS64 || symbols == nil || symbols.Size > mostSymbols || int(symbols.Link) >= len(f.Sections) || f.Sections[symbols.Link].Size > mostSymbols {
		return nil, ErrNone
	}
	entries, err := symbols.Data()
	if err != nil {
		return nil, err
	}
	names, err := f.Sections[symbols.Link].Data()
	if err != nil {
		return nil, err
	}
	c := make(constants)
	for ; len(entries) >= elf.Sym64Size; entries = entries[elf.Sym64Size:] {
		at := f.ByteOrder.Uint32(entries)
		if uint64(at) >= uint64(len(names)) || !bytes.HasPrefix(names[at:], prefix) {
			continue
		}
		name, _, _ := bytes.Cut(names[at+uint32(len(prefix)):], []byte{0})
		if v, ok := readVariable(f, f.ByteOrder.Uint64(entries[8:])); ok {
			c[string(name)] = v
		}
	}
	if len(c) == 0 {
		return nil, ErrNone
	}
	return c, nil
}

func readVariable(f *elf.File, at uint64) (int32, bool) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || at < p.Vaddr || at-p.Vaddr >= p.Memsz {
			continue
		}
		var b [4]byte
		if at-p.Vaddr < p.Filesz {
			if _, err := p.ReadAt(b[:], int64(at-p.Vaddr)); err != nil {
				return 0, false
			}
		}
		return int32(binary.LittleEndian.Uint32(b[:])), true
	}
	return 0, false
}

// layout makes the layout, or says which constant is missing.
func (c constants) layout() (*Layout, error) {
	var missing error
	need := func(names ...string) int32 {
		for _, n := range names {
			if v, ok := c[n]; ok {
				return v
			}
		}
		if missing == nil {
			missing = fmt.Errorf("V8 has no constant v8dbg_%s", names[0])
		}
		return 0
	}
	at := func(names ...string) int64 { return int64(need(names...)) }
	optional := func(names ...string) int64 {
		for _, n := range names {
			if v, ok := c[n]; ok {
				return int64(v)
			}
		}
		return -1
	}
	l := &Layout{
		Function:       at("off_fp_function"),
		Marker:         at("off_fp_context_or_frame_type", "off_fp_context"),
		mapOf:          at("class_HeapObject__map__Map"),
		typeOfMap:      at("class_Map__instance_type__uint16_t"),
		shared:         at("class_JSFunction__shared__SharedFunctionInfo"),
		nameOrScope:    optional("class_SharedFunctionInfo__name_or_scope_info__Object"),
		script:         optional("class_SharedFunctionInfo__script_or_debug_info__HeapObject", "class_SharedFunctionInfo__script__HeapObject"),
		scriptName:     at("class_Script__name__Object"),
		scriptSource:   at("class_Script__source__Object"),
		length:         at("class_String__length__int32_t"),
		oneByte:        at("class_SeqOneByteString__chars__char"),
		twoByte:        at("class_SeqTwoByteString__chars__char"),
		first:          at("class_ConsString__first__String"),
		second:         at("class_ConsString__second__String"),
		actual:         at("class_ThinString__actual__String"),
		parent:         at("class_SlicedString__parent__String"),
		from:           at("class_SlicedString__offset__SMI"),
		smiShift:       uint(need("SmiShiftSize") + need("SmiValueShift")),
		typeMap:        need("type_Map__MAP_TYPE"),
		typeShared:     need("type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"),
		typeScope:      need("type_ScopeInfo__SCOPE_INFO_TYPE"),
		typeScript:     need("type_Script__SCRIPT_TYPE"),
		typeDebug:      need("type_DebugInfo__DEBUG_INFO_TYPE"),
		firstNonString: need("FirstNonstringType"),
		representation: need("StringRepresentationMask"),
		encodingMask:   need("StringEncodingMask"),
		oneByteTag:     need("OneByteStringTag"),
		seq:            need("SeqStringTag"),
		cons:           need("ConsStringTag"),
		sliced:         need("SlicedStringTag"),
		thin:           need("ThinStringTag"),
	}
	for name, kind := range c {
		if strings.HasPrefix(name, "frametype_") && strings.HasSuffix(name, "ExitFrame") && !strings.Contains(name, "Wasm") {
			l.exits = append(l.exits, uint64(kind)<<1)
		}
	}
	size, pointer := need("TaggedSize"), need("SystemPointerSize")
	// The fields of a ScopeInfo follow its map.
	locals, names := int64(need("scopeinfo_idx_ncontextlocals")), int64(need("scopeinfo_idx_first_vars"))
	l.locals, l.names = word*(1+locals), word*(1+names)
	l.early = names >= locals+3
	switch {
	case missing != nil:
		return nil, missing
	case size != pointer || pointer != word:
		return nil, fmt.Errorf("V8 has compressed pointers (%d of %d bytes), which unstall does not read", size, pointer)
	case l.smiShift != 32 || need("HeapObjectTag") != 1:
		return nil, errors.New("V8 tags its pointers in another way than unstall reads")
	}
	for _, offset := range []int64{l.mapOf, l.typeOfMap, l.shared, l.scriptName, l.scriptSource, l.length, l.oneByte, l.twoByte, l.first, l.second, l.actual, l.parent, l.from, l.locals, l.names} {
		if offset < 0 || offset > farthest {
			return nil, errors.New("V8's constants are damaged")
		}
	}
	return l, nil
}

// word is the size of a pointer, farthest the largest offset of a field that is plausible.
const (
	word     = 8
	farthest = 1 << 10
)
