package metrics

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Host is what /proc/stat and /proc/pressure tell of the processors of a process's host over a window
// (https://docs.kernel.org/accounting/psi.html).
type Host struct {
	CPUs     float64 // number of CPUs, NaN unknown
	Busy     Value   // busy cores, without stolen time
	Steal    Value   // cores that the hypervisor gave to other guests; 0 where the kernel does not count them
	Peak     float64 // the most cores busy or stolen between two readings, NaN unknown
	Pressure Value   // share of the time in which some task waited for a processor
	Others   Value   // cores that other processes used or the hypervisor took

	b                 *evidence.Bundle
	process           evidence.SubjectID
	w                 Window
	from              evidence.ArtifactID // the recording that all figures come from, -1: any
	own, busy, stolen *Curve
}

// HostOf reads the host of a process from the recording that also has the process. If that recording has nothing of a host,
// it takes another recording of the only host there is; if the process was not watched for most of the window, any host's.
func HostOf(b *evidence.Bundle, process evidence.SubjectID, w Window) *Host {
	h := &Host{CPUs: math.NaN(), Peak: math.NaN(), b: b, process: process, w: w, from: -1, own: ProcessorTime(b, process, w)}
	if h.own.Over(w).MostlyKnown() {
		h.from, _ = h.own.Origin.Artifact()
	}
	of := h.findSeries(evidence.SeriesHostCPUBusy)
	if of == nil && h.from >= 0 && onlyHost(b) {
		h.from = -1
		of = h.findSeries(evidence.SeriesHostCPUBusy)
	}
	if of != nil {
		h.from, _ = of.Origin.Artifact()
		h.busy, h.stolen = toCurve(of), toCurve(h.findSeries(evidence.SeriesHostCPUSteal))
		if n := b.Subjects[of.Subject].CPUs; n > 0 {
			h.CPUs = float64(n)
		}
		h.Peak = h.peakCores()
	}
	h.Busy, h.Steal, h.Others = h.busy.Over(w), h.stolen.Over(w), h.OthersOver(w)
	if h.Busy.Known() && !h.Steal.MostlyKnown() {
		h.Steal = Value{Number: 0, Origin: h.Busy.Origin, Watched: h.Busy.Watched}
	}
	h.Pressure = toCurve(h.findSeries(evidence.SeriesHostPressureCPUSome)).Over(w)
	return h
}

// onlyHost reports whether all host records are of one host.
func onlyHost(b *evidence.Bundle) bool {
	seen := make(map[evidence.SubjectID]bool)
	for i := range b.Series {
		if b.Series[i].Name == evidence.SeriesHostCPUBusy {
			seen[b.Series[i].Subject] = true
		}
	}
	return len(seen) == 1
}

// findSeries returns the host's series of a name that covers most of the window.
func (h *Host) findSeries(name string) *evidence.Series {
	return pickSeries(h.b, h.w, func(s *evidence.Series) bool { return s.Name == name && h.isOfRecording(s) })
}

func (h *Host) isOfRecording(s *evidence.Series) bool {
	a, _ := s.Origin.Artifact()
	return h.from < 0 || a == h.from
}

// peakCores returns the most cores that were busy or stolen between two readings in the window.
func (h *Host) peakCores() (most float64) {
	for i, v := range h.busy.V {
		if i+1 < len(h.busy.T) && h.busy.T[i+1] > h.w.From && h.busy.T[i] < h.w.Until {
			if h.stolen.Known() && len(h.stolen.V) == len(h.busy.V) {
				v += h.stolen.V[i]
			}
			most = max(most, v)
		}
	}
	return most
}

// OthersOver returns Others for a part of the window.
func (h *Host) OthersOver(w Window) Value {
	own, v := h.own.Over(w), h.busy.Over(w)
	v.Number = max(0, v.Number-own.Number)
	if stolen := h.stolen.Over(w); stolen.MostlyKnown() {
		v.Number += stolen.Number
	}
	v.Watched = min(v.Watched, own.Watched)
	return v
}

// leastLeft is the least part of its processors that others leave a process: it has what it uses itself, whatever two
// readings of counters show.
const leastLeft = .125

// Left returns how many of a process's processors others left it in a part of the window; all of them where that was not
// watched.
func (h *Host) Left(processors float64, w Window) float64 {
	others := h.OthersOver(w)
	if !others.MostlyKnown() {
		return processors
	}
	return max(leastLeft*processors, processors-others.Number)
}

// Taken returns how many of the host's cores were busy or stolen.
func (h *Host) Taken() float64 { return h.Busy.Number + h.Steal.Number }

// Neighbour is the other processes of one name on the host.
type Neighbour struct {
	Name    string
	Count   int
	Cores   float64
	Largest float64 // cores of the process that used most
}

func (n Neighbour) String() string {
	if n.Count == 1 {
		return n.Name
	}
	return fmt.Sprintf("%s (%d processes)", n.Name, n.Count)
}

// Neighbours returns the other recorded processes by name, in the recording's order.
func (h *Host) Neighbours() (all []Neighbour) {
	at := make(map[string]int)
	for i := range h.b.Series {
		s := &h.b.Series[i]
		if s.Name != evidence.SeriesProcessCPU || s.Subject == h.process || !h.isOfRecording(s) {
			continue
		}
		used := toCurve(s).Over(h.w)
		if !used.Known() {
			continue
		}
		cores := used.Number * used.Watched // a process that lived for a second used none before and after
		name := h.b.Subjects[s.Subject].Name
		n, ok := at[name]
		if !ok {
			n, at[name] = len(all), len(all)
			all = append(all, Neighbour{Name: name})
		}
		all[n].Count++
		all[n].Cores += cores
		all[n].Largest = max(all[n].Largest, cores)
	}
	return all
}

// HostMemory is what /proc/vmstat and /proc/pressure tell of the memory of a host over a window, per second
// (https://docs.kernel.org/admin-guide/mm/transhuge.html).
type HostMemory struct {
	Pressure      Value // share of the time in which some task waited for memory
	SwapIn        Value // pages read from swap
	HugeFaults    Value // faults that got a huge page
	HugeSplits    Value // huge pages split
	CompactStalls Value // allocations that compacted memory themselves
}

// HostMemoryOf reads the memory of the only host.
func HostMemoryOf(b *evidence.Bundle, w Window) HostMemory {
	mean := func(name string) Value {
		s := pickSeries(b, w, func(s *evidence.Series) bool { return s.Name == name })
		return toCurve(s).Over(w)
	}
	return HostMemory{
		Pressure:      mean(evidence.SeriesHostPressureMemorySome),
		SwapIn:        mean(evidence.SeriesHostSwapIn),
		HugeFaults:    mean(evidence.SeriesHostTHPFaults),
		HugeSplits:    mean(evidence.SeriesHostTHPSplits),
		CompactStalls: mean(evidence.SeriesHostCompactStalls),
	}
}
