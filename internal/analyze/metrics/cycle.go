package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// Cycle is one collection, from its start until its marking ended. What is not known is NaN.
type Cycle struct {
	Row           int // of the bundle's intervals
	From, To      int64
	Number        float64 // as the runtime counts
	Generation    float64 // that was collected, 0 the youngest; .NET
	Forced        bool    // by the program or a tool, not by how full the heap was
	Before, After float64 // bytes: the heap when it began and when it ended
	Live          float64 // bytes that it marked
	Goal          float64 // bytes at which it was to end
	Roots         float64 // bytes of stacks and globals that the pacer counts; 0 before Go 1.18, which counts none
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
