package eventpipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// small returns a stream with one of everything, and where each of its events ends.
func small(major int) (data []byte, ends []int) {
	w := begun(stream{Major: major})
	w.Stacks(1, []uint64{1, 2}, []uint64{3})
	if major == 6 {
		w.LabelLists(1, []eventpipetest.Label{eventpipetest.TextLabel("k", "v")})
	}
	n := uint32(0)
	events := func(thread uint64, ticks uint64, labels uint32) {
		var events []ev
		for i := range 3 {
			n++
			events = append(events, ev{Type: 1, Sequence: n, Thread: thread, Capture: 1, Ticks: ticks + uint64(i), Stack: 1 + n%2, Labels: labels, Sorted: i == 0, Payload: payload(fmt.Sprintf("END%02d", n))})
		}
		w.Events(events...)
	}
	events(1, 10, 1)
	events(2, 20, 0)
	w.SequencePoint(30, 0, reached(1, n))
	w.Block("FutureBlock", []byte("?"))
	events(2, 40, 0)
	if major == 6 {
		w.RemoveThreads(reached(2, 0))
	}
	data = w.End()
	for i := range n {
		mark := payload(fmt.Sprintf("END%02d", i+1))
		ends = append(ends, bytes.Index(data, mark)+len(mark))
	}
	return data, ends
}

// TestCut breaks a stream off at every byte: the reader delivers every complete event,
// and then one error with the position.
func TestCut(t *testing.T) {
	for _, major := range []int{4, 5, 6} {
		data, ends := small(major)
		for at := range len(data) {
			want := 0
			for _, end := range ends {
				if end <= at {
					want++
				}
			}
			r, err := NewReader(bytes.NewReader(data[:at]))
			var cut *Cut
			if err != nil {
				if want > 0 || at > 8 && !errors.As(err, &cut) || at < 8 && !errors.Is(err, ErrNotNettrace) && !errors.As(err, &cut) {
					t.Fatalf("version %d cut at %d: %v", major, at, err)
				}
				continue
			}
			got := 0
			for err == nil {
				var e *Event
				if e, err = r.Next(); err == nil {
					if got++; e.N != int64(got) {
						t.Fatalf("version %d cut at %d: event %d in place %d", major, at, e.N, got)
					}
				}
			}
			if !errors.As(err, &cut) || !errors.Is(err, io.ErrUnexpectedEOF) || cut.Events != int64(got) || cut.Offset != int64(at) {
				t.Fatalf("version %d cut at %d: %v", major, at, err)
			}
			if got != want {
				t.Fatalf("version %d cut at %d: %d events, want %d", major, at, got, want)
			}
			if _, again := r.Next(); again != err {
				t.Fatalf("version %d cut at %d: then %v", major, at, again)
			}
			if r.Unknown().Blocks > 1 {
				t.Fatalf("version %d cut at %d: %+v", major, at, r.Unknown())
			}
		}
	}
}

// TestPieces reads a stream that comes a byte at a time, and one whose reader fails.
func TestPieces(t *testing.T) {
	data, ends := small(4)
	r, err := NewReader(iotest.OneByteReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if err != io.EOF || r.Delivered() != int64(len(ends)) || r.in.offset != int64(len(data)) {
		t.Error(err, r.Delivered(), r.in.offset)
	}
	why := errors.New("the process is gone")
	r, err = NewReader(io.MultiReader(bytes.NewReader(data[:len(data)-1]), iotest.ErrReader(why)))
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, why) || r.Delivered() != int64(len(ends)) {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	data, _ := small(4)
	netperf := func(version byte) []byte {
		return append([]byte("\x14\x00\x00\x00!FastSerialization.1\x04\x04\x01"), payload(int32(version), int32(0), int32(5), []byte("Trace\x06"))...)
	}
	changed := func(old, new string) []byte { return bytes.Replace(data, []byte(old), []byte(new), 1) }
	for _, c := range []struct {
		data []byte
		is   error
		says string
	}{
		{nil, ErrNotNettrace, "Nettrace"},
		{[]byte("gc 1 @0.007s 18%: 0.10+14+0.024 ms clock"), ErrNotNettrace, "Nettrace"},
		{[]byte("Nettrace plus something else altogether"), ErrNotNettrace, "Nettrace"},
		{netperf(3), ErrVersion, "netperf version 3"},
		{netperf(1), ErrVersion, "netperf version 1"},
		{netperf(3)[:30], ErrVersion, "a netperf stream"},
		{payload([]byte("Nettrace"), int32(0), int32(7), int32(0)), ErrVersion, "version 7"},
		{changed("\x04\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00Trace", "\x09\x00\x00\x00\x09\x00\x00\x00\x05\x00\x00\x00Trace"), ErrVersion, "version 9"},
		{changed("Trace\x06", "Trade\x06"), nil, `"Trade"`},
		{eventpipetest.New(stream{PointerBytes: 3}).End(), nil, "pointers of 3 bytes"},
		{eventpipetest.New(stream{Frequency: -1, Major: 6}).End(), nil, "a clock of -1 ticks"},
		{payload([]byte("Nettrace"), int32(0), int32(6), int32(0), uint32(2<<24)), nil, "not a Trace"},
		{payload([]byte("Nettrace"), int32(0), int32(6), int32(0), uint32(1<<24|5), []byte("short")), nil, "a Trace of"},
	} {
		_, err := NewReader(bytes.NewReader(c.data))
		var cut *Cut
		if err == nil || c.is != nil && !errors.Is(err, c.is) || c.is == nil && !errors.As(err, &cut) ||
			!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: %v", c.data, err)
		}
	}
}

// TestDamaged checks that a stream breaks off where it is damaged.
func TestDamaged(t *testing.T) {
	data, _ := small(4)
	at := bytes.Index(data, []byte("SPBlock"))
	data[at-15] = 9 // the tag of its beginning
	r := open(t, data)
	var err error
	for err == nil {
		_, err = r.Next()
	}
	if want := "nettrace stream incomplete in the stream between two objects at byte"; !strings.HasPrefix(err.Error(), want) || r.Delivered() != 6 {
		t.Errorf("%v, after %d events", err, r.Delivered())
	}
}

// TestLies checks that a false size allocates no memory.
func TestLies(t *testing.T) {
	for _, major := range []int{4, 6} {
		for _, size := range []uint32{60 << 20, 0x7fffffff, 0xffffffff} {
			w := begun(stream{Major: major})
			w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 1, Payload: payload("x")})
			before := len(w.Bytes())
			w.Block("StackBlock", []byte("abcdefgh"))
			data := w.Bytes()
			says := payload(uint32(8))
			if major == 6 {
				size = size&0xffffff | 5<<24
				says = payload(uint32(8 | 5<<24))
			}
			at := before + bytes.Index(data[before:], says)
			copy(data[at:], payload(size))
			var m, n runtime.MemStats
			runtime.ReadMemStats(&m)
			got := dump(open(t, data))
			runtime.ReadMemStats(&n)
			if spent := n.TotalAlloc - m.TotalAlloc; spent > 2<<20 || !strings.Contains(got, "what=x") || !strings.Contains(got, "incomplete in StackBlock") {
				t.Errorf("version %d: %d bytes allocated\n%s", major, spent, got)
			}
		}
	}
}
