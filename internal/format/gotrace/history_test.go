package gotrace

import (
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// What is remembered of a state is all of it, and a part of it is what clip leaves, whether it is
// unpacked for that or passed on as it is remembered.
func TestStatesAreRememberedWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(n int) int64 {
		if rng.IntN(2) == 0 {
			return 0
		}
		return 1 + rng.Int64N(int64(n))
	}
	for range 2000 {
		s := evidence.Segment{Kind: evidence.Runnable, Lane: evidence.LaneID(some(1 << 20)), Stack: evidence.StackID(some(1000)), Cause: evidence.NameID(some(1000))}
		if rng.IntN(8) == 0 {
			s.Lane |= 1 << 40
		}
		if s.HolderStack = evidence.StackID(some(1000)); rng.IntN(3) == 0 {
			s.Holder, s.HolderCause, s.Via = evidence.LaneID(1+some(1<<40)), evidence.NameID(some(1000)), evidence.NameID(some(1000))
		}
		for i := range s.Held {
			s.Held[i] = some(1000)
		}
		s.Dur = max(1, s.Held.Sum())
		var h half
		h.addSegment(&evidence.Segment{Kind: evidence.Runnable, Dur: 1, Held: evidence.Shares{1}}, 0)
		h.addSegment(&s, 1)
		x := &h.states[1]
		var got evidence.Segment
		if h.fillSegment(&got, x, s.Dur); got != s {
			t.Fatalf("remembers %+v\nof        %+v", got, s)
		}
		if x.has != hasHeld {
			continue
		}
		dur := 1 + rng.Int64N(s.Dur)
		if clipSegment(&s, dur); h.partShares(x, dur, got.Dur) != s.Held {
			t.Fatalf("%d of %+v: %v, not %v", dur, got, h.partShares(x, dur, got.Dur), s.Held)
		}
		var other half
		other.addSegment(&got, 1)
		y := other.addState()
		y.rest, y.kind = uint16(len(other.rest)), x.kind
		var copied evidence.Segment
		other.copyHeld(y, &h, x)
		if other.fillSegment(&copied, y, got.Dur); copied.Held != got.Held {
			t.Fatalf("copied %v as %v", got.Held, copied.Held)
		}
	}
}
