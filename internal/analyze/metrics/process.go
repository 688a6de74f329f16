package metrics

import (
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Process is what the kernel counted of a process over a window (https://docs.kernel.org/filesystems/proc.html:
// /proc/PID/stat, statm and the schedstat of its threads).
type Process struct {
	CPU         Value   // cores
	System      Value   // cores, of CPU, in the kernel
	RSS         Value   // bytes resident
	Grew        float64 // bytes by which RSS grew from beginning to end; NaN unknown
	MinorFaults Value   // 1/s
	FaultsElse  Value   // minor faults/s over the watched time before and after the window
	MajorFaults Value   // 1/s
	Given       Value   // times per second that a CPU was given to its threads
	RunDelay    Value   // mean number of threads that were ready and waited for a processor
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

// ProcessorTime returns the CPU time of a process over time, cores; nil: not watched.
func ProcessorTime(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessCPU, w)
}

// ThreadsRun returns the CPU time of a process's threads over time, cores: of all of them, and of those of each name for the kernel without the
// number at its end; nil: not counted.
func ThreadsRun(b *evidence.Bundle, subject evidence.SubjectID) (all *Curve, byName map[string]*Curve) {
	byName = make(map[string]*Curve)
	for i := range b.Series {
		s := &b.Series[i]
		if name, named := strings.CutPrefix(s.Name, evidence.SeriesProcessThreadsRunOf+":"); named && s.Subject == subject {
			byName[name] = CurveOf(b, subject, s.Name, Whole)
		}
	}
	return CurveOf(b, subject, evidence.SeriesProcessThreadsRun, Whole), byName
}

// RunDelay returns how many threads of a process were ready and waited for a processor over time; nil: not watched.
func RunDelay(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessRunDelay, w)
}

// ProcessorsUsed returns how many processors a process used: as the kernel counted, else as its runtime says, which reports
// a share of its own processors (processors, 0 unknown). It covers most of the window or is unknown.
func ProcessorsUsed(b *evidence.Bundle, subject evidence.SubjectID, processors float64, w Window) Value {
	if v := Mean(b, subject, evidence.SeriesProcessCPU, w); v.MostlyKnown() {
		return v
	}
	v := Mean(b, subject, evidence.SeriesCPU, w).Mostly()
	v.Number *= processors / 100
	return v
}

// WatchedTime returns the time in which a process was watched from outside, by its longest series; empty if it was not.
func WatchedTime(b *evidence.Bundle, subject evidence.SubjectID) (w Window) {
	for _, prefix := range []string{"process.", "cgroup."} { // some processes are known only by their control group
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

// stranger is the part of the runtime's time on processors below which /proc's CPU time belongs to another process than the
// traced one: the recording of /proc then has a wrong PID.
const stranger = .02

// IsAnotherProcess reports whether a process that used so many processors by /proc cannot be the one whose runtime reports
// had.
func IsAnotherProcess(used, run float64) bool { return used < stranger*run }

// Resident returns the resident bytes of a process over time; nil: not watched.
func Resident(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessRSS, w)
}
