package columnar

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// Leaf is a column's values since the last row group. Those of a table without lists can be put
// directly, one in each row.
type Leaf struct {
	node     *Node
	path     []string
	def, rep int // the highest levels

	defs, reps []uint32
	nulls      int64
	plain      []byte            // PLAIN values; of a dictionary, those of it
	bools      []uint32          // of booleans
	numbers    []uint32          // of values in the dictionary
	known      map[string]uint32 // the dictionary
	least      []byte            // PLAIN without lengths, nil unknown
	most       []byte
	long       bool // there are texts that are too long for statistics
}

// Text puts one.
func (l *Leaf) Text(s string) { l.text(s); l.level(0, l.def) }

// Int puts a whole number, or a time.
func (l *Leaf) Int(v int64) { l.int(v); l.level(0, l.def) }

// Double puts a number.
func (l *Leaf) Double(v float64) { l.double(v); l.level(0, l.def) }

// Bool puts a truth.
func (l *Leaf) Bool(v bool) { l.bool(v); l.level(0, l.def) }

// Null puts what is not known.
func (l *Leaf) Null() { l.null(0, l.def-1) }

func (l *Leaf) level(rep, def int) {
	l.reps, l.defs = append(l.reps, uint32(rep)), append(l.defs, uint32(def))
}

func (l *Leaf) null(rep, def int) {
	l.nulls++
	l.level(rep, def)
}

// longest is how long a text may be that statistics hold.
const longest = 64

func (l *Leaf) text(s string) {
	b := []byte(s)
	if len(b) > longest {
		l.long = true
	}
	if !l.long && (l.least == nil || bytes.Compare(b, l.least) < 0) {
		l.least = b
	}
	if !l.long && (l.most == nil || bytes.Compare(b, l.most) > 0) {
		l.most = b
	}
	l.value(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
}

func (l *Leaf) int(v int64) {
	one := binary.LittleEndian.AppendUint64(nil, uint64(v))
	if l.node.Kind == Int32 {
		one = one[:4]
	}
	if l.least == nil || v < signed(l.least) {
		l.least = one
	}
	if l.most == nil || v > signed(l.most) {
		l.most = one
	}
	l.value(one)
}

func signed(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (l *Leaf) double(v float64) {
	of := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	at := func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	switch { // of NaN nothing is less, and either zero may be there
	case math.IsNaN(v):
	case v == 0:
		if l.least == nil || at(l.least) >= 0 {
			l.least = of(math.Copysign(0, -1))
		}
		if l.most == nil || at(l.most) <= 0 {
			l.most = of(0)
		}
	default:
		if l.least == nil || v < at(l.least) {
			l.least = of(v)
		}
		if l.most == nil || v > at(l.most) {
			l.most = of(v)
		}
	}
	l.value(of(v))
}

func (l *Leaf) bool(v bool) {
	one := []byte{0}
	if v {
		one[0] = 1
	}
	if l.least == nil || one[0] < l.least[0] {
		l.least = one
	}
	if l.most == nil || one[0] > l.most[0] {
		l.most = one
	}
	l.bools = append(l.bools, uint32(one[0]))
}

func (l *Leaf) value(plain []byte) {
	if !l.node.Dict {
		l.plain = append(l.plain, plain...)
		return
	}
	n, ok := l.known[string(plain)]
	if !ok {
		if l.known == nil {
			l.known = make(map[string]uint32)
		}
		n = uint32(len(l.known))
		l.known[string(plain)] = n
		l.plain = append(l.plain, plain...)
	}
	l.numbers = append(l.numbers, n)
}

// clear forgets what was written.
func (l *Leaf) clear() {
	*l = Leaf{node: l.node, path: l.path, def: l.def, rep: l.rep, defs: l.defs[:0], reps: l.reps[:0], plain: l.plain[:0], bools: l.bools[:0], numbers: l.numbers[:0]}
}

// page is the data page: levels, then values.
func (l *Leaf) page() []byte {
	var b []byte
	for _, levels := range []struct {
		of   []uint32
		most int
	}{{l.reps, l.rep}, {l.defs, l.def}} {
		if levels.most == 0 {
			continue
		}
		at := len(b)
		b = hybrid(append(b, 0, 0, 0, 0), levels.of, bits.Len(uint(levels.most)))
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	switch {
	case l.node.Dict:
		width := max(1, bits.Len(uint(max(len(l.known), 1)-1)))
		return hybrid(append(b, byte(width)), l.numbers, width)
	case l.node.Kind == Boolean:
		return packed(b, l.bools, 1)
	}
	return append(b, l.plain...)
}

// hybrid writes numbers of a width in bits as runs, or packed in eights where they change
// (https://github.com/apache/parquet-format/blob/master/Encodings.md#RLE).
func hybrid(b []byte, all []uint32, width int) []byte {
	const least = 8 // of a run
	run := func(i, most int) (n int) {
		for i+n < len(all) && n < most && all[i+n] == all[i] {
			n++
		}
		return n
	}
	for i := 0; i < len(all); {
		if run(i, least) == least {
			n := run(i, len(all))
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for k := 0; k < width; k += 8 {
				b = append(b, byte(all[i]>>k))
			}
			i += n
			continue
		}
		from := i
		for i < len(all) && run(i, least) < least {
			i += 8
		}
		b = binary.AppendUvarint(b, uint64((i-from)/8)<<1|1)
		eights := append([]uint32(nil), all[from:min(i, len(all))]...)
		b = packed(b, append(eights, make([]uint32, i-from-len(eights))...), width)
	}
	return b
}

// packed writes numbers one behind the other, the lowest bit first.
func packed(b []byte, all []uint32, width int) []byte {
	var bits uint64
	n := 0
	for _, v := range all {
		bits |= uint64(v) << n
		for n += width; n >= 8; n -= 8 {
			b = append(b, byte(bits))
			bits >>= 8
		}
	}
	if n > 0 {
		b = append(b, byte(bits))
	}
	return b
}
