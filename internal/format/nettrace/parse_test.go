package nettrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// TestProcesses reads a stream of version 6 that is of two processes.
func TestProcesses(t *testing.T) {
	w := eventpipetest.New(eventpipetest.Stream{Major: 6})
	w.Threads(eventpipetest.Thread{Index: 1, ID: 1001, PID: 10}, eventpipetest.Thread{Index: 2, ID: 2001, PID: 20})
	w.Metadata(eventpipetest.Type{Number: 1, Provider: provHosting, Name: "RequestStart", Level: 4},
		eventpipetest.Type{Number: 2, Provider: provHosting, Name: "RequestStop", Level: 4})
	begin := eventpipetest.Payload("GET", "/a")
	w.Events(eventpipetest.Event{Type: 1, Thread: 1, Capture: 1, Sequence: 1, Ticks: 10, Sorted: true, Payload: begin},
		eventpipetest.Event{Type: 1, Thread: 2, Capture: 2, Sequence: 1, Ticks: 20, Sorted: true, Payload: begin},
		eventpipetest.Event{Type: 2, Thread: 1, Capture: 1, Sequence: 2, Ticks: 30, Sorted: true},
		eventpipetest.Event{Type: 2, Thread: 2, Capture: 2, Sequence: 2, Ticks: 50, Sorted: true})
	b, err := suite.Read(w.End())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range b.Requests.Len() {
		r := b.Requests.Row(i)
		got = append(got, fmt.Sprintf("pid %d lane %d %d ns", b.Subjects[r.Subject].PID, r.Lane, r.Latency()))
	}
	if want := []string{"pid 10 lane 1001 20 ns", "pid 20 lane 2001 30 ns"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"netperf":  {"\x14\x00\x00\x00!FastSerialization.1\x05\x05\x01\x03\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00Trace\x06", "versions 4 to 6"},
		"header":   {"Nettrace\x14\x00\x00", "within its header"},
		"no event": {string(eventpipetest.New(eventpipetest.Stream{}).End()), "holds no events"},
	} {
		_, err := suite.Read([]byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := suite.Read([]byte("\x14\x00\x00\x00!FastSerialization.1\x05\x05\x01\x03\x00\x00\x00")); !errors.Is(err, eventpipe.ErrVersion) {
		t.Errorf("netperf: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	path := file(t, "starve10.nettrace.gz")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := format.Read(ctx, []format.Format{Format}, format.File(path), evidence.NewBundle()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAncestors compares the decoding of activity ids with the runtime's encoding
// of them.
func TestAncestors(t *testing.T) {
	const pid = 15269
	for path, want := range map[string][]string{
		"/1":                    nil,
		"/1/10/3":               {"/1/10", "/1"},
		"/1/308/1/1":            {"/1/308/1", "/1/308", "/1"}, // as .NET Core 3.1 wrote it
		"/11/255/256":           {"/11/255", "/11"},
		"/3/4095/4096/70000":    {"/3/4095/4096", "/3/4095", "/3"},
		"/1/2/3/4/5/16777216/6": {"/1/2/3/4/5/16777216", "/1/2/3/4/5", "/1/2/3/4", "/1/2/3", "/1/2", "/1"},
	} {
		var got []string
		visitAncestors(pathID(path, pid), pid, func(g eventpipe.GUID) bool {
			for _, w := range want {
				if g == pathID(w, pid) {
					got = append(got, w)
					return false
				}
			}
			got = append(got, g.String())
			return false
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s is within %v, want %v", path, got, want)
		}
	}
	if g := (eventpipe.GUID{0x1d, 0x34, 0x01, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0x6f, 0xf6, 0x9e, 0x6a}); pathMix(g) != 0 && pathMix(g) != pid {
		t.Errorf("an id that a runtime gave has the rest %#x", pathMix(g))
	}
	visitAncestors(eventpipe.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9}, pid, func(eventpipe.GUID) bool {
		t.Error("a random id has ancestors")
		return true
	})
}

// TestManyRequests pairs thousands of requests that are under way at once on many
// threads, each of which ends on another thread than it began on.
func TestManyRequests(t *testing.T) {
	const n, threads = 5000, 97
	w := eventpipetest.New(eventpipetest.Stream{})
	w.Metadata(eventpipetest.Type{Number: 1, Provider: provHosting, Name: "RequestStart", Level: 4},
		eventpipetest.Type{Number: 2, Provider: provHosting, Name: "RequestStop", Level: 4})
	path := func(i int) [16]byte { return pathID(fmt.Sprintf("/1/%d/%d", 11+i%500, i), 42) }
	var events []eventpipetest.Event
	sequence := make(map[uint64]uint32)
	add := func(number uint32, thread, ticks int, activity [16]byte, payload []byte) {
		e := eventpipetest.Event{Type: number, Thread: uint64(thread), Ticks: uint64(ticks), Activity: activity, Payload: payload, Sorted: true}
		sequence[e.Thread]++
		e.Sequence = sequence[e.Thread]
		events = append(events, e)
	}
	begin := eventpipetest.Payload("GET", "/a")
	for i := range n {
		add(1, 1+i%threads, 1000*(i+1), path(i), begin)
	}
	for k := range n {
		i := (k * 1777) % n
		add(2, 200+k%threads, 1000*(n+1+k), path(i), nil)
	}
	w.Events(events...)
	b, err := suite.Read(w.End())
	if err != nil {
		t.Fatal(err)
	}
	if b.Requests.Len() != n {
		t.Fatalf("%d requests, want %d", b.Requests.Len(), n)
	}
	for row := range n {
		r := b.Requests.Row(row)
		i := (row * 1777) % n
		from := eventpipetest.Began.UnixNano()
		if r.Start-from != int64(1000*(i+1)) || r.End-from != int64(1000*(n+1+row)) || r.Outcome != evidence.OK {
			t.Fatalf("request %d: %d..%d %v", i, r.Start-from, r.End-from, r.Outcome)
		}
	}
}

// TestLooksAreBounded gives threads more samples than there are rows: with few stacks,
// with as many as threads can have, and with ever new ones.
func TestLooksAreBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples int
		stack   func(i, thread int) int
		rows    int
		quantum [2]int64
		all     bool
	}{
		{"few stacks", 5 * maxLooks / 2, func(i, thread int) int { return thread%7 + i/90000 }, maxLooks, [2]int64{5e6, 100e6}, true},
		{"many stacks", 4 * maxLooks, func(i, thread int) int { return i / 300 % 1500 }, mostLooks, [2]int64{1e9, 6e9}, true},
		{"new stacks", 3 * mostLooks, func(i, thread int) int { return i }, mostLooks, [2]int64{1e9, 1 << 50}, false},
	} {
		q := &process{malformed: make(map[string]int64)}
		q.looks.init()
		e := eventpipe.Event{Meta: &eventpipe.Metadata{Provider: provSampler}}
		for i := range c.samples {
			e.Time = 1e18 + int64(i/300)*2e6
			e.Thread = int64(i % 300)
			e.Stack = eventpipe.StackID(1 + c.stack(i, i%300))
			q.addLook(&e, true)
		}
		l := &q.looks
		if room := len(l.rows.blocks) * rowBlock; l.rows.n > c.rows || room > c.rows {
			t.Errorf("%s: %d rows in room for %d", c.name, l.rows.n, room)
		}
		sum := int(l.left)
		for i := range l.rows.n {
			sum += int(l.rows.at(i).count)
		}
		if sum != c.samples || l.count != int64(c.samples) || c.all != (l.left == 0) {
			t.Errorf("%s: %d looks, %d counted, %d left out; want %d", c.name, sum, l.count, l.left, c.samples)
		}
		if l.quantum < c.quantum[0] || l.quantum > c.quantum[1] {
			t.Errorf("%s: joined within %d ns", c.name, l.quantum)
		}
	}
}

func TestPointsAreBounded(t *testing.T) {
	var p points
	for i := range 5 * maxPoints {
		p.add(int64(i+1), float64(i), int64(i))
	}
	if len(p.t) > maxPoints || !slices.IsSorted(p.t) || p.count != 5*maxPoints || p.most != 5*maxPoints-1 {
		t.Errorf("%d points of %d", len(p.t), p.count)
	}
	for i := 1; i < len(p.t)-1; i++ {
		if a, b := p.t[i]-p.t[i-1], p.t[i+1]-p.t[i]; a != b && i != maxPoints/2 {
			t.Fatalf("points %d apart, then %d", a, b)
		}
	}
}

// BenchmarkParse measures the whole way from bytes to evidence.
func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"starve10", "dotnetcore3.0-win", "truth8", "dotnet5-sampleprofiler", "c5", "surv10"} {
		path := file(b, name+".nettrace.gz")
		data := decompressed(b, path)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := suite.Read(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func decompressed(t testing.TB, path string) []byte {
	t.Helper()
	r, err := format.File(path).Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
