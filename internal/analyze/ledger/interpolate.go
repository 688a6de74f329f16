package ledger

import (
	"slices"
)

// interpolateCells fills the time that is too far from any burst of looks. It uses what the bursts before and after both
// show, and what the length of the pool's queue tells of that time.
func (o *occupancy) interpolateCells(l *Ledger, m meanwhile) {
	seen := o.cells
	held, doing := mixShares(seen, func(m Mechanism) bool { return m == PoolThread }), mixShares(seen, func(m Mechanism) bool { return m != PoolThread && m != Awaiting })
	var all []cell
	fill := func(from, to int64, common []share) {
		for _, at := range l.queued.splitAtReadings(from, to) {
			if at.to > at.from {
				all = append(all, cell{from: at.from, to: at.to, parts: l.estimateShares(common, held, doing, m, (at.from+at.to)/2)})
			}
		}
	}
	if len(seen) == 0 {
		fill(l.From, l.To, nil)
		o.cells = all
		return
	}
	fill(min(l.From, seen[0].from), seen[0].from, nil)
	for i, c := range seen {
		all = append(all, c)
		if i+1 < len(seen) {
			fill(c.to, seen[i+1].from, commonShares(c.parts, seen[i+1].parts))
		}
	}
	last := seen[len(seen)-1].to
	fill(last, max(l.To, last), nil)
	o.cells = all
}

// commonShares returns the shares that two moments have in common.
func commonShares(a, b []share) (both []share) {
	for _, s := range a {
		if k := slices.IndexFunc(b, func(o share) bool { return o.isSameAs(&s) }); k >= 0 {
			s.part = min(s.part, b[k].part)
			both = append(both, s)
		}
	}
	return both
}

// mixShares averages what all looks saw of some mechanisms; the parts sum to 1, or there are none.
func mixShares(cells []cell, of func(Mechanism) bool) (parts []share) {
	var sum float64
	for _, c := range cells {
		for _, s := range c.parts {
			if of(s.mechanism) {
				parts = addShare(parts, s)
				sum += s.part
			}
		}
	}
	for i := range parts {
		parts[i].part /= sum
	}
	return parts
}

// estimateShares splits the requests in flight at a moment without a look at threads. A request in the pool's queue, or
// one that has not begun while others have, waits for a thread. Whatever held the threads in the looks holds them here
// too while the queue does not empty.
func (l *Ledger) estimateShares(common, held, doing []share, m meanwhile, at int64) (parts []share) {
	inFlight, queue := m.inFlight(at), l.queued.lengthAt(at)
	if !m.clients { // queued items belong to others, or go on after an await
		queue = min(queue, m.awaiting(at))
	}
	var waits float64
	if inFlight > 0 && queue > 0 {
		if waits = min(queue, inFlight); m.begun != nil {
			outside := max(0, inFlight-m.begun(at))
			if l.queued.isStandingAt(at) {
				waits = max(waits, outside)
			}
		}
		waits = max(0, min(waits, inFlight-l.queued.threadsAt(at))) / inFlight // each of its threads has one
	}
	left := 1 - waits
	if l.queued.isStandingAt(at) && (waits > 0 || !m.clients) {
		common = nil
		for _, s := range doing {
			s.part *= left
			parts = append(parts, s)
		}
	}
	var rest float64
	for _, s := range common {
		if s.mechanism != PoolThread {
			rest += s.part
		} else if l.queued == nil {
			left -= s.part
			parts = append(parts, s)
		}
	}
	for _, s := range common {
		if s.mechanism != PoolThread {
			if rest > left {
				s.part *= left / rest
			}
			parts = append(parts, s)
		}
	}
	if waits > 0 {
		for _, s := range held {
			s.part *= waits
			parts = append(parts, s)
		}
		if len(held) == 0 {
			parts = append(parts, share{mechanism: PoolThread, part: waits})
		}
	}
	inOrder(parts)
	return parts
}
