package check

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/units"
)

// leastShown is the share that is written as a figure.
const leastShown = .0005

// OfSlow words a share of the slow time.
func OfSlow(share float64) string {
	switch {
	case share <= 0:
		return "none of the slow time"
	case share < leastShown:
		return "less than 0.1 % of slow time"
	}
	return fmt.Sprintf("%s of slow time", units.Percent(share))
}

// SlowWait words the share of the slow time spent waiting, and the time (ns): the share comes first, as it decides, and a short
// report cuts the end. What for begins with a preposition: "for locks".
func SlowWait(what string, ns int64, share float64) string {
	if ns <= 0 {
		return "no slow request waited " + what
	}
	return fmt.Sprintf("%s is waiting %s (%s)", OfSlow(share), what, units.Time(float64(ns)))
}
