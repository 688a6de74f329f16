package threads

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Package metrics reads what the kernel counts of a process, and imports this package, so the few figures needed here are computed here.

// systemShare returns the part of a process's CPU time that it spent in the kernel; NaN unknown.
func (t *Threads) systemShare(s evidence.SubjectID) float64 {
	return t.seriesMean(s, evidence.SeriesProcessCPUSystem) / t.seriesMean(s, evidence.SeriesProcessCPU)
}

// meanComputing returns the mean number of threads of a process that ran or waited for a CPU; NaN unknown.
func (t *Threads) meanComputing(s evidence.SubjectID) float64 {
	return t.seriesMean(s, evidence.SeriesProcessCPU) + t.seriesMean(s, evidence.SeriesProcessRunDelay)
}

// seriesMean returns the mean of a series over its recorded time; NaN if it was not recorded.
func (t *Threads) seriesMean(s evidence.SubjectID, name string) float64 {
	x := t.b.SeriesOf(s, name)
	if x == nil || len(x.T) < 2 {
		return math.NaN()
	}
	total := 0.
	for i := 1; i < len(x.T); i++ {
		total += x.V[i-1] * float64(x.T[i]-x.T[i-1])
	}
	return total / float64(x.T[len(x.T)-1]-x.T[0])
}
