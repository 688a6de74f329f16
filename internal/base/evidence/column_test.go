package evidence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A column is a slice, whatever is appended and set, and a clone is another one.
func TestColumn(t *testing.T) {
	const kinds = 6
	source := rand.New(rand.NewPCG(3, 4))
	next := func(last int64, kind int) int64 {
		switch kind {
		case 0:
			return last
		case 1:
			return last + 1
		case 2:
			return source.Int64N(5)
		case 3: // times of requests
			return 1_795_214_984e9 + source.Int64N(9000)*1e6
		case 4:
			return source.Int64N(1<<40) - 1<<39
		default:
			return int64(source.Uint64())
		}
	}
	for round := range 60 {
		var c, copied Column[int64]
		var want, kept []int64
		last, kind := int64(0), round%kinds
		for i := range 3 * columnRows {
			if source.IntN(columnRows) == 0 {
				kind = source.IntN(kinds)
			}
			last = next(last, kind)
			c.Append(last)
			want = append(want, last)
			if i == 5000 {
				copied, kept = c.Clone(), slices.Clone(want)
			}
		}
		for range 50 {
			i, v := source.IntN(copied.Len()), source.Int64N(9)
			copied.Set(i, v)
			kept[i] = v
		}
		copied.Append(7)
		kept = append(kept, 7)
		from := source.IntN(len(kept))
		copied.shiftRows(from, len(kept), 11)
		for i, v := range kept {
			if i >= from && v != 0 {
				kept[i] += 11
			}
		}
		copied.Replace(7, 3)
		for i, v := range kept {
			if v == 7 {
				kept[i] = 3
			}
		}
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

// Each width that rows are packed in, of each type, and what does not become smaller by that.
func TestColumnPacked(t *testing.T) {
	for bits := range 64 {
		most := int64(1)<<bits - 1
		packed(t, bits <= 32, []int64{5, 5 + most})
		packed(t, bits <= 32, []int64{-most, 0})
		packed(t, bits <= 41, []int64{3e9, 3e9 + most/1000*1000})
		packed(t, bits <= 16, []NameID{-7, -7 + NameID(min(most, 1<<30-1))})
		packed(t, bits <= 4, []Outcome{1, 1 + Outcome(min(most, 200))})
	}
}

func packed[T ~int32 | ~int64 | ~uint8](t *testing.T, small bool, values []T) {
	t.Helper()
	var c Column[T]
	for i := range columnRows {
		c.Append(values[(i+i/3)%len(values)])
	}
	for i := range columnRows {
		if got, want := c.At(i), values[(i+i/3)%len(values)]; got != want {
			t.Fatalf("%T %v: row %d is %v, want %v", values, values, i, got, want)
		}
	}
	if (c.blocks[0].rows == nil) != small {
		t.Errorf("%T %v: packed %v", values, values, !small)
	}
}
