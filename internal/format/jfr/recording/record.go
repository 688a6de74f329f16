package recording

import (
	"math"
	"slices"
)

// value is the value of a field: a number, or a position.
type value struct {
	n  int64 // a number, the bits of a double, or the key of a constant
	at int   // position of a string, array or structure
}

// Record is an event, a constant or a structure: the values of the fields of a class. Fields are read
// by name, and a field that the class lacks, as versions differ, is 0, "" or absent.
type Record struct {
	Class *Class
	Key   int64 // of a constant

	chunk  *Chunk
	values []value
}

// decode reads the values at the cursor into the record's memory.
func (r *Record) decode(b *cursor) bool {
	values := slices.Grow(r.values, len(r.Class.Fields))[:len(r.Class.Fields)]
	for i := range values {
		f := &r.Class.Fields[i]
		v := &values[i]
		*v = value{at: b.at}
		if f.how >= aShort && f.how <= aLong && b.hasSmallNumber() { // most numbers are small, above all those of frames
			v.n = int64(b.b[b.at])
			b.at++
			continue
		}
		switch f.how {
		case aLong:
			v.n = b.readLong()
		case anInt:
			v.n = int64(int32(b.readNumber(4)))
		case aByte:
			v.n = int64(int8(b.readByte()))
		case aShort:
			v.n = int64(int16(b.readNumber(2)))
		case aChar:
			v.n = int64(uint16(b.readNumber(2)))
		case aFloat:
			v.n = int64(math.Float64bits(b.readFloat()))
		case aDouble:
			v.n = int64(math.Float64bits(b.readDouble()))
		case aside:
			skipField(b, f, 0)
		default:
			skipValue(b, f.Class, 1)
		}
		if b.bad {
			return false
		}
	}
	r.values = values
	if len(r.values) > 0 && r.Class.Fields[0].Unit == TimeTicks && r.chunk.Deltas {
		r.values[0].n = r.chunk.unpackTicks(r.values[0].n)
	}
	return true
}

// unpackTicks returns the ticks of an event if the recording stores differences: ticks
// after the chunk's start are absolute, others are relative to the last of these
// (https://github.com/openjdk/jdk/blob/master/src/jdk.jfr/share/classes/jdk/jfr/internal/consumer/TimeConverter.java).
func (c *Chunk) unpackTicks(ticks int64) int64 {
	if ticks > c.Ticks {
		c.base = ticks
		return ticks
	}
	return ticks + c.base
}

func (r *Record) fieldValue(name string) (*Field, value, bool) {
	if r == nil || r.Class == nil {
		return nil, value{}, false
	}
	i := r.Class.Field(name)
	if i < 0 || i >= len(r.values) {
		return nil, value{}, false
	}
	return &r.Class.Fields[i], r.values[i], true
}

// Has says whether the record has a field.
func (r *Record) Has(name string) bool {
	_, _, ok := r.fieldValue(name)
	return ok
}

// Int returns an integer; for a constant its key. Fields with a time annotation are in ns.
func (r *Record) Int(name string) int64 {
	f, v, ok := r.fieldValue(name)
	if !ok || f.Array {
		return 0
	}
	return r.chunk.convertUnit(f.Unit, v.n)
}

// Number returns the integer, or key, of a field by its position in the class, as recorded; 0 for a missing one.
func (r *Record) Number(field int) int64 {
	if field < 0 || field >= len(r.values) {
		return 0
	}
	return r.values[field].n
}

// convertUnit converts a number to ns, if its unit is one of time.
func (c *Chunk) convertUnit(u Unit, n int64) int64 {
	times := func(by int64) int64 {
		if n > math.MaxInt64/by || n < math.MinInt64/by {
			return n
		}
		return n * by
	}
	switch u {
	case SpanTicks:
		if n == math.MaxInt64 || n == math.MinInt64 { // these stand for unknown, and for ever
			return n
		}
		return c.ticksToDuration(n)
	case SpanMicros:
		return times(1e3)
	case SpanMillis, TimeMillis:
		return times(1e6)
	case SpanSeconds:
		return times(1e9)
	case TimeTicks:
		return c.ticksToTime(n)
	}
	return n
}

// Float returns a number that may have a fraction.
func (r *Record) Float(name string) float64 {
	f, v, ok := r.fieldValue(name)
	if !ok || f.Class == nil || f.Array {
		return 0
	}
	if f.Class.kind == floatKind || f.Class.kind == doubleKind {
		return math.Float64frombits(uint64(v.n))
	}
	return float64(r.chunk.convertUnit(f.Unit, v.n))
}

// Bool returns a boolean field.
func (r *Record) Bool(name string) bool { return r.Int(name) != 0 }

// Text returns a string, or the text of a constant whose class stands for a string.
func (r *Record) Text(name string) string {
	f, v, ok := r.fieldValue(name)
	if !ok || f.Class == nil || f.Array {
		return ""
	}
	if f.Pooled {
		return r.chunk.constantText(f.Class, v.n, 0)
	}
	return r.chunk.readText(f.Class, v.at, 0)
}

// Start returns when an event began, ns since the epoch.
func (r *Record) Start() int64 { return r.Int("startTime") }

// Duration returns how long an event took, ns; 0 for an event without a duration.
func (r *Record) Duration() int64 { return max(0, r.Int("duration")) }

// Constant returns the constant that a field refers to.
func (r *Record) Constant(name string) (Record, bool) {
	f, v, ok := r.fieldValue(name)
	if !ok || !f.Pooled || f.Class == nil || f.Array {
		return Record{}, false
	}
	return r.chunk.Constant(f.Class, v.n)
}

// Struct returns a structure that is stored in the record.
func (r *Record) Struct(name string) (Record, bool) {
	f, v, ok := r.fieldValue(name)
	if !ok || f.Pooled || f.Array || f.Class == nil || f.Class.kind != composite {
		return Record{}, false
	}
	b := r.chunk.cursorAt(v.at)
	s := Record{Class: f.Class, chunk: r.chunk}
	return s, s.decode(&b)
}

// Elements calls do for each structure, or constant, of an array. The record is valid until
// do returns.
func (r *Record) Elements(name string, do func(*Record) bool) {
	f, v, ok := r.fieldValue(name)
	if !ok || !f.Array || f.Class == nil {
		return
	}
	b := r.chunk.cursorAt(v.at)
	e := Record{Class: f.Class, chunk: r.chunk}
	for range b.readCount() {
		if f.Pooled {
			x, ok := r.chunk.Constant(f.Class, b.readLong())
			if b.bad || ok && !do(&x) {
				return
			}
			continue
		}
		e.values = e.values[:0]
		if !e.decode(&b) || !do(&e) {
			return
		}
	}
}

// Constant finds a constant by its key.
func (c *Chunk) Constant(x *Class, key int64) (Record, bool) {
	at, ok := c.findConstant(x, key)
	if !ok || x.kind != composite {
		return Record{}, false
	}
	b := c.cursorAt(at)
	r := Record{Class: x, Key: key, chunk: c}
	return r, r.decode(&b)
}

func (c *Chunk) findConstant(x *Class, key int64) (int, bool) {
	if x.pool == nil {
		return 0, false
	}
	return x.pool.find(key)
}

// readText reads the text of a string, or of a class with one field, which stands for it.
func (c *Chunk) readText(x *Class, at, depth int) string {
	if depth > mostDepth {
		return ""
	}
	b := c.cursorAt(at)
	if x.kind == stringKind {
		s, key, pooled := b.readString()
		if pooled {
			return c.constantText(x, key, depth+1)
		}
		return s
	}
	if len(x.Fields) != 1 || x.Fields[0].Class == nil || x.Fields[0].Array {
		return ""
	}
	f := &x.Fields[0]
	if f.Pooled {
		return c.constantText(f.Class, b.readLong(), depth+1)
	}
	return c.readText(f.Class, at, depth+1)
}

func (c *Chunk) constantText(x *Class, key int64, depth int) string {
	at, ok := c.findConstant(x, key)
	if !ok || depth > mostDepth {
		return ""
	}
	return c.readText(x, at, depth+1)
}
