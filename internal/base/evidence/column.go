package evidence

import "iter"

// Column is one column of a table of many rows, kept in blocks. Rows that are all the same, or count up by a step as line numbers
// do, cost only a note per block. For other rows, a full block packs the differences from the least one, in a common unit: times
// within a second take two bytes each. Growing copies one block at most. The zero Column is empty.
type Column[T ~int32 | ~int64 | ~uint8] struct {
	blocks []block[T]
	n      int
}

// block is up to columnRows rows. A block that is being filled, or was changed, may have its rows written out; row k of any other
// block is first + k·step + unit·(the packed value of k).
type block[T ~int32 | ~int64 | ~uint8] struct {
	rows              []T
	first, step, unit T
	packed            []uint64 // 2^width bits of each row
	mask              uint64
	width             uint8
	shared            bool // another column uses the rows, too, so they must not be changed
}

const (
	columnBits = 12
	columnRows = 1 << columnBits
)

// nothing is the packed value of rows that first and step describe.
var nothing [columnRows / 64]uint64

// Len returns the number of rows.
func (c *Column[T]) Len() int { return c.n }

// At returns row i.
func (c *Column[T]) At(i int) T {
	return c.blocks[i>>columnBits].rowAt(i & (columnRows - 1))
}

func (b *block[T]) rowAt(k int) T {
	if b.rows != nil {
		return b.rows[k]
	}
	bit := k << (b.width & 7)
	return b.first + T(k)*b.step + b.unit*T(b.packed[bit>>6]>>(bit&63)&b.mask)
}

// Append adds a row.
func (c *Column[T]) Append(v T) {
	k := c.n & (columnRows - 1)
	if k == 0 {
		c.blocks = append(c.blocks, block[T]{first: v, packed: nothing[:]})
		c.n++
		return
	}
	b := &c.blocks[len(c.blocks)-1]
	switch {
	case b.rows == nil && k == 1:
		b.step = v - b.first
	case b.rows == nil && v != b.first+T(k)*b.step:
		room := columnRows
		if len(c.blocks) == 1 {
			room = min(room, max(8, 2*k)) // most tables are small
		}
		b.writeOut(k, room)
		b.rows = append(b.rows, v)
	case b.rows != nil:
		if b.shared {
			b.copyShared()
		}
		b.rows = append(b.rows, v)
	}
	c.n++
	if k == columnRows-1 && b.rows != nil {
		b.packRows()
	}
}

// Set changes row i.
func (c *Column[T]) Set(i int, v T) {
	if c.At(i) == v {
		return
	}
	b := &c.blocks[i>>columnBits]
	if b.rows == nil {
		n := min(columnRows, c.n-i&^(columnRows-1))
		b.writeOut(n, n)
	} else if b.shared {
		b.copyShared()
	}
	b.rows[i&(columnRows-1)] = v
}

// Replace replaces one value by another in all rows.
func (c *Column[T]) Replace(from, to T) {
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.isUniform() {
			if b.first == from {
				b.first = to
			}
			continue
		}
		at := i << columnBits
		for k := range min(columnRows, c.n-at) {
			if c.At(at+k) == from {
				c.Set(at+k, to)
			}
		}
	}
}

// shiftRows adds a number to rows [from, until), except those that are 0.
func (c *Column[T]) shiftRows(from, until int, by T) {
	for i := from; i < until; {
		b := &c.blocks[i>>columnBits]
		end := min((i|(columnRows-1))+1, c.n)
		if i&(columnRows-1) == 0 && end <= until && b.rows == nil && (b.first > 0 && b.step >= 0 || b.isUniform()) { // all rows are above 0, or the same
			if b.first != 0 {
				b.first += by
			}
			i = end
			continue
		}
		for end = min(end, until); i < end; i++ {
			if v := c.At(i); v != 0 {
				c.Set(i, v+by)
			}
		}
	}
}

// isUniform reports whether all rows of a block equal its first.
func (b *block[T]) isUniform() bool { return b.rows == nil && b.step == 0 && b.mask == 0 }

// writeOut writes the first n rows of a block out, with room for more.
func (b *block[T]) writeOut(n, room int) {
	rows := make([]T, n, room)
	for k := range rows {
		rows[k] = b.rowAt(k)
	}
	b.rows, b.shared = rows, false
}

func (b *block[T]) copyShared() {
	b.rows, b.shared = append(make([]T, 0, cap(b.rows)), b.rows...), false
}

// All yields the rows in order.
func (c *Column[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := range c.n {
			if !yield(i, c.At(i)) {
				return
			}
		}
	}
}

// Has reports whether a row is v.
func (c *Column[T]) Has(v T) bool {
	for i := range c.blocks {
		b, at := &c.blocks[i], i<<columnBits
		if b.isUniform() {
			if b.first == v {
				return true
			}
			continue
		}
		for k := range min(columnRows, c.n-at) {
			if c.At(at+k) == v {
				return true
			}
		}
	}
	return false
}

// Clone returns a column of the same rows that can change while c stays as it is. They share the unchanged blocks: from then on, rows
// may only be appended to c.
func (c *Column[T]) Clone() Column[T] {
	out := Column[T]{blocks: append([]block[T](nil), c.blocks...), n: c.n}
	for i := range out.blocks {
		b := &out.blocks[i]
		b.shared = b.rows != nil
		b.rows = b.rows[:len(b.rows):len(b.rows)]
	}
	return out
}
