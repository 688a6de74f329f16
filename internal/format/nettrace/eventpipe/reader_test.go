package eventpipe

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// What the streams of these tests have in common.
type (
	stream = eventpipetest.Stream
	ev     = eventpipetest.Event
)

var payload = eventpipetest.Payload

var typeOne = eventpipetest.Type{Number: 1, Provider: "Shop", ID: 7, Name: "Sold", Keywords: 0x10, Version: 2, Level: 4,
	Fields: []eventpipetest.Field{{Name: "what", Code: 18}}}

func begun(s stream, types ...eventpipetest.Type) *eventpipetest.Writer {
	w := eventpipetest.New(s)
	w.Metadata(append(types, typeOne)...)
	if s.Major == 6 {
		w.Threads(eventpipetest.Thread{Index: 1, ID: 101, PID: 42}, eventpipetest.Thread{Index: 2, ID: 102, PID: 43, Name: "pool"})
	}
	return w
}

func open(t testing.TB, data []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// dump returns a line for each event and one for the end of the stream.
func dump(r *Reader) string {
	var b strings.Builder
	for {
		e, err := r.Next()
		if err != nil {
			if err != io.EOF {
				fmt.Fprintln(&b, err)
			}
			break
		}
		fmt.Fprintf(&b, "%d #%d %s/%s thread %d", e.Time-eventpipetest.Began.UnixNano(), e.N, e.Meta.Provider, e.Meta.Name, e.Thread)
		if e.Stack != 0 {
			fmt.Fprintf(&b, " stack %d %x", e.Stack, r.Addresses(e.Stack))
		}
		if e.Activity != (GUID{}) {
			fmt.Fprintf(&b, " activity %v", e.Activity)
		}
		if e.Related != (GUID{}) {
			fmt.Fprintf(&b, " related %v", e.Related)
		}
		values, err := r.Decode(e.Meta, e.Payload())
		for _, v := range values {
			fmt.Fprintf(&b, " %s=%s", v.Name, v)
		}
		if err != nil {
			fmt.Fprintf(&b, " (%v)", err)
		}
		b.WriteByte('\n')
	}
	if r.Lost() > 0 {
		fmt.Fprintln(&b, "lost", r.Lost())
	}
	if r.Unknown() != (Unknown{}) {
		fmt.Fprintf(&b, "unknown %+v\n", r.Unknown())
	}
	return b.String()
}

func expect(t *testing.T, data []byte, want string) {
	t.Helper()
	if got := dump(open(t, data)); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%swant%s", got, want)
	}
}

// TestVersions writes the same events in every way there is.
func TestVersions(t *testing.T) {
	for _, major := range []int{4, 5, 6} {
		for _, pointer := range []int{4, 8} {
			for _, plain := range []bool{false, true} {
				t.Run(fmt.Sprint(major, pointer, plain), func(t *testing.T) {
					w := begun(stream{Major: major, PointerBytes: pointer, Plain: plain})
					w.Stacks(1, []uint64{0xfeed0001, 0x20}, []uint64{0x30})
					thread := uint64(101)
					if major == 6 {
						thread = 1
					}
					e := ev{Type: 1, Sequence: 1, Thread: thread, Processor: 1, Ticks: 1000, Sorted: true, Payload: payload("bread")}
					f := ev{Type: 1, Sequence: 2, Thread: thread, Processor: 3, Ticks: 1_000_000_000_000, Stack: 1, Payload: payload("тест 😀")}
					g := f
					g.Sequence, g.Stack, g.Payload = 3, 2, payload("ham")
					activity := ""
					if major < 6 {
						f.Activity, f.Related, g.Activity = [16]byte{1, 2, 3, 4, 5, 15: 16}, [16]byte{9}, [16]byte{1, 2, 3, 4, 5, 15: 16}
						activity = " activity 04030201-0005-0000-0000-000000000010"
					} else {
						w.LabelLists(5, []eventpipetest.Label{{Kind: 1, Content: []byte{1, 2, 3, 4, 5, 15: 16}}, {Kind: 2, Content: []byte{9, 15: 0}}})
						f.Labels = 5
					}
					w.Events(e, f, g)
					want := `
1000 #1 Shop/Sold thread 101 what=bread
1000000000000 #2 Shop/Sold thread 101 stack 1 [feed0001 20]` + activity + ` related 00000009-0000-0000-0000-000000000000 what=тест 😀
1000000000000 #3 Shop/Sold thread 101 stack 2 [30]` + activity + ` what=ham
`
					if major == 6 {
						want = strings.ReplaceAll(want, " related", " activity 04030201-0005-0000-0000-000000000010 related")
					}
					expect(t, w.End(), want)
					h := open(t, w.Bytes()).Header()
					if h.Major != major || h.PointerBytes != pointer || h.PID != 42 || h.Processors != 2 || !h.SyncTime.Equal(eventpipetest.Began) {
						t.Errorf("%+v", h)
					}
				})
			}
		}
	}
}

func TestType(t *testing.T) {
	for _, major := range []int{4, 5, 6} {
		w := begun(stream{Major: major}, eventpipetest.Type{Number: 70_000, Provider: "Shop", ID: 8, Name: "Closed", Opcode: byte(major - 4), Level: 1, Keywords: -1})
		w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 1, Payload: payload("a")}, ev{Type: 70_000, Sequence: 2, Thread: 1, Ticks: 2})
		r := open(t, w.End())
		e, _ := r.Next()
		if m := *e.Meta; m.Provider != "Shop" || m.ID != 7 || m.Name != "Sold" || m.Keywords != 0x10 || m.Version != 2 || m.Level != 4 || len(m.Fields) != 1 {
			t.Errorf("version %d: %+v", major, m)
		}
		e, _ = r.Next()
		if m := *e.Meta; m.ID != 8 || m.Keywords != -1 || m.Opcode != major-4 || m.Fields != nil {
			t.Errorf("version %d: %+v", major, m)
		}
	}
}

// TestClock reads ticks that are no whole number of ns, before and after the known
// one, as on Windows.
func TestClock(t *testing.T) {
	w := begun(stream{SyncTicks: 10_000_000_000, Frequency: 3_124_099})
	w.Events(ev{Type: 1, Sequence: 1, Thread: 1, Ticks: 10_000_000_000 - 3_124_099},
		ev{Type: 1, Sequence: 2, Thread: 1, Ticks: 10_000_000_000},
		ev{Type: 1, Sequence: 3, Thread: 1, Ticks: 10_000_000_001},
		ev{Type: 1, Sequence: 4, Thread: 1, Ticks: 10_000_000_000 + 86400*3_124_099})
	r := open(t, w.End())
	for _, want := range []int64{-1e9, 0, 320, 86400e9} {
		if e, err := r.Next(); err != nil || e.Time-eventpipetest.Began.UnixNano() != want {
			t.Errorf("%v, %v, want %d", e, err, want)
		}
	}
}
