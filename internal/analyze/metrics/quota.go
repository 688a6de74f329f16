package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Quota is the effect of a CPU quota on a process's control group over a window, by its cpu.stat
// (https://docs.kernel.org/scheduler/sched-bwc.html#statistics).
type Quota struct {
	CPUs    Value // CPUs that the quota allows; NaN: none is known
	Periods Value // periods of the window in which anything of the group ran
	Stopped Value // of Periods, those in which the group was stopped
	Waiting Value // mean number of processors' queues that were stopped
}

// QuotaOf reads the quota; facts of the artifact told come first, -1 for none.
func QuotaOf(b *evidence.Bundle, subject evidence.SubjectID, told evidence.ArtifactID, w Window) Quota {
	all := func(name string) Value {
		v := Mean(b, subject, name, w)
		v.Number *= w.Seconds()
		return v
	}
	q := Quota{CPUs: Unknown, Periods: all(evidence.SeriesCgroupCPUPeriods), Stopped: all(evidence.SeriesCgroupCPUThrottledPeriods),
		Waiting: Mean(b, subject, evidence.SeriesCgroupCPUThrottled, w)}
	if f, ok := b.FactFrom(told, subject, evidence.FactContainerCPU); ok && f.Number > 0 {
		q.CPUs = Value{Number: f.Number, Origin: f.Origin, Watched: 1}
	}
	return q
}

// ThrottledQueues returns how many processors' queues a quota stopped over time; nil: not watched.
func ThrottledQueues(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesCgroupCPUThrottled, w)
}

// Share returns the part of the periods in which the group was stopped; NaN: not watched.
func (q Quota) Share() float64 {
	switch {
	case !q.Periods.Known() || !q.Stopped.Known():
		return math.NaN()
	case q.Periods.Number <= 0:
		return 0
	}
	return q.Stopped.Number / q.Periods.Number
}
