package diagnose

import (
	"cmp"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Onset is the moment since which requests are slow.
type Onset struct {
	At     *time.Time `json:"at"`     // null where no clock is anchored
	From   float64    `json:"from_s"` // since the beginning of the evidence about requests
	Within bool       `json:"within"` // slowness began then; else requests were slow from the beginning
	Before float64    `json:"before"` // slow part of the requests before the moment, if Within
	Since  float64    `json:"since"`  // slow part from then on

	Bursts *Bursts `json:"bursts,omitempty"` // left out where requests are slow all the time, or now and then
}

// Bursts are the stretches that slow requests lie in, with time between them in which hardly any is slow.
type Bursts struct {
	Count   int      `json:"count"`
	LastS   float64  `json:"last_s"`  // median length
	EveryS  *float64 `json:"every_s"` // median distance of their beginnings; null where they do not come in equal distances
	Slow    float64  `json:"slow"`    // slow part of the requests that began in them
	Between float64  `json:"between"` // slow part of the others
}

// Thresholds for the onset: the number of requests before and after it, the part of the time on each side, by which factor the slow part grows, and
// the least slow part after it.
const (
	onsetRequests = 50
	onsetTime     = .1
	onsetTimes    = 5.
	onsetShare    = .05
)

// findOnset finds since when requests are slow: the moment that best divides the requests into
// those before it, of which hardly any is slow, and those after it. Nil if none was slow.
func findOnset(b *evidence.Bundle, l *ledger.Ledger) *Onset {
	if len(l.Slow) == 0 || l.To <= l.From {
		return nil
	}
	d := divide{l: l, began: func(i int) int64 { return b.Requests.End.At(i) - b.Requests.Latency(i) }, slow: evidence.NewRows(b.Requests.Len())}
	for _, i := range l.Slow {
		d.slow.Add(i)
	}
	out := &Onset{}
	at, most := l.From, 0.
	for _, c := range d.buildCells() {
		if !d.canHoldOnset(&c, most) {
			continue
		}
		n := c.slowBefore
		for k, i := range c.rows {
			if !d.slow.Has(i) {
				continue
			}
			before, after := d.slowShares(c.before+k, n)
			if t := d.began(i); d.isBetterSplit(before, after, most) && d.hasEnoughAround(c.before+k, t, c.before+k, t) {
				most, at = after-before, t
				out.Within, out.Before, out.Since = true, before, after
			}
			n++
		}
	}
	out.From = float64(at-l.From) / 1e9
	out.Bursts = findBursts(b, l)
	if clock := b.Clocks[b.Requests.Clock.At(d.first)]; clock.Anchored() {
		t := time.Unix(0, at).UTC()
		out.At = &t
	}
	return out
}

// divide finds the moment. It first divides requests into cells of time, because most cells cannot hold the moment, and sorts only those that may: to
// sort millions takes longer than everything else.
type divide struct {
	l     *ledger.Ledger
	began func(row int) int64
	slow  evidence.Rows
	first int // the request with the earliest beginning
}

// onsetCells is the number of cells.
const onsetCells = 1024

// startsCell is the requests that began within a part of the time.
type startsCell struct {
	from, to           int64 // ns
	before, slowBefore int   // requests that began earlier
	n, slow            int   // requests that began in it
	rows               []int // by when they began; nil of a cell that cannot hold the moment
}

// buildCells divides the time into cells, in order, and sorts the requests of those that can hold
// the onset.
func (d *divide) buildCells() []startsCell {
	d.first = d.l.Rows[0]
	last := d.began(d.first)
	for _, i := range d.l.Rows {
		if t := d.began(i); t < d.began(d.first) {
			d.first = i
		} else {
			last = max(last, t)
		}
	}
	cells := make([]startsCell, onsetCells)
	from := d.began(d.first)
	width := (last-from)/onsetCells + 1
	at := func(i int) *startsCell { return &cells[(d.began(i)-from)/width] }
	for _, i := range d.l.Rows {
		c := at(i)
		c.n++
		if d.slow.Has(i) {
			c.slow++
		}
	}
	before, slow := 0, 0
	for k := range cells {
		c := &cells[k]
		c.from, c.to = from+int64(k)*width, from+int64(k+1)*width
		c.before, c.slowBefore = before, slow
		before, slow = before+c.n, slow+c.slow
		if d.canHoldOnset(c, 0) {
			c.rows = make([]int, 0, c.n)
		}
	}
	for _, i := range d.l.Rows {
		if c := at(i); c.rows != nil {
			c.rows = append(c.rows, i)
		}
	}
	for k := range cells {
		sorting.Short(cells[k].rows, func(i, j int) int { return cmp.Compare(d.began(i), d.began(j)) })
	}
	return cells
}

// canHoldOnset says whether a request of this cell may begin at a moment that divides the requests
// better than the best one so far.
func (d *divide) canHoldOnset(c *startsCell, most float64) bool {
	if c.slow == 0 {
		return false
	}
	before, after := d.slowShares(c.before+c.n-1, c.slowBefore)
	return d.isBetterSplit(before, after, most) && d.hasEnoughAround(c.before+c.n-1, c.to, c.before, c.from)
}

// slowShares returns which part of the first k requests is slow, n of them, and which part of the
// others.
func (d *divide) slowShares(k, n int) (before, after float64) {
	return float64(n) / float64(max(1, k)), float64(len(d.l.Slow)-n) / float64(len(d.l.Rows)-k)
}

// isBetterSplit says whether the slow parts before and after a moment differ enough, and by more
// than those at the best moment so far.
func (d *divide) isBetterSplit(before, after, most float64) bool {
	return after >= onsetShare && after >= onsetTimes*before && after-before > most
}

// hasEnoughAround says whether enough requests came on both sides of a moment, over enough of the
// time: k requests before t, and all but the first m after u.
func (d *divide) hasEnoughAround(k int, t int64, m int, u int64) bool {
	least := onsetTime * float64(d.l.To-d.l.From)
	return k >= onsetRequests && len(d.l.Rows)-m >= onsetRequests && float64(t-d.l.From) >= least && float64(d.l.To-u) >= least
}
