package v8

import (
	"encoding/binary"
	"unicode/utf16"
)

// Memory reads a process's memory. It returns false if not all could be read.
type Memory interface {
	Read(at uint64, to []byte) bool
}

// heap reads objects of a running V8.
type heap struct {
	*Layout
	mem   Memory
	types map[uint64]int32 // of maps, by their address
}

// Bounds of what is read of one string, and of how deep strings are made of others.
const (
	longestName = 200 // characters
	deepest     = 12
)

// isObject says whether a value is a pointer to an object. V8 tags pointers in the lowest bits: 01 is a strong one.
func isObject(v uint64) bool { return v&3 == 1 && v > 1<<16 && v < 1<<47 }

// wordAt returns a field.
func wordAt(b []byte, at int64) uint64 {
	if at < 0 || at+word > int64(len(b)) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[at:])
}

// read reads an object's first bytes, or those from an offset on.
func (h *heap) read(object uint64, from int64, to []byte) bool {
	return isObject(object) && h.mem.Read(object-1+uint64(from), to)
}

// typeOf returns the type of an object whose first bytes were read; -1 if it has none.
func (h *heap) typeOf(b []byte) int32 {
	m := wordAt(b, h.mapOf)
	if t, known := h.types[m]; known {
		return t
	}
	// The map of a map is a map, and its own map.
	var own, meta [32]byte
	if !h.read(m, 0, own[:]) || !h.read(wordAt(own[:], h.mapOf), 0, meta[:]) || h.instanceType(meta[:]) != h.typeMap {
		return -1
	}
	if len(h.types) > 1<<12 {
		clear(h.types)
	}
	t := h.instanceType(own[:])
	h.types[m] = t
	return t
}

func (h *heap) instanceType(b []byte) int32 {
	if h.typeOfMap+2 > int64(len(b)) {
		return -1
	}
	return int32(binary.LittleEndian.Uint16(b[h.typeOfMap:]))
}

func (h *heap) isString(t int32) bool { return t >= 0 && t < h.firstNonString }

// kindOf returns the type of an object by its address.
func (h *heap) kindOf(object uint64) int32 {
	var b [word]byte
	if !h.read(object, 0, b[:]) {
		return -1
	}
	return h.typeOf(b[:])
}

// text returns a string, cut to its first characters. It returns false if that is none, or lies outside the heap.
func (h *heap) text(object uint64) (string, bool) {
	all, ok := h.characters(nil, object, 0, longestName, deepest)
	return string(utf16.Decode(all)), ok
}

// characters appends characters of a string, from one of them on.
func (h *heap) characters(all []uint16, object uint64, from, most, depth int) ([]uint16, bool) {
	var b [32]byte
	if depth == 0 || !h.read(object, 0, b[:]) {
		return all, false
	}
	t := h.typeOf(b[:])
	if !h.isString(t) {
		return all, false
	}
	length := int(int32(wordAt(b[:], h.length)))
	n := min(length-from, most)
	if length < 0 || n < 0 {
		return all, false
	}
	if n == 0 {
		return all, true
	}
	switch t & h.representation {
	case h.seq:
		if t&h.encodingMask == h.oneByteTag {
			room := make([]byte, n)
			if !h.read(object, h.oneByte+int64(from), room) {
				return all, false
			}
			for _, c := range room {
				all = append(all, uint16(c))
			}
			return all, true
		}
		room := make([]byte, 2*n)
		if !h.read(object, h.twoByte+2*int64(from), room) {
			return all, false
		}
		for i := 0; i < len(room); i += 2 {
			all = append(all, binary.LittleEndian.Uint16(room[i:]))
		}
		return all, true
	case h.cons:
		before := len(all)
		all, ok := h.characters(all, wordAt(b[:], h.first), from, n, depth-1)
		if got := len(all) - before; ok && got < n {
			return h.characters(all, wordAt(b[:], h.second), 0, n-got, depth-1)
		}
		return all, ok
	case h.sliced:
		start := int(int32(wordAt(b[:], h.from) >> h.smiShift))
		if start < 0 {
			return all, false
		}
		return h.characters(all, wordAt(b[:], h.parent), start+from, n, depth-1)
	case h.thin:
		return h.characters(all, wordAt(b[:], h.actual), from, n, depth-1)
	}
	return all, false
}
