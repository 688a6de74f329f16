package hugepages

import (
	"errors"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Use is what a process does with huge pages, and what they cost it.
type Use struct {
	Seen *metrics.HugePages // what all of it is read of

	CPU    float64 // cores of the process; NaN unknown
	System float64 // cores of it in the kernel

	Faults     model.Estimate // for huge pages that it got, 1/s
	Others     float64        // its minor faults, those included, 1/s
	Fallbacks  float64        // of the host, that asked for a huge page in vain, 1/s
	Compaction model.Estimate // cores in direct compaction for its memory
	Clearing   model.Estimate // cores in faults for huge pages, compaction apart

	Touched Touched
	Small   model.Estimate // ns a small fault costs
	Huge    model.Estimate // ns a huge fault costs where a page is free
	Typical bool           // these are typical figures: nothing was measured here
	PerHuge float64        // small pages in a huge one

	Resident float64 // bytes in huge pages, NaN unknown
	Enabled  string
	Defrag   string
	Off      bool // for this process
	Kernel   string
}

// Touched is how many small pages of a huge one the process uses.
type Touched struct {
	model.Estimate
	Looked float64 // huge pages that were looked into
}

// Typical costs of faults, ns: measured in a virtual machine, with what is seen elsewhere on either
// side (bare metal, and hosts that must find the memory, too).
var (
	typicalSmall = model.Between(1.7e3, .5e3, 10e3)
	typicalHuge  = model.Between(34e3, 25e3, 400e3)
)

// Errors of evidence that is not enough.
var (
	errNoLook = errors.New("its huge pages were not recorded: run unstall record PID on a host with transparent huge pages")
	errNone   = errors.New("it got no huge pages during the recording: nothing to predict")
	errNoCPU  = errors.New("its CPU time is unknown: record it with unstall record PID")
)

// fewFaults is from how many of them per second on they tell what one takes.
const fewFaults = 20

// fewLooked is into how many huge pages must have been looked to say how much of them is used.
const fewLooked = 8

// Of reads what a process does with huge pages over a window.
func Of(b *evidence.Bundle, subject evidence.SubjectID, w metrics.Window) *Use {
	h := metrics.HugePagesOf(b, subject, w)
	p := metrics.ProcessOf(b, subject, w)
	u := &Use{Seen: h, CPU: p.CPU.Mostly().Number, System: p.System.Mostly().Number, Others: p.MinorFaults.Mostly().Number, Fallbacks: h.Fallbacks.Mostly().Number,
		Enabled: h.Enabled, Defrag: h.Defrag, Off: h.Off, Kernel: h.Kernel, PerHuge: h.Large / h.Small, Resident: h.Resident.Number,
		Faults: model.Unknown, Compaction: model.Unknown, Clearing: model.Unknown, Touched: Touched{model.Unknown, h.Looked}}
	if huge := h.Faults.Mostly(); huge.Known() {
		u.Faults = model.Exactly(huge.Number)
		if !math.IsNaN(u.Others) { // other processes may have had some of the host's
			u.Faults = model.Between(min(huge.Number, u.Others), 0, min(huge.Number, u.Others))
		}
	}
	u.setFaultCosts(h)
	u.measureFaultCPU(h)
	if h.Looked >= fewLooked {
		// Pages of memory that is soon given back were seen while they were filled: they hold more later
		// (of 512 that were touched in half a millisecond 150 were seen).
		u.Touched.Estimate = model.Between(h.Touched.Number, h.Touched.Number, min(u.PerHuge, 4*h.Touched.Number+4))
	}
	return u
}

func (u *Use) setFaultCosts(h *metrics.HugePages) {
	u.Small, u.Huge = typicalSmall, typicalHuge
	u.Typical = !h.SmallFault.Known() && !h.HugeFault.Known()
	if m := h.SmallFault; m.Known() {
		u.Small = model.Between(m.Number, m.Least, m.Most)
	}
	if m := h.HugeFault; m.Known() {
		u.Huge = model.Between(m.Number, m.Least, m.Most)
	}
}

// measureFaultCPU finds how long the process was in faults for huge pages: by samples of where it
// ran, by the time the kernel took, else by how many there were.
func (u *Use) measureFaultCPU(h *metrics.HugePages) {
	if h.Running.Known() && !math.IsNaN(u.CPU) {
		r := h.Running
		error := 1 / math.Sqrt(float64(r.Samples))
		part := func(share float64) model.Estimate {
			return model.Between(share*u.CPU, max(0, share-error)*u.CPU, min(1, share+error)*u.CPU)
		}
		u.Compaction, u.Clearing = part(r.Compaction), part(r.Huge)
		// What these faults took the process itself is of the memory that it really gets.
		if u.Faults.Known() && u.Faults.Value >= fewFaults && r.Huge > error {
			own := 1e9 * u.Clearing.Value / u.Faults.Value
			u.Huge = model.Between(own, min(own, u.Huge.Low), max(own, u.Huge.High))
		}
		return
	}
	if c := h.Compaction.Mostly(); c.Known() {
		u.Compaction = model.Exactly(c.Number)
	} else if s := h.Stalls.Mostly(); s.Known() && s.Number == 0 {
		u.Compaction = model.Exactly(0)
	}
	if u.Faults.Known() {
		u.Clearing = model.Between(u.Faults.Value*u.Huge.Value/1e9, u.Faults.Low*u.Huge.Low/1e9, u.Faults.High*u.Huge.High/1e9)
	}
}

// BreakEven is how many small pages of a huge one must be touched for it to save time: its fault
// without compaction.
func (u *Use) BreakEven() model.Estimate {
	return model.Between(u.Huge.Value/u.Small.Value, u.Huge.Low/u.Small.High, u.Huge.High/u.Small.Low)
}

// Spent is the cores that faults for huge pages take, compaction included.
func (u *Use) Spent() model.Estimate {
	return addKnown(u.Clearing, u.Compaction)
}

// Instead is the cores that faults for small pages would take in their place.
func (u *Use) Instead() model.Estimate {
	if !u.Faults.Known() || !u.Touched.Known() {
		return model.Unknown
	}
	f, t, s := u.Faults, u.Touched, u.Small
	return model.Between(f.Value*t.Value*s.Value/1e9, f.Low*t.Low*s.Low/1e9, f.High*t.High*s.High/1e9)
}

// Saved is the cores that are saved without huge pages; negative: so many more are needed.
func (u *Use) Saved() model.Estimate {
	spent, instead := u.Spent(), u.Instead()
	if !spent.Known() || !instead.Known() {
		return model.Unknown
	}
	return model.Between(spent.Value-instead.Value, spent.Low-instead.High, spent.High-instead.Low)
}

// addKnown adds two estimates; if one is not known it returns the other.
func addKnown(a, b model.Estimate) model.Estimate {
	switch {
	case !a.Known():
		return b
	case !b.Known():
		return a
	}
	low := func(e model.Estimate, v float64) float64 {
		if math.IsNaN(v) {
			return e.Value
		}
		return v
	}
	return model.Between(a.Value+b.Value, low(a, a.Low)+low(b, b.Low), low(a, a.High)+low(b, b.High))
}
