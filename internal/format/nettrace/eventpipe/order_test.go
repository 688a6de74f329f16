package eventpipe

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// TestOrder merges threads that a writer put down one after the other.
func TestOrder(t *testing.T) {
	w := begun(stream{})
	w.Events(
		ev{Type: 1, Sequence: 1, Thread: 101, Ticks: 10, Sorted: true, Payload: payload("a")},
		ev{Type: 1, Sequence: 2, Thread: 101, Ticks: 40, Payload: payload("d")})
	w.Events(
		ev{Type: 1, Sequence: 1, Thread: 102, Ticks: 20, Sorted: true, Payload: payload("b")},
		ev{Type: 1, Sequence: 2, Thread: 102, Ticks: 30, Payload: payload("c")},
		ev{Type: 1, Sequence: 3, Thread: 102, Ticks: 40, Payload: payload("e")})
	w.SequencePoint(50, 0)
	w.Events(ev{Type: 1, Sequence: 4, Thread: 102, Ticks: 45, Payload: payload("late")})
	expect(t, w.End(), `
10 #1 Shop/Sold thread 101 what=a
20 #3 Shop/Sold thread 102 what=b
30 #4 Shop/Sold thread 102 what=c
40 #2 Shop/Sold thread 101 what=d
40 #5 Shop/Sold thread 102 what=e
45 #6 Shop/Sold thread 102 what=late
`)
}

// TestThreadOutOfOrder checks that a thread that breaks the promise of order is still sorted,
// as far as the held events allow.
func TestThreadOutOfOrder(t *testing.T) {
	w := begun(stream{Plain: true})
	w.Events(
		ev{Type: 1, Sequence: 1, Thread: 101, Ticks: 30, Payload: payload("c")},
		ev{Type: 1, Sequence: 2, Thread: 101, Ticks: 10, Payload: payload("a")},
		ev{Type: 1, Sequence: 3, Thread: 101, Ticks: 20, Payload: payload("b")})
	w.SequencePoint(15, 0)
	w.Events(ev{Type: 1, Sequence: 1, Thread: 103, Ticks: 25, Payload: payload("too late")})
	expect(t, w.End(), `
10 #2 Shop/Sold thread 101 what=a
20 #3 Shop/Sold thread 101 what=b
30 #1 Shop/Sold thread 101 what=c
25 #4 Shop/Sold thread 103 what=too late
unknown {Blocks:0 Tags:0 Types:0 Events:0 Stacks:0 OutOfOrder:1 Sequence:0}
`)
}

// TestEarly checks that a mark's proof delivers events before the stream goes on, and that FileOrder
// delivers everything that was read.
func TestEarly(t *testing.T) {
	for inFileOrder, want := range map[bool]int{false: 3, true: 4} {
		w := begun(stream{})
		w.Events(
			ev{Type: 1, Sequence: 1, Thread: 101, Ticks: 10, Payload: payload("a")},
			ev{Type: 1, Sequence: 2, Thread: 101, Ticks: 20, Payload: payload("b")},
			ev{Type: 1, Sequence: 1, Thread: 102, Ticks: 20, Sorted: true, Payload: payload("c")},
			ev{Type: 1, Sequence: 2, Thread: 102, Ticks: 21, Payload: payload("d")})
		in, out := io.Pipe()
		events := make(chan int64, 9)
		go func() {
			defer close(events)
			r, err := NewReader(in)
			if err != nil {
				t.Error(err)
				return
			}
			if inFileOrder {
				r.FileOrder()
			}
			for {
				e, err := r.Next()
				if err != nil {
					return
				}
				events <- e.N
			}
		}()
		if _, err := out.Write(w.Bytes()); err != nil { // the stream stays open
			t.Fatal(err)
		}
		for n := range want {
			if got := <-events; got != int64(n+1) {
				t.Errorf("event %d, want %d", got, n+1)
			}
		}
		out.Close()
		for range events {
		}
	}
}

// TestManyThreads sorts random events of many threads, with marks and without.
func TestManyThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, plain := range []bool{false, true} {
		w := begun(stream{Plain: plain})
		now, sequence := uint64(0), map[uint64]uint32{}
		var times []int64
		for range 50 {
			least := uint64(0)
			for range 1 + random.IntN(20) {
				thread := uint64(1 + random.IntN(15))
				ticks := now
				var events []ev
				for range 1 + random.IntN(200) {
					ticks += random.Uint64N(30)
					sequence[thread]++
					events = append(events, ev{Type: 1, Sequence: sequence[thread], Thread: thread, Ticks: ticks, Payload: payload("x")})
					times = append(times, int64(ticks))
				}
				now, least = events[0].Ticks, max(least, ticks) // what follows may be as old as the first
				events[0].Sorted = random.IntN(3) == 0
				w.Events(events...)
			}
			now = least
			w.SequencePoint(now, 0)
			clear(sequence)
		}
		slices.Sort(times)
		r := open(t, w.End())
		for i := 0; ; i++ {
			e, err := r.Next()
			if err == io.EOF && i == len(times) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Time-r.Header().SyncTime.UnixNano() != times[i] {
				t.Fatalf("event %d of %d at %d, want %d", i, len(times), e.Time-r.Header().SyncTime.UnixNano(), times[i])
			}
		}
	}
}

// TestBound holds no more than the bound where no order is proven: here with two
// threads of which one is written long after the other.
func TestBound(t *testing.T) {
	const each = 20_000
	w := begun(stream{})
	for _, thread := range []uint64{101, 102} {
		for i := 0; i < each; {
			var events []ev
			for range 1000 {
				i++
				events = append(events, ev{Type: 1, Sequence: uint32(i), Thread: thread, Ticks: uint64(10*i) + thread, Payload: payload("x")})
			}
			w.Events(events...)
		}
	}
	r := open(t, w.End())
	r.most = 1 << 20
	held, n := 0, int64(0)
	for {
		_, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		held = max(held, r.order.inUse+r.blocks)
	}
	if n != 2*each || held > r.most+firstRead+chunkBytes || r.Unknown().OutOfOrder == 0 {
		t.Errorf("%d events, %d bytes held, %+v", n, held, r.Unknown())
	}
	if r.order.inUse != 0 || r.blocks != 0 {
		t.Errorf("%d and %d bytes held at the end", r.order.inUse, r.blocks)
	}
}

// TestAllocations checks that reading on allocates no memory, for any number of events.
func TestAllocations(t *testing.T) {
	written := func(blocks int) []byte {
		w := begun(stream{})
		n := uint32(0)
		for range blocks {
			var events []ev
			for range 1000 {
				n++
				events = append(events, ev{Type: 1, Sequence: n, Thread: 101 + uint64(n%1000/500), Capture: 101, Ticks: uint64(n), Sorted: n%1000 == 1, Payload: payload("x")})
			}
			w.Events(events...)
			w.SequencePoint(uint64(n), 0, eventpipetest.Reached{Thread: 101, Sequence: n})
		}
		return w.End()
	}
	allocations := func(data []byte) float64 {
		return testing.AllocsPerRun(3, func() {
			r := open(t, data)
			for {
				if _, err := r.Next(); err != nil {
					return
				}
			}
		})
	}
	few, many := allocations(written(10)), allocations(written(110))
	if per := (many - few) / 100; per > 12 { // a block's name, a sequence point's threads
		t.Errorf("%.1f allocations for a block of 1000 events", per)
	}
}
