package evidence

import (
	"cmp"
	"slices"
	"sort"
)

// Serving finds the request that a lane served at some time, among the requests
// of one artifact.
type Serving struct {
	requests *Requests
	rows     []int32 // by lane, then by start
}

// Serving looks through the requests of an artifact. It is good until requests
// are added or clipped.
func (b *Bundle) Serving(a ArtifactID) *Serving {
	r := &b.Requests
	s := &Serving{requests: r}
	for i, o := range r.Origin {
		if of, ok := o.Artifact(); ok && of == a && r.Lane[i] != 0 {
			s.rows = append(s.rows, int32(i))
		}
	}
	slices.SortStableFunc(s.rows, func(x, y int32) int {
		return cmp.Or(cmp.Compare(r.Lane[x], r.Lane[y]), cmp.Compare(r.Start[x], r.Start[y]))
	})
	return s
}

// At returns the request that lane served within [from, to), of several the one
// that took most of it; NoRequest if there is none. A lane serves one request
// at a time.
func (s *Serving) At(lane LaneID, from, to int64) RequestID {
	r := s.requests
	i := sort.Search(len(s.rows), func(i int) bool {
		row := s.rows[i]
		return r.Lane[row] > lane || r.Lane[row] == lane && r.Start[row] >= to
	})
	best, most := NoRequest, int64(0)
	for i--; i >= 0; i-- {
		row := s.rows[i]
		if r.Lane[row] != lane || r.End[row] <= from {
			break
		}
		if shared := min(r.End[row], to) - max(r.Start[row], from); shared > most {
			best, most = RequestID(row+1), shared
		}
	}
	return best
}
