package threads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A thread that runs is where the kernel saw it run at that time, and one in native code of which nothing tells
// runs if the kernel saw it do so; who waits, waits.
func TestClocked(t *testing.T) {
	const period = 10e6
	native := append([]string{"[Native Frames]"}, handler...)
	waits := append([]string{"System.Private.CoreLib!System.Threading.ManualResetEventSlim.Wait(int)"}, handler...)
	r := record()
	r.look(7, 1e9, native)
	r.look(7, 2e9, native)
	r.look(8, 1e9, waits)
	r.look(9, 1e9, append([]string{"Shop!Shop.Stock.Count()"}, handler...))
	r.look(10, 1.5e9, append([]string{"[Native Frames]", "Shop!Shop.Prices.Sum(int)"}, handler...))
	frames := []evidence.Frame{{Func: r.p.Name("memcpy"), File: r.p.Name("libc.so.6")}, {Func: r.p.Name("Shop!Shop.Prices.Sum(int)")}, {Func: r.p.Name(evidence.MadeCode)}}
	for _, f := range handler {
		frames = append(frames, evidence.Frame{Func: r.p.Name(f)})
	}
	ran := r.p.Stack(frames)
	for _, lane := range []evidence.LaneID{7, 8, 9} {
		r.p.Sample(evidence.Sample{Subject: r.subject, Lane: lane, Time: 1e9 + period/2, Stack: ran, Type: r.p.Name(evidence.SampleOnCPU), Value: period})
	}
	for _, at := range []int64{1.4e9, 1.6e9} {
		r.p.Sample(evidence.Sample{Subject: r.subject, Lane: 10, Time: at, Stack: ran, Type: r.p.Name(evidence.SampleOnCPU), Value: period})
	}
	for _, l := range Of(r.done(), stacks).Samples(r.subject) {
		state, owner := evidence.Running, "Shop!Prices.Sum(int)"
		switch {
		case l.Lane == 7 && l.Time == 2e9:
			state, owner = evidence.KindUnknown, ""
		case l.Lane == 8:
			state, owner = evidence.SyncWait, ""
		}
		if l.View.State != state || owner != "" && l.View.Owner != owner {
			t.Errorf("thread %d at %d: %s in %s, want %s in %s", l.Lane, l.Time, l.View.State, l.View.Owner, state, owner)
		}
	}
}
