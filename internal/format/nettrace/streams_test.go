package nettrace

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
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

// TestCollectionsAcrossStreams follows collections in the background through sessions recorded in
// turn: one that ends in a later session, one that begins and one that ends while nothing is
// recorded, and one that still runs at the end.
func TestCollectionsAcrossStreams(t *testing.T) {
	session := func(at uint64, events ...eventpipetest.Event) []byte {
		w := eventpipetest.New(eventpipetest.Stream{SyncTime: eventpipetest.Began.Add(time.Duration(at) * time.Millisecond), SyncTicks: int64(at) * 1e6})
		w.Metadata(eventpipetest.Type{Number: 1, Provider: provRuntime, ID: 1, Version: 2}, eventpipetest.Type{Number: 2, Provider: provRuntime, ID: 2, Version: 1},
			eventpipetest.Type{Number: 3, Provider: provRuntime, ID: 205, Version: 2}, eventpipetest.Type{Number: 4, Provider: provSampler, ID: 0},
			eventpipetest.Type{Number: 5, Provider: provRuntime, ID: 35, Version: 0})
		w.Stacks(1, []uint64{0x1000, 0x2000})
		for i := range events {
			e := &events[i]
			e.Thread, e.Ticks, e.Sequence, e.Sorted = 7, (at+uint64(i+1)*100)*1e6, uint32(i+1), true
		}
		w.Events(events...)
		return w.End()
	}
	brought := eventpipetest.Event{Type: 5, Stack: 1, Payload: eventpipetest.Payload(uint32(4), uint16(0))}
	begin := func(n, generation, kind uint32) eventpipetest.Event {
		return eventpipetest.Event{Type: 1, Payload: eventpipetest.Payload(n, generation, uint32(4), kind, uint16(0), uint64(0))}
	}
	end := func(n, generation uint32) eventpipetest.Event {
		return eventpipetest.Event{Type: 2, Payload: eventpipetest.Payload(n, generation, uint16(0))}
	}
	told := eventpipetest.Event{Type: 3, Payload: eventpipetest.Payload(uint64(6000), uint32(1), uint32(2), uint32(0), uint32(4), uint32(mechanismConcurrent), uint16(0), uint32(0), uint32(40))}
	looks := func(at uint64) []byte {
		return session(at, eventpipetest.Event{Type: 4, Payload: []byte{2, 0, 0, 0}})
	}
	data := slices.Concat(
		session(1000, brought, begin(1, 2, background)), looks(1500),
		session(2000, begin(2, 1, foreground), end(2, 1), end(1, 2)), looks(2500), // 1 ended
		session(3000, told, end(3, 2), begin(4, 2, background)), looks(3500), // 3 began unseen
		session(4000, begin(5, 0, blocking), end(5, 0), begin(6, 2, background)), looks(4500), // 4 ended unseen
		session(5000, begin(7, 1, foreground), end(7, 1)), looks(5500)) // 6 runs on
	type seen struct {
		from, until   int64 // ms
		gen           int
		reason, stack bool
	}
	for name, want := range map[string]map[int]seen{
		"recorded": {1: {1200, 2300, 2, true, true}, 2: {2100, 2200, 1, true, false}, 3: {3000, 3200, 2, true, false}, 4: {3300, 3300, 2, true, false},
			5: {4100, 4200, 0, true, false}, 6: {4300, 5200, 2, true, false}, 7: {5100, 5200, 1, true, false}},
		"by hand": {1: {1200, 2300, 2, true, true}, 2: {2100, 2200, 1, true, false}, 3: {3000, 3200, 2, true, false}, 4: {3300, 3300, 2, true, false},
			5: {4100, 4200, 0, true, false}, 7: {5100, 5200, 1, true, false}},
	} {
		a := suite.Artifact(data)
		if name == "recorded" {
			a.Series = "events"
		}
		b, err := suite.ReadArtifact(a)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[int]seen)
		v := &b.Intervals
		for _, i := range v.Select(evidence.GCCycle, 0) {
			number, _ := v.Get(i, evidence.CycleNumber)
			gen, _ := v.Get(i, evidence.Generation)
			ms := func(at int64) int64 { return (at - eventpipetest.Began.UnixNano()) / 1e6 }
			got[int(number)] = seen{ms(v.Start[i]), ms(v.End[i]), int(gen), b.Names.Text(v.NameOf(i, evidence.Trigger)) == "large allocations", v.Stack.At(i) != 0}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
