package evidence

import (
	"math"
	"slices"
)

// Align puts all rows on one timeline: those of anchored clocks by adding the
// clock's offset, then those of clocks that are not anchored, or only roughly,
// by matching the collector's cycles they hold with the cycles of the artifact
// that knows the time best. What can be placed by neither keeps its own times;
// its clock says so. Series of the pieces of one recording are joined then. Call it
// once, after [Bundle.Unify].
func (b *Bundle) Align() {
	defer b.join()
	reference := -1
	for i, p := range b.parts {
		c := &b.Clocks[p.clock]
		if c.Anchored() {
			b.shift(p, c.Offset)
		}
		if n := b.cycles(p); n >= minMatches && (reference < 0 || c.Error < b.Clocks[b.parts[reference].clock].Error) {
			reference = i
		}
	}
	if reference < 0 {
		return
	}
	r := b.parts[reference]
	rc := b.Clocks[r.clock]
	for i, p := range b.parts {
		c := &b.Clocks[p.clock]
		if i == reference || c.Anchored() && c.Error <= rough {
			continue
		}
		offset, spread, ok := b.matchCycles(p, r)
		if !ok || c.Anchored() && rc.Anchored() && abs(offset) > c.Error+rc.Error {
			continue
		}
		b.shift(p, offset)
		c.Offset += offset
		if rc.Anchored() {
			c.Error = rc.Error + spread
			c.Name += ", placed by gc cycles"
		}
	}
}

// rough is the error (ns) from which a clock is worth placing anew.
const rough = 5e6

func abs(v int64) int64 { return max(v, -v) }

func (b *Bundle) cycles(p *Builder) (n int) {
	for _, k := range b.Intervals.Kind[p.from.intervals:p.to.intervals] {
		if k == GCMark {
			n++
		}
	}
	return n
}

func (b *Bundle) shift(p *Builder, offset int64) {
	if offset == 0 {
		return
	}
	move := func(ts []int64) {
		for i := range ts {
			if ts[i] != 0 {
				ts[i] += offset
			}
		}
	}
	move(b.Requests.Intended[p.from.requests:p.to.requests])
	move(b.Requests.Start[p.from.requests:p.to.requests])
	move(b.Requests.End[p.from.requests:p.to.requests])
	move(b.Intervals.Start[p.from.intervals:p.to.intervals])
	move(b.Intervals.End[p.from.intervals:p.to.intervals])
	move(b.Samples.Time[p.from.samples:p.to.samples])
	for _, i := range p.series {
		move(b.Series[i].T)
	}
	one := func(t *int64) {
		if *t != 0 {
			*t += offset
		}
	}
	for _, i := range p.facts {
		one(&b.Facts[i].From)
		one(&b.Facts[i].Until)
	}
	for _, i := range p.coverage {
		one(&b.Coverage[i].From)
		one(&b.Coverage[i].Until)
	}
	for _, i := range p.processors {
		b.Processors[i].shift(offset)
	}
}

// matchCycles finds the offset that puts the mark phases of p onto those of r.
// Both list the same cycles with their own clocks, perhaps over different
// windows. Every pairing of a phase of p with one of r suggests an offset; the
// one that most phases agree with (to 2 ms and to 20 % of their length) wins if
// at least 3 phases and half of the shorter list agree.
func (b *Bundle) matchCycles(p, r *Builder) (offset, spread int64, ok bool) {
	ps, rs := b.marks(p), b.marks(r)
	if len(ps) < minMatches || len(rs) < minMatches {
		return 0, 0, false
	}
	const enough = 64 // phases used to propose offsets; all are used to judge them
	best := 0
	for _, a := range ps[:min(len(ps), enough)] {
		for _, c := range rs {
			if !similar(a.len, c.len) {
				continue
			}
			d := c.at - a.at
			n, s := agreement(ps, rs, d)
			if n > best {
				best, offset, spread = n, d, s
			}
		}
	}
	return offset, spread, best >= minMatches && 2*best >= min(len(ps), len(rs))
}

// minMatches is how many phases must agree.
const minMatches = 3

type phase struct{ at, len int64 }

func (b *Bundle) marks(p *Builder) []phase {
	var out []phase
	for i := p.from.intervals; i < p.to.intervals; i++ {
		if b.Intervals.Kind[i] == GCMark {
			out = append(out, phase{b.Intervals.Start[i], b.Intervals.End[i] - b.Intervals.Start[i]})
		}
	}
	slices.SortFunc(out, func(x, y phase) int {
		switch {
		case x.at < y.at:
			return -1
		case x.at > y.at:
			return 1
		}
		return 0
	})
	return out
}

func similar(a, b int64) bool {
	return math.Abs(float64(a-b)) <= 0.2*float64(max(a, b))+100e3
}

func agreement(ps, rs []phase, d int64) (n int, spread int64) {
	const tolerance = 2e6
	j := 0
	for _, a := range ps {
		for j < len(rs) && rs[j].at < a.at+d-tolerance {
			j++
		}
		if j < len(rs) && rs[j].at <= a.at+d+tolerance && similar(a.len, rs[j].len) {
			n++
			spread = max(spread, rs[j].at-a.at-d, a.at+d-rs[j].at)
		}
	}
	return n, spread
}
