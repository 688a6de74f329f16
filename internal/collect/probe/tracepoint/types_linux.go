package tracepoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// KernelTypes reads the kernel's BTF (https://docs.kernel.org/bpf/btf.html) once and keeps the dozen types asked for:
// indexing all 100,000 costs 0.1 s of CPU.
type KernelTypes struct {
	raw     []byte
	kinds   []byte   // section of types
	strings []byte   // section of names
	at      []uint32 // of each type in its section, by number
	found   map[Type]uint32
}

// Type names a type of the kernel; its Kind is one of those below.
type Type struct {
	Name string
	Kind uint32
}

// Kinds of types.
const (
	kindInt      = 1
	kindStruct   = 4
	kindUnion    = 5
	kindEnum     = 6
	kindTypedef  = 8
	kindVolatile = 9
	kindConst    = 10
	kindRestrict = 11
	kindFunction = 12
	kindTypeTag  = 18
	numKinds     = 20
)

// extra is the bytes after a type's 12-byte header, by kind: a fixed part, and a part for each member.
var extra = [numKinds][2]uint32{1: {4, 0}, 3: {12, 0}, 4: {0, 12}, 5: {0, 12}, 6: {0, 8}, 13: {0, 8}, 14: {4, 0}, 15: {0, 12}, 17: {4, 0}, 19: {0, 12}}

// Struct is the name of a struct.
func Struct(name string) Type { return Type{name, kindStruct} }

// Tracepoint is the name of the type that stands for a tracepoint.
func Tracepoint(name string) Type { return Type{"btf_trace_" + name, kindTypedef} }

// Function is the name of a function that programs can call.
func Function(name string) Type { return Type{name, kindFunction} }

// ReadTypes finds types by their names. Types that this kernel lacks are not found, which is no error.
func ReadTypes(wanted []Type) (*KernelTypes, error) {
	f, err := os.Open("/sys/kernel/btf/vmlinux")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	raw, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil { // before 6.16 it cannot be mapped
		if raw, err = os.ReadFile(f.Name()); err != nil {
			return nil, err
		}
		return parseTypes(raw, wanted)
	}
	t, err := parseTypes(raw, wanted)
	if err != nil {
		_ = unix.Munmap(raw)
		return nil, err
	}
	t.raw = raw
	return t, nil
}

// Close unmaps the kernel's types. The receiver must not be used after it.
func (t *KernelTypes) Close() {
	if t != nil && t.raw != nil {
		_ = unix.Munmap(t.raw)
		t.raw, t.kinds, t.strings = nil, nil, nil
	}
}

var errTypes = errors.New("the kernel's description of its types is not understood")

func parseTypes(raw []byte, wanted []Type) (*KernelTypes, error) {
	if len(raw) < 24 || binary.NativeEndian.Uint16(raw) != 0xeb9f {
		return nil, errTypes
	}
	word := func(at uint32) uint32 { return binary.NativeEndian.Uint32(raw[at:]) }
	head := uint64(word(4))
	section := func(at uint32) []byte {
		from, n := head+uint64(word(at)), uint64(word(at+4))
		if from+n > uint64(len(raw)) {
			return nil
		}
		return raw[from : from+n]
	}
	t := &KernelTypes{kinds: section(8), strings: section(16), found: make(map[Type]uint32), at: make([]uint32, 1, 1<<17)}
	names := make(map[uint32]string)
	for _, w := range wanted {
		if at := bytes.Index(t.strings, []byte("\x00"+w.Name+"\x00")); at >= 0 {
			names[uint32(at+1)] = w.Name
		}
	}
	for at := 0; at+12 <= len(t.kinds); {
		name, kind, many := binary.NativeEndian.Uint32(t.kinds[at:]), t.kindAt(uint32(at)), t.memberCount(uint32(at))
		if kind == 0 || kind >= numKinds {
			return nil, errTypes
		}
		if text, ok := names[name]; ok {
			if k := (Type{text, kind}); t.found[k] == 0 {
				t.found[k] = uint32(len(t.at))
			}
		}
		t.at = append(t.at, uint32(at))
		if at += 12 + int(extra[kind][0]+many*extra[kind][1]); at > len(t.kinds) {
			return nil, errTypes
		}
	}
	return t, nil
}

func (t *KernelTypes) kindAt(at uint32) uint32 {
	return binary.NativeEndian.Uint32(t.kinds[at+4:]) >> 24 & 0x1f
}

func (t *KernelTypes) memberCount(at uint32) uint32 {
	return binary.NativeEndian.Uint32(t.kinds[at+4:]) & 0xffff
}

// ID is the number of a type.
func (t *KernelTypes) ID(name Type) (uint32, bool) {
	id, ok := t.found[name]
	return id, ok
}

// RequireTracepoint returns an error if the kernel lacks a tracepoint.
func (t *KernelTypes) RequireTracepoint(name string) error {
	if _, ok := t.ID(Tracepoint(name)); !ok {
		return fmt.Errorf("this kernel has no tracepoint %s", name)
	}
	return nil
}

// Member returns the offset and size (bytes) of the first of names that the struct has; size 0 is unknown.
func (t *KernelTypes) Member(of string, names ...string) (at int16, size uint32, err error) {
	id, ok := t.ID(Type{of, kindStruct})
	if !ok {
		return 0, 0, fmt.Errorf("the kernel describes no %s", of)
	}
	for _, n := range names {
		if bytes, typ, ok := t.findMember(id, n, 0); ok {
			return int16(bytes), t.sizeOf(typ), nil
		}
	}
	return 0, 0, fmt.Errorf("%s has no %s", of, names[0])
}

// deepestType bounds structs within structs.
const deepestType = 8

// findMember finds a member of a struct or union, also within its anonymous structs and unions.
func (t *KernelTypes) findMember(id uint32, name string, deep int) (at, typ uint32, ok bool) {
	if int(id) >= len(t.at) || deep > deepestType {
		return 0, 0, false
	}
	head := t.at[id]
	if k := t.kindAt(head); k != kindStruct && k != kindUnion {
		return 0, 0, false
	}
	bits := binary.NativeEndian.Uint32(t.kinds[head+4:])>>31 != 0 // offsets hold sizes of bit fields, too
	for n := range t.memberCount(head) {
		m := t.kinds[head+12+12*n:]
		text, typ, offset := binary.NativeEndian.Uint32(m), binary.NativeEndian.Uint32(m[4:]), binary.NativeEndian.Uint32(m[8:])
		if bits {
			offset &= 0xffffff
		}
		switch {
		case text == 0:
			if at, typ, ok := t.findMember(typ, name, deep+1); ok {
				return offset/8 + at, typ, true
			}
		case t.isNamed(text, name):
			return offset / 8, typ, true
		}
	}
	return 0, 0, false
}

func (t *KernelTypes) isNamed(at uint32, name string) bool {
	rest := t.strings[min(int(at), len(t.strings)):]
	return len(rest) > len(name) && string(rest[:len(name)]) == name && rest[len(name)] == 0
}

// sizeOf returns the size of a number, in bytes; 0 for other types.
func (t *KernelTypes) sizeOf(id uint32) uint32 {
	for range deepestType {
		if int(id) >= len(t.at) || id == 0 {
			return 0
		}
		of := binary.NativeEndian.Uint32(t.kinds[t.at[id]+8:])
		switch t.kindAt(t.at[id]) {
		case kindInt, kindEnum:
			return of
		case kindTypedef, kindVolatile, kindConst, kindRestrict, kindTypeTag:
			id = of
		default:
			return 0
		}
	}
	return 0
}
