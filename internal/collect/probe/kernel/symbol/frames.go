package symbol

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
)

// Bounds of an .eh_frame that is read, in bytes, and of states that rules remember at a time.
const (
	mostFrames = 16 << 20
	mostKept   = 32
)

// frames are the rules for leaving the stack frames of a file's functions (.eh_frame: System V ABI, AMD64 supplement, 3.7 and 4.2.4; DWARF 5,
// 6.4). Compilers write them for all code, also without frame pointers, because exceptions and cleanups need them.
type frames struct {
	data  []byte
	addr  uint64 // address the section was linked for
	order binary.ByteOrder
	all   []function // in order of address
}

// function is a range of addresses with rules of its own.
type function struct {
	start, end uint64
	common     *common
	rules      []byte
}

// common is the common beginning of several functions' rules (CIE).
type common struct {
	code     uint64
	data     int64
	encoding byte // of addresses
	extended bool // with a length of what follows the addresses
	rules    []byte
}

func readFrames(f *elf.File) *frames {
	s := f.Section(".eh_frame")
	if s == nil || s.Size > mostFrames || s.Type == elf.SHT_NOBITS || f.Machine != elf.EM_X86_64 {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return nil
	}
	x := &frames{data: data, addr: s.Addr, order: f.ByteOrder}
	x.indexFunctions()
	return x
}

// indexFunctions finds all functions. It stops at the first record it does not understand.
func (x *frames) indexFunctions() {
	known := make(map[uint64]*common)
	for at := uint64(0); at+8 <= uint64(len(x.data)); {
		length := uint64(x.order.Uint32(x.data[at:]))
		if length < 4 || length >= 0xfffffff0 || at+4+length > uint64(len(x.data)) {
			break
		}
		id := uint64(x.order.Uint32(x.data[at+4:]))
		c := &reader{data: x.data[:at+4+length], at: at + 8, order: x.order}
		if id == 0 {
			known[at] = c.readCommon()
		} else if of := known[at+4-id]; of != nil {
			if f := x.readFunction(c, of); c.err == nil && f.end > f.start {
				x.all = append(x.all, f)
			}
		}
		at += 4 + length
	}
	slices.SortStableFunc(x.all, func(a, b function) int { return cmp.Compare(a.start, b.start) })
}

func (x *frames) readFunction(c *reader, of *common) (f function) {
	f.common = of
	f.start = c.readAddress(of.encoding, x.addr)
	f.end = f.start + c.readAddress(of.encoding&0x0f, 0)
	if of.extended {
		c.skip(c.readULEB128())
	}
	f.rules = c.rest()
	return f
}

// row says how to leave a frame: where its caller's stack pointer was, and which registers were saved below that.
type row struct {
	base   int // the register that offset is from
	offset int64
	deref  bool // that place holds it instead, up to plus
	plus   int64
	odd    bool   // by an unsupported rule: an expression
	start  uint64 // of the function
	saved  [registersKept]int64
	is     [registersKept]bool
	lost   [registersKept]bool // registers whose value is no longer known
}

// Registers by DWARF's numbers for amd64 (System V ABI, AMD64 supplement, figure 3.36).
const (
	regBase       = 6 // rbp
	regStack      = 7 // rsp
	regReturn     = 16
	registersKept = 17
)

// deepestSaved is how far below the caller's stack pointer registers are saved.
func (r *row) deepestSaved() (n uint64) {
	for reg := range registersKept {
		if r.is[reg] && r.saved[reg] < 0 {
			n = max(n, uint64(-r.saved[reg]))
		}
	}
	return n
}

// rowAt returns how the frame is left at an address of the file; false if that is unknown.
func (x *frames) rowAt(addr uint64) (row, bool) {
	if x == nil {
		return row{}, false
	}
	n, found := slices.BinarySearchFunc(x.all, addr, func(f function, a uint64) int { return cmp.Compare(f.start, a) })
	if !found {
		n--
	}
	if n < 0 || addr >= x.all[n].end {
		return row{}, false
	}
	f := &x.all[n]
	var r row
	var kept []row
	run := func(rules []byte, from uint64, first row) error {
		c := &reader{data: rules, order: x.order}
		for at := from; c.at < uint64(len(rules)) && c.err == nil; {
			next, err := c.runRule(&r, &kept, f.common, first, at)
			if err != nil {
				return err
			}
			if at = next; at > addr {
				break
			}
		}
		return c.err
	}
	if run(f.common.rules, 0, row{}) != nil {
		return row{}, false
	}
	first := r
	kept = kept[:0]
	if run(f.rules, f.start, first) != nil || r.odd {
		return row{}, false
	}
	r.start = f.start
	return r, true
}

var errRule = errors.New("a rule that is not known")

// runRule applies one rule to a row, and returns the address from which the rules after it hold.
func (c *reader) runRule(r *row, kept *[]row, of *common, first row, at uint64) (uint64, error) {
	op := c.readByte()
	low := uint64(op & 0x3f)
	save := func(reg uint64, offset int64) {
		if reg < registersKept {
			r.is[reg], r.saved[reg], r.lost[reg] = true, offset, false
		}
	}
	restore := func(reg uint64) {
		if reg < registersKept {
			r.is[reg], r.saved[reg], r.lost[reg] = first.is[reg], first.saved[reg], first.lost[reg]
		}
	}
	lose := func(reg uint64, lost bool) {
		if reg < registersKept {
			r.is[reg], r.lost[reg] = false, lost
		}
	}
	switch op & 0xc0 {
	case 0x40: // advance_loc
		return at + low*of.code, nil
	case 0x80: // offset
		save(low, int64(c.readULEB128())*of.data)
		return at, nil
	case 0xc0: // restore
		restore(low)
		return at, nil
	}
	switch op {
	case 0x00: // nop
	case 0x02: // advance_loc1, 2, 4
		return at + uint64(c.readByte())*of.code, nil
	case 0x03:
		return at + c.readFixed(2)*of.code, nil
	case 0x04:
		return at + c.readFixed(4)*of.code, nil
	case 0x05: // offset_extended
		reg := c.readULEB128()
		save(reg, int64(c.readULEB128())*of.data)
	case 0x06: // restore_extended
		restore(c.readULEB128())
	case 0x07: // undefined
		lose(c.readULEB128(), true)
	case 0x08: // same_value
		lose(c.readULEB128(), false)
	case 0x09: // register
		lose(c.readULEB128(), true)
		c.readULEB128()
	case 0x0a: // remember_state
		if len(*kept) == mostKept {
			return at, errRule
		}
		*kept = append(*kept, *r)
	case 0x0b: // restore_state
		n := len(*kept)
		if n == 0 {
			return at, errRule
		}
		*r, *kept = (*kept)[n-1], (*kept)[:n-1]
	case 0x0c: // def_cfa
		r.base, r.odd, r.deref = int(c.readULEB128()), false, false
		r.offset = int64(c.readULEB128())
	case 0x0d: // def_cfa_register
		r.base, r.odd, r.deref = int(c.readULEB128()), false, false
	case 0x0e: // def_cfa_offset
		r.offset = int64(c.readULEB128())
	case 0x0f: // def_cfa_expression
		c.runExpression(r)
	case 0x10, 0x16: // expression, val_expression
		lose(c.readULEB128(), true)
		c.skip(c.readULEB128())
	case 0x11: // offset_extended_sf
		reg := c.readULEB128()
		save(reg, c.readSLEB128()*of.data)
	case 0x12: // def_cfa_sf
		r.base, r.odd, r.deref = int(c.readULEB128()), false, false
		r.offset = c.readSLEB128() * of.data
	case 0x13: // def_cfa_offset_sf
		r.offset = c.readSLEB128() * of.data
	case 0x14: // val_offset
		lose(c.readULEB128(), true)
		c.readULEB128()
	case 0x15: // val_offset_sf
		lose(c.readULEB128(), true)
		c.readSLEB128()
	case 0x2e: // GNU_args_size
		c.readULEB128()
	default:
		return at, errRule
	}
	return at, nil
}

// runExpression reads the one form of expression that hand-written code has: what a register points to, at an offset, and a number more. OpenSSL's
// ciphers and hashes keep their caller's stack pointer so, because they align their own.
func (c *reader) runExpression(r *row) {
	length := c.readULEB128()
	end := c.at + length
	r.odd, r.deref = true, false
	if op := c.readByte(); op >= 0x70 && op < 0x70+registersKept { // breg
		base, offset := int(op-0x70), c.readSLEB128()
		if c.readByte() == 0x06 && c.readByte() == 0x23 { // deref, plus_uconst
			plus := int64(c.readULEB128())
			if c.at == end && c.err == nil {
				r.base, r.offset, r.plus, r.deref, r.odd = base, offset, plus, true, false
			}
		}
	}
	if c.at = end; end < length || end > uint64(len(c.data)) {
		c.err, c.at = errShort, uint64(len(c.data))
	}
}

// readCommon reads a CIE after its id; nil if it is of an unknown kind.
func (c *reader) readCommon() *common {
	x := &common{}
	version := c.readByte()
	text := c.readString()
	if version == 4 {
		c.skip(2) // sizes of addresses and segments
	}
	x.code, x.data = c.readULEB128(), c.readSLEB128()
	if version == 1 {
		c.readByte()
	} else {
		c.readULEB128()
	}
	if text == "" {
		x.rules = c.rest()
		return c.orNone(x)
	}
	if text[0] != 'z' {
		return nil
	}
	x.extended = true
	length := c.readULEB128()
	until := c.at + length
	for _, l := range []byte(text[1:]) {
		switch l {
		case 'R':
			x.encoding = c.readByte()
		case 'P':
			c.readAddress(c.readByte(), 0)
		case 'L':
			c.readByte()
		}
	}
	if until > uint64(len(c.data)) || until < c.at {
		return nil
	}
	c.at = until
	x.rules = c.rest()
	return c.orNone(x)
}

func (c *reader) orNone(x *common) *common {
	if c.err != nil || x.code == 0 {
		return nil
	}
	return x
}

// reader reads numbers as DWARF writes them.
type reader struct {
	data  []byte
	at    uint64
	order binary.ByteOrder
	err   error
}

var errShort = errors.New("it ends early")

func (c *reader) readFixed(n uint64) (v uint64) {
	if c.at > uint64(len(c.data)) || n > uint64(len(c.data))-c.at {
		c.err, c.at = errShort, uint64(len(c.data))
		return 0
	}
	b := c.data[c.at:]
	c.at += n
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(c.order.Uint16(b))
	case 4:
		return uint64(c.order.Uint32(b))
	}
	return c.order.Uint64(b)
}

func (c *reader) readByte() byte { return byte(c.readFixed(1)) }

func (c *reader) skip(n uint64) {
	if c.at > uint64(len(c.data)) || n > uint64(len(c.data))-c.at {
		c.err, c.at = errShort, uint64(len(c.data))
		return
	}
	c.at += n
}

func (c *reader) rest() []byte { return c.data[min(c.at, uint64(len(c.data))):] }

func (c *reader) readString() string {
	from := c.at
	for c.at < uint64(len(c.data)) {
		if c.readByte() == 0 {
			return string(c.data[from : c.at-1])
		}
	}
	c.err = errShort
	return ""
}

func (c *reader) readULEB128() (v uint64) {
	for shift := uint(0); c.err == nil; shift += 7 {
		b := c.readByte()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			break
		}
	}
	return v
}

func (c *reader) readSLEB128() (v int64) {
	for shift := uint(0); c.err == nil; {
		b := c.readByte()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if shift += 7; b < 0x80 {
			if shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			break
		}
	}
	return v
}

// readAddress reads an address in its encoding (Linux Standard Base, core, 10.5.1). section is the
// address that the data was linked for.
func (c *reader) readAddress(encoding byte, section uint64) (v uint64) {
	at := section + c.at
	switch encoding & 0x0f {
	case 0x00, 0x04: // absolute, udata8
		v = c.readFixed(8)
	case 0x01:
		v = c.readULEB128()
	case 0x02:
		v = c.readFixed(2)
	case 0x03:
		v = c.readFixed(4)
	case 0x09:
		v = uint64(c.readSLEB128())
	case 0x0a:
		v = uint64(int16(c.readFixed(2)))
	case 0x0b:
		v = uint64(int32(c.readFixed(4)))
	case 0x0c:
		v = c.readFixed(8)
	default:
		c.err = errRule
	}
	switch encoding & 0x70 {
	case 0x00:
	case 0x10: // relative to where it stands
		v += at
	default:
		c.err = errRule
	}
	return v
}
