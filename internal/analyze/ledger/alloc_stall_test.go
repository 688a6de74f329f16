package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Two threads wait for memory for 40 ms while four requests are under way: that is 20 ms
// for each of them.
func TestStalledThreadsAreSharedOut(t *testing.T) {
	b := newBundle(evidence.Subject{})
	log, gc := newSource(b, "access.log", exact, 0), newSource(b, "gc.log", exact, 0)
	for range int64(4) {
		log.request(0, 100*ms, nil)
	}
	for lane := range evidence.LaneID(2) {
		gc.Interval(evidence.Interval{Lane: lane + 1, Kind: evidence.AllocStall, Start: epoch + 20*ms, End: epoch + 60*ms, Origin: gc.Origin(1)})
	}
	gc.pause(80*ms, 90*ms)
	gc.watched(evidence.CoverGC, 0, 100*ms)
	l := one(t, b, Options{SLO: 1})
	want := Charges{AllocationStall: 20 * ms, StopTheWorld: 10 * ms, Unobserved: 70 * ms}
	if got := l.Of(2); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	for _, e := range l.Entries {
		if e.Mechanism == AllocationStall && (e.Method != MethodShare || e.Ns != 80*ms) {
			t.Errorf("%+v", e)
		}
	}
	// More threads than requests: each waits for all of it, and no longer.
	for lane := range evidence.LaneID(9) {
		gc.Interval(evidence.Interval{Lane: lane + 10, Kind: evidence.AllocStall, Start: epoch, End: epoch + 100*ms, Origin: gc.Origin(1)})
	}
	if got := one(t, b, Options{SLO: 1}).Of(0); got[AllocationStall] != 90*ms || got[StopTheWorld] != 10*ms {
		t.Errorf("%v", got)
	}
}

// Of waits of which only the span is known, requests have their part by how long they were
// under way in it, whenever that was: 30 of 60 ms each, and nothing before the span.
func TestStalledWithinASpan(t *testing.T) {
	b := newBundle(evidence.Subject{})
	log, gc := newSource(b, "access.log", exact, 0), newSource(b, "gc.log", exact, 0)
	log.request(0, 20*ms, nil)
	log.request(40*ms, 60*ms, nil)
	log.request(70*ms, 110*ms, nil)
	gc.Interval(evidence.Interval{Lane: 1, Kind: evidence.AllocStall, Start: epoch + 100*ms, End: epoch + 130*ms, Origin: gc.Origin(1),
		Extra: []evidence.Extra{{Key: evidence.WaitedWithin, Value: float64(100 * ms)}}})
	gc.watched(evidence.CoverGC, 0, 200*ms)
	l := one(t, b, Options{SLO: 1})
	for row, want := range []int64{0, 10 * ms, 20 * ms} {
		if got := l.Of(row)[AllocationStall]; got < want-1 || got > want {
			t.Errorf("request %d: %d ns, want %d", row, got, want)
		}
	}
}
