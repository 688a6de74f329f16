package inspect

import (
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Generational is what a generational collector reports of each collection, as .NET's does: PerfView's GCStats, the code that causes collections, and
// allocations by type and place.
type Generational struct {
	TimeInGC   *float64 `json:"time_in_gc"` // 0…1
	SuspendS   *float64 `json:"suspend_s"`  // of the pauses: until all threads had stopped
	ResumeS    *float64 `json:"resume_s"`   // of the pauses: until all threads ran again
	LargeAlloc *float64 `json:"large_alloc_bytes_s"`
	ServerGC   *bool    `json:"server_gc"`
	Heaps      *float64 `json:"heaps"`
	MemoryLoad *float64 `json:"memory_load_percent"` // the highest that the runtime saw
	// LowerBounds means that events were lost or collections not seen, so that counts and sums are too low.
	LowerBounds bool  `json:"lower_bounds"`
	Lost        int64 `json:"lost_events"`
	Unseen      int   `json:"unseen_collections"` // between sessions recorded in turn, known by missing numbers

	Generations []GCRollup   `json:"generations"`
	Reasons     []GCReason   `json:"reasons"` // why the runtime collected, most pause first
	Condemned   []Condemned  `json:"condemned"`
	Triggers    []Trigger    `json:"triggers"`    // code that caused collections, most pause first
	LargeWaits  *LargeWaits  `json:"large_waits"` // null: not recorded
	Heap        HeapTrend    `json:"heap_trend"`
	Collections []Collection `json:"collections"`           // in order, at most 10,000
	LeftOut     int          `json:"collections_left_out"`  // further collections
	Allocations *Allocations `json:"allocations,omitempty"` // if allocation ticks were recorded
	Deaths      []Site       `json:"gen2_deaths,omitempty"` // if survival events were recorded
	Live        []LiveType   `json:"live,omitempty"`        // if a heap snapshot was recorded

	read *metrics.DotnetGC
}

// maxCollections is how many collections are listed.
const maxCollections = 10_000

// GCRollup sums collections.
type GCRollup struct {
	Name       string   `json:"name"` // "gen 0", "gen 1", "gen 2", "all"
	Count      int      `json:"count"`
	Background int      `json:"background"`
	Induced    int      `json:"induced"`
	PauseS     float64  `json:"pause_s"`
	MeanS      *float64 `json:"mean_s"`
	MaxS       *float64 `json:"max_s"`
	Allocated  *float64 `json:"allocated_bytes"` // since the previous collection, summed
	Survival   *float64 `json:"survival"`        // of the collected generations, 0…1
	Pinned     *float64 `json:"pinned_mean"`
	Peak       *float64 `json:"peak_bytes"`
}

// GCReason sums up collections by reason.
type GCReason struct {
	Reason string  `json:"reason"`
	Count  int     `json:"count"`
	Gen2   int     `json:"gen2"`
	PauseS float64 `json:"pause_s"`
	MaxS   float64 `json:"max_s"`
}

// Condemned counts collections by why their generation was chosen.
type Condemned struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	Gen2   int    `json:"gen2"`
}

// Trigger is the code that caused collections.
type Trigger struct {
	Reason  string   `json:"reason"`
	Induced bool     `json:"induced"`
	Caller  *string  `json:"caller"` // the caller of GC.Collect, or of the allocation
	Owner   *string  `json:"owner"`  // the nearest of the program's own code
	Began   *string  `json:"began"`  // "timer", "thread pool", …
	Stack   []string `json:"stack"`  // innermost first
	Count   int      `json:"count"`
	PauseS  float64  `json:"pause_s"`
	MaxS    float64  `json:"max_s"`
}

// LargeWaits are waits of threads for large objects during a background collection.
type LargeWaits struct {
	Count int      `json:"count"`
	SumS  float64  `json:"thread_s"`
	MaxS  *float64 `json:"max_s"`
}

// HeapTrend is the heap after collections of generation 2 over time.
type HeapTrend struct {
	Count    int      `json:"count"`
	First    *float64 `json:"first_bytes"` // median of the first quarter; likewise the last
	Last     *float64 `json:"last_bytes"`
	Growth   *float64 `json:"growth_bytes_s"`
	Rising   *float64 `json:"rising"` // share of collections that left more than the previous one
	Restarts int      `json:"restarts"`
}

// Collection is one collection.
type Collection struct {
	Number     int64        `json:"number"`
	Label      string       `json:"label"` // "2B", as in PerfView
	Start      *time.Time   `json:"start"`
	Generation int          `json:"generation"`
	Kind       string       `json:"kind"`
	Reason     string       `json:"reason"`
	Induced    bool         `json:"induced"`
	DurationS  float64      `json:"duration_s"`
	PauseS     *float64     `json:"pause_s"`
	SuspendS   *float64     `json:"suspend_s"`
	PauseShare *float64     `json:"pause_share"` // of the time since the end of the last pause
	Allocated  *float64     `json:"allocated_bytes"`
	Large      *float64     `json:"large_allocated_bytes"`
	Before     *float64     `json:"before_bytes"`
	After      *float64     `json:"after_bytes"`
	Promoted   *float64     `json:"promoted_bytes"`
	Free       *float64     `json:"free_bytes"`
	Sizes      []Generation `json:"sizes"`
	Pinned     *float64     `json:"pinned"`
	Handles    *float64     `json:"handles"`
	Final      *float64     `json:"finalizable_bytes"`
	Compacting bool         `json:"compacting"`
	MemoryLoad *float64     `json:"memory_load_percent"`
	Budget     *float64     `json:"gen0_budget_bytes"`
	Condemned  []string     `json:"condemned,omitempty"`
}

// Generation is a generation's sizes at a collection.
type Generation struct {
	Name     string   `json:"name"` // "gen 0", …, "LOH", "POH"
	Before   *float64 `json:"before_bytes"`
	After    *float64 `json:"after_bytes"`
	Free     *float64 `json:"free_bytes"`
	Survived *float64 `json:"survived_bytes"`
}

// Allocations are sampled allocations by type and place.
type Allocations struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	Large   float64 `json:"large_bytes"`
	Count   float64 `json:"large_objects"`
	Types   []Site  `json:"types"`
	Sites   []Site  `json:"sites"` // large ones first
}

// Site is a type with the place that allocates it.
type Site struct {
	Type  string   `json:"type"`
	Owner *string  `json:"owner,omitempty"`
	Bytes float64  `json:"bytes"`
	Large float64  `json:"large_bytes"`
	Count float64  `json:"large_objects"`
	Stack []string `json:"stack,omitempty"`
}

// LiveType is a type's objects in a heap snapshot.
type LiveType struct {
	Type    string  `json:"type"`
	Bytes   float64 `json:"bytes"`
	Objects float64 `json:"objects"`
}

// maxSites is the length of each list.
const maxSites = 100

// readGenerations returns what artifacts report of a generational collector; nil if the runtime
// has none or other artifacts report it.
func readGenerations(b *evidence.Bundle, a []evidence.ArtifactID, subject evidence.SubjectID) *Generational {
	read := platform.ByID(b.Subjects[subject].Runtime).Generations
	if read == nil {
		return nil
	}
	g := read(b, subject, metrics.Whole)
	if g == nil {
		return nil
	}
	if of, ok := g.Origin.Artifact(); ok && !slices.Contains(a, of) {
		return nil
	}
	out := &Generational{read: g, TimeInGC: knownOrNil(g.Share.Number), SuspendS: knownOrNil(g.Suspending.Number), ResumeS: knownOrNil(g.Resuming.Number), LargeAlloc: knownOrNil(g.LargeAlloc.Number),
		Heaps: knownOrNil(g.Heaps.Number), MemoryLoad: knownOrNil(g.MemoryLoad.Number), Lost: g.Lost, Unseen: g.Unseen, LowerBounds: g.Lost > 0 || g.Unseen > 0}
	if g.Heaps.Known() {
		out.ServerGC = &g.Server
	}
	for i := range g.Generations {
		out.Generations = append(out.Generations, newRollup(evidence.GenerationNames[i], &g.Generations[i]))
	}
	out.Generations = append(out.Generations, newRollup("all", &g.All))
	for _, r := range g.Reasons {
		out.Reasons = append(out.Reasons, GCReason{r.Reason, r.Count, r.Gen2, r.Paused, r.Max})
	}
	for _, c := range g.Condemned {
		out.Condemned = append(out.Condemned, Condemned{c.Reason.String(), c.Count, c.Gen2})
	}
	for i := range g.Triggers[:min(maxSites, len(g.Triggers))] {
		t := &g.Triggers[i]
		out.Triggers = append(out.Triggers, Trigger{Reason: t.Reason, Induced: t.Induced, Caller: textOrNil(t.Caller), Owner: textOrNil(t.Owner), Began: textOrNil(t.Began), Stack: readableFrames(b, t.Stack),
			Count: t.Count, PauseS: t.Paused, MaxS: t.Max})
	}
	if g.LargeWaited {
		out.LargeWaits = &LargeWaits{Count: len(g.LargeWaits)}
		for _, w := range g.LargeWaits {
			s := w.Seconds()
			out.LargeWaits.SumS += s
			if out.LargeWaits.MaxS == nil || s > *out.LargeWaits.MaxS {
				out.LargeWaits.MaxS = &s
			}
		}
	}
	h := &g.Heap
	out.Heap = HeapTrend{len(h.Points), knownOrNil(h.First), knownOrNil(h.Last), knownOrNil(h.Growth), knownOrNil(h.Rising), h.Restarts}
	for i := range g.Collections[:min(maxCollections, len(g.Collections))] {
		out.Collections = append(out.Collections, newCollection(b, &g.Collections[i]))
	}
	out.LeftOut = len(g.Collections) - len(out.Collections)
	out.addAllocations(b, subject)
	return out
}

func newRollup(name string, r *metrics.GCRollup) GCRollup {
	out := GCRollup{Name: name, Count: r.Count, Background: r.Background, Induced: r.Induced, PauseS: r.Paused, Survival: knownOrNil(r.Survival())}
	if r.Count > 0 {
		out.MeanS, out.MaxS, out.Pinned = knownOrNil(r.Mean), knownOrNil(r.Max), knownOrNil(r.Pinned)
		out.Allocated, out.Peak = positiveOrNil(r.Allocated), positiveOrNil(r.MaxPeak)
	}
	return out
}

func newCollection(b *evidence.Bundle, c *metrics.Collection) Collection {
	out := Collection{Number: c.Number, Label: c.Label(), Generation: c.Generation, Kind: c.Kind.String(), Reason: c.Reason, Induced: c.Induced,
		DurationS: float64(c.To-c.From) / 1e9, PauseS: knownOrNil(c.Pause), SuspendS: knownOrNil(c.Suspend), PauseShare: knownOrNil(c.PauseShare),
		Allocated: knownOrNil(c.Allocated), Large: knownOrNil(c.LargeAllocated), Before: knownOrNil(c.Before), After: knownOrNil(c.After), Promoted: knownOrNil(c.Promoted), Free: knownOrNil(c.Free),
		Pinned: knownOrNil(c.Pinned), Handles: knownOrNil(c.Handles), Final: knownOrNil(c.Finalizable), Compacting: c.Compacting, MemoryLoad: knownOrNil(c.MemoryLoad), Budget: knownOrNil(c.Budget)}
	if b.Clocks[b.Intervals.Clock.At(c.Row)].Anchored() {
		out.Start = utcTime(c.From)
	}
	for i, s := range c.Gen {
		if !math.IsNaN(s.After) || !math.IsNaN(s.Before) {
			out.Sizes = append(out.Sizes, Generation{evidence.GenerationNames[i], knownOrNil(s.Before), knownOrNil(s.After), knownOrNil(s.Free), knownOrNil(s.Survived)})
		}
	}
	for _, r := range c.Condemned {
		out.Condemned = append(out.Condemned, r.String())
	}
	return out
}

// addAllocations adds where and what the program allocates, what dies in generation 2, and what
// lives.
func (g *Generational) addAllocations(b *evidence.Bundle, subject evidence.SubjectID) {
	a := metrics.ReadAllocations(b, subject, threadstack.Dotnet)
	if a == nil {
		return
	}
	site := func(x *metrics.AllocationSite) Site {
		return Site{Type: x.Type, Owner: textOrNil(x.Owner), Bytes: x.Bytes, Large: x.Large, Count: x.Count, Stack: readableFrames(b, x.Stack)}
	}
	if a.Bytes > 0 {
		g.Allocations = &Allocations{Seconds: a.Span, Bytes: a.Bytes, Large: a.Large, Count: a.Count}
		for i := range a.Types[:min(maxSites, len(a.Types))] {
			t := &a.Types[i]
			g.Allocations.Types = append(g.Allocations.Types, Site{Type: t.Type, Bytes: t.Bytes, Large: t.Large, Count: t.Count})
		}
		for i := range a.Sites[:min(maxSites, len(a.Sites))] {
			g.Allocations.Sites = append(g.Allocations.Sites, site(&a.Sites[i]))
		}
	}
	for i := range a.Deaths[:min(maxSites, len(a.Deaths))] {
		g.Deaths = append(g.Deaths, site(&a.Deaths[i]))
	}
	for _, t := range a.Live[:min(maxSites, len(a.Live))] {
		g.Live = append(g.Live, LiveType{t.Type, t.Bytes, t.Count})
	}
}

// knownOrNil returns a figure, nil if it is NaN and so not known.
func knownOrNil(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// positiveOrNil returns a sum of known figures, nil if it is 0 because none was known.
func positiveOrNil(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	return &v
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func readableFrames(b *evidence.Bundle, stack evidence.StackID) (out []string) {
	for _, f := range b.Stacks.Frames(stack) {
		out = append(out, threadstack.Readable(b.Names.Text(f.Func)))
	}
	return out
}
