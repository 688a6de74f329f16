package eventpipe

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

type field = eventpipetest.Field

func decoded(t *testing.T, major int, fields []field, content []byte) (Record, error) {
	t.Helper()
	w := eventpipetest.New(stream{Major: major})
	w.Metadata(eventpipetest.Type{Number: 1, Provider: "Shop", Name: "All", Fields: fields, Tagged: major == 5})
	if major == 6 {
		w.Threads(eventpipetest.Thread{Index: 1, ID: 1})
	}
	w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 1, Payload: content})
	r := open(t, w.End())
	e, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Meta.Fields) != len(fields) {
		t.Fatalf("version %d: %+v, %+v", major, e.Meta, r.Unknown())
	}
	return r.Decode(e.Meta, e.Payload())
}

func TestDecode(t *testing.T) {
	old := []field{
		{Name: "bool", Code: 3}, {Name: "char", Code: 4}, {Name: "sbyte", Code: 5}, {Name: "byte", Code: 6},
		{Name: "int16", Code: 7}, {Name: "uint16", Code: 8}, {Name: "int32", Code: 9}, {Name: "uint32", Code: 10},
		{Name: "int64", Code: 11}, {Name: "uint64", Code: 12}, {Name: "single", Code: 13}, {Name: "double", Code: 14},
		{Name: "decimal", Code: 15}, {Name: "guid", Code: 17}, {Name: "string", Code: 18},
		{Name: "object", Code: 1, Fields: []field{{Name: "inner", Code: 1, Fields: []field{{Name: "x", Code: 9}}}, {Name: "y", Code: 18}}},
	}
	values := payload(true, uint16('é'), byte(0xff), byte(0xff), uint16(0xfffe), uint16(0xfffe), int32(-3), uint32(0xfffffffd),
		int64(-4), uint64(4), float32(1.5), 2.25, uint32(2<<16|1<<31), uint32(0), uint64(1234), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, "text",
		int32(7), "why")
	const want = "[true é -1 255 -2 65534 -3 4294967293 -4 4 1.5 2.25 -12.34 04030201-0605-0807-090a-0b0c0d0e0f10 text [[7] why]]"
	for _, major := range []int{4, 5, 6} {
		got, err := decoded(t, major, old, values)
		if s := fmt.Sprint(got); err != nil || s != want {
			t.Errorf("version %d: %v %v, want %s", major, s, err, want)
		}
		x, ok := got.Get("object", "inner", "x")
		if !ok || x.Number() != 7 {
			t.Error(x, ok)
		}
		if d, _ := got.Get("double"); d.Number() != 2.25 {
			t.Error(d)
		}
		if _, ok := got.Get("object", "outer"); ok {
			t.Error("what is not there was got")
		}
		for cut := range len(values) {
			if short, err := decoded(t, major, old, values[:cut]); !errors.Is(err, ErrPayload) || len(short) >= len(old) {
				t.Fatalf("version %d cut at %d: %v %v", major, cut, short, err)
			}
		}
	}
}

func TestDecodeMoments(t *testing.T) {
	moment := []field{{Name: "at", Code: 16}}
	if got, err := decoded(t, 4, moment, payload(int64(filetime+10_000_000))); err != nil || fmt.Sprint(got) != "[1970-01-01T00:00:01Z]" {
		t.Error(got, err)
	}
	if got, err := decoded(t, 6, moment, payload(uint16(2026), uint16(11), uint16(6), uint16(21), uint16(3), uint16(4), uint16(5), uint16(60))); err != nil || fmt.Sprint(got) != "[2026-11-21T03:04:05.06Z]" {
		t.Error(got, err)
	}
}

func TestDecodeArrays(t *testing.T) {
	fields := []field{
		{Name: "shorts", Code: 19, Elem: &field{Code: 8}}, {Name: "text", Code: 19, Elem: &field{Code: 4}},
		{Name: "objects", Code: 19, Elem: &field{Code: 1, Fields: []field{{Name: "n", Code: 9}}}}, {Name: "last", Code: 6},
	}
	values := payload(uint16(2), uint16(7), uint16(8), uint16(2), uint16('h'), uint16('i'), uint16(1), int32(9), byte(255))
	for _, major := range []int{5, 6} {
		if got, err := decoded(t, major, fields, values); err != nil || fmt.Sprint(got) != "[[7 8] hi [[9]] 255]" {
			t.Errorf("version %d: %v %v", major, got, err)
		}
	}
	six := []field{
		{Name: "varint", Code: 20}, {Name: "varuint", Code: 21}, {Name: "fixed", Code: 22, Count: 2, Elem: &field{Code: 6}},
		{Name: "utf8", Code: 22, Count: 3, Elem: &field{Code: 23}}, {Name: "relative", Code: 24, Elem: &field{Code: 8}},
		{Name: "absolute", Code: 25, Elem: &field{Code: 23}}, {Name: "bool", Code: 26},
	}
	// 3 bytes of numbers, 5 of arrays: relative at 8, absolute at 12, bool at 16, then what they point at.
	values = payload([]byte{5, 0x80, 1, 1, 2, 'a', 'b', 'c'}, uint32(4<<16|5), uint32(2<<16|21), byte(1), uint16(300), uint16(301), []byte("ok"))
	if got, err := decoded(t, 6, six, values); err != nil || fmt.Sprint(got) != "[-3 128 [1 2] abc [300 301] ok true]" {
		t.Error(got, err)
	}
	for cut := range len(values) {
		if _, err := decoded(t, 6, six, values[:cut]); !errors.Is(err, ErrPayload) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// TestDecodeBounds checks that elements without a size do not make unlimited values.
func TestDecodeBounds(t *testing.T) {
	empty := &field{Code: 1}
	nothing := []field{{Name: "a", Code: 22, Count: 60000, Elem: &field{Code: 22, Count: 60000, Elem: empty}}}
	if _, err := decoded(t, 6, nothing, nil); !errors.Is(err, ErrPayload) {
		t.Error(err)
	}
}

func TestCursor(t *testing.T) {
	r := open(t, eventpipetest.New(stream{PointerBytes: 4}).End())
	c := r.Cursor(payload(uint32(9), uint32(8), "skipped", "né", []byte("utf8\x00"), float32(0.5), "no end")[:44])
	if p, n := c.Pointer(), c.I32(); p != 9 || n != 8 {
		t.Error(p, n)
	}
	c.SkipUTF16()
	if s := c.AppendUTF16([]byte("a ")); string(s) != "a né" {
		t.Errorf("%q", s)
	}
	if s, f := c.Bytes(5), c.F32(); string(s) != "utf8\x00" || f != 0.5 || c.Len() != 5 || len(c.Rest()) != 5 || !c.OK() {
		t.Error(s, f, c.Len())
	}
	if s := c.UTF16(); s != "" || c.OK() || c.Len() != 0 || c.U64() != 0 || c.U16() != 0 || c.U8() != 0 || c.GUID() != (GUID{}) || c.Varint() != 0 {
		t.Errorf("%q", s)
	}
	lone := r.Cursor([]byte{0x3d, 0xd8, 'x', 0, 0, 0}) // half of a pair
	if s := lone.UTF16(); s != "�x" || !lone.OK() {
		t.Errorf("%q", s)
	}
}

// String formats values for comparison in tests.
func (v Value) String() string {
	switch v.Type {
	case Single, Double:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case String, Guid, Decimal:
		return v.Text
	case Char, UTF8Char:
		return string(rune(v.Int))
	case Boolean, Boolean8:
		return strconv.FormatBool(v.Int != 0)
	case DateTime:
		return time.Unix(0, v.Int).UTC().Format(time.RFC3339Nano)
	case Object, Array, FixedArray, RelLoc, DataLoc:
		if v.List == nil {
			return v.Text
		}
		return fmt.Sprint([]Value(v.List))
	}
	return strconv.FormatInt(v.Int, 10)
}
