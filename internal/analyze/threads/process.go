package threads

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// What the kernel counts of a process is read by package reading, which asks this package: what
// this package needs of it, it sums up here.

// systemShare is the part of a process's CPU time that is the kernel's; NaN unknown.
func (t *Threads) systemShare(s evidence.SubjectID) float64 {
	return t.seriesMean(s, evidence.SeriesProcessCPUSystem) / t.seriesMean(s, evidence.SeriesProcessCPU)
}

// meanComputing returns how many threads of a process ran, or could have if a CPU had been free,
// in the mean; NaN unknown.
func (t *Threads) meanComputing(s evidence.SubjectID) float64 {
	return t.seriesMean(s, evidence.SeriesProcessCPU) + t.seriesMean(s, evidence.SeriesProcessRunDelay)
}

// seriesMean returns what a series was in the mean of the time it was watched; NaN where it was
// not.
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
