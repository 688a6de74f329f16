package evidence

// extras holds the figures that only some intervals have: a collector reports a dozen per pause, and as columns of all rows they took
// more memory than the rest of a row. Rows come in order, as many to a block as in a [Column]; a block without figures takes nothing. The
// last block is being filled, the others are packed.
type extras struct {
	blocks []extraBlock
	has    keySet    // keys of which some row has a figure
	spare  [][]int64 // room for the figures of a block
}

// keySet is a set of keys.
type keySet [2]uint64

func (s *keySet) hasKey(k Key) bool { return s[k/64]&(1<<(k%64)) != 0 }
func (s *keySet) addKey(k Key)      { s[k/64] |= 1 << (k % 64) }

const _ = uint(len(keySet{})*64 - int(NumKeys)) // keys fit

// extraBlock has a column for each key that one of its rows has. A row that has a key twice has the second figure in another column of
// the key.
type extraBlock []figureColumn

// addRow adds the figures of a row, which must not precede a row with figures.
func (x *extras) addRow(row int, figures []Extra) {
	if len(figures) == 0 {
		return
	}
	for len(x.blocks) <= row/columnRows {
		x.packLast()
		x.blocks = append(x.blocks, nil)
	}
	b := x.blocks[row/columnRows]
	row %= columnRows
	for i := range figures {
		f := &figures[i]
		c := i // most rows have the same keys in the same order
		if c >= len(b) || b[c].key != f.Key || b[c].rows.has(row) {
			if c = b.findColumn(f.Key, row); c == len(b) {
				b = append(b, figureColumn{key: f.Key, float: true, rows: new(rankedRows), values: block[int64]{rows: x.takeSpare()}})
				x.has.addKey(f.Key)
			}
		}
		b[c].addFigure(row, f.Value)
	}
	x.blocks[len(x.blocks)-1] = b
}

// findColumn returns the first column of a key in which a row has no figure, or the number of columns.
func (b extraBlock) findColumn(k Key, row int) int {
	for i := range b {
		if b[i].key == k && !b[i].rows.has(row) {
			return i
		}
	}
	return len(b)
}

// packLast packs the last block, which is full.
func (x *extras) packLast() {
	if len(x.blocks) == 0 {
		return
	}
	b := x.blocks[len(x.blocks)-1]
	for i := range b {
		x.spare = append(x.spare, b[i].pack(b[:i])[:0])
	}
	x.blocks[len(x.blocks)-1] = append(extraBlock(nil), b...)
}

// takeSpare returns room for the figures of a block, or none.
func (x *extras) takeSpare() []int64 {
	if len(x.spare) == 0 {
		return nil
	}
	room := x.spare[len(x.spare)-1]
	x.spare = x.spare[:len(x.spare)-1]
	return room
}

// figureOf returns a figure of a row, the first one if the row has it twice.
func (x *extras) figureOf(row int, k Key) (value float64, ok bool) {
	if !x.has.hasKey(k) {
		return 0, false
	}
	b := x.blockOf(row)
	for i := range b {
		if c := &b[i]; c.key == k && c.rows.has(row%columnRows) {
			return c.valueOf(row % columnRows), true
		}
	}
	return 0, false
}

// appendTo adds the figures of a row to a slice.
func (x *extras) appendTo(to []Extra, row int) []Extra {
	b := x.blockOf(row)
	for i := range b {
		if c := &b[i]; c.rows.has(row % columnRows) {
			to = append(to, Extra{c.key, c.valueOf(row % columnRows)})
		}
	}
	return to
}

// blockOf returns the block of a row, which is empty if none of its rows has figures.
func (x *extras) blockOf(row int) extraBlock {
	if row/columnRows >= len(x.blocks) {
		return nil
	}
	return x.blocks[row/columnRows]
}

// clone returns the same figures, to which rows can be added while x stays as it is.
func (x *extras) clone() extras {
	out := extras{blocks: append([]extraBlock(nil), x.blocks...), has: x.has}
	if n := len(out.blocks); n > 0 {
		last := append(extraBlock(nil), out.blocks[n-1]...)
		for i := range last {
			rows := *last[i].rows
			last[i].rows, last[i].values.rows = &rows, append([]int64(nil), last[i].values.rows...)
		}
		out.blocks[n-1] = last
	}
	return out
}
