package app

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// column holds numbers in the layout of the browser's typed arrays. The zero column
// is left out of the JSON.
type column struct {
	kind   string // "u8", "u16", "u32", "i32", "f32", "f64"; "var": unsigned integers of 7 bits a byte, the lowest first (LEB128)
	values any    // a slice of that; of "var" its bytes
}

// IsZero says whether there is nothing to write.
func (c column) IsZero() bool { return c.values == nil }

// MarshalJSON writes {"u8": "base64"}.
func (c column) MarshalJSON() ([]byte, error) {
	if c.values == nil {
		return []byte("null"), nil
	}
	var raw bytes.Buffer
	if err := binary.Write(&raw, binary.LittleEndian, c.values); err != nil {
		return nil, err
	}
	out := make([]byte, 0, base64.StdEncoding.EncodedLen(raw.Len())+len(c.kind)+8)
	out = append(out, `{"`+c.kind+`":"`...)
	out = base64.StdEncoding.AppendEncode(out, raw.Bytes())
	return append(out, `"}`...), nil
}

type integer interface {
	~int64 | ~uint32 | ~uint16 | ~uint8 | ~int32
}

// newIntegerColumn returns a column of the smallest type that holds all values; beyond 32 bits each is as short as it can be.
func newIntegerColumn[T integer](v []T) column {
	var low, high int64
	for _, x := range v {
		low, high = min(low, int64(x)), max(high, int64(x))
	}
	switch {
	case low >= 0 && high <= math.MaxUint8:
		return column{"u8", convertIntegers[uint8](v)}
	case low >= 0 && high <= math.MaxUint16:
		return column{"u16", convertIntegers[uint16](v)}
	case low >= 0 && high <= math.MaxUint32:
		return column{"u32", convertIntegers[uint32](v)}
	case low >= math.MinInt32 && high <= math.MaxInt32:
		return column{"i32", convertIntegers[int32](v)}
	case low >= 0: // times within a recording need five bytes or six, not eight
		wide := make([]int64, len(v))
		for i, x := range v {
			wide[i] = int64(x)
		}
		return newPackedColumn(wide)
	}
	return column{"f64", convertIntegers[float64](v)}
}

// newPackedColumn returns a column of integers as short as each is, for columns whose values mostly are far below the largest; with a negative
// one it is [newIntegerColumn].
func newPackedColumn(v []int64) column {
	packed := make([]byte, 0, 2*len(v))
	for _, x := range v {
		if x < 0 {
			return newIntegerColumn(v)
		}
		packed = binary.AppendUvarint(packed, uint64(x))
	}
	return column{"var", packed}
}

// newDurationColumn returns a column of durations in ns: as integers if all fit 32 bits, else with
// seven digits, which is more than a reader is shown of one.
func newDurationColumn(v []int64) column {
	for _, x := range v {
		if x > math.MaxUint32 || x < math.MinInt32 {
			return column{"f32", convertIntegers[float32](v)}
		}
	}
	return newIntegerColumn(v)
}

// newOptionalColumn returns a column, which is left out if all its values are zero.
func newOptionalColumn[T integer](v []T) column {
	for _, x := range v {
		if x != 0 {
			return newIntegerColumn(v)
		}
	}
	return column{}
}

// newFloatColumn returns a column of 32-bit floats: a curve needs no more than seven digits.
func newFloatColumn(v []float64) column {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return column{"f32", out}
}

func convertIntegers[T uint8 | uint16 | uint32 | int32 | float32 | float64, V integer](v []V) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}
