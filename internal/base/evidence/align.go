package evidence

import (
	"cmp"
	"math"
	"slices"
)

// Align puts all rows on one timeline. It adds the offset of anchored clocks. It places clocks that are not anchored, or only
// roughly, by matching the collector's cycles in their artifacts with the cycles of the artifact with the best clock. Rows that
// neither can place keep their own times, and their clock says so. Then it joins series of the pieces of one recording. Call it
// after [Bundle.Unify]; a second call does nothing.
func (b *Bundle) Align() {
	if b.aligned {
		return
	}
	b.aligned = true
	defer b.joinPieces()
	reference := -1
	for i, p := range b.parts {
		c := &b.Clocks[p.clock]
		if c.Anchored() {
			b.shiftTimes(p, c.Offset)
		}
		if n := b.countCycles(p); n >= minMatches && (reference < 0 || c.Error < b.Clocks[b.parts[reference].clock].Error) {
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
		b.shiftTimes(p, offset)
		c.Offset += offset
		if rc.Anchored() {
			c.Error = rc.Error + spread
			c.Name += ", placed by gc cycles"
		}
	}
}

// Realign moves all times of an artifact by the time (ns) that its clock is behind another artifact's, as its requests show.
// Call it before [Bundle.Clip].
func (b *Bundle) Realign(a ArtifactID, behind int64) {
	for _, p := range b.parts {
		if p.Artifact == a {
			b.shiftTimes(p, behind)
			c := &b.Clocks[p.clock]
			c.Offset, c.Moved = c.Offset+behind, c.Moved+behind
		}
	}
}

// rough is the error (ns) from which a clock is placed again.
const rough = 5e6

func abs(v int64) int64 { return max(v, -v) }

func (b *Bundle) countCycles(p *Builder) (n int) {
	for _, k := range b.Intervals.Kind[p.from.intervals:p.to.intervals] {
		if k == GCMark {
			n++
		}
	}
	return n
}

func (b *Bundle) shiftTimes(p *Builder, offset int64) {
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
	r := &b.Requests
	for _, c := range []*Column[int64]{&r.Intended, &r.Start, &r.End} {
		c.shiftRows(p.from.requests, p.to.requests, offset)
	}
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
		b.Processors[i].shiftTimes(offset)
	}
}

// matchCycles finds the offset that puts the mark phases of p onto those of r. Both list the same cycles with their own clocks,
// perhaps over different windows: a log covers days, a trace some seconds of them. Every pair of phases suggests an offset. The
// offset with which most phases agree (to 2 ms and to 20 % of their length) wins if at least 3 phases and half of the shorter
// list agree, and more than by chance.
func (b *Bundle) matchCycles(p, r *Builder) (offset, spread int64, ok bool) {
	short, long, sign := b.markPhases(p), b.markPhases(r), int64(1)
	if len(short) > len(long) {
		short, long, sign = long, short, -1
	}
	if len(short) < minMatches {
		return 0, 0, false
	}
	best, tried := 0, 0
	for i := range min(len(short), proposers) {
		a := short[i*len(short)/min(len(short), proposers)]
		for _, c := range long {
			if !isSimilar(a.len, c.len) {
				continue
			}
			d := c.at - a.at
			tried++
			n, s := countAgreeing(short, long, d)
			if n > best {
				best, offset, spread = n, sign*d, s
			}
		}
	}
	return offset, spread, best >= minMatches && 2*best >= len(short) && chanceBound(best, short, long, tried) < .01
}

// chanceBound bounds the probability that any of the offsets tried has n phases in common with a list of other cycles, by the
// union bound over offsets and over which phases agree. The phase that proposed an offset agrees with it. Another phase agrees by
// chance as often as two distances between phases are alike: cycles come at a regular beat, and in a log of days many stretches
// have nearly the same one.
func chanceBound(n int, short, long []phase, tried int) float64 {
	gaps := make([]int64, 0, len(long)-1)
	for i := range len(long) - 1 {
		gaps = append(gaps, long[i+1].at-long[i].at)
	}
	slices.Sort(gaps)
	alike, first, last := 0, 0, 0
	for _, g := range gaps {
		for gaps[first] < g-tolerance {
			first++
		}
		for last < len(gaps) && gaps[last] <= g+tolerance {
			last++
		}
		alike += last - first - 1 // without the pair itself
	}
	one := float64(alike) / math.Max(1, float64(len(gaps)*(len(gaps)-1)))
	one = math.Max(one, 2*tolerance*float64(len(long))/float64(max(1, long[len(long)-1].at-long[0].at)))
	choose := lnFactorial(len(short)-1) - lnFactorial(n-1) - lnFactorial(len(short)-n)
	return math.Exp(math.Log(float64(tried)) + choose + float64(n-1)*math.Log(min(1, one)))
}

func lnFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// proposers is how many phases of the shorter list, spread over it, propose offsets; all phases judge each offset. If half of the
// phases are in the other list, at least one proposer is, in all but one of 2¹⁶ lists.
const proposers = 16

// tolerance is how far apart (ns) two clocks may place the same phase.
const tolerance = 2e6

// minMatches is how many phases must agree.
const minMatches = 3

type phase struct{ at, len int64 }

func (b *Bundle) markPhases(p *Builder) []phase {
	var out []phase
	for i := p.from.intervals; i < p.to.intervals; i++ {
		if b.Intervals.Kind[i] == GCMark {
			out = append(out, phase{b.Intervals.Start[i], b.Intervals.End[i] - b.Intervals.Start[i]})
		}
	}
	slices.SortFunc(out, func(x, y phase) int { return cmp.Compare(x.at, y.at) })
	return out
}

func isSimilar(a, b int64) bool {
	return math.Abs(float64(a-b)) <= 0.2*float64(max(a, b))+100e3
}

// countAgreeing counts the phases that both lists have after the first is moved by d, and returns their largest distance, in ns.
func countAgreeing(short, long []phase, d int64) (n int, spread int64) {
	for _, a := range short {
		at := a.at + d
		j, _ := slices.BinarySearchFunc(long, at-tolerance, func(c phase, t int64) int { return cmp.Compare(c.at, t) })
		if j < len(long) && long[j].at <= at+tolerance && isSimilar(a.len, long[j].len) {
			n++
			spread = max(spread, abs(long[j].at-at))
		}
	}
	return n, spread
}
