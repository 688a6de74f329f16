package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// fewMet is how many bursts of looks must have met requests before these stand for others.
const fewMet = 3

// kinds of requests, as an index.
const (
	others = iota
	slow
)

// sumLooksByKind sums up what looks saw while slow requests, and others, were under way, once it is known which requests
// are slow. Looks come at random, so a burst that met ten of them counts ten times as much as one that met one.
func (o *occupancy) sumLooksByKind(l *Ledger) {
	if o == nil {
		return
	}
	o.slow = evidence.NewRows(l.b.Requests.Len())
	for _, row := range l.Slow {
		o.slow.Add(row)
	}
	o.sumThreadLooks(l)
	for kind := range o.met {
		var rows []int
		for _, row := range l.Rows {
			if o.slow.Has(row) == (kind == slow) {
				rows = append(rows, row)
			}
		}
		starts, ends := l.underWay(rows)
		var sum float64
		bursts := 0
		var all []share
		for i := range o.cells {
			c := &o.cells[i]
			n := float64(countBefore(starts, c.last+1) - countBefore(ends, c.first))
			if n <= 0 || c.last == 0 {
				continue
			}
			c.met[kind] = true
			bursts++
			sum += n
			all = addTimes(all, c.parts, n)
		}
		if bursts < fewMet {
			continue
		}
		for i := range all {
			all[i].part /= sum
		}
		o.met[kind] = all
	}
}

// kindOf returns the kind of a request, an index; false while it is not known which requests are slow.
func (o *occupancy) kindOf(row int) (kind int, known bool) {
	if o.slow == nil {
		return others, false
	}
	if o.slow.Has(row) {
		return slow, true
	}
	return others, true
}

// sharesOver splits a request's time from at, dur long, by what threads did then, in ns; time without looks is in no part.
func (o *occupancy) sharesOver(row int, at, dur int64) (parts []share) {
	kind, known := o.kindOf(row)
	i, _ := slices.BinarySearchFunc(o.cells, at, func(c cell, t int64) int { return cmp.Compare(c.to, t) })
	for _, c := range o.cells[i:] {
		d := min(c.to, at+dur) - max(c.from, at)
		if c.from >= at+dur {
			break
		}
		if d <= 0 {
			continue
		}
		of := c.parts
		if known && c.last != 0 && !c.met[kind] && o.met[kind] != nil {
			of = o.met[kind]
		}
		if c.last != 0 {
			of = o.gate.splitShares(of, o.waits, max(c.from, at), min(c.to, at+dur))
		}
		parts = addTimes(parts, of, float64(d))
	}
	return parts
}

// addTimes adds shares, each multiplied by a factor.
func addTimes(parts, more []share, times float64) []share {
	if parts == nil && len(more) > 0 {
		parts = make([]share, 0, len(more))
	}
	for _, s := range more {
		s.part *= times
		parts = addShare(parts, s)
	}
	return parts
}
