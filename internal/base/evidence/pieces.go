package evidence

import "slices"

// joinPieces joins the series of one name and subject from the pieces of one recording. Pieces may overlap: of points at the same time
// the first stays.
func (b *Bundle) joinPieces() {
	type key struct {
		series  string
		subject SubjectID
		name    string
	}
	first := make(map[key]int)
	gone := make(map[int]bool)
	for i := range b.Series {
		s := &b.Series[i]
		a, ok := s.Origin.Artifact()
		if !ok || b.Artifacts[a].Series == "" {
			continue
		}
		k := key{b.Artifacts[a].Series, s.Subject, s.Name}
		to, ok := first[k]
		if !ok {
			first[k] = i
			continue
		}
		b.Series[to].mergePoints(s.T, s.V)
		gone[i] = true
	}
	if len(gone) == 0 {
		return
	}
	var left []Series
	for i, s := range b.Series {
		if !gone[i] {
			left = append(left, s)
		}
	}
	b.Series = left
}

// mergePoints merges points into a series, which stays in order of time.
func (s *Series) mergePoints(t []int64, v []float64) {
	s.T, s.V = slices.Clone(s.T), slices.Clone(s.V)
	for i, at := range t {
		k, ok := slices.BinarySearch(s.T, at)
		if ok {
			continue
		}
		s.T = slices.Insert(s.T, k, at)
		s.V = slices.Insert(s.V, k, v[i])
	}
}
