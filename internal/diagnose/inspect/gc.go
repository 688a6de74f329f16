package inspect

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// GC is what a collector did, from one artifact. Unknown is null.
type GC struct {
	Schema    string  `json:"schema"`
	Runtime   *string `json:"runtime"`
	Collector *string `json:"collector"`
	// Pauses are all stop-the-world intervals, including those of concurrent cycles.
	Pauses     Pauses     `json:"pauses"`
	ByKind     []Kind     `json:"by_kind"` // longest total first
	Stalls     Stalls     `json:"stalls"`
	Concurrent Concurrent `json:"concurrent"`
	Heap       Heap       `json:"heap"`
	Rates      Rates      `json:"rates"`
	Induced    *int       `json:"induced"` // collections that the program or a tool asked for

	// From collectors that log their reasons; absent for others.
	Causes     []Kind      `json:"causes,omitempty"`   // pauses by why the runtime collected
	Failures   []Kind      `json:"failures,omitempty"` // pauses in which something went wrong
	CPU        *CPU        `json:"cpu,omitempty"`
	Safepoints *Safepoints `json:"safepoints,omitempty"`
	Longest    []Longest   `json:"longest,omitempty"` // of a JVM, a few

	// From .NET, by generation; absent for others.
	*Generational

	// Lines that are known but unused, and lines that were not understood.
	IgnoredLines     *int64 `json:"ignored_lines"`
	UnexplainedLines *int64 `json:"unexplained_lines"`
	// Unused lines by kind.
	IgnoredByKind map[string]int64 `json:"ignored_by_kind,omitempty"`
}

// Pauses sums stop-the-world intervals.
type Pauses struct {
	Count  *int     `json:"count"` // null: the log has no pauses, although its collector's cycles pause
	TotalS *float64 `json:"total_s"`
	MaxS   *float64 `json:"max_s"`
	MeanS  *float64 `json:"mean_s"`
	P99S   *float64 `json:"p99_s"`
}

// Kind is the pauses of one kind, by the runtime's own name for it.
type Kind struct {
	Kind   string  `json:"kind"`
	Count  int     `json:"count"`
	TotalS float64 `json:"total_s"`
	MaxS   float64 `json:"max_s"`
	MeanS  float64 `json:"mean_s"`
	P99S   float64 `json:"p99_s"`

	lengths []int64 // ns
}

// Stalls are single lanes that had to work for, or wait for, the collector. Their sum is time of lanes, not wall time.
type Stalls struct {
	Count   *int     `json:"count"`
	ThreadS *float64 `json:"thread_s"`
	MaxS    *float64 `json:"max_s,omitempty"`
	ByKind  []Kind   `json:"by_kind,omitempty"`
}

// Concurrent is the collector's work beside the program.
type Concurrent struct {
	Cycles      int      `json:"cycles"`
	MarkS       *float64 `json:"mark_s"` // wall time
	AssistS     *float64 `json:"assist_cpu_s"`
	BackgroundS *float64 `json:"background_cpu_s"`
	IdleS       *float64 `json:"idle_cpu_s"`
	CPUFraction *float64 `json:"cpu_fraction"` // of all processor time since the start, at the last cycle
	Phases      []Kind   `json:"phases,omitempty"`
}

// Heap is the heap's sizes over the artifact's time.
type Heap struct {
	Peak     *float64 `json:"peak_bytes"`
	LiveMax  *float64 `json:"live_max_bytes"`
	LiveLast *float64 `json:"live_last_bytes"`
	GoalLast *float64 `json:"goal_last_bytes"`
	// From runtimes that print them: committed size, heap after full collections, class metadata.
	Capacity  *float64 `json:"capacity_bytes,omitempty"`
	AfterFull *float64 `json:"after_full_bytes,omitempty"`
	AfterLast *float64 `json:"after_last_bytes,omitempty"`
	Young     *float64 `json:"young_capacity_bytes,omitempty"`
	Metaspace *float64 `json:"metaspace_bytes,omitempty"`
}

// Rates are per second of wall time, between the first cycle and the last.
type Rates struct {
	Cycles  *float64 `json:"cycles_s"`
	Alloc   *float64 `json:"alloc_bytes_s"`
	Promote *float64 `json:"promote_bytes_s"`
}

// summarizeGC sums the GC events of artifacts; nil if they have none.
func summarizeGC(b *evidence.Bundle, a ...evidence.ArtifactID) *GC {
	v := &b.Intervals
	var pauses, cycles, marks, stalls, phases, stops []int
	for i := range v.Len() {
		if of, ok := v.Origin.At(i).Artifact(); !ok || !slices.Contains(a, of) {
			continue
		}
		switch v.Kind[i] {
		case evidence.StopTheWorld:
			pauses = append(pauses, i)
		case evidence.GCCycle:
			cycles = append(cycles, i)
		case evidence.GCMark:
			marks = append(marks, i)
		case evidence.GCAssist, evidence.GCAssistWait, evidence.GCSweep, evidence.GCWait, evidence.AllocStall:
			stalls = append(stalls, i)
		case evidence.GCConcurrent:
			phases = append(phases, i)
		case evidence.Safepoint:
			stops = append(stops, i)
		}
	}
	if len(pauses)+len(cycles)+len(marks)+len(stalls)+len(phases)+len(stops) == 0 {
		return nil
	}
	g := &GC{Schema: GCSchema}
	g.setRuntime(b, a, pauses, cycles, marks, stalls, phases, stops)
	g.sumPauses(b, pauses, len(phases) > 0) // -Xlog:gc of a concurrent collector has only its cycles
	g.sumConcurrent(v, cycles, marks, stalls)
	g.setHeapSizes(v, cycles)
	g.sumRates(v, cycles)
	g.sumReasons(b, pauses, phases, stalls)
	g.Safepoints = sumSafepoints(b, stops)
	if g.hasReasons() {
		g.Longest = longestPauses(b, pauses)
	}
	g.addGenerational(b, a, pauses, cycles)
	g.IgnoredLines = countLines(b, a, evidence.FactLinesIgnored)
	g.UnexplainedLines = countLines(b, a, evidence.FactLinesUnexplained)
	g.countIgnoredByKind(b, a)
	return g
}

// addGenerational adds what the runtime reports of each collection, and replaces figures that it
// reports more exactly.
func (g *GC) addGenerational(b *evidence.Bundle, a []evidence.ArtifactID, rows ...[]int) {
	for _, r := range rows {
		if len(r) == 0 {
			continue
		}
		if g.Generational = readGenerations(b, a, b.Intervals.Subject.At(r[0])); g.Generational != nil {
			g.Rates.Alloc = knownOrNil(g.Generational.read.Alloc.Number)
		}
		return
	}
}

// hasReasons says whether the runtime's log gives the reason of each pause.
func (g *GC) hasReasons() bool { return g.Runtime != nil && platform.ByID(*g.Runtime).Reasons }

func (g *GC) setRuntime(b *evidence.Bundle, a []evidence.ArtifactID, rows ...[]int) {
	for _, r := range rows {
		if len(r) == 0 {
			continue
		}
		if id := b.Subjects[b.Intervals.Subject.At(r[0])].Runtime; id != "" {
			g.Runtime = &id
			if c := platform.ByID(id).Collector; c != "" {
				g.Collector = &c
			}
			break
		}
	}
	if f, ok := findFact(b, a, evidence.FactCollector); ok {
		g.Collector = &f.Value
	}
}

func (g *GC) sumPauses(b *evidence.Bundle, rows []int, unlogged bool) {
	v := &b.Intervals
	lengths := make([]int64, 0, len(rows))
	var total, longest int64
	for _, i := range rows {
		for from, to := range v.EachPause(i) {
			d := to - from
			lengths = append(lengths, d)
			total, longest = total+d, max(longest, d)
		}
	}
	g.ByKind = sumByName(b, rows, causeOf)
	if len(rows) == 0 && unlogged {
		return
	}
	n := len(lengths)
	g.Pauses = Pauses{Count: &n, TotalS: secondsOf(total)}
	if n > 0 {
		slices.Sort(lengths)
		mean := float64(total) / 1e9 / float64(n)
		g.Pauses.MaxS, g.Pauses.MeanS, g.Pauses.P99S = secondsOf(longest), &mean, secondsOf(stats.Quantile(lengths, .99))
	}
}

// causeOf returns the cause of a row, or its kind if it has none.
func causeOf(b *evidence.Bundle, i int) string {
	if name := b.Names.Text(b.Intervals.Cause.At(i)); name != "" {
		return name
	}
	return b.Intervals.Kind[i].String()
}

// sumByName sums rows by the name that name gives them, the longest total first; rows with the
// name "" are left out.
func sumByName(b *evidence.Bundle, rows []int, name func(*evidence.Bundle, int) string) (out []Kind) {
	v := &b.Intervals
	byName := make(map[string]*Kind)
	for _, i := range rows {
		n := name(b, i)
		if n == "" {
			continue
		}
		k := byName[n]
		if k == nil {
			k = &Kind{Kind: n}
			byName[n] = k
		}
		for from, to := range v.EachPause(i) {
			s := float64(to-from) / 1e9
			k.Count++
			k.TotalS += s
			k.MaxS = max(k.MaxS, s)
			k.lengths = append(k.lengths, to-from)
		}
	}
	for _, k := range byName {
		k.MeanS = k.TotalS / float64(k.Count)
		slices.Sort(k.lengths)
		k.P99S = float64(stats.Quantile(k.lengths, .99)) / 1e9
		k.lengths = nil
		out = append(out, *k)
	}
	sorting.Short(out, func(x, y Kind) int {
		return cmp.Or(cmp.Compare(y.TotalS, x.TotalS), cmp.Compare(x.Kind, y.Kind))
	})
	return out
}

func (g *GC) sumConcurrent(v *evidence.Intervals, cycles, marks, stalls []int) {
	c := &g.Concurrent
	c.Cycles = max(len(cycles), len(marks))
	if len(marks) > 0 {
		c.MarkS = secondsOf(totalLength(v, marks))
	}
	c.AssistS = sumSeconds(v, cycles, evidence.AssistTime)
	c.BackgroundS = sumSeconds(v, cycles, evidence.BackgroundTime)
	c.IdleS = sumSeconds(v, cycles, evidence.IdleTime)
	c.CPUFraction = lastValue(v, cycles, evidence.CPUFraction)
	if len(stalls) > 0 {
		n := len(stalls)
		g.Stalls = Stalls{Count: &n, ThreadS: secondsOf(totalLength(v, stalls))}
	} else {
		g.Stalls.ThreadS = c.AssistS
	}
	for _, i := range cycles {
		if forced, ok := v.Get(i, evidence.Forced); ok {
			if g.Induced == nil {
				g.Induced = new(int)
			}
			if forced != 0 {
				*g.Induced++
			}
		}
	}
}

func (g *GC) setHeapSizes(v *evidence.Intervals, cycles []int) {
	g.Heap.LiveLast, g.Heap.GoalLast = lastValue(v, cycles, evidence.HeapLive), lastValue(v, cycles, evidence.HeapGoal)
	largest := func(to **float64, keys ...evidence.Key) {
		for _, i := range cycles {
			for _, k := range keys {
				if x, ok := v.Get(i, k); ok && (*to == nil || x > **to) {
					*to = &x
				}
			}
		}
	}
	largest(&g.Heap.LiveMax, evidence.HeapLive)
	largest(&g.Heap.Peak, evidence.HeapBefore, evidence.HeapAfter)
}

// sumRates adds up what was allocated from the start of each cycle to the start of the next one of
// the same process: by how much the heap grew during the cycle, and from what was left (the live
// heap; where that is not known, the heap after the cycle) to the next start. Pairs with a cycle
// missing between them are left out, with their time.
func (g *GC) sumRates(v *evidence.Intervals, cycles []int) {
	bySubject := make(map[evidence.SubjectID][]int)
	for _, i := range cycles {
		bySubject[v.Subject.At(i)] = append(bySubject[v.Subject.At(i)], i)
	}
	var bytes, bytesNs, spanNs float64
	pairs := 0
	for _, rows := range bySubject {
		sorting.Short(rows, func(x, y int) int { return cmp.Compare(v.Start[x], v.Start[y]) })
		for n, j := range rows[min(1, len(rows)):] {
			i := rows[n]
			a, aok := v.Get(i, evidence.CycleNumber)
			b, bok := v.Get(j, evidence.CycleNumber)
			if aok && bok && b != a+1 {
				continue
			}
			ns := float64(v.Start[j] - v.Start[i])
			spanNs += ns
			pairs++
			if grown, ok := allocatedBetween(v, i, j); ok {
				bytes += grown
				bytesNs += ns
			}
		}
	}
	if spanNs > 0 {
		rate := float64(pairs) / spanNs * 1e9
		g.Rates.Cycles = &rate
	}
	if bytesNs > 0 {
		rate := bytes / bytesNs * 1e9
		g.Rates.Alloc = &rate
	}
}

func allocatedBetween(v *evidence.Intervals, i, j int) (bytes float64, ok bool) {
	after, ok1 := v.Get(i, evidence.HeapAfter)
	next, ok2 := v.Get(j, evidence.HeapBefore)
	if !ok1 || !ok2 {
		return 0, false
	}
	live, ok3 := v.Get(i, evidence.HeapLive)
	before, ok4 := v.Get(i, evidence.HeapBefore)
	if ok3 && ok4 {
		return max(0, after-before) + max(0, next-live), true
	}
	return max(0, next-after), true
}

func totalLength(v *evidence.Intervals, rows []int) (ns int64) {
	for _, i := range rows {
		ns += v.End[i] - v.Start[i]
	}
	return ns
}

// sumSeconds adds up a figure in ns and returns it in seconds; nil if no row has it.
func sumSeconds(v *evidence.Intervals, rows []int, k evidence.Key) (s *float64) {
	for _, i := range rows {
		if x, ok := v.Get(i, k); ok {
			if s == nil {
				s = new(float64)
			}
			*s += x / 1e9
		}
	}
	return s
}

func lastValue(v *evidence.Intervals, rows []int, k evidence.Key) *float64 {
	for n := len(rows) - 1; n >= 0; n-- {
		if x, ok := v.Get(rows[n], k); ok {
			return &x
		}
	}
	return nil
}

func countLines(b *evidence.Bundle, a []evidence.ArtifactID, key string) (n *int64) {
	for _, f := range b.Facts {
		if of, ok := f.Origin.Artifact(); ok && slices.Contains(a, of) && f.Key == key {
			if n == nil {
				n = new(int64)
			}
			*n += int64(f.Number)
		}
	}
	return n
}

// findFact returns the first fact that is from one of the artifacts.
func findFact(b *evidence.Bundle, a []evidence.ArtifactID, key string) (evidence.Fact, bool) {
	for _, f := range b.Facts {
		if of, ok := f.Origin.Artifact(); ok && slices.Contains(a, of) && f.Key == key {
			return f, true
		}
	}
	return evidence.Fact{}, false
}
