package check

import (
	"regexp"
	"strings"
)

var figureID = regexp.MustCompile(`^[a-z][a-z0-9]*\.[a-z][a-z0-9_]*$`)

// FigureID reports whether a text has the form of a figure's id: a subject, a dot and a name that ends with the unit.
func FigureID(id string) bool { return figureID.MatchString(id) }

// figureUnits are the units of figures by the ending of their ids, the longest endings first; an id with another ending is a count.
var figureUnits = []struct{ end, unit string }{
	{"_bytes_per_s", "bytes/s"}, {"_bytes_per_h", "bytes/h"}, {"_ms_per_s", "ms/s"}, {"_thread_s", "thread s"},
	{"_per_min", "1/min"}, {"_per_s", "1/s"}, {"_percent", "%"}, {"_share", "1"}, {"_bytes", "bytes"}, {"_cpus", "CPUs"}, {"_cores", "cores"},
	{"_ms", "ms"}, {"_ns", "ns"}, {"_s", "s"},
}

// UnitOf returns the unit of a figure by its id: "gc.cycles_per_s" is in "1/s", "gc.heaps" is a
// count.
func UnitOf(id string) string {
	for _, x := range figureUnits {
		_, name, _ := strings.Cut(id, ".")
		if strings.HasSuffix("_"+name, x.end) {
			return x.unit
		}
	}
	return "count"
}
