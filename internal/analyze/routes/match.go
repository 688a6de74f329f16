package routes

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Thresholds for taking rows of an access log or a load generator as the traced requests.
const (
	// This part of a handler's requests must have a row for the rest to go without: a smaller part would be the requests that ran alone, which are
	// the quick ones.
	mostMatched = .8
	// A smaller part of a handler's or a route's requests may be wrong matches.
	goodPart = .1
	// Fewer matched requests of a handler tell nothing.
	leastMatched = 5
)

// clients stands for all load generators, which count as one source.
const clients evidence.ArtifactID = -1

// Match gives traced requests the method and path that other sources know of them. A handler of a single path gets it for all of its requests, a
// handler of several paths for the requests with a row of their own.
func Match(b *evidence.Bundle) {
	r := &b.Requests
	traced := make(map[evidence.SubjectID][]int)
	rows := make(map[evidence.SubjectID]map[evidence.ArtifactID][]int)
	usable := func(i int) (a evidence.ArtifactID, ok bool) {
		a, ok = r.Origin.At(i).Artifact()
		return a, ok && b.Clocks[r.Clock.At(i)].Anchored() && r.Timed(i)
	}
	for i := range r.Len() {
		if r.Lane.At(i) == 0 {
			continue
		}
		if _, ok := usable(i); ok && r.Path(i) != nil {
			s := r.Subject.At(i)
			traced[s] = append(traced[s], i)
		}
	}
	if len(traced) == 0 { // a log alone has millions of rows and no request to match
		return
	}
	byClients := sightings.Clients(b)
	for i := range r.Len() {
		if r.Lane.At(i) != 0 || r.Route.At(i) == 0 {
			continue
		}
		s := r.Subject.At(i)
		if a, ok := usable(i); ok && traced[s] != nil {
			if byClients(i) {
				a = clients
			}
			if rows[s] == nil {
				rows[s] = make(map[evidence.ArtifactID][]int)
			}
			rows[s][a] = append(rows[s][a], i)
		}
	}
	for s, of := range traced {
		if best := bestMatch(b, of, rows[s]); best != nil {
			renameRoutes(b, of, best)
		}
	}
}

// bestMatch matches with each source separately and returns the match that knows most.
func bestMatch(b *evidence.Bundle, traced []int, sources map[evidence.ArtifactID][]int) (best map[int]evidence.NameID) {
	ids := make([]evidence.ArtifactID, 0, len(sources))
	for a := range sources {
		ids = append(ids, a)
	}
	slices.Sort(ids)
	rows := make([][]int, len(ids))
	for n, a := range ids {
		rows[n] = sources[a]
	}
	var most []sightings.Pair // each of another traced request
	for _, m := range sightings.PairsOf(b, traced, rows) {
		if len(m.Pairs) > len(most) {
			most = m.Pairs
		}
	}
	if len(most) == 0 {
		return nil
	}
	best = make(map[int]evidence.NameID, len(most))
	for _, p := range most {
		best[p.Traced] = b.Requests.Route.At(p.Row)
	}
	return best
}

// renameRoutes sets the routes of traced requests to the matched ones. A few matches are wrong: a handler answers a route only if most of that
// route's requests are its own, or a good part of both the route's and the handler's.
func renameRoutes(b *evidence.Bundle, traced []int, matched map[int]evidence.NameID) {
	r := &b.Requests
	all, count, ofRoute := make(map[evidence.NameID]int), make(map[evidence.NameID]int), make(map[evidence.NameID]int)
	both := make(map[[2]evidence.NameID]int)
	for _, i := range traced {
		h, to := r.Route.At(i), matched[i]
		all[h]++
		if to != 0 {
			count[h]++
			ofRoute[to]++
			both[[2]evidence.NameID{h, to}]++
		}
	}
	answers := make(map[[2]evidence.NameID]bool)
	several, only := make(map[evidence.NameID]int), make(map[evidence.NameID]evidence.NameID)
	for k, n := range both {
		share, part := float64(n)/float64(ofRoute[k[1]]), float64(n)/float64(count[k[0]])
		if share > .5 || share >= goodPart && part >= goodPart {
			answers[k] = true
			several[k[0]]++
			only[k[0]] = k[1]
		}
	}
	for _, i := range traced {
		h := r.Route.At(i)
		switch {
		case count[h] < leastMatched || float64(count[h]) < mostMatched*float64(all[h]):
		case several[h] == 1 && h != 0:
			r.Route.Set(i, only[h])
		case answers[[2]evidence.NameID{h, matched[i]}]:
			r.Route.Set(i, matched[i])
		}
	}
}
