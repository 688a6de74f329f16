package symbol

import (
	"encoding/binary"
	"testing"
)

// common begins an .eh_frame with the usual beginning of rules: the caller's stack pointer is 8 above, and the return address below that.
const usual = "\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00"

// A function that aligns its stack tells by an expression where its caller's is, as OpenSSL's hashes do (sha512_block_data_order_avx2).
func TestExpression(t *testing.T) {
	for text, want := range map[string]row{
		"\x16\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x20\x00\x00\x00\x00\x41\x0f\x06\x77\x98\x01\x06\x23\x08":             {base: regStack, offset: 152, deref: true, plus: 8},
		"\x19\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x20\x00\x00\x00\x00\x41\x0f\x06\x77\x98\x01\x06\x23\x08\x0c\x05\x08": {base: 5, offset: 8},
		"\x13\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x20\x00\x00\x00\x00\x41\x0f\x03\x77\x08\x06":                         {odd: true}, // another form
		"\x16\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x20\x00\x00\x00\x00\x41\x0f\xff\x77\x98\x01\x06\x23\x08":             {odd: true}, // damaged
	} {
		x := &frames{data: []byte(usual + text), order: binary.LittleEndian}
		x.indexFunctions()
		got, ok := x.rowAt(0x1030)
		if want.odd {
			if ok {
				t.Errorf("%x: %+v", text, got)
			}
			continue
		}
		if !ok || got.base != want.base || got.offset != want.offset || got.deref != want.deref || got.deref && got.plus != want.plus || !got.is[regReturn] {
			t.Errorf("%x: %v, %+v", text, ok, got)
		}
	}
}

// The caller's registers come from a copy of the stack.
func TestLeave(t *testing.T) {
	p := NewProcess(1)
	p.rows[0x1030] = &row{base: regStack, offset: 16, deref: true, plus: 8, is: [registersKept]bool{regBase: true, regReturn: true}, saved: [registersKept]int64{regBase: -16, regReturn: -8}}
	p.maps = []mapping{{start: 0x1000, end: 0x3000}}
	stack := make([]byte, 128)
	word := func(at int, w uint64) { binary.NativeEndian.PutUint64(stack[at:], w) }
	word(16, 0x7000+80) // the caller's stack pointer is 8 above
	word(72, 0x7777)    // its frame pointer
	word(80, 0x2000)    // the return address
	var r Registers
	r.Set(StackPointer, 0x7000)
	next, ok := p.Leave(0x1030, false, &r, 0x7000, stack)
	if !ok || next != 0x2000 || r.Get(FramePointer) != 0x7777 || r.Get(StackPointer) != 0x7000+88 {
		t.Errorf("%#x, %v, %+v", next, ok, r)
	}
	if r.ForgetAllBut(StackPointer, StackPointer); r.Get(FramePointer) != 0 || r.Get(StackPointer) == 0 {
		t.Errorf("%+v", r)
	}
	var short Registers
	short.Set(StackPointer, 0x7000)
	if next, ok := p.Leave(0x1030, false, &short, 0x7000, stack[:64]); ok {
		t.Errorf("%#x from a copy that ends earlier", next)
	}
}
