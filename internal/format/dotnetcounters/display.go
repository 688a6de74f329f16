package dotnetcounters

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// shown is a counter's displayed name, in its parts.
type shown struct {
	name    string
	unit    string  // as shown, "" none
	seconds float64 // the figure is per that many seconds; 0: it is not a rate
}

// parseDisplay splits
//
//	GC Heap Size (MB)
//	ThreadPool Completed Work Item Count (Count / 1 sec)
//	dotnet.gc.pause.time (s / 1 sec)
//	Current Upgraded Requests (WebSockets) (Count)
func parseDisplay(text string) shown {
	i := strings.LastIndex(text, " (")
	if i < 0 || !strings.HasSuffix(text, ")") {
		return shown{name: text}
	}
	s := shown{name: text[:i], unit: text[i+2 : len(text)-1]}
	if unit, interval, ok := format.CutLast(s.unit, " / "); ok {
		number, isSeconds := strings.CutSuffix(interval, " sec")
		if interval == "sec" { // of tools before 5.0
			number, isSeconds = "1", true
		}
		if v, err := strconv.ParseFloat(strings.Replace(number, ",", ".", 1), 64); isSeconds && err == nil && v > 0 && v < 1e6 {
			s.unit, s.seconds = unit, v
		}
	}
	return s
}

// baseUnit returns the base unit of a displayed unit, and the factor to it. The runtime's
// megabytes are 10⁶ bytes; {request} is a count.
func baseUnit(unit string) (base string, scale float64) {
	switch unit {
	case "B", "By", "Bytes", "bytes":
		return "bytes", 1
	case "KB":
		return "bytes", 1e3
	case "MB":
		return "bytes", 1e6
	case "%":
		return "percent", 1
	case "", "Count", "count":
		return "count", 1
	}
	if strings.HasPrefix(unit, "{") {
		return "count", 1
	}
	return unit, 1
}
