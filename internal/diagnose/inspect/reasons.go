package inspect

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// CPU is the processor time of the collector's threads in pauses, in seconds, as the runtime prints it.
type CPU struct {
	UserS   float64 `json:"user_s"`
	SystemS float64 `json:"system_s"`
	RealS   float64 `json:"real_s"`
	Pauses  int     `json:"pauses"` // pauses with that figure
}

// Safepoints are all stops of the world, including the collector's: a safepoint encloses a pause.
type Safepoints struct {
	Count        int     `json:"count"`
	TotalS       float64 `json:"total_s"`
	MaxS         float64 `json:"max_s"`
	ToSafepointS float64 `json:"to_safepoint_s"` // until all threads had stopped
	ToMaxS       float64 `json:"to_safepoint_max_s"`
	ByOperation  []Kind  `json:"by_operation"`
}

func sumSafepoints(b *evidence.Bundle, rows []int) *Safepoints {
	if len(rows) == 0 {
		return nil
	}
	v := &b.Intervals
	s := &Safepoints{Count: len(rows), ByOperation: sumByName(b, rows, causeOf)}
	for _, i := range rows {
		d := float64(v.End[i]-v.Start[i]) / 1e9
		s.TotalS += d
		s.MaxS = max(s.MaxS, d)
		if x, ok := v.Get(i, evidence.ToSafepoint); ok {
			s.ToSafepointS += x / 1e9
			s.ToMaxS = max(s.ToMaxS, x/1e9)
		}
	}
	return s
}

// induced are reasons of collections that the runtime did not need.
var induced = []string{"System.gc()", "System", "Heap Dump Initiated GC", "Heap Inspection Initiated GC", "JvmtiEnv ForceGarbageCollection", "Diagnostic Command"}

// sumReasons sums what the collector logged about why it stopped the world and what went wrong,
// and the CPU time, phases, stalls and heap sizes beside it.
func (g *GC) sumReasons(b *evidence.Bundle, pauses, phases, stalls []int) {
	v := &b.Intervals
	g.Causes = sumByName(b, pauses, func(b *evidence.Bundle, i int) string { return b.Names.Text(v.NameOf(i, evidence.Trigger)) })
	g.Failures = sumByName(b, pauses, func(b *evidence.Bundle, i int) string { return b.Names.Text(v.NameOf(i, evidence.Failure)) })
	for _, k := range g.Causes {
		if slices.Contains(induced, k.Kind) {
			if g.Induced == nil {
				g.Induced = new(int)
			}
			*g.Induced += k.Count
		}
	}
	if len(g.Causes) > 0 && g.Induced == nil {
		g.Induced = new(int)
	}
	for _, i := range pauses {
		if user, ok := v.Get(i, evidence.UserCPU); ok {
			if g.CPU == nil {
				g.CPU = &CPU{}
			}
			system, _ := v.Get(i, evidence.SystemCPU)
			real, _ := v.Get(i, evidence.RealTime)
			g.CPU.UserS += user / 1e9
			g.CPU.SystemS += system / 1e9
			g.CPU.RealS += real / 1e9
			g.CPU.Pauses++
		}
	}
	if len(phases) > 0 {
		// Logs with only cycles have the end of each, but not its length.
		timed := slices.DeleteFunc(slices.Clone(phases), func(i int) bool { return v.End[i] == v.Start[i] })
		g.Concurrent.Phases = sumByName(b, timed, causeOf)
		g.addConcurrentMarks(v)
		if len(timed) == 0 {
			g.Concurrent.Cycles += len(phases)
		}
	}
	if len(stalls) > 0 {
		g.Stalls.ByKind = sumByName(b, stalls, causeOf)
		for _, k := range g.Stalls.ByKind {
			if g.Stalls.MaxS == nil || k.MaxS > *g.Stalls.MaxS {
				g.Stalls.MaxS = &k.MaxS
			}
		}
	}
	g.setLoggedSizes(v, pauses, phases)
	g.sumGrowth(v, pauses, phases)
}

// addConcurrentMarks finds concurrent marking among the phases, for collectors that have no row of
// their own for it.
func (g *GC) addConcurrentMarks(v *evidence.Intervals) {
	for _, k := range g.Concurrent.Phases {
		name := strings.ToLower(k.Kind)
		if i := strings.Index(name, ": "); i >= 0 {
			name = name[i+2:]
		}
		switch name = strings.NewReplacer("-", " ", "cms ", "").Replace(name); {
		case name == "concurrent mark", strings.HasPrefix(name, "concurrent marking") && !strings.Contains(name, "root"):
			g.Concurrent.Cycles += k.Count
			if g.Concurrent.MarkS == nil {
				g.Concurrent.MarkS = new(float64)
			}
			*g.Concurrent.MarkS += k.TotalS
		}
	}
}

// setLoggedSizes sets the heap's sizes from pauses and phases that report them.
func (g *GC) setLoggedSizes(v *evidence.Intervals, pauses, phases []int) {
	rows := slices.Concat(pauses, phases)
	sorting.Short(rows, func(x, y int) int { return cmp.Compare(v.End[x], v.End[y]) })
	h := &g.Heap
	for _, i := range rows {
		after, ok := v.Get(i, evidence.HeapAfter)
		if !ok {
			continue
		}
		before, _ := v.Get(i, evidence.HeapBefore)
		peak := max(before, after)
		if h.Peak == nil || peak > *h.Peak {
			h.Peak = &peak
		}
		h.AfterLast = &after
		if of, ok := v.PauseOf(i); ok && of == evidence.PauseFull {
			h.AfterFull = &after
		}
	}
	h.Capacity = lastValue(v, rows, evidence.HeapCapacity)
	h.Young = lastValue(v, rows, evidence.YoungCapacity)
	h.Metaspace = lastValue(v, rows, evidence.MetaAfter)
}

// fewCollections is the number of intervals between collections that their rate needs: with five, its error is about a half.
const fewCollections = 5

// sumGrowth adds up what was allocated between collections, and what young collections promoted:
// between two rows that report the heap's size the heap grows only by allocation. For pauses the
// time counts from start to start; for concurrent phases, during which the program allocates, from
// the end.
func (g *GC) sumGrowth(v *evidence.Intervals, pauses, phases []int) {
	var rows []int
	for _, i := range slices.Concat(pauses, phases) {
		if _, ok := v.Get(i, evidence.HeapAfter); ok {
			rows = append(rows, i)
		}
	}
	sorting.Short(rows, func(x, y int) int { return cmp.Compare(v.Start[x], v.Start[y]) })
	latest := make(map[evidence.SubjectID]int)
	var grown, ns, promoted, span float64
	collections, promotions := 0, 0
	first := make(map[evidence.SubjectID]int64)
	for _, j := range rows {
		s := v.Subject.At(j)
		i, ok := latest[s]
		if of, is := v.PauseOf(j); is && (of == evidence.PauseYoung || of == evidence.PauseMixed || of == evidence.PauseFull || of == evidence.PauseDegenerated) {
			collections += int(v.Repeats(j))
			if _, ok := first[s]; !ok {
				collections-- // they are counted from the first one on
				first[s] = v.Start[j]
			}
			if of == evidence.PauseYoung && v.Start[j] > first[s] { // what the first one promoted was allocated before the counted time
				if before, after := metrics.OldOf(v, j); !math.IsNaN(after - before) {
					promotions++
					promoted += max(0, after-before)
				}
			}
		}
		if !ok {
			latest[s] = j
			continue
		}
		from := v.End[i]
		if v.Kind[i] == evidence.StopTheWorld {
			from = v.Start[i]
		}
		if v.Start[j] < v.End[i] {
			if v.End[j] > v.End[i] {
				latest[s] = j
			}
			continue
		}
		after, _ := v.Get(i, evidence.HeapAfter)
		before, ok := v.Get(j, evidence.HeapBefore)
		if d := float64(v.Start[j] - from); ok && d > 0 {
			grown += max(0, before-after)
			ns += d
		}
		latest[s] = j
	}
	for s, from := range first {
		span += float64(v.Start[latest[s]] - from)
	}
	if ns > 0 && g.Rates.Alloc == nil {
		rate := grown / ns * 1e9
		g.Rates.Alloc = &rate
	}
	if span > 0 && promotions > 0 {
		promote := promoted / span * 1e9
		g.Rates.Promote = &promote
	}
	if span > 0 && collections >= fewCollections && g.Rates.Cycles == nil {
		rate := float64(collections) / span * 1e9
		g.Rates.Cycles = &rate
	}
}

// countIgnoredByKind counts the unused lines by kind, where the format gives it.
func (g *GC) countIgnoredByKind(b *evidence.Bundle, a []evidence.ArtifactID) {
	for _, f := range b.Facts {
		if of, ok := f.Origin.Artifact(); !ok || !slices.Contains(a, of) {
			continue
		}
		if kind, ok := strings.CutPrefix(f.Key, evidence.FactLinesIgnored+": "); ok {
			if g.IgnoredByKind == nil {
				g.IgnoredByKind = make(map[string]int64)
			}
			g.IgnoredByKind[kind] += int64(f.Number)
		}
	}
}
