package nettrace

import (
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/evidence"
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
