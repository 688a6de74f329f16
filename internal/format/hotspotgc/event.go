package hotspotgc

import "github.com/unstall/unstall/internal/base/evidence"

// unknown is a size (bytes) or time (ns) that the log does not give.
const unknown = -1

// event is one thing a log tells of, whatever its dialect: what the unified and the
// legacy reader hand to the emitter. Times are ns on the log's own clock.
type event struct {
	kind  evidence.Kind  // StopTheWorld, GCConcurrent, Safepoint, AllocStall
	pause evidence.Pause // of StopTheWorld
	line  int64          // of the line that ends it
	of    int            // process of the clock, one higher; 0: the current one

	name    string // the collector's own: "ParNew", "Pause Young (Normal)", "concurrent mark"
	trigger string // why: "Allocation Failure", "G1 Evacuation Pause"; "" not told
	failure string // what went wrong: "promotion failed", "to-space exhausted"; "" nothing

	start, end int64
	lane       evidence.LaneID // of AllocStall: a number for the thread's name
	number     int64           // of the collection, GC(17); unknown without

	heap, young, old, meta sizes
	perm                   bool  // meta is of a permanent generation
	humongousBefore        int64 // G1 regions
	humongousAfter         int64
	survivors              int64 // bytes of all ages
	tenuring               int64 // threshold, collections

	user, system, real int64 // ns of [Times: …] or User=…
	toSafepoint        int64 // ns
	within             int64 // ns before its end in which an AllocStall was, when exactly is not told
	youngTime          int64 // ns of the young generation's own bracket in a legacy log
}

// sizes are bytes in use before and after a collection, and the capacity after it.
type sizes struct{ before, after, capacity int64 }

// newEvent is an event nothing is known of.
func newEvent(kind evidence.Kind) event {
	none := sizes{unknown, unknown, unknown}
	return event{kind: kind, number: unknown, heap: none, young: none, old: none, meta: none,
		humongousBefore: unknown, humongousAfter: unknown, survivors: unknown, tenuring: unknown,
		user: unknown, system: unknown, real: unknown, toSafepoint: unknown, within: unknown, youngTime: unknown}
}
