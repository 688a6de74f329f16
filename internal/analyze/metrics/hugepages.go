package metrics

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// HugePages is what is known of a process's huge pages over a window
// (https://docs.kernel.org/admin-guide/mm/transhuge.html).
type HugePages struct {
	Enabled, Defrag string // of the host, "" unknown
	Off             bool   // the process switched them off for itself
	Kernel          string // release, "" unknown
	Settings        evidence.Origin

	Small, Large float64 // bytes of a page of each kind; the usual sizes where unknown

	// Faults of the host, 1/s.
	Faults    Value // that got a huge page
	Fallbacks Value // that asked for a huge page in vain
	Stalls    Value // allocations that compacted memory themselves

	Compaction Value // mean number of the process's threads in direct compaction

	Resident Value   // bytes of the process in huge pages
	Touched  Value   // small pages in use per huge page that was examined
	Looked   float64 // number of huge pages that were examined

	SmallFault, HugeFault Measured // ns

	Running Running
}

// Measured is a figure with the least and the most that were measured; NaN unknown.
type Measured struct {
	Value
	Least, Most float64
}

// Running is where a process's threads ran, from samples of its CPU time.
type Running struct {
	Samples    int
	Compaction float64          // share of CPU time in direct compaction for memory of the process
	Elsewhere  float64          // share in direct compaction for the kernel's own memory, such as sockets' buffers
	Huge       float64          // share in faults for huge pages, without compaction for them
	Fault      float64          // share in other page faults for missing memory
	Kernel     float64          // share in the kernel
	Stack      evidence.StackID // of most of its compaction, else of most of its faults for huge pages
	Origin     evidence.Origin
}

// The usual sizes.
const (
	smallPage = 4 << 10
	largePage = 2 << 20
)

// HugePagesOf reads a process's huge pages.
func HugePagesOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) *HugePages {
	host := func(name string) Value {
		return toCurve(pickSeries(b, w, func(s *evidence.Series) bool { return s.Name == name })).Over(w)
	}
	h := &HugePages{
		Small: smallPage, Large: largePage,
		Faults:     host(evidence.SeriesHostTHPFaults),
		Fallbacks:  host(evidence.SeriesHostTHPFallbacks),
		Stalls:     host(evidence.SeriesHostCompactStalls),
		Compaction: Mean(b, subject, evidence.SeriesProcessCompaction, w),
		SmallFault: readMeasured(b, evidence.FactSmallFault),
		HugeFault:  readMeasured(b, evidence.FactHugeFault),
		Running:    runningOf(b, subject, w),
	}
	if f, ok := b.Fact(-1, evidence.FactTHP); ok {
		h.Enabled, h.Settings = f.Value, f.Origin
	}
	if f, ok := b.Fact(-1, evidence.FactTHPDefrag); ok {
		h.Defrag, h.Settings = f.Value, f.Origin
	}
	if f, ok := b.Fact(-1, evidence.FactKernel); ok {
		h.Kernel = f.Value
	}
	if f, ok := b.Fact(subject, evidence.FactTHPProcess); ok {
		h.Off = f.Number == 0
	}
	for key, to := range map[string]*float64{evidence.FactSmallPage: &h.Small, evidence.FactHugePage: &h.Large} {
		if f, ok := b.Fact(-1, key); ok && f.Number > 0 {
			*to = f.Number
		}
	}
	h.readLooks(b, subject, w)
	return h
}

// Compacting returns how many threads of a process were in direct compaction over time; nil: not watched.
func Compacting(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessCompaction, w)
}

// SystemTime returns the CPU time of a process in the kernel over time, cores; nil: not watched.
func SystemTime(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessCPUSystem, w)
}

// readLooks sums up the examinations of its huge pages. Their use hardly depends on the moment, so examinations before and
// after the window count, too.
func (h *HugePages) readLooks(b *evidence.Bundle, subject evidence.SubjectID, w Window) {
	h.Resident, h.Touched = Mean(b, subject, evidence.SeriesProcessHuge, w), Unknown
	looked, touched := b.SeriesOf(subject, evidence.SeriesProcessHugeLooked), b.SeriesOf(subject, evidence.SeriesProcessHugeTouched)
	if looked == nil || touched == nil || len(looked.V) != len(touched.V) {
		return
	}
	var sum float64
	for i, n := range looked.V {
		h.Looked += n
		sum += n * touched.V[i]
	}
	if h.Looked > 0 {
		h.Touched = Value{Number: sum / h.Looked, Origin: touched.Origin, Watched: 1}
	}
}

// readMeasured returns a figure of the host whose text has the least and the most that were measured.
func readMeasured(b *evidence.Bundle, key string) Measured {
	m := Measured{Unknown, math.NaN(), math.NaN()}
	f, ok := b.Fact(-1, key)
	if !ok {
		return m
	}
	m.Value = Value{Number: f.Number, Origin: f.Origin, Watched: 1}
	least, most, _ := strings.Cut(f.Value, " ")
	if v, err := strconv.ParseFloat(least, 64); err == nil {
		m.Least = v
	}
	if v, err := strconv.ParseFloat(most, 64); err == nil {
		m.Most = v
	}
	return m
}

// hugeFaults are kernel functions on the stack of a fault for a huge page, from Linux 4.14 to 6.18: of mm/huge_memory.c and
// the functions by which it clears memory.
var hugeFaults = map[string]bool{
	"do_huge_pmd_anonymous_page": true, "__do_huge_pmd_anonymous_page": true, "create_huge_pmd": true, "vma_alloc_anon_folio_pmd": true,
	"do_huge_pmd_wp_page": true, "clear_huge_page": true, "do_huge_pmd_wp_page_fallback": true,
}

// ownMemory are kernel functions on the stack when a process gets memory of its own: direct compaction below them is for
// huge pages, or for intermediate sizes (mTHP, Linux 6.8).
var ownMemory = map[string]bool{"handle_mm_fault": true, "__handle_mm_fault": true, "madvise_collapse": true, "madvise_populate": true, "faultin_page": true}

// runningOf sorts samples of running threads by what they did.
func runningOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) (r Running) {
	x := &b.Samples
	of := b.Names.Lookup(evidence.SampleOnCPU)
	if of == 0 {
		return r
	}
	file := b.Names.Lookup(evidence.KernelFile)
	compaction, fault := b.Names.Lookup(evidence.KernelCompaction), b.Names.Lookup(evidence.KernelPageFault)
	has := func(stack evidence.StackID, names map[string]bool) bool {
		return slices.ContainsFunc(b.Stacks.Frames(stack), func(f evidence.Frame) bool { return f.File == file && names[b.Names.Text(f.Func)] })
	}
	var all, compacted, elsewhere, huge, faulted, kernel float64
	stacks := make(map[evidence.StackID]float64)
	cleared := make(map[evidence.StackID]float64)
	known := make(map[evidence.StackID]bool)
	for i := range x.Len() {
		if x.Type[i] != of || x.Subject[i] != subject || x.Time[i] < w.From || x.Time[i] >= w.Until {
			continue
		}
		v, class, stack := float64(x.Value[i]), x.Class[i], x.Stack[i]
		r.Samples++
		r.Origin = x.Origin[i]
		all += v
		if class != 0 {
			kernel += v
		}
		switch {
		case class == 0:
		case class == compaction:
			own, seen := known[stack]
			if !seen {
				own = has(stack, ownMemory) || has(stack, hugeFaults)
				known[stack] = own
			}
			if !own {
				elsewhere += v
				continue
			}
			compacted += v
			stacks[stack] += v
		case class == fault:
			is, seen := known[stack]
			if !seen {
				is = has(stack, hugeFaults)
				known[stack] = is
			}
			if !is {
				faulted += v
				continue
			}
			huge += v
			cleared[stack] += v
		}
	}
	if all == 0 {
		return r
	}
	r.Compaction, r.Elsewhere, r.Huge, r.Fault, r.Kernel = compacted/all, elsewhere/all, huge/all, faulted/all, kernel/all
	if len(stacks) == 0 {
		stacks = cleared
	}
	var most float64
	for s, v := range stacks {
		if v > most || v == most && s < r.Stack {
			r.Stack, most = s, v
		}
	}
	return r
}

// Known reports whether there are enough samples for shares.
func (r Running) Known() bool { return r.Samples >= fewSamples }

// fewSamples is the number of samples from which a share is known within a few percent.
const fewSamples = 50
