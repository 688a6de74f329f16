package evidence

import (
	"math"
	"math/bits"
)

// figureColumn holds the figures of one key in a block of [extras], of the rows that have it.
type figureColumn struct {
	key    Key
	float  bool        // the values are the bits of a float64, else whole numbers
	rows   *rankedRows // of a packed column, maybe that of others
	values block[int64]
}

// addFigure adds the figure of a row behind those that have one, before the column is packed.
func (c *figureColumn) addFigure(row int, v float64) {
	c.rows.addLast(row, len(c.values.rows))
	c.values.rows = append(c.values.rows, int64(math.Float64bits(v)))
}

func (c *figureColumn) valueOf(row int) float64 {
	v := c.values.rowAt(c.rows.rankOf(row))
	if c.float {
		return math.Float64frombits(uint64(v))
	}
	return float64(v)
}

// pack packs a full column, and returns the room of its values. Most figures of an event come together, so a column shares its set of
// rows with an earlier one that has the same.
func (c *figureColumn) pack(earlier []figureColumn) (room []int64) {
	for i := range earlier {
		if *earlier[i].rows == *c.rows {
			c.rows = earlier[i].rows
			break
		}
	}
	room = c.values.rows
	if allWhole(room) {
		for i, v := range room {
			room[i] = int64(math.Float64frombits(uint64(v)))
		}
		c.float = false
	}
	c.values.packRows()
	if c.values.rows != nil { // packing gains nothing
		c.values.rows = append(make([]int64, 0, len(room)), room...)
	}
	return room
}

// allWhole reports whether all values, bits of a float64, are whole numbers that an int64 holds exactly, and none is negative.
func allWhole(values []int64) bool {
	for _, v := range values {
		f := math.Float64frombits(uint64(v))
		if v < 0 || !(f <= 1<<53) || float64(int64(f)) != f { // −0 is negative
			return false
		}
	}
	return true
}

// rankedRows is a set of a block's rows, each of which has a rank in it.
type rankedRows struct {
	rows   [columnRows / 64]uint64
	before [columnRows / 64]uint16 // rows of the set in the words before each, if that has one
}

func (r *rankedRows) has(row int) bool { return r.rows[row>>6]>>(row&63)&1 != 0 }

// addLast adds a row behind n others.
func (r *rankedRows) addLast(row, n int) {
	if r.rows[row>>6] == 0 {
		r.before[row>>6] = uint16(n)
	}
	r.rows[row>>6] |= 1 << (row & 63)
}

// rankOf returns how many rows of the set are before a row of it.
func (r *rankedRows) rankOf(row int) int {
	return int(r.before[row>>6]) + bits.OnesCount64(r.rows[row>>6]&(1<<(row&63)-1))
}
