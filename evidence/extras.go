package evidence

import (
	"encoding/binary"
	"math"
)

// extras holds the figures that only some intervals have, packed: a collector tells a
// dozen of each pause, and as columns they took more than all the rest of a row. Rows
// come in order, a thousand to a block; a block without figures takes nothing.
type extras struct {
	blocks []extraBlock
	has    keySet // keys that some row has
}

// keySet are keys.
type keySet [2]uint64

func (s *keySet) of(k Key) bool { return s[k/64]&(1<<(k%64)) != 0 }
func (s *keySet) add(k Key)     { s[k/64] |= 1 << (k % 64) }

const blockRows = 1 << 10

type extraBlock struct {
	at   *[blockRows]uint32 // where a row's figures begin in data, one higher; 0: it has none
	data []byte             // for each row how many, then keys and values
}

// A figure is a byte of key and form, then its value. Most are whole: sizes in KiB, times
// in µs, counts. Keys that do not fit beside the form are a byte of their own behind it.
const (
	wholes    = iota << 6 // uvarint
	kibibytes             // uvarint of 1024
	thousands             // uvarint of 1000
	floats                // 8 bytes
)

const keyMask = 1<<6 - 1 // as a key: it follows

const _ = uint(len(keySet{})*64 - int(NumKeys)) // keys fit

// add notes the figures of a row, which must not lie before any that have some.
func (x *extras) add(row int, figures []Extra) {
	if len(figures) == 0 {
		return
	}
	for len(x.blocks) <= row/blockRows {
		if n := len(x.blocks); n > 0 && x.blocks[n-1].data != nil {
			x.blocks[n-1].data = append(make([]byte, 0, len(x.blocks[n-1].data)), x.blocks[n-1].data...)
		}
		x.blocks = append(x.blocks, extraBlock{})
	}
	b := &x.blocks[row/blockRows]
	if b.at == nil {
		b.at = new([blockRows]uint32)
		if n := row / blockRows; n > 0 {
			b.data = make([]byte, 0, len(x.blocks[n-1].data)*5/4)
		}
	}
	b.at[row%blockRows] = uint32(len(b.data) + 1)
	figures = figures[:min(len(figures), math.MaxUint8)]
	b.data = append(b.data, byte(len(figures)))
	for _, f := range figures {
		x.has.add(f.Key)
		b.data = appendFigure(b.data, f)
	}
}

func appendFigure(b []byte, f Extra) []byte {
	v := uint64(max(f.Value, 0))
	switch {
	case f.Value != float64(v) || v > 1<<53 || math.Signbit(f.Value):
		return binary.LittleEndian.AppendUint64(appendKey(b, f.Key, floats), math.Float64bits(f.Value))
	case v >= 1024 && v%1024 == 0:
		return binary.AppendUvarint(appendKey(b, f.Key, kibibytes), v/1024)
	case v >= 1000 && v%1000 == 0:
		return binary.AppendUvarint(appendKey(b, f.Key, thousands), v/1000)
	}
	return binary.AppendUvarint(appendKey(b, f.Key, wholes), v)
}

func appendKey(b []byte, k Key, form byte) []byte {
	if k < keyMask {
		return append(b, byte(k)|form)
	}
	return append(b, keyMask|form, byte(k))
}

// get returns a figure of a row, the first where it is there twice.
func (x *extras) get(row int, k Key) (value float64, ok bool) {
	if !x.has.of(k) {
		return 0, false
	}
	b := x.of(row)
	if len(b) == 0 {
		return 0, false
	}
	n := b[0]
	b = b[1:]
	for range n {
		f, size := figure(b)
		if f.Key == k {
			return f.Value, true
		}
		b = b[size:]
	}
	return 0, false
}

// appendTo adds the figures of a row to a slice.
func (x *extras) appendTo(to []Extra, row int) []Extra {
	b := x.of(row)
	if len(b) == 0 {
		return to
	}
	n := b[0]
	b = b[1:]
	for range n {
		f, size := figure(b)
		to = append(to, f)
		b = b[size:]
	}
	return to
}

// of is what is stored of a row and of those behind it, nil if it has no figures.
func (x *extras) of(row int) []byte {
	if row/blockRows >= len(x.blocks) {
		return nil
	}
	b := &x.blocks[row/blockRows]
	if b.at == nil || b.at[row%blockRows] == 0 {
		return nil
	}
	return b.data[b.at[row%blockRows]-1:]
}

func figure(b []byte) (f Extra, size int) {
	f.Key = Key(b[0] & keyMask)
	form := b[0] &^ keyMask
	at := 1
	if f.Key == keyMask {
		f.Key, at = Key(b[1]), 2
	}
	if form == floats {
		f.Value = math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))
		return f, at + 8
	}
	v, n := binary.Uvarint(b[at:])
	switch form {
	case kibibytes:
		v *= 1024
	case thousands:
		v *= 1000
	}
	f.Value = float64(v)
	return f, at + n
}
