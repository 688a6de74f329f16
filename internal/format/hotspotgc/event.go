package hotspotgc

import "github.com/unstall/unstall/internal/base/evidence"

// unknown is a size (bytes) or time (ns) that the log does not give.
const unknown = -1

// event is one event of a log in any dialect: the unified and the
// legacy reader pass it to the emitter. Times are ns on the log's own clock.
type event struct {
	kind  evidence.Kind  // StopTheWorld, GCConcurrent, Safepoint, AllocStall
	pause evidence.Pause // of StopTheWorld
	line  int64          // of the line that ends it
	of    int            // process of the clock, plus one; 0: the current one

	name    string // the collector's name: "ParNew", "Pause Young (Normal)", "concurrent mark"
	trigger string // cause: "Allocation Failure", "G1 Evacuation Pause"; "" unknown
	failure string // problem: "promotion failed", "to-space exhausted"; "" none

	start, end int64
	lane       evidence.LaneID // of AllocStall: a number for the thread's name
	number     int64           // of the collection, GC(17); unknown without a number

	heap, young, old, meta sizes
	perm                   bool  // meta is of a permanent generation
	humongousBefore        int64 // G1 regions
	humongousAfter         int64
	survivors              int64 // bytes of all ages
	tenuring               int64 // threshold, collections

	user, system, real int64 // ns of [Times: …] or User=…
	toSafepoint        int64 // ns
	leaving            int64 // ns in which the threads of a safepoint were let go
	within             int64 // ns before its end that contain an AllocStall, whose exact time is unknown
	youngTime          int64 // ns of the young generation's own bracket in a legacy log
}

// sizes are bytes in use before and after a collection, and the capacity after it.
type sizes struct{ before, after, capacity int64 }

// newEvent returns an event without known figures.
func newEvent(kind evidence.Kind) event {
	none := sizes{unknown, unknown, unknown}
	return event{kind: kind, number: unknown, heap: none, young: none, old: none, meta: none,
		humongousBefore: unknown, humongousAfter: unknown, survivors: unknown, tenuring: unknown,
		user: unknown, system: unknown, real: unknown, toSafepoint: unknown, leaving: unknown, within: unknown, youngTime: unknown}
}
