package ledger

import (
	"github.com/unstall/unstall/internal/base/stats"
)

// Settings for an entry's sampling error, which is found by resampling blocks of time.
const (
	BlockOf    = 5   // × the longest stall: what one stall delays is in one block
	blockCells = 32  // cells of time a block is summed in: far smaller than what is resampled
	leastShare = .01 // of the slow time; smaller entries get no sampling error
)

// timeline is the slow requests' charges over time: one by one, or summed in cells far smaller than a resampled block,
// where that takes less memory.
type timeline struct {
	at         []int64
	charges    []Charges
	from, cell int64 // cell 0: one by one
}

func (l *Ledger) newTimeline(block int64) *timeline {
	t := &timeline{from: l.From}
	n := len(l.Slow)
	if cell := max(1, block/blockCells); l.To > l.From && (l.To-l.From)/cell+1 < int64(n) {
		t.cell, n = cell, int((l.To-l.From)/cell)+1
	}
	t.at, t.charges = make([]int64, n), make([]Charges, n)
	for i := range t.at {
		t.at[i] = l.From + int64(i)*t.cell + t.cell/2
	}
	return t
}

func (t *timeline) addCharges(n int, at int64, c *Charges) {
	if t.cell > 0 {
		n = int(min(max(0, (at-t.from)/t.cell), int64(len(t.at)-1)))
	} else {
		t.at[n] = at
	}
	t.charges[n].Add(c)
}

// estimateIntervals gives the larger entries their sampling error.
func (l *Ledger) estimateIntervals(over *timeline, block int64) {
	if len(l.Slow) < MinRequests || l.To <= l.From {
		return
	}
	v := make([]int64, len(over.at))
	from, to := l.ChargedTime()
	perMechanism := make(map[Mechanism]int)
	for _, e := range l.Entries {
		perMechanism[e.Mechanism]++
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.Interval != nil || float64(e.Ns) < leastShare*float64(l.Total) || perMechanism[e.Mechanism] > 1 {
			continue
		}
		for n := range over.charges {
			v[n] = over.charges[n][e.Mechanism]
		}
		if iv, ok := stats.SumInterval(over.at, v, from, to+1, block, uint64(e.Mechanism)+1); ok {
			if known := e.Ns - e.Sample; e.Sample > 0 && known > 0 { // known requests stand for their like
				iv.Low, iv.High = iv.Low*float64(e.Ns)/float64(known), min(float64(l.Total), iv.High*float64(e.Ns)/float64(known))
			}
			if ns := float64(e.Ns); iv.Low <= ns && ns <= iv.High { // most of it in one block: resampling cannot tell
				e.Interval, e.Basis = &iv, "sampling"
			}
		}
	}
}
