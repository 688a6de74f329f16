package eventpipe

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// FuzzNext checks that any input gives events and then one error, that payloads
// decode or fail, and that memory stays within its bound.
func FuzzNext(f *testing.F) {
	for _, major := range []int{4, 5, 6} {
		data, _ := small(major)
		f.Add(data)
		w := begun(stream{Major: major, Plain: true, PointerBytes: 4})
		w.Metadata(eventpipetest.Type{Number: 2, Provider: "p", Tagged: major == 5, Opcode: 1, Fields: []field{{Name: "a", Code: 1, Fields: []field{{Name: "b", Code: 11}}}}})
		w.Stacks(1, []uint64{1})
		w.Events(ev{Type: 2, Sequence: 1, Thread: 1, Stack: 1, Ticks: 9, Sorted: true, Payload: payload(int64(1))})
		f.Add(w.End())
	}
	w := begun(stream{Major: 6})
	w.Metadata(eventpipetest.Type{Number: 2, Provider: "p", Fields: []field{{Name: "a", Code: 24, Elem: &field{Code: 8}}, {Name: "b", Code: 22, Count: 3, Elem: &field{Code: 20}}}})
	w.Events(ev{Type: 2, Sequence: 1, Thread: 1, Ticks: 1, Payload: payload(uint32(4<<16), []byte{1, 2, 3, 4})})
	f.Add(w.End())
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, inFileOrder := range []bool{false, true} {
			r, err := NewReader(bytes.NewReader(data))
			if err != nil {
				return
			}
			if inFileOrder {
				r.FileOrder()
			}
			r.most = 64 << 10
			n := int64(0)
			for {
				e, err := r.Next()
				if err != nil {
					var cut *Cut
					if err != io.EOF && !errors.As(err, &cut) {
						t.Fatal(err)
					}
					break
				}
				n++
				_, _ = r.Decode(e.Meta, e.Payload())
				for _, a := range r.Addresses(e.Stack) {
					_ = a
				}
			}
			if n != r.Delivered() || r.order.inUse != 0 || r.blocks != 0 {
				t.Fatalf("%d of %d events, %d and %d bytes held", n, r.Delivered(), r.order.inUse, r.blocks)
			}
		}
	})
}
