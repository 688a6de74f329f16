package sightings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Joined is a pair of sources whose rows are the same requests, one seen from further inside: by traces, whose states the rows took, or by spans, a
// log or a proxy.
type Joined struct {
	Subject evidence.SubjectID
	Rows    evidence.ArtifactID   // the source of the rows
	Clients bool                  // the rows are those of all load generators; Rows is one of them
	Side    Side                  // the side from which the rows were seen
	Traces  []evidence.ArtifactID // the sources of the states, or of the requests seen from further inside
	Inner   Side                  // the side from which these were seen

	Count   int   // rows under way while a trace was taken
	Traced  int   // traced requests, or those seen from further inside, in the time that both sources cover
	Matched int   // of either
	All     int   // rows
	Keyed   int   // of the matched, by an id that both sources have
	Behind  int64 // ns that the clock of the rows was behind, by the matches

	inner []int32 // by row of any of the joins of this kind: the row that saw the same request from further inside, plus one
}

// InnerOf returns the row that saw the same request as a row from further inside; false where none is known.
func (j *Joined) InnerOf(row int) (inner int, ok bool) {
	if row >= len(j.inner) || j.inner[row] == 0 {
		return 0, false
	}
	return int(j.inner[row]) - 1, true
}

// A source joins traces if there are so many pairs, and so large a part of either side in the time that both cover. Fewer pairs are chance, from
// another service's log.
const (
	leastMatched = 20
	mostMatched  = .5
)

// Join gives the rows of clients, proxies and logs the states of their traced requests, adds what further sources tell of the same requests from
// inside, and returns the joins. The bundle's clocks must be aligned and its threads' states attached. A row lasts from the first to the last
// sighting: one of the service's own log begins with the traced request if that is earlier.
// service's own log begins when the traced request does, if that is earlier.
func Join(b *evidence.Bundle) (all []Joined) {
	traced, outer := splitSources(b)
	every := listSources(b, traced)
	x := joins{b: b, paths: make(map[int]evidence.Path)}
	for _, s := range slices.Sorted(maps.Keys(traced)) {
		inner := slices.Concat(slices.Collect(inOrder(traced[s]))...)
		if len(inner) == 0 {
			continue
		}
		artifacts := slices.Sorted(maps.Keys(outer[s]))
		sources := make([][]int, len(artifacts))
		for n, a := range artifacts {
			sources[n] = outer[s][a]
		}
		for n, m := range PairsOf(b, inner, sources) { // no source's rows change what another one's pair up with
			a := artifacts[n]
			j := joining{b: b, r: &b.Requests, Joined: Joined{Subject: s, Rows: a, Side: SideOf(b, outer[s][a][0]), Traces: slices.Sorted(maps.Keys(traced[s]))}}
			j.Clients = j.Side == ByLoad
			if j.joinRows(m, inner, outer[s][a], x.paths) {
				x.keepPairs(&j)
				all = append(all, j.Joined)
			}
		}
	}
	all = append(all, x.nestAll(every)...)
	if len(x.paths) > 0 || len(x.nested) > 0 {
		b.Requests.SetPaths(x.pathOf)
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

// splitSources returns the rows whose states are known, and others, by subject and artifact. All
// clients are one source.
func splitSources(b *evidence.Bundle) (traced, outer map[evidence.SubjectID]map[evidence.ArtifactID][]int) {
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

// mostFollowed reports whether the states of most requests of a source are known: looks at threads meet few short requests.
func mostFollowed(r *evidence.Requests, rows []int) bool {
	n := 0
	for _, i := range rows {
		if r.Path(i).Followed() {
			n++
		}
	}
	return 2*n >= len(rows)
}

// joining joins one source to traces, or to another source that saw the requests from further inside.
type joining struct {
	Joined
	Match
	b     *evidence.Bundle
	r     *evidence.Requests
	path  evidence.Path
	own   bool // the rows are the service's own log, whose clock starts when a handler does
	vague bool // the rows' clock cannot separate two requests
	fuzzy bool // the clock of the requests seen from further inside cannot either
}

func (j *joining) joinRows(m Match, traced, rows []int, paths map[int]evidence.Path) bool {
	j.setPairs(m, traced, rows)
	j.Traced = len(traced)
	watched := j.tracedSpans()
	for _, row := range rows {
		if at := j.r.End.At(row); watched.Within(at, at+1) > 0 {
			j.Count++
		}
	}
	if !j.hasEnoughPairs() {
		return false
	}
	j.own = j.Before == 0 && j.Side <= ByLog
	j.catchUp(rows)
	for _, p := range j.Pairs {
		began, ended := Whole(j.b, p.Traced)
		j.placeRow(p, began, ended)
		paths[p.Row] = slices.Clone(j.composePath(p, j.r.Path(p.Traced), began, ended))
	}
	return true
}

// setPairs takes pairs over.
func (j *joining) setPairs(m Match, inner, rows []int) {
	j.Match = m
	j.Matched, j.Joined.Keyed, j.All = len(j.Pairs), j.Match.Keyed, len(rows)
	clock := &j.b.Clocks[j.r.Clock.At(rows[0])]
	j.Joined.Behind = j.Match.Behind + clock.Moved
	j.vague, j.fuzzy = clock.Resolution >= coarse, j.b.Clocks[j.r.Clock.At(inner[0])].Resolution >= coarse
}

// hasEnoughPairs reports whether enough requests match for both sources to be of one service.
func (j *joining) hasEnoughPairs() bool {
	return j.Matched >= min(leastMatched, max(1, j.Count)) && float64(j.Matched) >= mostMatched*float64(min(j.Traced, max(1, j.Count)))
}

// catchUp moves rows by the lag of their clock. Clients' rows stay, because their own records describe them elsewhere.
func (j *joining) catchUp(rows []int) {
	if j.Clients || j.Match.Behind == 0 {
		return
	}
	for _, row := range rows {
		if at := j.r.Start.At(row); at != 0 {
			j.r.Start.Set(row, at+j.Match.Behind)
		}
		j.r.End.Set(row, j.r.End.At(row)+j.Match.Behind)
	}
	j.Match.Behind = 0
}

// tracedSpans returns when the traces tell of states.
func (j *joining) tracedSpans() (spans metrics.Spans) {
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

// placeRow sets a row's beginning and end to the true ones: the service's own log begins and ends late, and a clock in whole seconds gives only
// the duration.
func (j *joining) placeRow(p Pair, began, ended bool) {
	r := j.r
	start, end := r.Start.At(p.Traced), r.End.At(p.Traced)
	switch {
	case j.Clients:
	case j.vague && began && ended:
		from := min(start, end-r.Latency(p.Row))
		if took := end - start; j.canExtend() && start-from <= max(leastAlike, int64(alikePart*float64(took))) {
			from = start // the trace is more accurate
		}
		r.Start.Set(p.Row, from)
		r.End.Set(p.Row, end)
	default:
		if began && (j.own || start < r.Start.At(p.Row) && j.canExtend()) {
			r.Start.Set(p.Row, start)
		}
		if ended && (j.own || end > r.End.At(p.Row) && j.canExtend()) {
			r.End.Set(p.Row, end)
		}
	}
	if lane := r.Lane.At(p.Traced); lane != 0 {
		r.Lane.Set(p.Row, lane)
	}
}

// canExtend reports whether rows may have been under way before they say: the sightings of the kernel and a proxy enclose all sightings from
// further inside.
func (j *joining) canExtend() bool { return j.Side < ByKernel }

// composePath makes the path of a row: how late it was sent, the time before the service saw it, its states, and the time until the answer was out.
// A request that waited when its trace began has waited since its arrival, less the usual time before; a request in a queue at the trace's end
// stays there until its turn.
func (j *joining) composePath(p Pair, inner evidence.Path, began, ended bool) evidence.Path {
	r := j.r
	start, end := r.Start.At(p.Traced), r.End.At(p.Traced)
	if start == 0 {
		start = r.Begins(p.Traced)
	}
	sent, until := Sent(r, p.Row)+j.Match.Behind, r.End.At(p.Row)+j.Match.Behind
	if j.fuzzy {
		start, end = until-min(until-sent, end-start), until
	}
	if len(inner) == 0 {
		inner = evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: end - start})
	}
	path := j.path[:0]
	if from := until - r.Latency(p.Row); r.Start.At(p.Row) == 0 && sent > from {
		path = path.Append(evidence.Segment{Kind: evidence.SentLate, Dur: sent - from})
	}
	switch {
	case !began:
		path = carryBack(path, start-sent, j.Before, inner)
	case j.vague:
		path = appendOutside(path, start-sent, r.Path(p.Row), evidence.Unobserved)
	default:
		path = appendOutside(path, start-sent, r.Path(p.Row), evidence.BeforeService)
	}
	skip := max(0, sent-start) // the client's clock lags: time that it cannot have seen
	left := until - max(sent, start)
	own := r.Path(p.Row)
	var s evidence.Segment
	for inner.Next(&s) && left > 0 {
		cut := min(skip, s.Dur)
		skip -= cut
		if dur := min(s.Dur-cut, left); dur > 0 {
			s.Resize(dur)
			if j.Side == ByKernel {
				path = appendKnown(path, &s, own, r.Latency(p.Row)-left)
			} else {
				path = path.Add(&s)
			}
			left -= dur
		}
	}
	switch {
	case ended:
		path = path.Append(evidence.Segment{Kind: evidence.AfterService, Dur: left})
	case s.Kind.Queues() && left > j.Served: // it waits until its turn
		s.Resize(left - j.Served)
		path = path.Add(&s).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: j.Served})
	default:
		path = path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: left})
	}
	j.path = path
	return path
}

// appendKnown adds a state that begins at a time (ns) after the kernel's row does. The kernel knows the service's calls, and waits for their
// connections: where the inner source does not know what the request did, and where it only knows that the request awaits something or a call, which
// may not have begun.
func appendKnown(path evidence.Path, s *evidence.Segment, own evidence.Path, at int64) evidence.Path {
	if s.Kind != evidence.Unobserved && s.Kind != evidence.Awaiting && s.Kind != evidence.NetWait {
		return path.Add(s)
	}
	until, from := at+s.Dur, int64(0)
	var x evidence.Segment
	for own.Next(&x) && at < until {
		end := from + x.Dur
		if dur := min(end, until) - max(from, at); dur > 0 {
			x.Resize(dur)
			if !tellsMore(x.Kind, s.Kind) {
				x = *s
				x.Resize(dur)
			}
			path = path.Add(&x)
			at += dur
		}
		from = end
	}
	rest := *s
	rest.Resize(until - at)
	return path.Add(&rest)
}

// tellsMore reports whether a kind of state that the kernel saw says more of a request than the kind that the runtime saw.
func tellsMore(kernel, runtime evidence.Kind) bool {
	switch kernel {
	case evidence.BeforeService, evidence.AfterService, evidence.SentLate, evidence.Unobserved: // the service had it by then
		return false
	case evidence.PoolWait:
		return true
	case evidence.NetWait:
		return runtime != evidence.NetWait
	}
	return runtime == evidence.Unobserved
}

// appendOutside adds the time until the service saw a request: the part that a proxy knows, and the rest.
func appendOutside(path evidence.Path, gap int64, own evidence.Path, rest evidence.Kind) evidence.Path {
	var s evidence.Segment
	for own.Next(&s) && gap > 0 {
		switch s.Kind {
		case evidence.ClientWait, evidence.PoolWait, evidence.BeforeService:
			s.Resize(min(s.Dur, gap))
			path = path.Add(&s)
			gap -= s.Dur
			continue
		case evidence.SentLate:
			continue
		}
		break
	}
	return path.Append(evidence.Segment{Kind: rest, Dur: gap})
}

// carryBack adds the time before a trace began: the usual time before the service sees a request, and the wait that was under way.
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

// Of returns the join of an artifact's rows, or of all clients' rows, with traces; nil where there is none.
func Of(all []Joined, subject evidence.SubjectID, rows evidence.ArtifactID, clients bool) *Joined {
	k := slices.IndexFunc(all, func(j Joined) bool {
		return j.Inner == ByTrace && j.Subject == subject && (j.Rows == rows || j.Clients && clients)
	})
	if k < 0 {
		return nil
	}
	return &all[k]
}

// Chain returns the joins of an artifact's rows, or of all clients' rows, and of the sources that these were joined to, from the outside in.
func Chain(all []Joined, subject evidence.SubjectID, rows evidence.ArtifactID, clients bool) (out []Joined) {
	at := map[evidence.ArtifactID]bool{rows: true}
	for more := true; more; {
		more = false
		for _, j := range all {
			of := at[j.Rows] || j.Clients && clients
			if j.Subject != subject || !of || slices.ContainsFunc(out, func(o Joined) bool { return o.Rows == j.Rows && o.Inner == j.Inner && slices.Equal(o.Traces, j.Traces) }) {
				continue
			}
			out, more = append(out, j), true
			for _, a := range j.Traces {
				at[a] = true
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Joined) int { return cmp.Or(cmp.Compare(y.Side, x.Side), cmp.Compare(y.Inner, x.Inner)) })
	return out
}
