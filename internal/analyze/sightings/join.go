package sightings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Joined says which rows took the states of traced requests.
type Joined struct {
	Subject evidence.SubjectID
	Rows    evidence.ArtifactID   // who tells of the rows
	Clients bool                  // the rows are those of all load generators; Rows is one of them
	Traces  []evidence.ArtifactID // who tells of the states

	Count   int // rows under way while somebody traced
	Traced  int // traced requests
	Matched int // of either
}

// What joins a source to traces: so many pairs, and so large a part of either side in the time that both watched. Fewer are pairs
// by chance, of another service's log.
const (
	leastMatched = 20
	mostMatched  = .5
)

// Join gives the rows of clients, and of logs, the states of the traced requests that they are, and says which it did.
// The bundle's clocks are aligned and its threads' states attached. A row lasts as long as it was seen by anybody: one of the
// service's own log begins when the traced request does, if that is earlier.
func Join(b *evidence.Bundle) (all []Joined) {
	traced, outer := sources(b)
	paths := make(map[int]evidence.Path)
	for _, s := range slices.Sorted(maps.Keys(traced)) {
		inner := slices.Concat(slices.Collect(inOrder(traced[s]))...)
		if len(inner) == 0 {
			continue
		}
		for _, a := range slices.Sorted(maps.Keys(outer[s])) {
			j := joining{b: b, r: &b.Requests, Joined: Joined{Subject: s, Rows: a, Clients: ByClients(b, outer[s][a][0]), Traces: slices.Sorted(maps.Keys(traced[s]))}}
			if j.join(inner, outer[s][a], paths) {
				all = append(all, j.Joined)
			}
		}
	}
	if len(paths) > 0 {
		b.Requests.SetPaths(func(i int) evidence.Path { return paths[i] })
	}
	return all
}

// inOrder yields the rows of each artifact, in the artifacts' order.
func inOrder(of map[evidence.ArtifactID][]int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		for _, a := range slices.Sorted(maps.Keys(of)) {
			if !yield(of[a]) {
				return
			}
		}
	}
}

// sources are the rows whose states are known, and others, by subject and who tells of them. All clients are one source.
func sources(b *evidence.Bundle) (traced, outer map[evidence.SubjectID]map[evidence.ArtifactID][]int) {
	r := &b.Requests
	traces := make(map[evidence.SubjectID]map[evidence.ArtifactID]bool)
	for _, c := range b.Coverage {
		if a, ok := c.Origin.Artifact(); ok && c.Kind == evidence.CoverStates {
			if traces[c.Subject] == nil {
				traces[c.Subject] = make(map[evidence.ArtifactID]bool)
			}
			traces[c.Subject][a] = true
		}
	}
	traced, outer = make(map[evidence.SubjectID]map[evidence.ArtifactID][]int), make(map[evidence.SubjectID]map[evidence.ArtifactID][]int)
	if len(traces) == 0 { // a log alone has millions of rows
		return nil, nil
	}
	clients := make(map[evidence.SubjectID]evidence.ArtifactID)
	byClients := Clients(b)
	for i := range r.Len() {
		s := r.Subject.At(i)
		a, ok := r.Origin.At(i).Artifact()
		if !ok || traces[s] == nil || !r.Timed(i) || !b.Clocks[r.Clock.At(i)].Anchored() {
			continue
		}
		to := outer
		switch {
		case traces[s][a] && r.Lane.At(i) != 0:
			to = traced
		case r.Lane.At(i) != 0:
			continue
		case byClients(i):
			if first, known := clients[s]; known {
				a = first
			}
			clients[s] = a
		}
		if to[s] == nil {
			to[s] = make(map[evidence.ArtifactID][]int)
		}
		to[s][a] = append(to[s][a], i)
	}
	for _, of := range traced {
		maps.DeleteFunc(of, func(_ evidence.ArtifactID, rows []int) bool { return !mostFollowed(r, rows) })
	}
	return traced, outer
}

// mostFollowed says whether the states of most requests of a source are known: looks at threads meet few that are short.
func mostFollowed(r *evidence.Requests, rows []int) bool {
	n := 0
	for _, i := range rows {
		if r.Path(i).Followed() {
			n++
		}
	}
	return 2*n >= len(rows)
}

// joining joins one source to traces.
type joining struct {
	Joined
	Match
	b    *evidence.Bundle
	r    *evidence.Requests
	path evidence.Path
	own  bool // the rows are the service's own log, whose clock starts when a handler does
}

func (j *joining) join(traced, rows []int, paths map[int]evidence.Path) bool {
	j.Match = Pairs(j.b, traced, rows)
	j.Traced, j.Matched = len(traced), len(j.Pairs)
	watched := j.watched()
	for _, row := range rows {
		if at := j.r.End.At(row); watched.Within(at, at+1) > 0 {
			j.Count++
		}
	}
	if j.Matched < min(leastMatched, max(1, j.Count)) || float64(j.Matched) < mostMatched*float64(min(j.Traced, max(1, j.Count))) {
		return false
	}
	j.own = j.Before == 0 && !j.Clients
	for _, p := range j.Pairs {
		paths[p.Row] = j.compose(p)
	}
	return true
}

// watched is when the traces tell of states.
func (j *joining) watched() (spans metrics.Spans) {
	windows := slices.DeleteFunc(slices.Clone(j.b.Covered(j.Subject, evidence.CoverStates)), func(c evidence.Coverage) bool {
		a, ok := c.Origin.Artifact()
		return !ok || !slices.Contains(j.Traces, a)
	})
	slices.SortFunc(windows, func(x, y evidence.Coverage) int { return cmp.Compare(x.From, y.From) })
	for _, c := range windows {
		spans = spans.Add(c.From, c.Until)
	}
	return spans
}

// compose is the path of a row: how late it was sent, what passed before the service saw it, its states, and what passed until
// the answer was out. What a request waited for when its trace began it has waited for since it came, but for the usual time before;
// who stands in a queue when it ends stands there until its turn comes.
func (j *joining) compose(p Pair) evidence.Path {
	r := j.r
	began, ended := Whole(j.b, p.Traced)
	start, end := r.Start.At(p.Traced), r.End.At(p.Traced)
	sent, until := Sent(r, p.Row)+j.Behind, r.End.At(p.Row)+j.Behind
	if !j.Clients {
		if began && (j.own || start < sent) {
			r.Start.Set(p.Row, start)
			sent = start
		}
		if ended && (j.own || end > r.End.At(p.Row)) {
			r.End.Set(p.Row, end)
			until = end
		}
	}
	r.Lane.Set(p.Row, r.Lane.At(p.Traced))
	path := j.path[:0]
	if from := until - r.Latency(p.Row); r.Start.At(p.Row) == 0 && sent > from {
		path = path.Append(evidence.Segment{Kind: evidence.SentLate, Dur: sent - from})
	}
	inner := r.Path(p.Traced)
	if began {
		path = path.Append(evidence.Segment{Kind: evidence.BeforeService, Dur: start - sent})
	} else {
		path = carryBack(path, start-sent, j.Before, inner)
	}
	skip := max(0, sent-start) // the client's clock is behind: what it cannot have seen
	left := until - max(sent, start)
	var s evidence.Segment
	for inner.Next(&s) && left > 0 {
		cut := min(skip, s.Dur)
		skip -= cut
		if dur := min(s.Dur-cut, left); dur > 0 {
			s.Resize(dur)
			path = path.Add(&s)
			left -= dur
		}
	}
	switch {
	case ended:
		path = path.Append(evidence.Segment{Kind: evidence.AfterService, Dur: left})
	case s.Kind.Queues() && left > j.Served: // it waits on until its turn comes
		s.Resize(left - j.Served)
		path = path.Add(&s).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: j.Served})
	default:
		path = path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: left})
	}
	j.path = path
	return slices.Clone(path)
}

// carryBack adds the time before a trace began: the usual time before the service sees a request, and the wait that it was in.
func carryBack(path evidence.Path, gap, usualBefore int64, inner evidence.Path) evidence.Path {
	before := min(max(0, gap), usualBefore)
	path = path.Append(evidence.Segment{Kind: evidence.BeforeService, Dur: before})
	if gap -= before; gap <= 0 {
		return path
	}
	var s evidence.Segment
	if !inner.Next(&s) || !s.Kind.Waits() {
		return path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: gap})
	}
	s.Resize(gap)
	return path.Append(s)
}

// Of is the join of the rows that an artifact tells of, or all clients do; nil where there is none.
func Of(all []Joined, subject evidence.SubjectID, rows evidence.ArtifactID, clients bool) *Joined {
	k := slices.IndexFunc(all, func(j Joined) bool { return j.Subject == subject && (j.Rows == rows || j.Clients && clients) })
	if k < 0 {
		return nil
	}
	return &all[k]
}
