package evidence

import (
	"cmp"
	"slices"
	"sort"
)

// Serving finds the request that a lane served at some time, among the requests of one artifact.
type Serving struct {
	requests *Requests
	rows     []int32 // by lane, then by start
}

// Serving indexes the requests of an artifact. It is valid until requests are added or clipped.
func (b *Bundle) Serving(a ArtifactID) *Serving {
	r := &b.Requests
	s := &Serving{requests: r}
	for i, o := range r.Origin.All() {
		if of, ok := o.Artifact(); ok && of == a && r.Lane.At(i) != 0 {
			s.rows = append(s.rows, int32(i))
		}
	}
	slices.SortStableFunc(s.rows, func(x, y int32) int {
		return cmp.Or(cmp.Compare(r.Lane.At(int(x)), r.Lane.At(int(y))), cmp.Compare(r.Start.At(int(x)), r.Start.At(int(y))))
	})
	return s
}

// At returns the request that a lane served within [from, to), of several the one with most of the time; NoRequest if there is none. A
// lane serves one request at a time.
func (s *Serving) At(lane LaneID, from, to int64) RequestID {
	r := s.requests
	i := sort.Search(len(s.rows), func(i int) bool {
		row := s.rows[i]
		return r.Lane.At(int(row)) > lane || r.Lane.At(int(row)) == lane && r.Start.At(int(row)) >= to
	})
	best, most := NoRequest, int64(0)
	for i--; i >= 0; i-- {
		row := s.rows[i]
		if r.Lane.At(int(row)) != lane || r.End.At(int(row)) <= from {
			break
		}
		if shared := min(r.End.At(int(row)), to) - max(r.Start.At(int(row)), from); shared > most {
			best, most = RequestID(row+1), shared
		}
	}
	return best
}
