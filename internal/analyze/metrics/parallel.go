package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A process that keeps a whole number of processors busy in this part of the readings, and never more, runs no more threads
// at a time: its scheduler limits them (GOMAXPROCS), or one thread does the work.
const (
	fewReadings  = 10
	atLimit      = .25 // of the readings
	nearLimit    = .9  // of the processors
	aboveLimit   = 1.08
	noLimitAbove = 32 // processors: above, readings are too coarse
)

// Parallel returns the largest number of processors that a process uses at a time, where that is fewer than it may use; 0: no limit shows.
func Parallel(b *evidence.Bundle, subject evidence.SubjectID, w Window) int {
	used := ProcessorTime(b, subject, w)
	if !used.Known() || len(used.T) < fewReadings {
		return 0
	}
	most := 0.
	for _, v := range used.V {
		most = max(most, v)
	}
	limit := math.Max(1, math.Round(most))
	if limit > noLimitAbove || most > aboveLimit*limit {
		return 0
	}
	near := 0
	for _, v := range used.V {
		if v >= nearLimit*limit {
			near++
		}
	}
	if float64(near) < atLimit*float64(len(used.V)) {
		return 0
	}
	return int(limit)
}
