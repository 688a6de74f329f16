package gctrace

import (
	"slices"

	"github.com/unstall/unstall/internal/base/stats"
)

// anchor is the start of a process in ns since the epoch.
type anchor struct {
	at, err  int64
	ok       bool
	zoneless bool
}

// gap holds the times of stamped lines since the last gc line.
type gap struct {
	some                  bool
	first, firstRes, last int64
	zoneless              bool
}

func (g *gap) addStamp(s stamp) {
	if !g.some {
		*g = gap{some: true, first: s.at, firstRes: s.res, last: s.at}
	}
	if s.at < g.first {
		g.first, g.firstRes = s.at, s.res
	}
	g.last = max(g.last, s.at)
	g.zoneless = g.zoneless || s.zoneless
}

// maxBounds limits the bounds of each kind that a process keeps.
const maxBounds = 1 << 14

// recordBounds ends a gap at a gc line: cycle c of run r, not yet added. The stamps bound the start of the processes before and
// after the gap: a line that follows a gc line was written after that cycle ended, and a line that precedes one before it.
func (g *gap) recordBounds(cs *cycles, runs []*run, r *run, c *cycle) {
	if !g.some {
		return
	}
	if cs.n > 0 {
		before := cs.at(cs.n - 1)
		b := runs[before.run]
		b.zoneless = b.zoneless || g.zoneless
		if len(b.his) < maxBounds {
			b.his = append(b.his, g.first+g.firstRes-before.end())
		}
	}
	if r != nil {
		r.zoneless = r.zoneless || g.zoneless
		if len(r.los) < maxBounds {
			r.los = append(r.los, g.last-c.end()-c.maxTruncation())
		}
	}
	g.some = false
}

// printDelay is the usual time between a cycle's end and its line. In between the runtime starts the world and flushes each
// P's cache.
const printDelay = 1e6

// anchorRuns places each process by the stamps of its own lines, else
// by those of the lines between them.
func (p *parser) anchorRuns() {
	p.gap.recordBounds(&p.cycles, p.runs, nil, nil)
	type read struct{ at, slack int64 } // the start that a stamp gives, and by how much it may be too late
	reads := make([][]read, len(p.runs))
	inLine := make([]bool, len(p.runs))
	for i := range p.cycles.n {
		if c := p.cycles.at(i); c.stamp != 0 {
			reads[c.run] = append(reads[c.run], read{c.stamp - c.end(), c.maxTruncation()})
			inLine[c.run] = inLine[c.run] || c.stampInLine
		}
	}
	res := p.stampResolution(func(yield func(int64)) {
		for i := range p.cycles.n {
			if s := p.cycles.at(i).stamp; s != 0 {
				yield(s)
			}
		}
	})
	for i, r := range p.runs {
		if len(reads[i]) == 0 {
			r.anchor = findOffset(r.los, r.his)
			r.anchor.zoneless = r.zoneless
			continue
		}
		at := make([]int64, len(reads[i]))
		for k, v := range reads[i] {
			at[k] = v.at
		}
		slices.Sort(at)
		// A line is never stamped before its cycle has ended: a hard bound. The
		// other bound holds for lines stamped without delay.
		hi := at[0] + res
		lo := at[0] - 2*printDelay
		for _, v := range reads[i] {
			if l := v.at - v.slack; l > lo && l <= hi {
				lo = l
			}
		}
		late := max(0, stats.Quantile(at, 0.5)-at[0]-res)
		r.anchor = anchor{at: lo + (hi-lo)/2, err: (hi-lo)/2 + late + printDelay, ok: true, zoneless: inLine[i] && p.zonelessLines}
	}
}

// findOffset finds the offset that most bounds agree with: los are lower bounds, his upper bounds. At most a quarter may
// contradict it, because loggers buffer and lines quote old dates.
func findOffset(los, his []int64) (a anchor) {
	slices.Sort(los)
	slices.Sort(his)
	best, lo, hi := 0, int64(0), int64(0)
	for k, j := 0, 0; k < len(los); k++ {
		for j < len(his) && his[j] < los[k] {
			j++
		}
		if j == len(his) {
			break
		}
		if n := k + 1 + len(his) - j; n > best {
			best, lo, hi = n, los[k], his[j]
		}
	}
	if best == 0 || 4*best < 3*(len(los)+len(his)) {
		return anchor{}
	}
	return anchor{at: lo + (hi-lo)/2, err: (hi-lo)/2 + printDelay, ok: true}
}

// stampResolution returns the power of ten that all stamps are a multiple of.
func (p *parser) stampResolution(each func(yield func(int64))) int64 {
	res := int64(1e9)
	each(func(s int64) {
		for s%res != 0 {
			res /= 1000
		}
	})
	return res
}
