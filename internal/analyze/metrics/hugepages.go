package metrics

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// HugePages is what is known of the huge pages of a process over a window
// (https://docs.kernel.org/admin-guide/mm/transhuge.html).
type HugePages struct {
	Enabled, Defrag string // of the host, "" unknown
	Off             bool   // the process has them switched off for itself
	Kernel          string // release, "" unknown
	Settings        evidence.Origin

	Small, Large float64 // bytes of a page of each kind; the usual ones where that is not told

	// Of the host, 1/s.
	Faults    Value // that got a huge page
	Fallbacks Value // that asked for one in vain
	Stalls    Value // allocations that compacted memory themselves

	Compaction Value // threads of the process in direct compaction, in the mean

	Resident Value   // bytes of the process in huge pages
	Touched  Value   // small pages that hold anything, of each huge page that was looked into
	Looked   float64 // huge pages that were looked into, all together

	SmallFault, HugeFault Measured // ns

	Running Running
}

// Measured is a figure with the least and the most that was measured; NaN unknown.
type Measured struct {
	Value
	Least, Most float64
}

// Running is where a process's threads were seen to run, by samples of its CPU time.
type Running struct {
	Samples    int
	Compaction float64          // share of CPU time in direct compaction for memory of the process
	Elsewhere  float64          // share in direct compaction for what the kernel itself needs, such as buffers of sockets
	Huge       float64          // share in faults for huge pages, compaction for them not included
	Fault      float64          // share in other page faults for memory that was not there
	Kernel     float64          // share in the kernel
	Stack      evidence.StackID // of most of its compaction, else of most of its faults for huge pages
	Origin     evidence.Origin
}

// The usual sizes.
const (
	smallPage = 4 << 10
	largePage = 2 << 20
)

// HugePagesOf reads them.
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

// Compacting is how many threads of a process were in direct compaction over time; nil: not watched.
func Compacting(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessCompaction, w)
}

// SystemTime is the CPU time of a process in the kernel over time, cores; nil: not watched.
func SystemTime(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Curve {
	return CurveOf(b, subject, evidence.SeriesProcessCPUSystem, w)
}

// readLooks sums up what was seen of its huge pages. What a process uses of them hardly depends on
// the moment, so that looks before the window and after it count, too.
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

// readMeasured returns a figure of the host whose text has the least and the most that was
// measured.
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

// hugeFaults are functions of the kernel on the stack of a fault for a huge page: of Linux 4.14
// to 6.18, mm/huge_memory.c and what it clears memory by.
var hugeFaults = map[string]bool{
	"do_huge_pmd_anonymous_page": true, "__do_huge_pmd_anonymous_page": true, "create_huge_pmd": true, "vma_alloc_anon_folio_pmd": true,
	"do_huge_pmd_wp_page": true, "clear_huge_page": true, "do_huge_pmd_wp_page_fallback": true,
}

// ownMemory are those on the stack of whatever gives a process memory of its own: with direct
// compaction below, it is for huge pages, or for those between (mTHP, Linux 6.8).
var ownMemory = map[string]bool{"handle_mm_fault": true, "__handle_mm_fault": true, "madvise_collapse": true, "madvise_populate": true, "faultin_page": true}

// runningOf sorts samples of where a process's threads ran.
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

// Known says whether there are enough samples to speak of shares.
func (r Running) Known() bool { return r.Samples >= fewSamples }

// fewSamples is from how many samples on a share is known within a few percent.
const fewSamples = 50
