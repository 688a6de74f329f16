package evidence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A column is a slice, whatever is appended and set, and a clone is another one.
func TestColumn(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	next := func(last int64, kind int) int64 {
		switch kind {
		case 0:
			return last
		case 1:
			return last + 1
		default:
			return source.Int64N(5)
		}
	}
	for round := range 40 {
		var c, copied Column[int64]
		var want, kept []int64
		last, kind := int64(0), round%3
		for i := range 3 * columnRows {
			if source.IntN(columnRows) == 0 {
				kind = source.IntN(3)
			}
			last = next(last, kind)
			c.Append(last)
			want = append(want, last)
			if i == 5000 {
				copied, kept = c.clone(), slices.Clone(want)
			}
		}
		for range 50 {
			i, v := source.IntN(copied.Len()), source.Int64N(9)
			copied.Set(i, v)
			kept[i] = v
		}
		copied.Append(7)
		kept = append(kept, 7)
		for _, x := range []struct {
			c    *Column[int64]
			want []int64
		}{{&c, want}, {&copied, kept}} {
			got := make([]int64, 0, len(x.want))
			for i, v := range x.c.All() {
				if v != x.c.At(i) {
					t.Fatalf("row %d is %d and %d", i, v, x.c.At(i))
				}
				got = append(got, v)
			}
			if !slices.Equal(got, x.want) || x.c.Len() != len(x.want) {
				t.Fatalf("round %d: a column of %d rows differs from the slice of %d", round, len(got), len(x.want))
			}
		}
	}
}

// Rows that are the same, or count up, take no memory.
func TestColumnRegular(t *testing.T) {
	var same, lines Column[int64]
	for i := range 10 * columnRows {
		same.Append(7)
		lines.Append(int64(1000 + i))
	}
	for _, c := range []*Column[int64]{&same, &lines} {
		for _, b := range c.blocks {
			if b.rows != nil {
				t.Fatal("rows of a regular block are written out")
			}
		}
	}
	if !same.Has(7) || same.Has(8) {
		t.Error("Has is wrong")
	}
}
