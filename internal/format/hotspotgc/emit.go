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
