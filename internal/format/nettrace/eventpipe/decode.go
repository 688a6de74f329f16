package eventpipe

import (
	"errors"
	"math"
	"strconv"
)

// Record is the values of a payload or of an object in it, in order.
type Record []Value

// Value is one field of a payload.
type Value struct {
	Name  string // "" for an element of an array
	Type  TypeCode
	Int   int64   // of integers, of booleans (0 or 1), of a DateTime in ns since 1970 UTC
	Float float64 // of Single and Double
	Text  string  // of a String, a Guid, and of arrays of characters
	List  Record  // of an Object: its fields; of arrays: their elements
}

// Get returns a value by its name, or by names from the outermost object inwards:
// Get("Payload", "Mean"). It looks through objects without a name, because EventSources put
// the fields of an anonymous object into one.
func (r Record) Get(path ...string) (Value, bool) {
	if len(path) == 0 {
		return Value{}, false
	}
	for _, v := range r {
		switch {
		case v.Name == path[0] && len(path) == 1:
			return v, true
		case v.Name == path[0]:
			return v.List.Get(path[1:]...)
		case v.Name == "" && v.Type == Object:
			if inner, ok := v.List.Get(path...); ok {
				return inner, true
			}
		}
	}
	return Value{}, false
}

// Number returns a value of any numeric type.
func (v Value) Number() float64 {
	if v.Type == Single || v.Type == Double {
		return v.Float
	}
	return float64(v.Int)
}

// ErrPayload says that a payload is shorter than its type.
var ErrPayload = errors.New("eventpipe: a payload that is shorter than its type")

// maxValues bounds the values of a payload. Its 64 KB hold fewer, but elements
// without a size would be unlimited.
const maxValues = 1 << 17

// Decode reads a payload by its type's own description, which types of EventSources
// have. It allocates: it is meant for events that come a few times a second. With ErrPayload
// it returns the values before the end.
func (r *Reader) Decode(m *Metadata, payload []byte) (Record, error) {
	d := payloadDecoder{c: r.Cursor(payload), whole: payload, v6: r.decoder.v6, left: maxValues}
	values := d.decodeFields(m.Fields)
	if !d.c.OK() || d.left < 0 {
		return values, ErrPayload
	}
	return values, nil
}

type payloadDecoder struct {
	c     Cursor
	whole []byte
	v6    bool
	left  int
}

func (d *payloadDecoder) decodeFields(fields []Field) Record {
	out := make(Record, 0, len(fields))
	for i := range fields {
		v := d.decodeValue(&fields[i])
		if !d.c.OK() || d.left < 0 {
			break
		}
		out = append(out, v)
	}
	return out
}

func (d *payloadDecoder) decodeValue(f *Field) Value {
	v := Value{Name: f.Name, Type: f.Type}
	if d.left--; d.left < 0 {
		return v
	}
	c := &d.c
	switch f.Type {
	case Object:
		v.List = d.decodeFields(f.Fields)
	case Boolean:
		v.Int = boolToInt(c.Bool32())
	case Boolean8:
		v.Int = boolToInt(c.U8() != 0)
	case Char:
		v.Int = int64(c.U16())
	case SByte:
		v.Int = int64(int8(c.U8()))
	case Byte, UTF8Char:
		v.Int = int64(c.U8())
	case Int16:
		v.Int = int64(int16(c.U16()))
	case UInt16:
		v.Int = int64(c.U16())
	case Int32:
		v.Int = int64(c.I32())
	case UInt32:
		v.Int = int64(c.U32())
	case Int64, UInt64:
		v.Int = c.I64()
	case VarInt:
		v.Int = c.Varint()
	case VarUInt:
		v.Int = int64(c.Uvarint())
	case Single:
		v.Float = float64(c.F32())
	case Double:
		v.Float = c.F64()
	case Decimal:
		v.Text = decodeDecimal(c)
	case DateTime:
		v.Int = d.decodeTime()
	case Guid:
		v.Text = c.GUID().String()
	case String:
		v.Text = c.UTF16()
	case Array:
		d.decodeArray(&v, f.Elem, int(c.U16()))
	case FixedArray:
		d.decodeArray(&v, f.Elem, f.Count)
	case RelLoc, DataLoc:
		d.decodeRemoteArray(&v, f)
	}
	return v
}

func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (d *payloadDecoder) decodeArray(v *Value, elem *Field, n int) {
	switch elem.Type {
	case Char:
		v.Text = string(AppendUTF16(nil, d.c.Bytes(2*n)))
		return
	case UTF8Char:
		v.Text = string(d.c.Bytes(n))
		return
	}
	v.List = Record{}
	for ; n > 0; n-- {
		e := d.decodeValue(elem)
		if !d.c.OK() || d.left < 0 {
			return
		}
		v.List = append(v.List, e)
	}
}

// decodeRemoteArray decodes an array that lies apart from its field.
func (d *payloadDecoder) decodeRemoteArray(v *Value, f *Field) {
	word := d.c.U32()
	from, size := int(word&0xffff), int(word>>16)
	if f.Type == RelLoc {
		from += len(d.whole) - d.c.Len()
	}
	if !d.c.OK() || from+size > len(d.whole) {
		d.c.Bytes(-1)
		return
	}
	there := payloadDecoder{c: d.c, whole: d.whole, v6: d.v6, left: d.left}
	there.c.data, there.c.at = d.whole[from:from+size], 0
	switch f.Elem.Type {
	case Char:
		v.Text = string(AppendUTF16(nil, there.c.data))
		return
	case UTF8Char:
		v.Text = string(there.c.data)
		return
	}
	v.List = Record{}
	for there.c.Len() > 0 && there.left >= 0 {
		before := there.c.Len()
		e := there.decodeValue(f.Elem)
		if !there.c.OK() || there.c.Len() == before {
			break
		}
		v.List = append(v.List, e)
	}
	d.left = there.left
}

// filetime is 1970 in FILETIME: 100 ns since 1601.
const filetime = 116444736000000000

func (d *payloadDecoder) decodeTime() int64 {
	if d.v6 {
		t := systemTime(&d.c)
		if !d.c.OK() {
			return 0
		}
		return t.UnixNano()
	}
	return (d.c.I64() - filetime) * 100
}

// decodeDecimal decodes .NET's System.Decimal: flags with the scale, then 96 bits.
func decodeDecimal(c *Cursor) string {
	flags, high, low := c.U32(), c.U32(), c.U64()
	scale := int(flags >> 16 & 0xff)
	v := (float64(high)*math.Exp2(64) + float64(low)) / math.Pow10(scale)
	if flags>>31 != 0 {
		v = -v
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
