package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/evidence"
)

// curve makes a curve of a series: only what is shown, nothing where nobody
// looked, at most [MaxCurve] points.
func (l *layout) curve(id, title string, s *evidence.Series) Curve {
	t, v := l.gaps(s)
	return l.decimate(Curve{ID: id, Title: title, Source: l.originName(s.Origin), T: t, V: v})
}

// gaps returns a series' points within what is shown, with NaN where a recording
// in pieces had a gap. A counter's last reading says nothing about what came
// after it; a gauge holds until its piece ends.
func (l *layout) gaps(s *evidence.Series) (t []int64, v []float64) {
	watched := l.watchedBy(s)
	w := 0
	var last int64
	for i, at := range s.T {
		for w+1 < len(watched) && watched[w+1].from <= at {
			w++
		}
		if i+1 < len(s.T) && s.T[i+1] < l.t.From || at > l.t.To {
			continue
		}
		// The piece of the point before may have ended before this one's began.
		if len(t) > 0 && len(watched) > 0 {
			if before := watched.upto(last); before > 0 && before < watched[w].from && before < at {
				t, v = append(t, max(before, last+1)), append(v, math.NaN())
			}
		}
		t, v = append(t, at), append(v, s.V[i])
		last = at
	}
	if len(t) == 0 {
		return nil, nil
	}
	end := last
	if before := watched.upto(last); before > 0 {
		end = before
	}
	if end = min(end, max(l.t.To, last)); end > last {
		t, v = append(t, end), append(v, v[len(v)-1])
	}
	return t, v
}

// watchedBy are the spans in which the pieces that a series was joined from
// looked, without gaps that are no longer than between its own points.
func (l *layout) watchedBy(s *evidence.Series) spans {
	a, ok := s.Origin.Artifact()
	if !ok {
		return nil
	}
	piece := make(map[evidence.ArtifactID]bool)
	for _, p := range l.pieces(a) {
		piece[p] = true
	}
	var all spans
	states := false
	for _, c := range l.b.Coverage {
		if o, ok := c.Origin.Artifact(); ok && piece[o] && c.From != 0 && c.Until > c.From {
			all = append(all, span{c.From, c.Until})
			states = states || c.Kind == evidence.CoverStates
		}
	}
	var merged spans
	merged.add(all...)
	if states || len(merged) == 0 {
		return merged
	}
	// Readings are taken one by one: between two pieces lies one step.
	step := typicalStep(s.T)
	out := merged[:1]
	for _, x := range merged[1:] {
		if last := &out[len(out)-1]; x.from-last.to <= 3*step {
			last.to = x.to
		} else {
			out = append(out, x)
		}
	}
	return out
}

// upto is the end of the span that holds t, 0 if none does.
func (s spans) upto(t int64) int64 {
	i, ok := slices.BinarySearchFunc(s, t, func(x span, t int64) int { return cmp.Compare(x.from, t) })
	if ok {
		return s[i].to
	}
	if i > 0 && t <= s[i-1].to {
		return s[i-1].to
	}
	return 0
}

// typicalStep is the median time between points.
func typicalStep(t []int64) int64 {
	if len(t) < 2 {
		return 0
	}
	d := make([]int64, len(t)-1)
	for i := range d {
		d[i] = t[i+1] - t[i]
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// decimate sums a curve with too many points up in equal spans of time: each
// point becomes the mean over its span, with the highest value beside it.
func (l *layout) decimate(c Curve) Curve {
	n := len(c.T)
	if n <= MaxCurve {
		return c
	}
	from, to := c.T[0], c.T[n-1]
	// A span can need a second point, where what is known begins or ends within it.
	width := (to-from)/(MaxCurve/2-1) + 1
	out := Curve{ID: c.ID, Title: c.Title, Source: c.Source}
	for i := 0; i < n; {
		slot := (c.T[i] - from) / width
		begin := from + slot*width
		end := begin + width
		var sum, known float64
		highest := math.NaN()
		see := func(v float64, from, to int64) {
			if math.IsNaN(v) {
				return
			}
			if math.IsNaN(highest) || v > highest {
				highest = v
			}
			sum += v * float64(to-from)
			known += float64(to - from)
		}
		first := c.T[i]
		if i > 0 && first > begin {
			if v := c.V[i-1]; !math.IsNaN(v) {
				first = begin
				see(v, begin, c.T[i])
			} else if out.V != nil && !math.IsNaN(out.V[len(out.V)-1]) {
				out.T, out.V, out.Max = append(out.T, begin), append(out.V, math.NaN()), append(out.Max, math.NaN())
			}
		}
		single := c.V[i]
		for ; i < n && c.T[i] < end; i++ {
			next := end
			if i+1 < n {
				next = min(next, c.T[i+1])
			}
			see(c.V[i], c.T[i], next)
			if !math.IsNaN(c.V[i]) {
				single = c.V[i]
			}
		}
		mean := single
		if known > 0 {
			mean = sum / known
		}
		if k := len(out.T); k > 0 && out.T[k-1] >= first {
			first = out.T[k-1] + 1
		}
		out.T, out.V, out.Max = append(out.T, first), append(out.V, mean), append(out.Max, highest)
		// What follows this span holds the last value, not the mean.
		if i < n && c.T[i] >= end+width && end > first {
			out.T, out.V, out.Max = append(out.T, end), append(out.V, c.V[i-1]), append(out.Max, c.V[i-1])
		}
	}
	return out
}
