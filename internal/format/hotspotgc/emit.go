package hotspotgc

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// emitEvent gives an event its process and passes it on to be written.
func (o *output) emitEvent(e *event) {
	o.clock.advanceTo(e.end)
	o.events++
	if e.kind == evidence.Safepoint {
		o.safepoints++
		o.hidden = o.hidden || isCollectorOperation(e.name) || e.name == nameless || e.name == ""
	} else {
		o.collections++
	}
	process := o.clock.current
	if e.of > 0 {
		process = e.of - 1
	}
	o.clock.widenToEvent(process, e)
	o.rows.addEvent(e, o.subjectOf(process))
}

// nameless is the name of a safepoint whose line does not name the operation, such as the lines of
// PrintGCApplicationStoppedTime: it may be a collection's.
const nameless = "stopped"

// isCollectorOperation says whether an operation at a safepoint is a collection's. The names are
// those of vmOperations.hpp and of each collector's operations; a histogram is none of them
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/runtime/vmOperation.hpp).
func isCollectorOperation(operation string) bool {
	for _, part := range []string{"Collect", "ParallelGC", "CMS_", "CGC_", "G1Pause", "ZMark", "XMark", "Shenandoah"} {
		if strings.Contains(operation, part) {
			return true
		}
	}
	return false
}

// A collection that the kernel kept from running has a wall-clock time far above its own: all threads stood all that time.
const (
	farLonger  = 2          // times its own
	muchLonger = int64(1e9) // ns beyond it: shorter ones are of a thread that was late to take the time
)

// stoodFor returns how long all threads stood for a pause of some length (ns), by its wall-clock time where that is far longer: the length is
// taken within, after the log's own line has begun, and misses what the process waited for before and behind it.
func (e *event) stoodFor(took int64) int64 {
	if e.kind == evidence.StopTheWorld && e.real >= farLonger*took && e.real-took >= muchLonger {
		return e.real
	}
	return took
}
