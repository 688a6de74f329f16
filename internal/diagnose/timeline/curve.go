package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// buildCurve returns a curve of a series: only the shown time, with NaN where nothing watched, and
// at most [MaxCurve] points.
func (l *layout) buildCurve(id, title string, s *evidence.Series) Curve {
	t, v := l.pointsWithGaps(s)
	return l.decimateCurve(Curve{ID: id, Title: title, Source: l.originName(s.Origin), T: t, V: v})
}

// buildReadings returns a curve of a series whose points are single readings.
func (l *layout) buildReadings(id, title string, s *evidence.Series) Curve {
	c := l.buildCurve(id, title, s)
	c.Readings = true
	return c
}

// pointsWithGaps returns the points of a series in the shown time, with NaN where a recording in
// pieces has a gap. A counter's last reading says nothing about what came after it; a gauge holds
// until its piece ends.
func (l *layout) pointsWithGaps(s *evidence.Series) (t []int64, v []float64) {
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
		// The previous point's piece may have ended before this point's piece began.
		if len(t) > 0 && len(watched) > 0 {
			if before := watched.endOfSpanAt(last); before > 0 && before < watched[w].from && before < at {
				t, v = append(t, max(before, last+1)), append(v, math.NaN())
			}
		}
		if len(t) > 0 && at <= last {
			v[len(v)-1] = s.V[i] // of several values at one time the last one counts
			continue
		}
		t, v = append(t, at), append(v, s.V[i])
		last = at
	}
	if len(t) == 0 {
		return nil, nil
	}
	end := last
	if before := watched.endOfSpanAt(last); before > 0 {
		end = before
	}
	if end = min(end, max(l.t.To, last)); end > last {
		t, v = append(t, end), append(v, v[len(v)-1])
	}
	return t, v
}

// watchedBy returns the spans in which the pieces that a series was joined from were recorded;
// gaps no longer than between the points of the series are closed.
func (l *layout) watchedBy(s *evidence.Series) spans {
	a, ok := s.Origin.Artifact()
	if !ok {
		return nil
	}
	piece := make(map[evidence.ArtifactID]bool)
	for _, p := range l.piecesOf(a) {
		piece[p] = true
	}
	var all spans
	states := false
	for _, c := range l.b.Coverage {
		if o, ok := c.Origin.Artifact(); ok && piece[o] && c.From != 0 && c.Until > c.From && l.placed[c.Clock] {
			all = append(all, span{c.From, c.Until})
			states = states || c.Kind == evidence.CoverStates
		}
	}
	var merged spans
	merged.add(all...)
	if states || len(merged) < 2 {
		return merged
	}
	// Readings are single moments: the gap between two pieces is one step.
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

// endOfSpanAt returns the end of the span that holds t, 0 if none does.
func (s spans) endOfSpanAt(t int64) int64 {
	i, ok := slices.BinarySearchFunc(s, t, func(x span, t int64) int { return cmp.Compare(x.from, t) })
	if ok {
		return s[i].to
	}
	if i > 0 && t <= s[i-1].to {
		return s[i-1].to
	}
	return 0
}

// typicalStep returns the median time between points.
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

// decimateCurve reduces a curve with too many points to equal spans of time: each point becomes
// the mean over its span, with the highest value beside it. Unknown values stay unknown, unless
// there are very many short gaps.
func (l *layout) decimateCurve(c Curve) Curve {
	if len(c.T) <= MaxCurve {
		return c
	}
	if !slices.ContainsFunc(c.V, func(v float64) bool { return !math.IsNaN(v) }) {
		c.T, c.V = nil, nil // all values are unknown
		return c
	}
	c.T, c.V = fewGaps(c.T, c.V)
	n := len(c.T)
	gaps := 0
	for _, v := range c.V {
		if math.IsNaN(v) {
			gaps++
		}
	}
	// A gap cuts a span in two and is a point itself.
	from := c.T[0]
	width := (c.T[n-1]-from)/int64(MaxCurve-2*gaps-2) + 1
	d := decimated{out: Curve{ID: c.ID, Title: c.Title, Source: c.Source, Readings: c.Readings}}
	for i := 0; i < n; {
		if math.IsNaN(c.V[i]) {
			d.appendPoint(c.T[i], math.NaN(), math.NaN())
			for i++; i < n && math.IsNaN(c.V[i]); i++ {
			}
			continue
		}
		begin := from + (c.T[i]-from)/width*width
		end := begin + width
		first := c.T[i]
		m := mean{highest: math.Inf(-1)}
		if i > 0 && first > begin && !math.IsNaN(c.V[i-1]) {
			m.add(c.V[i-1], first-begin)
			first = begin
		}
		for ; i < n && c.T[i] < end && !math.IsNaN(c.V[i]); i++ {
			next := end
			if i+1 < n {
				next = min(end, c.T[i+1])
			}
			m.add(c.V[i], next-c.T[i])
		}
		d.appendPoint(first, m.value(), m.highest)
		if i < n && c.T[i] >= end+width {
			d.appendPoint(end, c.V[i-1], c.V[i-1]) // the last value holds, not the mean
		}
	}
	return d.out
}

// decimated is a curve under construction.
type decimated struct{ out Curve }

func (d *decimated) appendPoint(t int64, v, highest float64) {
	if n := len(d.out.T); n > 0 {
		t = max(t, d.out.T[n-1]+1)
	}
	d.out.T, d.out.V, d.out.Max = append(d.out.T, t), append(d.out.V, v), append(d.out.Max, highest)
}

// mean is a mean over time and the highest of its values.
type mean struct {
	sum, known    float64
	highest, last float64
}

func (m *mean) add(v float64, dur int64) {
	m.sum += v * float64(dur)
	m.known += float64(dur)
	m.highest, m.last = max(m.highest, v), v
}

func (m *mean) value() float64 {
	if m.known == 0 {
		return m.last
	}
	return m.sum / m.known
}

// fewGaps removes gaps that are too short to be seen, where gaps are more than a quarter of all
// points.
func fewGaps(t []int64, v []float64) ([]int64, []float64) {
	const most = MaxCurve / 4
	short := (t[len(t)-1] - t[0]) / most
	gaps := 0
	for _, x := range v {
		if math.IsNaN(x) {
			gaps++
		}
	}
	if gaps < most {
		return t, v
	}
	var outT []int64
	var outV []float64
	for i := range t {
		if math.IsNaN(v[i]) && (i+1 == len(t) || t[i+1]-t[i] <= short || len(outV) > 0 && math.IsNaN(outV[len(outV)-1])) {
			continue
		}
		outT, outV = append(outT, t[i]), append(outV, v[i])
	}
	return outT, outV
}
