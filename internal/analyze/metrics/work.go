package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Work is what the kernel counted of a service, which is one or more processes, over a window, and what it did for the service's
// running threads. A figure is the sum over the processes, for the time that each existed. A figure that only processes with
// less than half of the CPU time have is unknown: NaN.
type Work struct {
	Seconds float64 // of the window
	CPU     float64 // cores
	System  float64 // share of it in the kernel
	Delay   float64 // mean number of threads that were ready and waited for a CPU

	MinorFaults float64 // this and the following per second of CPU time
	MajorFaults float64
	Voluntary   float64 // switches away from threads that waited
	Involuntary float64 // switches away from threads that could have continued
	Segments    float64 // of its TCP sockets, sent and received
	Dirtied     float64 // pages of 4 KiB written to files
	Read        float64 // pages of 4 KiB read from disks

	Samples int                // of its running threads
	Kernel  map[string]float64 // share of the samples by what the kernel did (evidence.Kernel…), "" its own code
}

// worked are the figures per second of CPU time.
var worked = []struct {
	series string
	scale  float64
	to     func(*Work) *float64
}{
	{evidence.SeriesProcessMinorFaults, 1, func(v *Work) *float64 { return &v.MinorFaults }},
	{evidence.SeriesProcessMajorFaults, 1, func(v *Work) *float64 { return &v.MajorFaults }},
	{evidence.SeriesProcessVoluntarySwitches, 1, func(v *Work) *float64 { return &v.Voluntary }},
	{evidence.SeriesProcessInvoluntarySwitches, 1, func(v *Work) *float64 { return &v.Involuntary }},
	{evidence.SeriesProcessSegments, 1, func(v *Work) *float64 { return &v.Segments }},
	{evidence.SeriesProcessDiskWritten, 1. / pageSize, func(v *Work) *float64 { return &v.Dirtied }},
	{evidence.SeriesProcessDiskRead, 1. / pageSize, func(v *Work) *float64 { return &v.Read }},
}

// pageSize converts counts of bytes to pages.
const pageSize = 4096

// WorkOf reads a service.
func WorkOf(b *evidence.Bundle, processes []evidence.SubjectID, w Window) Work {
	n := math.NaN()
	v := Work{Seconds: w.Seconds(), CPU: n, System: n, Delay: n, MinorFaults: n, MajorFaults: n, Voluntary: n, Involuntary: n, Segments: n, Dirtied: n, Read: n}
	sum := make([]workSum, len(worked))
	var cpu, system float64
	var delay workSum
	for _, p := range processes {
		used := Mean(b, p, evidence.SeriesProcessCPU, w)
		if !used.Known() {
			continue
		}
		v.CPU = 0
		cores := used.Number * used.Watched
		cpu += cores
		if s := Mean(b, p, evidence.SeriesProcessCPUSystem, w); s.Known() {
			system += s.Number * s.Watched
		}
		for i, x := range worked {
			sum[i].addProcess(b, p, x.series, w, cores)
		}
		delay.addProcess(b, p, evidence.SeriesProcessRunDelay, w, cores)
	}
	if math.IsNaN(v.CPU) {
		return v
	}
	v.CPU, v.Delay = cpu, delay.perSecond(cpu)
	if cpu > 0 {
		v.System = system / cpu
		for i, x := range worked {
			*x.to(&v) = sum[i].perCPUSecond(cpu) * x.scale
		}
	}
	v.countSamples(b, processes, w)
	return v
}

// workSum is a figure of several processes, with their CPU time while they reported it: a figure that is read less often than
// CPU time is divided by the CPU time of its own readings.
type workSum struct {
	sum   float64 // 1/s while it was watched
	cores float64 // of the reporting processes, while they reported it
	all   float64 // cores of the reporting processes, over the whole window
}

func (t *workSum) addProcess(b *evidence.Bundle, p evidence.SubjectID, series string, w Window, cores float64) {
	k := CurveOf(b, p, series, w)
	if !k.Known() {
		return
	}
	span := k.Window()
	span.From, span.Until = max(span.From, w.From), min(span.Until, w.Until)
	if span.Until <= span.From {
		return
	}
	figure, used := k.Over(span), Mean(b, p, evidence.SeriesProcessCPU, span)
	if !figure.Known() || !used.Known() {
		return
	}
	t.sum += figure.Number
	t.cores += used.Number
	t.all += cores
}

// perCPUSecond returns the figure per second of CPU time, NaN where too little of it was watched.
func (t *workSum) perCPUSecond(cpu float64) float64 {
	if t.all < Most*cpu || t.cores <= 0 {
		return math.NaN()
	}
	return t.sum / t.cores
}

// perSecond returns the figure per second, NaN where too little of it was watched.
func (t *workSum) perSecond(cpu float64) float64 {
	if t.all < Most*cpu {
		return math.NaN()
	}
	return t.sum
}

// countSamples counts what the kernel did for running threads.
func (v *Work) countSamples(b *evidence.Bundle, processes []evidence.SubjectID, w Window) {
	own := make(map[evidence.SubjectID]bool, len(processes))
	for _, p := range processes {
		own[p] = true
	}
	counts := make(map[evidence.NameID]int)
	s := &b.Samples
	for i := range s.Len() {
		if own[s.Subject[i]] && s.Time[i] >= w.From && s.Time[i] < w.Until && b.Names.Text(s.Type[i]) == evidence.SampleOnCPU {
			counts[s.Class[i]]++
			v.Samples++
		}
	}
	if v.Samples == 0 {
		return
	}
	v.Kernel = make(map[string]float64)
	for class, n := range counts {
		name := ""
		if class != 0 {
			name = b.Names.Text(class)
		}
		v.Kernel[name] += float64(n) / float64(v.Samples)
	}
}

// Counted returns the processes whose CPU time the kernel counted.
func Counted(b *evidence.Bundle) (all []evidence.SubjectID) {
	seen := make(map[evidence.SubjectID]bool)
	for i := range b.Series {
		if s := &b.Series[i]; s.Name == evidence.SeriesProcessCPU && !seen[s.Subject] {
			seen[s.Subject] = true
			all = append(all, s.Subject)
		}
	}
	return all
}
