package evidence

import "iter"

// Column is one column of a table of many rows. Rows that are all the same, or count up by a
// step as line numbers do, cost nothing but a note of that for each block of them; others their own
// size. Growing copies one block at most. The zero Column is empty.
type Column[T ~int32 | ~int64 | ~uint8] struct {
	blocks []block[T]
	n      int
}

// block is up to columnRows rows: either rows, or first, first+step, first+2·step and so on.
type block[T ~int32 | ~int64 | ~uint8] struct {
	rows        []T
	first, step T
	shared      bool // rows are also another column's, and not to be written to
}

const (
	columnBits = 12
	columnRows = 1 << columnBits
)

// Len is the number of rows.
func (c *Column[T]) Len() int { return c.n }

// At is row i.
func (c *Column[T]) At(i int) T {
	b := &c.blocks[i>>columnBits]
	if b.rows == nil {
		return b.first + T(i&(columnRows-1))*b.step
	}
	return b.rows[i&(columnRows-1)]
}

// Append adds a row.
func (c *Column[T]) Append(v T) {
	k := c.n & (columnRows - 1)
	if k == 0 {
		c.blocks = append(c.blocks, block[T]{first: v})
		c.n++
		return
	}
	b := &c.blocks[len(c.blocks)-1]
	switch {
	case b.rows == nil && k == 1:
		b.step = v - b.first
	case b.rows == nil && v != b.first+T(k)*b.step:
		b.spell(k)
		b.rows = append(b.rows, v)
	case b.rows != nil:
		if b.shared {
			b.own()
		}
		b.rows = append(b.rows, v)
	}
	c.n++
}

// Set changes row i.
func (c *Column[T]) Set(i int, v T) {
	if c.At(i) == v {
		return
	}
	b := &c.blocks[i>>columnBits]
	if b.rows == nil {
		b.spell(min(columnRows, c.n-i&^(columnRows-1)))
	} else if b.shared {
		b.own()
	}
	b.rows[i&(columnRows-1)] = v
}

// spell writes the first n rows of a regular block out.
func (b *block[T]) spell(n int) {
	b.rows = make([]T, n, min(columnRows, max(8, 2*n)))
	for i := range b.rows {
		b.rows[i] = b.first + T(i)*b.step
	}
	b.shared = false
}

func (b *block[T]) own() {
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

// Has says whether a row is v.
func (c *Column[T]) Has(v T) bool {
	for _, x := range c.All() {
		if x == v {
			return true
		}
	}
	return false
}

// clone is a column of the same rows that may be changed while c stays as it is. They share what
// neither changes: to c rows may only be added from then on.
func (c *Column[T]) clone() Column[T] {
	out := Column[T]{blocks: append([]block[T](nil), c.blocks...), n: c.n}
	for i := range out.blocks {
		b := &out.blocks[i]
		b.shared = b.rows != nil
		b.rows = b.rows[:len(b.rows):len(b.rows)]
	}
	return out
}
