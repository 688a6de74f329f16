package linux

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/hugepages"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// thpOf reads the figures over all the time that the process was watched: traces cover some
// seconds, and samples are few.
func thpOf(c *check.Case) *thp { return check.Once(c, readTHP) }

func readTHP(c *check.Case) *thp {
	w := metrics.WatchedTime(c.Bundle, c.Subject)
	if w.Until <= w.From {
		w, _ = chargedWindow(c)
	}
	return &thp{hugepages.Of(c.Bundle, c.Subject, w)}
}

// isSampled says whether samples show where the process ran, or how long it compacted.
func (t *thp) isSampled() bool {
	return !math.IsNaN(t.CPU) && (t.Seen.Running.Known() || t.Seen.Compaction.MostlyKnown())
}

// isKnown says whether anything shows what huge pages do.
func (t *thp) isKnown() bool {
	return t.isSampled() || t.Seen.Stalls.MostlyKnown() || t.Off || t.Enabled == "never"
}

// isIdle says whether the process, or the whole host, gets no huge pages.
func (t *thp) isIdle() bool {
	return t.Off || t.Enabled == "never" || t.Seen.Stalls.Number == 0 && t.Seen.Faults.Number == 0
}

// compactsElsewhere says whether memory is compacted, but not for the memory that the process
// touches.
func (t *thp) compactsElsewhere() bool {
	r := t.Seen.Running
	return r.Known() && r.Elsewhere >= worthTHP.Value && r.Compaction < suspectTHP.Value
}

// compactionShare returns the share of the process's CPU time in direct compaction.
func (t *thp) compactionShare() float64 {
	if !t.Compaction.Known() || !(t.CPU > 0) {
		return 0
	}
	return min(1, t.Compaction.Value/t.CPU)
}

// sparseShare returns the share of CPU time spent clearing huge pages beyond what small pages
// would take, as far as that is certain.
func (t *thp) sparseShare() float64 {
	instead := t.Instead()
	if !instead.Known() || !t.Clearing.Known() || t.isDense() {
		return 0
	}
	low := t.Clearing.Low
	if math.IsNaN(low) {
		low = t.Clearing.Value
	}
	if low <= t.Faults.Value*t.Touched.High*t.Small.Value/1e9 {
		return 0
	}
	return (t.Clearing.Value - instead.Value) / t.CPU
}

// isDense says whether so much of each huge page is used that it saves time.
func (t *thp) isDense() bool { return t.Touched.Known() && t.Touched.Value >= t.BreakEven().Value }

// costShare returns the share of CPU time that would be saved.
func (t *thp) costShare() float64 { return t.compactionShare() + t.sparseShare() }

// isHelpful says whether huge pages save more than they cost, and enough to report.
func (t *thp) isHelpful() bool {
	saved := t.Saved()
	return saved.Known() && t.isDense() && saved.Value < -suspectTHP.Value*t.CPU
}

func (t *thp) helpfulText() string {
	return fmt.Sprintf("transparent huge pages help this process, so keep them on (it uses %s of %.0f small pages of each; without them its page faults would take %s instead of %s)",
		units.Num(t.Touched.Value), t.PerHuge, units.Of(t.Instead().Value, "cores"), units.Of(t.Spent().Value, "cores"))
}

func (t *thp) summaryText() string {
	switch {
	case t.Off:
		return "transparent huge pages are switched off for this process"
	case t.Enabled == "never" && t.compactionShare() == 0:
		return "transparent huge pages are switched off on this host"
	case t.sparseShare() > t.compactionShare():
		return fmt.Sprintf("clearing mostly unused huge pages takes %s of the CPU time", units.Percent(t.sparseShare()))
	case t.Seen.Running.Known() || t.compactionShare() > 0:
		return fmt.Sprintf("compacting memory for page faults takes %s of the CPU time", units.Percent(t.compactionShare()))
	}
	return "no huge pages were allocated, and memory was never compacted for them"
}

func (t *thp) titleText() string {
	const compacts = "Page faults compact memory to make huge pages: %s of the process's CPU time."
	if t.sparseShare() > t.compactionShare() {
		return fmt.Sprintf("The process uses %s of %.0f small pages of each huge page: allocating and clearing them takes %s of its CPU time.", units.Num(t.Touched.Value), t.PerHuge, units.Percent(t.costShare()))
	}
	return fmt.Sprintf(compacts, units.Percent(t.compactionShare()))
}

// ofRequests returns the share of slow time that is lost, if slow requests had their part of what
// all requests lost; if no requests are slow, the share of all request time. It is not ok where no
// request was seen.
func (t *thp) ofRequests(c *check.Case) (share float64, ok bool) {
	lost, scale := t.lossCurve(c)
	return partOf(c, lost, scale)
}

// inKernel says whether slow requests may have spent much of their time in the kernel, though a
// service with few requests uses little CPU there.
func inKernel(c *check.Case) bool {
	share, ok := partOf(c, metrics.SystemTime(c.Bundle, c.Subject, metrics.WatchedTime(c.Bundle, c.Subject)), 1)
	return ok && share >= check.Arguable.Value
}

// partOf is ofRequests for the loss that a curve shows, scaled.
func partOf(c *check.Case, lost *metrics.Curve, scale float64) (share float64, ok bool) {
	if c.Ledger == nil || c.Ledger.All == nil || len(c.Ledger.All.Rows) == 0 {
		return 0, false
	}
	all, watched := overlayRequests(c, lost)
	if !lost.Known() || watched < metrics.Most && slowAtAll(c) {
		return 0, false
	}
	var slow, about float64
	for i := range all {
		m := &all[i]
		part := float64(m.slow)
		if !slowAtAll(c) {
			part = float64(m.all)
		}
		if part == 0 || m.all == 0 {
			continue
		}
		slow += part
		about += part * min(1, scale*m.heldTime()/float64(m.all))
	}
	if slow == 0 {
		return 0, false
	}
	return about / slow, true
}

// lossCurve returns a curve that shows when time was lost: compaction itself or, where that is not
// all of it, the time in the kernel, scaled to the total loss.
func (t *thp) lossCurve(c *check.Case) (over *metrics.Curve, scale float64) {
	w := metrics.WatchedTime(c.Bundle, c.Subject)
	want := t.costShare() * t.CPU
	if k := metrics.Compacting(c.Bundle, c.Subject, w); k.Known() && t.sparseShare() == 0 && k.Mean() > 0 {
		return k, 1 // threads that wait for their turn on a CPU meanwhile lose that, too
	}
	k := metrics.SystemTime(c.Bundle, c.Subject, w)
	if !k.Known() || !(k.Mean() > 0) {
		return nil, 0
	}
	return k, min(1, want/k.Mean())
}

// predictKernelTime predicts the kernel time that would be left without the loss.
func (t *thp) predictKernelTime() check.Prediction {
	p := check.Prediction{ID: "process.system_cores", Metric: "process CPU, system", Unit: "cores", Now: stats.FiniteOrNil(t.System)}
	now := t.System
	then := now - t.costShare()*t.CPU
	p.Then = stats.FiniteOrNil(max(0, then))
	if t.Compaction.Known() && !math.IsNaN(t.Compaction.Low) {
		d := (t.Compaction.High - t.Compaction.Low) / 2
		p.Low, p.High = stats.FiniteOrNil(max(0, then-d)), stats.FiniteOrNil(max(0, min(now, then+d)))
	}
	return p
}

// predictWithoutTHP predicts the kernel time the process would need without huge pages.
func (t *thp) predictWithoutTHP() check.Prediction {
	now, then := t.System, t.Saved()
	p := check.Prediction{ID: "process.system_cores", Metric: "process CPU, system", Unit: "cores", Now: stats.FiniteOrNil(now), Then: stats.FiniteOrNil(now - then.Value)}
	if then.Ranged() {
		p.Low, p.High = stats.FiniteOrNil(max(0, now-then.High)), stats.FiniteOrNil(now-then.Low)
	}
	return p
}

func (t *thp) listFigures(c *check.Case) (out []check.Evidence) {
	add := func(id string, v metrics.Value, text, unit string) {
		if v.Known() {
			out = append(out, c.Figure(id, text, v.Number, unit, v.Origin))
		}
	}
	s, r := t.Seen, t.Seen.Running
	if r.Known() {
		out = append(out, c.Figure("process.compaction_cpu_share", "share of its CPU time in direct compaction, by stacks"+t.topStackText(c), r.Compaction, "1", r.Origin),
			c.Figure("process.huge_fault_cpu_share", "share of its CPU time in other work of huge-page faults, such as clearing", r.Huge, "1", r.Origin))
		if r.Elsewhere > 0 {
			out = append(out, c.Figure("process.compaction_for_kernel_cpu_share", "share of its CPU time in direct compaction for the kernel's own allocations", r.Elsewhere, "1", r.Origin))
		}
	}
	add("process.compacting_threads", s.Compaction, "threads in direct compaction, on average", "count")
	add("host.compact_stalls_per_s", s.Stalls, "allocations that compacted memory, on the host", "1/s")
	add("host.huge_faults_per_s", s.Faults, "faults that got a huge page, on the host", "1/s")
	add("host.huge_fallbacks_per_s", s.Fallbacks, "faults that failed to get a huge page, on the host", "1/s")
	if s.Looked > 0 {
		add("thp.touched_pages", s.Touched, fmt.Sprintf("used small pages in each of %.0f sampled huge pages", s.Looked), "count")
	}
	if s.HugeFault.Known() && s.SmallFault.Known() {
		out = append(out, c.Figure("thp.break_even_pages", "least small pages used for which a huge page saves time", t.BreakEven().Value, "count", s.HugeFault.Origin))
	}
	add("thp.huge_fault_ns", s.HugeFault.Value, "time a fault for a huge page takes here", "ns")
	add("thp.small_fault_ns", s.SmallFault.Value, "time a fault for a small page takes here", "ns")
	if t.Enabled != "" || t.Defrag != "" {
		out = append(out, c.Seen(fmt.Sprintf("transparent huge pages: enabled=%s defrag=%s", t.Enabled, t.Defrag), s.Settings))
	}
	return out
}

// shown are functions of the kernel that are named of a stack: what was done, and for what.
var shown = []string{"__alloc_pages_direct_compact", "do_huge_pmd_anonymous_page", "__do_huge_pmd_anonymous_page", "clear_huge_page", "handle_mm_fault"}

// topStackText names the stack with most of the time: what the kernel did, and where the program
// touched memory.
func (t *thp) topStackText(c *check.Case) string {
	var names []string
	program := ""
	for _, f := range c.Bundle.Stacks.Frames(t.Seen.Running.Stack) {
		name := c.Bundle.Names.Text(f.Func)
		if c.Bundle.Names.Text(f.File) != evidence.KernelFile {
			program = name
			break
		}
		for _, want := range shown {
			if name == want {
				names = append(names, name)
			}
		}
	}
	if program != "" {
		names = append(names, program)
	}
	if len(names) == 0 {
		return ""
	}
	return " (most under " + strings.Join(names, " ← ") + ")"
}
