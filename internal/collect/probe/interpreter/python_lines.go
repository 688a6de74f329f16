package interpreter

// lineOf returns the line of an instruction, given by its distance in bytes from the first, from a code object's table of lines; 0 unknown.
//
// Sources: Objects/lnotab_notes.txt of CPython 3.8 to 3.10, Objects/locations.md of 3.11 to 3.13.
func lineOf(minor int, table []byte, first, instruction int) int {
	switch {
	case first <= 0 || len(table) == 0:
		return max(0, first)
	case instruction < 0: // before its first instruction
		return first
	case minor >= 11:
		return lineInLocations(table, first, instruction)
	case minor == 10:
		return lineInTable(table, first, instruction)
	}
	return lineInDeltas(table, first, instruction)
}

// lineInDeltas reads co_lnotab: pairs of how many bytes and how many lines later the next line begins.
func lineInDeltas(table []byte, line, instruction int) int {
	at := 0
	for i := 0; i+1 < len(table); i += 2 {
		if at += int(table[i]); at > instruction {
			break
		}
		line += int(int8(table[i+1]))
	}
	return line
}

// lineInTable reads co_linetable of 3.10: pairs of the length of a range and how much its line is behind that of the range before; −128: it has none.
func lineInTable(table []byte, line, instruction int) int {
	at := 0
	for i := 0; i+1 < len(table); i += 2 {
		delta := int(int8(table[i+1]))
		none := delta == -128
		if !none {
			line += delta
		}
		if at += int(table[i]); at > instruction {
			if none {
				return 0
			}
			return line
		}
	}
	return 0
}

// Kinds of entries of co_linetable from 3.11 on, by the high bits of their first byte.
const (
	oneLineFirst = 10 // 10 to 12: so many lines later less 10
	noColumns    = 13
	longForm     = 14
	noLocation   = 15
)

// lineInLocations reads co_linetable from 3.11 on.
func lineInLocations(table []byte, line, instruction int) int {
	at := 0
	for i := 0; i < len(table); {
		head := table[i]
		kind, length := head>>3&15, 2*(int(head&7)+1)
		i++
		delta := 0
		switch {
		case kind == noColumns || kind == longForm:
			delta, i = signedAt(table, i)
		case kind >= oneLineFirst && kind < noColumns:
			delta = int(kind) - oneLineFirst
		}
		line += delta
		if at += length; at > instruction {
			if kind == noLocation {
				return 0
			}
			return line
		}
		for i < len(table) && table[i]&0x80 == 0 { // the rest of the entry
			i++
		}
	}
	return 0
}

// signedAt reads a number in groups of six bits, the lowest first; its lowest bit is its sign. It returns where the next byte is.
func signedAt(table []byte, i int) (n, next int) {
	value := 0
	for shift := 0; i < len(table); shift += 6 {
		b := table[i]
		i++
		if shift < 30 {
			value |= int(b&63) << shift
		}
		if b&64 == 0 {
			break
		}
	}
	if value&1 != 0 {
		return -(value >> 1), i
	}
	return value >> 1, i
}
