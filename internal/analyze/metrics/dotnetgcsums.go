package metrics

import (
	"cmp"
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// readPauses sums up the stops of the world, and computes the share that each collection's pauses took of the time since
// the pause before it.
func (g *DotnetGC) readPauses(b *evidence.Bundle, subject evidence.SubjectID) {
	v := &b.Intervals
	var all Pauses
	suspending, resuming, told := 0., 0., false
	for _, i := range v.Select(evidence.StopTheWorld, subject) {
		if v.Start[i] < g.From || v.Start[i] >= g.Until {
			continue
		}
		if n := len(all); n > 0 && all[n-1].From == v.Start[i] && all[n-1].To == v.End[i] {
			continue // two sessions have it
		}
		all = append(all, Pause{Row: i, From: v.Start[i], To: v.End[i]})
		if s, ok := v.Get(i, evidence.ToSafepoint); ok {
			suspending, told = suspending+s/1e9, true
		}
		resuming += stats.ZeroIfNaN(figureOrNaN(v, i, evidence.Resuming)) / 1e9
	}
	g.Paused = g.valueOf(all.Seconds())
	g.Share = g.valueOf(all.Seconds() / g.Span)
	if len(all) > 0 {
		longest := all.Longest()
		g.Longest = g.valueOf(longest.Seconds())
		g.Longest.Origin = v.Origin.At(longest.Row)
	}
	if told {
		g.Suspending, g.Resuming = g.valueOf(suspending), g.valueOf(resuming)
	}
	n, ended := 0, int64(0) // of the last pause before the collection's first
	for i := range g.Collections {
		c := &g.Collections[i]
		for n < len(all) && all[n].To <= c.From {
			ended = all[n].To
			n++
		}
		if n < len(all) && ended > 0 && all[n].From <= c.From {
			running := float64(all[n].From-ended) / 1e9
			c.PauseShare = c.Pause / (c.Pause + max(running, 0))
		}
	}
}

func (g *DotnetGC) sumCollections() {
	reasons := make(map[string]*GCReason)
	condemned := make(map[evidence.CondemnReason]*GCCondemned)
	load := math.NaN()
	for i := range g.Collections {
		c := &g.Collections[i]
		g.All.addCollection(c)
		g.Generations[c.Generation].addCollection(c)
		r := reasons[c.Reason]
		if r == nil {
			r = &GCReason{Reason: c.Reason}
			reasons[c.Reason] = r
		}
		r.addCollection(c)
		if c.Generation == evidence.Gen2 {
			r.Gen2++
		}
		for _, why := range c.Condemned {
			x := condemned[why]
			if x == nil {
				x = &GCCondemned{Reason: why}
				condemned[why] = x
			}
			x.Count++
			if c.Generation == evidence.Gen2 {
				x.Gen2++
			}
		}
		if !(c.MemoryLoad <= load) && !math.IsNaN(c.MemoryLoad) {
			load = c.MemoryLoad
		}
	}
	g.MemoryLoad = g.valueOf(load)
	for _, r := range []*GCRollup{&g.All, &g.Generations[0], &g.Generations[1], &g.Generations[2]} {
		r.setMeans()
	}
	for _, r := range reasons {
		r.setMeans()
		g.Reasons = append(g.Reasons, *r)
	}
	sorting.Short(g.Reasons, func(x, y GCReason) int {
		return cmp.Or(-cmp.Compare(x.Paused, y.Paused), cmp.Compare(x.Reason, y.Reason))
	})
	for _, x := range condemned {
		g.Condemned = append(g.Condemned, *x)
	}
	sorting.Short(g.Condemned, func(x, y GCCondemned) int {
		return cmp.Or(-cmp.Compare(x.Count, y.Count), cmp.Compare(x.Reason, y.Reason))
	})
}

// addCollection counts a collection. Pinned is a sum until setMeans divides it.
func (r *GCRollup) addCollection(c *Collection) {
	r.Count++
	if c.Kind == evidence.CollectionBackground {
		r.Background++
	}
	if c.Induced {
		r.Induced++
	}
	r.Paused += stats.ZeroIfNaN(c.Pause)
	if c.Pause > r.Max {
		r.Max, r.MaxOrigin = c.Pause, c.Origin
	}
	r.Allocated += stats.ZeroIfNaN(c.Allocated)
	for i, s := range c.Gen {
		if (i <= c.Generation || c.Generation == evidence.Gen2) && s.Before > 0 && s.Survived >= 0 {
			r.Survived += s.Survived
			r.Of += s.Before - s.Gaps
		}
	}
	r.MaxPeak = max(r.MaxPeak, stats.ZeroIfNaN(c.Before))
	r.Pinned += stats.ZeroIfNaN(c.Pinned)
}

func (r *GCRollup) setMeans() {
	if r.Count > 0 {
		r.Mean = r.Paused / float64(r.Count)
		r.Pinned /= float64(r.Count)
	}
}

// Over returns the collections whose pauses exceed a threshold, s; longest first.
func (g *DotnetGC) Over(seconds float64) (out []*Collection) {
	for i := range g.Collections {
		if g.Collections[i].Pause > seconds {
			out = append(out, &g.Collections[i])
		}
	}
	sorting.Short(out, func(x, y *Collection) int { return -cmp.Compare(x.Pause, y.Pause) })
	return out
}

func (g *DotnetGC) largeWaits(b *evidence.Bundle, subject evidence.SubjectID) {
	g.LargeWaited = len(b.Covered(subject, evidence.CoverLargeWaits)) > 0
	v := &b.Intervals
	for _, i := range v.Select(evidence.AllocStall, subject) {
		if v.End[i] <= g.From || v.Start[i] >= g.Until {
			continue
		}
		g.LargeWaits = append(g.LargeWaits, GCWait{Row: i, From: v.Start[i], To: v.End[i], Lane: v.Lane.At(i), Reason: b.Names.Text(v.Cause.At(i)),
			Stack: v.Stack.At(i), Origin: v.Origin.At(i)})
	}
}

// readAllocation reads how fast the program allocates: from its counter, which has every byte, else from the heap's growth
// between collections.
func (g *DotnetGC) readAllocation(b *evidence.Bundle, subject evidence.SubjectID) {
	v := &b.Intervals
	all, large, from, told := 0., 0., int64(0), false
	for i := range g.Collections {
		c := &g.Collections[i]
		if heaps := figureOrNaN(v, c.Row, evidence.HeapCount); heaps > 0 {
			g.Heaps = g.valueOf(heaps)
			g.Server = heaps > 1
		}
		if math.IsNaN(c.Allocated) {
			if from == 0 {
				from = c.From
			}
			continue
		}
		all, large, told = all+c.Allocated, large+c.LargeAllocated, true
		if i == len(g.Collections)-1 && c.From > from {
			s := float64(c.From-from) / 1e9
			g.Alloc, g.LargeAlloc = g.valueOf(all/s), g.valueOf(large/s)
		}
	}
	if counter := Mean(b, subject, evidence.SeriesAllocation, g.Window); counter.Known() || !told {
		g.Alloc = counter
	}
}
