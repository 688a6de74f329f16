package stats

import (
	"math"
	"slices"
)

// How the moving blocks are laid out. A block may start at any of its
// cellsPerBlock cells; more than maxBlocks make the blocks longer, which is
// always allowed. Percentiles at 2 % of 2,000 resamples rest on 40 of them.
const (
	minBlocks     = 20
	maxBlocks     = 256
	cellsPerBlock = 8
	resamples     = 2000
)

// blocks is a window of time cut into cells, which is resampled by runs of cells.
//
// Künsch, The Jackknife and the Bootstrap for General Stationary Observations
// (Annals of Statistics 17, 1989) draws overlapping blocks; Politis & Romano, A
// Circular Block-Resampling Procedure (1992) lets them run over the end of the
// window into its beginning, so that every cell is as likely as any other and
// the resampled total has the observed one as its mean.
type blocks struct {
	from  int64
	width float64 // ns per cell
	count int     // blocks in the window
	cells int     // count · cellsPerBlock
}

func newBlocks(from, until, block int64) (blocks, bool) {
	if block <= 0 || until <= from {
		return blocks{}, false
	}
	count := int(min((until-from)/block, maxBlocks))
	if count < minBlocks {
		return blocks{}, false
	}
	cells := count * cellsPerBlock
	return blocks{from, float64(until-from) / float64(cells), count, cells}, true
}

// cellOf returns the cell of a time, false outside the window.
func (b *blocks) cellOf(t int64) (int, bool) {
	if t < b.from {
		return 0, false
	}
	c := int(float64(t-b.from) / b.width)
	return c, c < b.cells
}

// drawStarts fills starts with the first cells of enough blocks to fill the window.
func (b *blocks) drawStarts(r *random, starts []int) {
	for i := range starts {
		starts[i] = r.below(b.cells)
	}
}

// percentileInterval returns the percentiles of the resampled figures. With n blocks the plain 2.5 % and 97.5 % are too narrow by
// √(n/(n−1)) and by normal in place of Student's tails; the expanded percentiles correct both (Hesterberg, What Teachers Should Know About
// the Bootstrap, The American Statistician 69, 2015, section 5.1) and stay within the range of the figure.
func (b *blocks) percentileInterval(figures []float64) Interval {
	slices.Sort(figures)
	n := float64(b.count)
	z := 1.959963984540054 // confidence 95 %
	nu := n - 1
	// Student's quantile from the normal one: Cornish–Fisher, Abramowitz & Stegun 26.7.5.
	t := z + (z*z*z+z)/(4*nu) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*nu*nu)
	tail := math.Erfc(t*math.Sqrt(n/nu)/math.Sqrt2) / 2
	return Interval{Quantile(figures, tail), Quantile(figures, 1-tail)}
}

// SumInterval returns a 95 % interval for the total of v over the window [from, until), where at[i] is the time of v[i] (ns; in any order,
// times outside the window do not count). Block is the shortest stretch that is independent of the next, at least five times the longest
// stall; with fewer than 20 of them in the window there is no interval.
func SumInterval[N Number](at []int64, v []N, from, until, block int64, seed uint64) (Interval, bool) {
	return SumIntervalAt(func(i int) int64 { return at[i] }, v[:min(len(at), len(v))], from, until, block, seed)
}

// SumIntervalAt is [SumInterval] for values whose times the caller computes.
func SumIntervalAt[N Number](at func(i int) int64, v []N, from, until, block int64, seed uint64) (Interval, bool) {
	b, ok := newBlocks(from, until, block)
	if !ok {
		return Interval{}, false
	}
	cell := make([]float64, b.cells)
	seen := false
	for i, x := range v {
		if c, ok := b.cellOf(at(i)); ok {
			cell[c] += float64(x)
			seen = true
		}
	}
	if !seen {
		return Interval{}, false
	}
	sums := make([]float64, b.cells)
	for s := range sums {
		for k := range cellsPerBlock {
			sums[s] += cell[(s+k)%b.cells]
		}
	}
	r := random(seed)
	starts := make([]int, b.count)
	figures := make([]float64, resamples)
	for i := range figures {
		b.drawStarts(&r, starts)
		for _, s := range starts {
			figures[i] += sums[s]
		}
	}
	return b.percentileInterval(figures), true
}

// QuantileInterval returns a 95 % interval for the q-quantile of v in the window, as [SumInterval] does for the total. Its resolution is
// 1 %; values below 1 (ns) count as 1.
func QuantileInterval[N Number](at []int64, v []N, q float64, from, until, block int64, seed uint64) (Interval, bool) {
	return QuantileIntervalAt(func(i int) int64 { return at[i] }, v[:min(len(at), len(v))], q, from, until, block, seed)
}

// QuantileIntervalAt is [QuantileInterval] for values whose times the caller computes.
func QuantileIntervalAt[N Number](at func(i int) int64, v []N, q float64, from, until, block int64, seed uint64) (Interval, bool) {
	b, ok := newBlocks(from, until, block)
	if !ok {
		return Interval{}, false
	}
	h, ok := newHistogram(&b, at, v)
	if !ok {
		return Interval{}, false
	}
	r := random(seed)
	starts := make([]int, b.count)
	figures := make([]float64, resamples)
	for i := range figures {
		b.drawStarts(&r, starts)
		figures[i] = h.quantileOf(starts, q)
	}
	return b.percentileInterval(figures), true
}

// histogram counts values by the block of time they lie in and by buckets of 1 % width. The quantiles of resamples lie close together, so the
// counts of a bucket are made when one is asked for, and a search begins where the one before it ended.
type histogram struct {
	first  int // number of the lowest bucket in use
	cell   []uint16
	ends   []int      // by bucket: where its values end in cell
	upTo   [][]uint32 // by bucket, and by the first cell of a block: how many of the block's values lie in buckets up to it; nil: not asked for
	latest int        // the bucket that was found last
}

var bucketWidth = math.Log(1.01)

func bucketOf(v float64) int {
	if !(v > 1) {
		return 0
	}
	return int(math.Log(min(v, math.MaxInt64)) / bucketWidth)
}

func newHistogram[N Number](b *blocks, at func(i int) int64, v []N) (*histogram, bool) {
	lo, hi, n := math.MaxInt, -1, 0
	bucket, cell := make([]int16, len(v)), make([]uint16, len(v)) // bucket −1 outside the window; there are less than 4,400 of them
	for i, x := range v {
		bucket[i] = -1
		if c, ok := b.cellOf(at(i)); ok {
			k := bucketOf(float64(x))
			bucket[i], cell[i] = int16(k), uint16(c)
			lo, hi = min(lo, k), max(hi, k)
			n++
		}
	}
	if hi < 0 {
		return nil, false
	}
	h := &histogram{first: lo, cell: make([]uint16, n), ends: make([]int, hi-lo+1), upTo: make([][]uint32, hi-lo+1), latest: hi - lo}
	for _, k := range bucket {
		if k >= 0 {
			h.ends[int(k)-lo]++
		}
	}
	sum := 0
	for k, count := range h.ends {
		h.ends[k], sum = sum, sum+count // where its values begin, until they are placed
	}
	for i, k := range bucket {
		if k >= 0 {
			h.cell[h.ends[int(k)-lo]] = cell[i]
			h.ends[int(k)-lo]++
		}
	}
	all := make([]uint32, b.cells)
	for _, c := range h.cell {
		countInBlocks(all, c, 1)
	}
	h.upTo[hi-lo] = all
	return h, true
}

// countInBlocks adds a number to the counts of all blocks that a cell lies in.
func countInBlocks(counts []uint32, cell uint16, by uint32) {
	from := int(cell) - cellsPerBlock + 1
	if from >= 0 {
		for s := range counts[from : from+cellsPerBlock] {
			counts[from+s] += by
		}
		return
	}
	for k := range cellsPerBlock { // blocks that run over the end
		counts[(from+k+len(counts))%len(counts)] += by
	}
}

// countsUpTo returns the counts up to a bucket, by the first cell of a block. They are those of the nearest bucket that was asked for, and the
// values between the two.
func (h *histogram) countsUpTo(bucket int) []uint32 {
	if of := h.upTo[bucket]; of != nil {
		return of
	}
	above, below := bucket+1, bucket-1
	for h.upTo[above] == nil {
		above++
	}
	for below >= 0 && h.upTo[below] == nil {
		below--
	}
	var counts []uint32
	if below >= 0 && h.ends[bucket]-h.ends[below] < h.ends[above]-h.ends[bucket] {
		counts = slices.Clone(h.upTo[below])
		for _, c := range h.cell[h.ends[below]:h.ends[bucket]] {
			countInBlocks(counts, c, 1)
		}
	} else {
		counts = slices.Clone(h.upTo[above])
		for _, c := range h.cell[h.ends[bucket]:h.ends[above]] {
			countInBlocks(counts, c, ^uint32(0)) // −1
		}
	}
	h.upTo[bucket] = counts
	return counts
}

func (h *histogram) countUpTo(starts []int, bucket int) (n int) {
	counts := h.countsUpTo(bucket)
	for _, s := range starts {
		n += int(counts[s])
	}
	return n
}

// quantileOf returns the middle of the bucket with the q-quantile of the blocks that begin at the
// starts, 0 if they hold nothing.
func (h *histogram) quantileOf(starts []int, q float64) float64 {
	total := h.countUpTo(starts, len(h.ends)-1)
	if total == 0 {
		return 0
	}
	want := nearestRank(q, total)
	lo, hi := 0, len(h.ends)-1 // the first bucket that has as many is among these
	if h.countUpTo(starts, h.latest) >= want {
		hi = h.latest
		for step := 1; lo < hi; step *= 2 {
			below := max(lo, hi-step)
			if h.countUpTo(starts, below) < want {
				lo = below + 1
				break
			}
			hi = below
		}
	} else {
		lo = h.latest + 1
		for step := 1; lo < hi; step *= 2 {
			above := min(hi, lo+step)
			if h.countUpTo(starts, above) >= want {
				hi = above
				break
			}
			lo = above + 1
		}
	}
	for lo < hi {
		mid := (lo + hi) / 2
		if h.countUpTo(starts, mid) >= want {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	h.latest = lo
	return math.Exp((float64(h.first+lo) + .5) * bucketWidth)
}
