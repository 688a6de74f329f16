package metrics

import (
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Process is what the kernel counted of a process over a window
// (https://docs.kernel.org/filesystems/proc.html: /proc/PID/stat, statm and the schedstat
// of its threads).
type Process struct {
	CPU         Value   // cores
	System      Value   // cores, of CPU, in the kernel
	RSS         Value   // bytes resident
	Grew        float64 // bytes by which more was resident at the end than at the beginning; NaN unknown
	MinorFaults Value   // 1/s
	FaultsElse  Value   // minor faults/s of the time that was watched before the window and after it
	MajorFaults Value   // 1/s
	Given       Value   // times a second that its threads were given a CPU
	RunDelay    Value   // threads that were ready and waited for a processor, in the mean
}

// ProcessOf reads a process.
func ProcessOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) Process {
	minor := CurveOf(b, subject, evidence.SeriesProcessMinorFaults, w)
	grew := math.NaN()
	if r := Resident(b, subject, w); r.Known() {
		grew = r.At(w.Until) - r.At(w.From)
	}
	return Process{
		CPU:         Mean(b, subject, evidence.SeriesProcessCPU, w),
		System:      Mean(b, subject, evidence.SeriesProcessCPUSystem, w),
		RSS:         Mean(b, subject, evidence.SeriesProcessRSS, w),
		Grew:        grew,
		MinorFaults: minor.Over(w),
		FaultsElse:  minor.Outside(w),
		MajorFaults: Mean(b, subject, evidence.SeriesProcessMajorFaults, w),
		Given:       Mean(b, subject, evidence.SeriesProcessSwitches, w),
		RunDelay:    Mean(b, subject, evidence.SeriesProcessRunDelay, w),
	}
}

// ProcessorTime is the CPU time of a process over time, cores; nil: not watched.
func ProcessorTime(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessCPU, w)
}

// RunDelay is how many threads of a process were ready and waited for a processor over time;
// nil: not watched.
func RunDelay(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessRunDelay, w)
}

// ProcessorsUsed is how many processors a process was on: as the kernel counted, else as its
// runtime says, which tells a share of those it schedules on (processors, 0 unknown). It is
// of most of the window or not known.
func ProcessorsUsed(b *evidence.Bundle, subject evidence.SubjectID, processors float64, w Window) Value {
	if v := Mean(b, subject, evidence.SeriesProcessCPU, w); v.MostlyKnown() {
		return v
	}
	v := Mean(b, subject, evidence.SeriesCPU, w).Mostly()
	v.Number *= processors / 100
	return v
}

// WatchedTime is the time in which a process was watched from outside, the longest of its
// series; empty if it was not.
func WatchedTime(b *evidence.Bundle, subject evidence.SubjectID) (w Window) {
	for _, prefix := range []string{"process.", "cgroup."} { // of some only the control group is known
		for i := range b.Series {
			s := &b.Series[i]
			if s.Subject != subject || len(s.T) < 2 || !strings.HasPrefix(s.Name, prefix) {
				continue
			}
			if from, until := s.T[0], s.T[len(s.T)-1]; until-from > w.Until-w.From {
				w = Window{from, until}
			}
		}
		if w.Until > w.From {
			break
		}
	}
	return w
}

// stranger is the part of its time on processors below which a process's CPU time cannot be
// that of the process which was traced: the recording of /proc has another's PID.
const stranger = .02

// IsAnotherProcess says that a process which used so many processors by /proc is not the one whose
// runtime believes it had run of them.
func IsAnotherProcess(used, run float64) bool { return used < stranger*run }

// Resident is how much of a process was resident over time, bytes; nil: not watched.
func Resident(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessRSS, w)
}
