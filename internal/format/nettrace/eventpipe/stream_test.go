package eventpipe

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

func reached(thread uint64, sequence uint32) eventpipetest.Reached {
	return eventpipetest.Reached{Thread: thread, Sequence: sequence}
}

// TestLost counts missing numbers: between two events of a thread,
// before its first, up to a sequence point, and of a thread without events.
func TestLost(t *testing.T) {
	w := begun(stream{})
	w.Events(
		ev{Type: 1, Sequence: 1, Thread: 101, Ticks: 1, Payload: payload("a")},
		ev{Type: 1, Sequence: 5, Thread: 101, Ticks: 2, Payload: payload("b")}, // 3
		ev{Type: 1, Sequence: 3, Thread: 102, Ticks: 3, Payload: payload("c")}, // 2
		ev{Type: 1, Sequence: 6, Thread: 101, Ticks: 4, Payload: payload("d")},
	)
	w.SequencePoint(5, 0, reached(101, 16), reached(102, 2), reached(103, 100)) // 10, none, 100
	w.Events(
		ev{Type: 1, Sequence: 17, Thread: 101, Ticks: 6, Payload: payload("e")},
		ev{Type: 1, Sequence: 1, Thread: 101, Ticks: 7, Payload: payload("a new thread of the same number")},
		ev{Type: 1, Sequence: 3, Thread: 102, Ticks: 8, Payload: payload("gone back")},
	)
	expect(t, w.End(), `
1 #1 Shop/Sold thread 101 what=a
2 #2 Shop/Sold thread 101 what=b
3 #3 Shop/Sold thread 102 what=c
4 #4 Shop/Sold thread 101 what=d
6 #5 Shop/Sold thread 101 what=e
7 #6 Shop/Sold thread 101 what=a new thread of the same number
8 #7 Shop/Sold thread 102 what=gone back
lost 115
unknown {Blocks:0 Tags:0 Types:0 Events:0 Stacks:0 OutOfOrder:0 Sequence:1}
`)
}

func TestLost6(t *testing.T) {
	w := begun(stream{Major: 6})
	w.Events(ev{Type: 1, Sequence: 2, Thread: 1, Ticks: 1, Payload: payload("a")}) // 1
	w.RemoveThreads(reached(1, 4), reached(2, 8))                                  // 2 and 8
	w.Threads(eventpipetest.Thread{Index: 1, ID: 201})
	w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 2, Payload: payload("b")},
		ev{Type: 1, Sequence: 1, Thread: 2, Ticks: 3, Payload: payload("of a thread that is gone")})
	w.SequencePoint(9, 0, reached(1, 21)) // 20
	expect(t, w.End(), `
1 #1 Shop/Sold thread 101 what=a
2 #2 Shop/Sold thread 201 what=b
3 #3 Shop/Sold thread 0 what=of a thread that is gone
lost 31
unknown {Blocks:0 Tags:0 Types:0 Events:1 Stacks:0 OutOfOrder:0 Sequence:0}
`)
}

// TestStacks checks that a stack keeps its StackID when the stream reuses its numbers after a sequence
// point.
func TestStacks(t *testing.T) {
	for _, major := range []int{4, 6} {
		w := begun(stream{Major: major})
		w.Stacks(1, []uint64{1, 2}, []uint64{3}, nil)
		w.Stacks(4, []uint64{1, 2})
		e := ev{Type: 1, Thread: 1, Payload: payload("")}
		events := func(stacks ...uint32) {
			var events []ev
			for _, id := range stacks {
				e.Sequence++
				e.Ticks++
				e.Stack = id
				events = append(events, e)
			}
			w.Events(events...)
		}
		events(1, 2, 3, 4, 0)
		w.SequencePoint(e.Ticks, 0, reached(1, e.Sequence))
		w.Stacks(1, []uint64{3})
		w.Stacks(2, []uint64{4, 5, 6})
		events(1, 2, 3)
		thread := map[int]string{4: "1", 6: "101"}[major]
		expect(t, w.End(), `
1 #1 Shop/Sold thread `+thread+` stack 1 [1 2] what=
2 #2 Shop/Sold thread `+thread+` stack 2 [3] what=
3 #3 Shop/Sold thread `+thread+` what=
4 #4 Shop/Sold thread `+thread+` stack 1 [1 2] what=
5 #5 Shop/Sold thread `+thread+` what=
6 #6 Shop/Sold thread `+thread+` stack 2 [3] what=
7 #7 Shop/Sold thread `+thread+` stack 3 [4 5 6] what=
8 #8 Shop/Sold thread `+thread+` what=
unknown {Blocks:0 Tags:0 Types:0 Events:0 Stacks:1 OutOfOrder:0 Sequence:0}
`)
	}
}

// TestManyStacks makes the table of stacks grow.
func TestManyStacks(t *testing.T) {
	for _, pointer := range []int{4, 8} {
		w := begun(stream{PointerBytes: pointer})
		const n = 5000
		for round := range 2 {
			var stacks [][]uint64
			for i := range n {
				stacks = append(stacks, []uint64{uint64(i), 7, uint64(i / 2)})
			}
			w.Stacks(1, stacks...)
			w.SequencePoint(uint64(round), 0)
		}
		w.Stacks(1, make([]uint64, arenaWords))
		r := open(t, w.End())
		if _, err := r.Next(); err == nil || r.Stacks() != n+1 {
			t.Errorf("%d stacks, %v", r.Stacks(), err)
		}
		for i := range n {
			if a := r.Addresses(StackID(i + 1)); len(a) != 3 || a[0] != uint64(i) || a[2] != uint64(i/2) {
				t.Fatalf("stack %d: %v", i+1, a)
			}
		}
		if r.Addresses(0) != nil || r.Addresses(n+2) != nil || len(r.Addresses(n+1)) != arenaWords {
			t.Error("stacks that are not there, or too long to be")
		}
	}
}

// TestTags reads the tags that version 5 may write behind a type.
func TestTags(t *testing.T) {
	number := eventpipetest.Field{Code: 9}
	w := begun(stream{Major: 5}, eventpipetest.Type{Number: 2, Provider: "Shop", ID: 8, Name: "Sorted", Opcode: 2, Tagged: true,
		Fields: []eventpipetest.Field{{Name: "sizes", Code: 19, Elem: &number}, {Name: "of", Code: 19, Elem: &eventpipetest.Field{Code: 1,
			Fields: []eventpipetest.Field{{Name: "key", Code: 18}, {Name: "value", Code: 18}}}}},
		Extra: payload(uint32(3), []byte{77, 1, 2, 3})}, // a tag of the future
		eventpipetest.Type{Number: 3, Provider: "Shop", ID: 9, Name: "Odd", Fields: []eventpipetest.Field{{Name: "x", Code: 99}}})
	w.Events(ev{Type: 2, Sequence: 1, Thread: 1, Ticks: 1, Payload: payload(uint16(2), int32(-3), int32(4), uint16(1), "a", "b")},
		ev{Type: 3, Sequence: 2, Thread: 1, Ticks: 2, Payload: payload(uint16(2))},
		ev{Type: 4, Sequence: 3, Thread: 1, Ticks: 3, Payload: payload(uint16(2))})
	data := w.End()
	expect(t, data, `
1 #1 Shop/Sorted thread 1 sizes=[-3 4] of=[[a b]]
2 #2 Shop/Odd thread 1
unknown {Blocks:0 Tags:1 Types:1 Events:1 Stacks:0 OutOfOrder:0 Sequence:0}
`)
	r := open(t, data)
	if e, err := r.Next(); err != nil || e.Meta.Opcode != 2 || len(e.Meta.Fields) != 2 {
		t.Error(e, err)
	}
}

// TestLabels checks that labels are text and numbers, and may override a type.
func TestLabels(t *testing.T) {
	w := begun(stream{Major: 6})
	w.LabelLists(1,
		[]eventpipetest.Label{{Kind: 3, Content: []byte{1, 15: 2}}, {Kind: 4, Content: payload(uint64(77))}, eventpipetest.TextLabel("tenant", "acme"), eventpipetest.NumberLabel("try", -2)},
		[]eventpipetest.Label{{Kind: 7, Content: []byte{9}}, {Kind: 8, Content: payload(int64(5))}, {Kind: 9, Content: []byte{1}}, {Kind: 10, Content: []byte{3}}})
	e := ev{Type: 1, Thread: 1, Payload: payload("x")}
	for _, l := range []uint32{1, 2, 0, 2, 3} {
		e.Sequence, e.Ticks, e.Labels = e.Sequence+1, e.Ticks+1, l
		w.Events(e)
	}
	r := open(t, w.End())
	var types []*Metadata
	for i := range 5 {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, e.Meta)
		if l := e.Labels; i == 0 && (l.TraceID != [16]byte{1, 15: 2} || l.SpanID != 77 || l.Text["tenant"] != "acme" || l.Number["try"] != -2) {
			t.Errorf("%+v", l)
		}
		if (e.Labels == nil) != (i == 2 || i == 4) {
			t.Errorf("event %d has labels %+v", i, e.Labels)
		}
	}
	if m := types[1]; m.Opcode != 9 || m.Keywords != 5 || m.Level != 1 || m.Version != 3 || m.Name != "Sold" {
		t.Errorf("%+v", m)
	}
	if types[0] != types[2] || types[1] != types[3] || types[0] == types[1] || types[0] != types[4] {
		t.Error("the same type is not the same")
	}
	if r.Unknown() != (Unknown{Tags: 1}) {
		t.Errorf("%+v", r.Unknown())
	}
}

// TestFlush flushes types and threads in version 6; a type that comes again
// is the same.
func TestFlush(t *testing.T) {
	w := begun(stream{Major: 6})
	e := ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 1, Payload: payload("x")}
	w.Events(e)
	w.SequencePoint(1, eventpipetest.FlushMetadata|eventpipetest.FlushThreads)
	again := typeOne
	again.Number = 2
	w.Metadata(eventpipetest.Type{Number: 1, Provider: "Shop", Name: "Other"}, again)
	w.Threads(eventpipetest.Thread{Index: 1, ID: 999})
	w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 2}, ev{Type: 2, Sequence: 2, Thread: 1, Ticks: 3, Payload: payload("y")})
	data := w.End()
	expect(t, data, `
1 #1 Shop/Sold thread 101 what=x
2 #2 Shop/Other thread 999
3 #3 Shop/Sold thread 999 what=y
`)
	r := open(t, data)
	first, _ := r.Next()
	one := first.Meta
	_, _ = r.Next()
	if third, err := r.Next(); err != nil || third.Meta != one {
		t.Error("the type is another", err)
	}
}

// TestSkipped skips blocks of future versions and blocks with damaged content.
func TestSkipped(t *testing.T) {
	for _, major := range []int{4, 6} {
		w := begun(stream{Major: major})
		w.Block("FutureBlock", []byte("whatever it holds"))
		w.Block("StackBlock", payload(uint32(1), uint32(9)))
		w.Block("EventBlock", []byte{1})
		w.Block("EventBlock", payload(uint16(300), uint16(0)))
		w.Block("EventBlock", append(payload(uint16(20), uint16(1), uint64(0), uint64(0)), 0x81))
		w.Block("MetadataBlock", append(payload(uint16(20), uint16(1), uint64(0), uint64(0)), 0x81))
		w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 1, Payload: payload("x")})
		thread := map[int]string{4: "1", 6: "101"}[major]
		expect(t, w.End(), `
1 #1 Shop/Sold thread `+thread+` what=x
unknown {Blocks:6 Tags:0 Types:0 Events:0 Stacks:0 OutOfOrder:0 Sequence:0}
`)
	}
}

// TestExtra: rows of version 6 may say more than is known.
func TestExtra(t *testing.T) {
	odd := typeOne
	odd.Number, odd.Extra = 5, []byte{99, 1, 2}
	w := begun(stream{Major: 6, Values: [][2]string{{"HostName", "kiosk"}}}, odd)
	thread := binary.AppendUvarint(nil, 7)
	thread = append(thread, 3, 55, 4, 1, 'k', 1, 'v', 88, 1, 2, 3)
	w.Block("ThreadBlock", append(payload(uint16(len(thread))), thread...))
	w.Events(ev{Type: 5, Sequence: 1, Thread: 7, Ticks: 1, Payload: payload("x")})
	data := w.End()
	expect(t, data, `
1 #1 Shop/Sold thread 55 what=x
unknown {Blocks:0 Tags:2 Types:0 Events:0 Stacks:0 OutOfOrder:0 Sequence:0}
`)
	if h := open(t, data).Header(); h.Values["HostName"] != "kiosk" || h.Values["ProcessId"] != "42" {
		t.Errorf("%+v", h)
	}
}

// TestManyContexts: labels that differ from event to event are bounded too.
func TestManyContexts(t *testing.T) {
	const n = 2*maxContexts + 10
	w := begun(stream{Major: 6})
	w.LabelLists(1, []eventpipetest.Label{eventpipetest.NumberLabel("n", 1)}, []eventpipetest.Label{eventpipetest.NumberLabel("n", 2)})
	var events []ev
	for i := range uint32(n) {
		events = append(events, ev{Type: 1, Sequence: i + 1, Thread: 1, Ticks: uint64(i), Labels: 1 + i%2, Payload: payload("x")})
	}
	w.Events(events...)
	r := open(t, w.End())
	for i := range n {
		e, err := r.Next()
		if err != nil || e.Labels == nil || e.Labels.Number["n"] != int64(1+i%2) {
			t.Fatal(i, e, err)
		}
		if held := cap(r.slots[0].contexts); held > 2*maxContexts {
			t.Fatalf("event %d: %d contexts are held", i, held)
		}
	}
	if _, err := r.Next(); err != io.EOF || r.Unknown() != (Unknown{}) {
		t.Error(err, r.Unknown())
	}
}
