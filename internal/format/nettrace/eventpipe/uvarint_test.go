package eventpipe

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestUvarint holds the reading of 8 bytes at once against the standard library's.
func TestUvarint(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 100_000 {
		want := random.Uint64() >> random.IntN(64)
		if i < 128 { // the longest of a size and the shortest of the next
			want = 1<<(i/2) - uint64(i%2)
		}
		b := make([]byte, 16+slack)
		for i := range b {
			b[i] = byte(random.Uint32()) // what follows does not matter
		}
		n := 1 + binary.PutUvarint(b[1:], want)
		if v, end := decodeUvarint(b, 1); v != want || end != n {
			t.Fatalf("%#x of %d bits in %d bytes is read as %#x in %d", want, bits.Len64(want), n-1, v, end-1)
		}
	}
	endless := make([]byte, 16+slack)
	for i := range endless {
		endless[i] = 0xff
	}
	if v, end := decodeUvarint(endless, 3); v != 0 || end != 13 {
		t.Errorf("a number that does not end is %d in %d bytes", v, end-3)
	}
}

// TestManyThreadIDs: a version 4 stream that never says which threads have ended is
// read in bounded memory, and what is no longer known is not told lost.
func TestManyThreadIDs(t *testing.T) {
	w := begun(stream{})
	var events []ev
	for i := range maxThreads + 10 {
		events = append(events, ev{Type: 1, Sequence: 1, Thread: uint64(i + 1), Ticks: uint64(i), Sorted: true, Payload: payload("x")})
	}
	events = append(events, ev{Type: 1, Sequence: 2, Thread: 1, Ticks: maxThreads + 10, Payload: payload("x")},
		ev{Type: 1, Sequence: 1, Thread: ^uint64(0), Ticks: maxThreads + 11, Payload: payload("x")})
	w.Events(events...)
	w.SequencePoint(maxThreads+12, 0, reached(2, 1))
	r := open(t, w.End())
	n := 0
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		n++
	}
	if n != len(events) || r.Lost() != 0 || r.Unknown() != (Unknown{}) || len(r.threads.by) != 1 {
		t.Errorf("%d events, lost %d, %+v, %d threads", n, r.Lost(), r.Unknown(), len(r.threads.by))
	}
}
