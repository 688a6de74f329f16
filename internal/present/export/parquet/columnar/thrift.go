package columnar

import "encoding/binary"

// thrift writes the compact protocol of Apache Thrift, in which Parquet's own structures are
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
type thrift struct {
	b    []byte
	last []int // the last field of each struct that is open
}

// The types of fields.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI32    = 5
	typeI64    = 6
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

func (t *thrift) field(id, kind int) {
	top := len(t.last) - 1
	if d := id - t.last[top]; d > 0 && d <= 15 {
		t.b = append(t.b, byte(d<<4|kind))
	} else {
		t.b = binary.AppendVarint(append(t.b, byte(kind)), int64(id))
	}
	t.last[top] = id
}

func (t *thrift) int(id, kind int, v int64) {
	t.field(id, kind)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) i32(id int, v int)   { t.int(id, typeI32, int64(v)) }
func (t *thrift) i64(id int, v int64) { t.int(id, typeI64, v) }

func (t *thrift) bool(id int, v bool) {
	if v {
		t.field(id, typeTrue)
	} else {
		t.field(id, typeFalse)
	}
}

func (t *thrift) text(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

func (t *thrift) binary(id int, s string) {
	t.field(id, typeBinary)
	t.text(s)
}

// list begins one of n elements of a type.
func (t *thrift) list(id, kind, n int) {
	t.field(id, typeList)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|kind))
	} else {
		t.b = binary.AppendUvarint(append(t.b, byte(0xf0|kind)), uint64(n))
	}
}

// inside writes the fields of a struct.
func (t *thrift) inside(fields func()) {
	t.last = append(t.last, 0)
	fields()
	t.last = t.last[:len(t.last)-1]
	t.b = append(t.b, 0)
}

func (t *thrift) structure(id int, fields func()) {
	t.field(id, typeStruct)
	t.inside(fields)
}
