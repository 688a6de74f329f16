package evidence

import (
	"encoding/binary"
	"math"
	"slices"
)

// extras holds the figures that only some intervals have, packed: a collector reports a dozen per pause, and as columns they took
// more memory than the rest of a row. Rows come in order, a thousand to a block; a block without figures takes nothing.
type extras struct {
	blocks []extraBlock
	has    keySet // keys of which some row has a figure
}

// keySet is a set of keys.
type keySet [2]uint64

func (s *keySet) hasKey(k Key) bool { return s[k/64]&(1<<(k%64)) != 0 }
func (s *keySet) addKey(k Key)      { s[k/64] |= 1 << (k % 64) }

const blockRows = 1 << 10

type extraBlock struct {
	at   *[blockRows]uint32 // where each row's figures begin in data, plus one; 0: none
	data []byte             // per row the number of figures, then keys and values
}

// A figure is a byte of key and form, then its value. Most values are whole: sizes in KiB, times in µs, counts. A key that does not
// fit beside the form follows as a byte of its own.
const (
	wholes    = iota << 6 // uvarint
	kibibytes             // uvarint of 1024
	thousands             // uvarint of 1000
	floats                // 8 bytes
)

const keyMask = 1<<6 - 1 // this key means that the key follows

const _ = uint(len(keySet{})*64 - int(NumKeys)) // keys fit

// addRow adds the figures of a row, which must not precede a row with figures.
func (x *extras) addRow(row int, figures []Extra) {
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
	// There is room for everything, so nothing needs a check in between.
	n := len(b.data)
	b.data = slices.Grow(b.data, 1+len(figures)*maxFigure)
	room := b.data[n:cap(b.data)]
	room[0] = byte(len(figures))
	k := 1
	for i := range figures {
		x.has.addKey(figures[i].Key)
		k += putFigure(room[k:], &figures[i])
	}
	b.data = b.data[:n+k]
}

// maxFigure is the largest size of a figure: two bytes of key, and a number.
const maxFigure = 2 + binary.MaxVarintLen64

// putFigure writes a figure and returns its length.
func putFigure(to []byte, f *Extra) (n int) {
	v, form := uint64(0), byte(floats)
	if f.Value >= 0 && f.Value <= 1<<53 && !math.Signbit(f.Value) {
		if v = uint64(int64(f.Value)); float64(v) == f.Value {
			switch form = wholes; {
			case v >= 1024 && v%1024 == 0:
				v, form = v/1024, kibibytes
			case v >= 1000 && v%1000 == 0:
				v, form = v/1000, thousands
			}
		}
	}
	if f.Key < keyMask {
		to[0], n = byte(f.Key)|form, 1
	} else {
		to[0], to[1], n = keyMask|form, byte(f.Key), 2
	}
	if form == floats {
		binary.LittleEndian.PutUint64(to[n:], math.Float64bits(f.Value))
		return n + 8
	}
	return n + binary.PutUvarint(to[n:], v)
}

// figureOf returns a figure of a row, the first one if the row has it twice.
func (x *extras) figureOf(row int, k Key) (value float64, ok bool) {
	if !x.has.hasKey(k) {
		return 0, false
	}
	b := x.rowData(row)
	if len(b) == 0 {
		return 0, false
	}
	n := b[0]
	b = b[1:]
	for range n {
		key, form, at := decodeHead(b)
		if key == k {
			f, _ := decodeFigure(b)
			return f.Value, true
		}
		if form == floats {
			b = b[at+8:]
			continue
		}
		for b[at] >= 0x80 { // skipped values need no decoding
			at++
		}
		b = b[at+1:]
	}
	return 0, false
}

// appendTo adds the figures of a row to a slice.
func (x *extras) appendTo(to []Extra, row int) []Extra {
	b := x.rowData(row)
	if len(b) == 0 {
		return to
	}
	n := b[0]
	b = b[1:]
	for range n {
		f, size := decodeFigure(b)
		to = append(to, f)
		b = b[size:]
	}
	return to
}

// rowData returns the data of a row and of the rows after it, nil if the row has no figures.
func (x *extras) rowData(row int) []byte {
	if row/blockRows >= len(x.blocks) {
		return nil
	}
	b := &x.blocks[row/blockRows]
	if b.at == nil || b.at[row%blockRows] == 0 {
		return nil
	}
	return b.data[b.at[row%blockRows]-1:]
}

// decodeHead returns the key of a figure, its form, and where its value begins.
func decodeHead(b []byte) (k Key, form byte, at int) {
	if k = Key(b[0] & keyMask); k == keyMask {
		return Key(b[1]), b[0] &^ keyMask, 2
	}
	return k, b[0] &^ keyMask, 1
}

func decodeFigure(b []byte) (f Extra, size int) {
	key, form, at := decodeHead(b)
	f.Key = key
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
