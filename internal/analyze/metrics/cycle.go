package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// Cycle is one collection, from its start to the end of its marking. Unknown figures are NaN.
type Cycle struct {
	Row           int // of the bundle's intervals
	From, To      int64
	Number        float64 // the runtime's number
	Generation    float64 // the generation that was collected, 0 the youngest; .NET
	Forced        bool    // by the program or a tool, not by the heap's size
	Before, After float64 // bytes: the heap when it began and when it ended
	Live          float64 // bytes that the cycle marked
	Goal          float64 // bytes at which the cycle was to end
	Roots         float64 // bytes of stacks and globals that the pacer counts; 0 before Go 1.18, whose pacer counts none
	Mark          float64 // ns of wall time
	Assist        float64 // ns of processors
	Background    float64 // ns of processors
	Idle          float64 // ns of processors
}

func cycleOf(v *evidence.Intervals, row int) Cycle {
	of := func(k evidence.Key) float64 { return figureOrNaN(v, row, k) }
	return Cycle{Row: row, From: v.Start[row], To: v.End[row], Number: of(evidence.CycleNumber), Generation: of(evidence.Generation), Forced: of(evidence.Forced) == 1,
		Before: of(evidence.HeapBefore), After: of(evidence.HeapAfter), Live: of(evidence.HeapLive), Goal: of(evidence.HeapGoal),
		Roots: sumKnown(of(evidence.StackScan), of(evidence.GlobalScan)), Mark: of(evidence.MarkTime),
		Assist: of(evidence.AssistTime), Background: of(evidence.BackgroundTime), Idle: of(evidence.IdleTime)}
}

// sumKnown adds up the values that are known.
func sumKnown(all ...float64) (total float64) {
	for _, v := range all {
		if v > 0 {
			total += v
		}
	}
	return total
}
