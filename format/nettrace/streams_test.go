package nettrace

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/nettrace/eventpipe"
	"github.com/unstall/unstall/format/nettrace/eventpipe/eventpipetest"
)

// TestStreamsInTurn reads a file of three sessions, of which only the second told names,
// whole and cut within the last.
func TestStreamsInTurn(t *testing.T) {
	const start = 0x7f0000001000
	sampled := func(named bool) []byte {
		w := eventpipetest.New(eventpipetest.Stream{})
		w.Metadata(eventpipetest.Type{Number: 1, Provider: provSampler, ID: 0}, eventpipetest.Type{Number: 2, Provider: provRundown, ID: 144})
		w.Stacks(1, []uint64{start + 8})
		events := []eventpipetest.Event{{Type: 1, Thread: 7, Sequence: 1, Ticks: 1000, Stack: 1, Sorted: true, Payload: []byte{2, 0, 0, 0}}}
		if named {
			events = append(events, eventpipetest.Event{Type: 2, Thread: 7, Sequence: 2, Ticks: 2000, Sorted: true,
				Payload: eventpipetest.Payload(uint64(1), uint64(5), uint64(start), uint32(64), uint32(0), uint32(0), "Shop.Till", "Count", "void ()", uint16(0))})
		}
		w.Events(events...)
		return w.End()
	}
	file := slices.Concat(sampled(false), sampled(true), sampled(false))
	for name, data := range map[string][]byte{"whole": file, "cut": file[:len(file)-1]} {
		b, err := suite.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for i := range b.Samples.Len() {
			for _, f := range b.Stacks.Frames(b.Samples.Stack[i]) {
				seen = append(seen, b.Names.Text(f.Func))
			}
		}
		if len(seen) != 3 || slices.ContainsFunc(seen, func(s string) bool { return !strings.Contains(s, "Till.Count") }) {
			t.Errorf("%s: %q", name, seen)
		}
		if cut := b.Artifacts[0].Tail; cut != (name == "cut") {
			t.Errorf("%s: cut %v, %v", name, cut, b.Warnings)
		}
		if n := len(b.Covered(0, evidence.CoverThreads)); n != 3 || len(b.Subjects) != 1 {
			t.Errorf("%s: %d times threads were looked at, of %d processes", name, n, len(b.Subjects))
		}
	}
}

// TestRequestsAcrossStreams ends a request in the third session of requests after looks at threads
// between them. One that ends while nothing is recorded was under way until its session ended; one
// that begins then is timed from the next session on if it takes far longer than nothing was
// recorded, and else left out.
func TestRequestsAcrossStreams(t *testing.T) {
	session := func(at uint64, events ...eventpipetest.Event) []byte {
		w := eventpipetest.New(eventpipetest.Stream{SyncTime: eventpipetest.Began.Add(time.Duration(at) * time.Millisecond), SyncTicks: int64(at) * 1e6})
		w.Metadata(eventpipetest.Type{Number: 1, Provider: provHosting, Name: "RequestStart", Level: 4}, eventpipetest.Type{Number: 2, Provider: provHosting, Name: "RequestStop", Level: 4},
			eventpipetest.Type{Number: 3, Provider: provSampler, ID: 0})
		for i := range events {
			e := &events[i]
			e.Thread, e.Ticks, e.Sequence, e.Sorted = 7, (at+uint64(i)*100)*1e6, uint32(i+1), true
		}
		w.Events(events...)
		return w.End()
	}
	begin := func(n byte) eventpipetest.Event {
		return eventpipetest.Event{Type: 1, Activity: eventpipe.GUID{n}, Payload: eventpipetest.Payload("GET", "/till")}
	}
	end := func(n byte) eventpipetest.Event { return eventpipetest.Event{Type: 2, Activity: eventpipe.GUID{n}} }
	others := func(n int) (all []eventpipetest.Event) {
		for i := range n / 2 {
			all = append(all, begin(byte(100+i)), end(byte(100+i)))
		}
		return all
	}
	looks := func(at uint64) []byte {
		return session(at, eventpipetest.Event{Type: 3, Payload: []byte{2, 0, 0, 0}})
	}
	b, err := suite.Read(slices.Concat(session(1000, begin(1), begin(2), begin(3), end(3)), looks(1500), session(2000, begin(4), end(4), end(5)), looks(2500), session(3000, end(1)), looks(3100), session(3200, slices.Concat([]eventpipetest.Event{end(6)}, others(12), []eventpipetest.Event{end(7)})...)))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[int64]string) // by latency, ms
	for i := range b.Requests.Len() {
		r := b.Requests.Row(i)
		got[r.Latency()/1e6] = r.Outcome.String()
	}
	want := map[int64]string{2000: "ok", 200: "unfinished", 100: "ok", 1300: "ok"}
	if !maps.Equal(got, want) || b.Requests.Len() != 11 {
		t.Errorf("%v, want %v", got, want)
	}
}
