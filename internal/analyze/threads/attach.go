package threads

import (
	"cmp"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Attach gives requests with a lane but without states the states in which their thread was seen. Call it when the bundle's clocks are aligned,
// because looks may come from another artifact than the requests.
//
// A look at the request's thread stands for the time around it, up to the middle between it and the next one; the first counts from the request's
// start, the last to its end. So between two bursts of looks a state holds if it was the same before and after, else the time is split in the middle.
// A single look says nothing of the rest of a request: it takes two. From when its thread begins another request, or is seen without a server's
// frame, a request is Awaiting: it has left that thread, and is not followed if it continues on another.
//
// Exact knowledge is laid over that: contended locks of the thread, and stop-the-world pauses over running time. The request's own calls and other
// awaits are laid over the time in which it held no thread.
func Attach(b *evidence.Bundle, of Readers) {
	t := Of(b, of)
	a := &attacher{t: t, b: b, lanes: make(map[laneOf][]Sample), turns: make(map[turnsOf][]int64), attached: make(map[charged]bool)}
	a.indexBundle()
	if len(a.lanes) == 0 && len(a.locks) == 0 && len(a.calls) == 0 {
		return
	}
	b.Requests.SetPaths(a.pathOf)
	a.addCoverage()
}

type laneOf struct {
	subject evidence.SubjectID
	lane    evidence.LaneID
}

type turnsOf struct {
	artifact evidence.ArtifactID
	laneOf
}

type charged struct {
	subject  evidence.SubjectID
	artifact evidence.ArtifactID
	clock    evidence.ClockID
}

type span struct {
	from, to int64
	row      int // of the intervals
}

type attacher struct {
	t        *Threads
	b        *evidence.Bundle
	lanes    map[laneOf][]Sample           // by time
	locks    map[laneOf][]span             // contended locks, by start
	stops    map[evidence.SubjectID][]span // pauses, by start, none overlapping
	calls    map[int][]span                // to others, and awaits, by row of the requests, the longest first
	turns    map[turnsOf][]int64           // when requests began on a lane, sorted
	attached map[charged]bool
	parts    []part
}

// indexBundle indexes what each request needs.
func (a *attacher) indexBundle() {
	for s, looks := range a.t.looks {
		for _, l := range looks {
			if l.Time != 0 && l.Lane != 0 {
				k := laneOf{s, l.Lane}
				a.lanes[k] = append(a.lanes[k], l)
			}
		}
	}
	v := &a.b.Intervals
	a.locks, a.stops = make(map[laneOf][]span), make(map[evidence.SubjectID][]span)
	waited := make(map[evidence.SubjectID]bool)
	for _, c := range a.b.Coverage {
		waited[c.Subject] = waited[c.Subject] || c.Kind == evidence.CoverWaits
	}
	for _, i := range v.Select(evidence.LockWait, -1) {
		if k := (laneOf{v.Subject.At(i), v.Lane.At(i)}); waited[k.subject] && k.lane > 0 {
			a.locks[k] = append(a.locks[k], span{v.Start[i], v.End[i], i})
		}
	}
	for _, i := range v.Select(evidence.StopTheWorld, -1) {
		s := v.Subject.At(i)
		n := len(a.stops[s])
		if x := (span{v.Start[i], v.End[i], i}); n > 0 && a.stops[s][n-1].to > x.from {
			a.stops[s][n-1].to = max(a.stops[s][n-1].to, x.to)
		} else {
			a.stops[s] = append(a.stops[s], x)
		}
	}
	a.calls = make(map[int][]span)
	for _, kind := range []evidence.Kind{evidence.NetWait, evidence.PoolWait, evidence.SleepWait, evidence.SyncWait} {
		for _, i := range v.Select(kind, -1) {
			if id := v.Request.At(i); id != evidence.NoRequest {
				a.calls[int(id)-1] = append(a.calls[int(id)-1], span{v.Start[i], v.End[i], i})
			}
		}
	}
	awaits := func(x span) int { return int(min(1, v.Stack.At(x.row))) }
	for _, calls := range a.calls { // of nested calls the inner one is more precise, and awaits come last
		sorting.Short(calls, func(x, y span) int {
			return cmp.Or(cmp.Compare(awaits(x), awaits(y)), cmp.Compare(y.to-y.from, x.to-x.from))
		})
	}
	r := &a.b.Requests
	for i := range r.Len() {
		if of, ok := r.Origin.At(i).Artifact(); ok && r.Lane.At(i) != 0 {
			k := turnsOf{of, laneOf{r.Subject.At(i), r.Lane.At(i)}}
			a.turns[k] = append(a.turns[k], r.Start.At(i))
		}
	}
	for _, starts := range a.turns {
		slices.Sort(starts)
	}
}

// part is a stretch of a request.
type part struct {
	from, to int64
	evidence.Segment
}

func (a *attacher) pathOf(i int) evidence.Path {
	r := &a.b.Requests
	of, ok := r.Origin.At(i).Artifact()
	if !ok || r.Lane.At(i) == 0 || r.Start.At(i) == 0 || r.End.At(i) <= r.Start.At(i) || len(r.Path(i)) > 0 {
		return nil
	}
	k := laneOf{r.Subject.At(i), r.Lane.At(i)}
	start, end := r.Start.At(i), r.End.At(i)
	left := end // when its thread began other work
	turns := a.turns[turnsOf{of, k}]
	if n := sort.Search(len(turns), func(n int) bool { return turns[n] > start }); n < len(turns) {
		left = min(left, turns[n])
	}
	a.parts = a.parts[:0]
	seen := a.layStates(a.looksAt(i, k), start, left, end)
	locked := a.layLocks(k, start, left)
	called := a.layCalls(i, start, end)
	if !seen && !locked && !called {
		return nil
	}
	a.layPauses(k.subject)
	a.attached[charged{k.subject, of, r.Clock.At(i)}] = true
	var p evidence.Path
	for _, x := range a.parts {
		x.Dur = x.to - x.from
		p = p.Append(x.Segment)
	}
	return p
}

// looksAt returns the looks at a lane that have the time of day, as the request has, or the clock of its artifact.
func (a *attacher) looksAt(i int, k laneOf) []Sample {
	looks := a.lanes[k]
	if len(looks) == 0 || a.b.Clocks[a.b.Requests.Clock.At(i)].Anchored() {
		return looks
	}
	of, _ := a.b.Requests.Origin.At(i).Artifact()
	if from, ok := looks[0].Origin.Artifact(); !ok || from != of {
		return nil
	}
	return looks
}

// layStates lays out the states that were seen, and reports whether they are enough.
func (a *attacher) layStates(looks []Sample, start, left, end int64) bool {
	from := sort.Search(len(looks), func(n int) bool { return looks[n].Time >= start })
	to := from + sort.Search(len(looks)-from, func(n int) bool { return looks[from+n].Time >= left })
	looks = looks[from:to]
	count := 0
	for i := range looks {
		count += looks[i].Count
	}
	known := count >= 2
	at := start
	for n := 0; known && n < len(looks); n++ {
		l := &looks[n]
		until := left
		if n+1 < len(looks) {
			until = l.Time + (looks[n+1].Time-l.Time)/2
		}
		if !l.View.Request {
			left = at
			break
		}
		a.addPart(at, until, a.segmentOf(l))
		at = until
	}
	if !known {
		a.addPart(start, left, evidence.Segment{Kind: evidence.Unobserved})
	}
	a.addPart(left, end, evidence.Segment{Kind: evidence.Awaiting})
	return known || left < end
}

// addPart adds a part, or extends the last one if it is the same.
func (a *attacher) addPart(from, to int64, s evidence.Segment) {
	if to <= from {
		return
	}
	if n := len(a.parts); n > 0 && a.parts[n-1].Segment == s && a.parts[n-1].to == from {
		a.parts[n-1].to = to
		return
	}
	a.parts = append(a.parts, part{from, to, s})
}

func (a *attacher) segmentOf(l *Sample) evidence.Segment {
	return l.Segment(a.b)
}

// layLocks lays over the locks that the thread is known to have waited for.
func (a *attacher) layLocks(k laneOf, start, left int64) (any bool) {
	locks := a.locks[k]
	v := &a.b.Intervals
	n := sort.Search(len(locks), func(n int) bool { return locks[n].to > start }) // a thread waits for one lock at a time
	for ; n < len(locks) && locks[n].from < left; n++ {
		x := locks[n]
		s := evidence.Segment{Kind: evidence.LockWait, Stack: v.Stack.At(x.row), Holder: v.Holder.At(x.row)}
		cause := a.b.Names.Text(v.Cause.At(x.row))
		if owner := a.t.View(k.subject, s.Stack).Owner; cause == "" {
			cause = owner
		}
		s.Cause = a.b.Names.ID(cause)
		any = a.overlayParts(max(x.from, start), min(x.to, left), s, func(*evidence.Segment) bool { return true }) || any
	}
	return any
}

// layCalls lays over the awaits of a request, including its calls: while it holds no thread, it does these.
func (a *attacher) layCalls(i int, start, end int64) (any bool) {
	v := &a.b.Intervals
	for _, x := range a.calls[i] {
		s := evidence.Segment{Kind: v.Kind[x.row], Cause: v.Cause.At(x.row), Stack: v.Stack.At(x.row)}
		if s.Stack != 0 {
			s.Cause = a.t.Awaited(v.Subject.At(x.row), s.Kind, s.Cause, s.Stack)
		}
		any = a.overlayParts(max(x.from, start), min(x.to, end), s, func(p *evidence.Segment) bool {
			// The await of a call is the call, whose name is more precise; what a call awaits before it is made is not.
			return p.Kind == evidence.Awaiting || p.Kind == evidence.Unobserved || p.Kind == evidence.NetWait && p.Stack == 0 && (s.Stack == 0 || s.Kind != evidence.NetWait)
		}) || any
	}
	return any
}

// layPauses lays pauses over running time: waits did not become longer by them.
func (a *attacher) layPauses(subject evidence.SubjectID) {
	stops := a.stops[subject]
	if len(a.parts) == 0 || len(stops) == 0 {
		return
	}
	from, to := a.parts[0].from, a.parts[len(a.parts)-1].to
	v := &a.b.Intervals
	n := sort.Search(len(stops), func(n int) bool { return stops[n].to > from })
	for ; n < len(stops) && stops[n].from < to; n++ {
		s := evidence.Segment{Kind: evidence.Paused, Cause: v.Cause.At(stops[n].row)}
		a.overlayParts(max(stops[n].from, from), min(stops[n].to, to), s, func(p *evidence.Segment) bool { return p.Kind == evidence.Running || p.Kind == evidence.KindUnknown })
	}
}

// overlayParts replaces the parts of a time that may be replaced.
func (a *attacher) overlayParts(from, to int64, s evidence.Segment, may func(*evidence.Segment) bool) (any bool) {
	if to <= from {
		return false
	}
	first := sort.Search(len(a.parts), func(n int) bool { return a.parts[n].to > from })
	last := first
	var with []part
	for ; last < len(a.parts) && a.parts[last].from < to; last++ {
		x := a.parts[last]
		if !may(&x.Segment) {
			with = append(with, x)
			continue
		}
		any = true
		for _, y := range []part{{x.from, max(x.from, from), x.Segment}, {max(x.from, from), min(x.to, to), s}, {min(x.to, to), x.to, x.Segment}} {
			if y.to > y.from {
				with = append(with, y)
			}
		}
	}
	a.parts = slices.Replace(a.parts, first, last, with...)
	return any
}

// addCoverage records which requests have known states, and how far apart looks are.
func (a *attacher) addCoverage() {
	sources := make([]charged, 0, len(a.attached))
	for k := range a.attached {
		sources = append(sources, k)
	}
	sorting.Short(sources, func(x, y charged) int {
		return cmp.Or(cmp.Compare(x.subject, y.subject), cmp.Compare(x.artifact, y.artifact), cmp.Compare(x.clock, y.clock))
	})
	for _, k := range sources {
		c := evidence.Coverage{Subject: k.subject, Clock: k.clock, Kind: evidence.CoverStates, Origin: evidence.NewOrigin(k.artifact, 0)}
		for _, w := range a.b.Coverage {
			if w.Subject == k.subject && (w.Kind == evidence.CoverThreads || w.Kind == evidence.CoverWaits) && w.From != 0 {
				if c.From == 0 || w.From < c.From {
					c.From = w.From
				}
				c.Until = max(c.Until, w.Until)
				c.Lost += w.Lost
			}
		}
		c.Sampled = a.meanGap(k.subject, &c)
		if c.Until > c.From {
			a.b.Coverage = append(a.b.Coverage, c)
		}
	}
}

// meanGap returns the mean length (ns) of the gap between two looks at the process around a moment; it widens the coverage to all looks.
func (a *attacher) meanGap(s evidence.SubjectID, c *evidence.Coverage) int64 {
	var squares float64
	last := c.From
	for _, l := range a.t.looks[s] {
		if l.Time == 0 {
			continue
		}
		if c.From == 0 || l.Time < c.From {
			c.From, last = l.Time, l.Time
		}
		d := float64(l.Time - last)
		squares += d * d
		last = l.Time
	}
	c.Until = max(c.Until, last)
	d := float64(c.Until - last)
	if squares += d * d; c.Until == c.From {
		return 0
	}
	return max(1, int64(squares/float64(c.Until-c.From)))
}
