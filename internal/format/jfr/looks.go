package jfr

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Thread states are derived from waits and samples: at a moment a thread waits if one of its waits lasts then, and runs
// if the sampler saw it at about that time. Other threads are left out: a wait shorter than the
// recording's threshold is in no event. So a recording is read like thread dumps.
const (
	lookEvery = 250e6     // ns: the interval of unstall's dumps
	lookRange = 60e6      // moments vary by this much around an even interval, so that they do not coincide with periodic work
	mostLooks = 4000      // in a long recording the intervals are longer
	mostRows  = 2_000_000 // of threads at moments
)

// emitLooks emits the states of all threads at each moment.
func (p *parser) emitLooks() {
	if p.allWaits.Len()+len(p.sightings) == 0 || p.until <= p.from {
		return
	}
	byTime := func(a, b sighting) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.lane, b.lane)) }
	slices.SortStableFunc(p.sightings, byTime)
	slices.SortStableFunc(p.natives, byTime)
	typ, unit := p.b.Name(evidence.SampleFlight), p.b.Name("count")
	every := max(int64(lookEvery), (p.until-p.from)/mostLooks)
	seen := make(map[evidence.LaneID]bool)
	var open []wait // that may last still
	deepest := make(map[evidence.LaneID]int)
	nextWait := p.allWaits.mergeRuns()
	next, more := nextWait()
	rows := 0
	first, last := int64(0), int64(0)
	for at, n := p.from+every/2, int64(0); at < p.until && rows < mostRows; at, n = at+every, n+1 {
		t := at + (n*97%7-3)*lookRange/6 // 7 and 97 have no common divisor: the seven offsets come equally often
		clear(seen)
		put := func(lane evidence.LaneID, stack evidence.StackID) {
			if !seen[lane] {
				seen[lane] = true
				rows++
				p.b.Sample(evidence.Sample{Subject: p.subject, Time: t, Lane: lane, Stack: stack, Type: typ, Unit: unit, Value: 1, Origin: p.b.Origin(n + 1)})
			}
		}
		for ; more && next.start <= t; next, more = nextWait() {
			open = append(open, next)
		}
		open = slices.DeleteFunc(open, func(w wait) bool { return w.end <= t })
		clear(deepest)
		for i, w := range open {
			if k, known := deepest[w.lane]; !known || p.stackDetail(w.stack) > p.stackDetail(open[k].stack) {
				deepest[w.lane] = i
			}
		}
		for i, w := range open {
			if deepest[w.lane] == i {
				put(w.lane, w.stack)
			}
		}
		for _, all := range [][]sighting{p.sightings, p.natives} {
			i, _ := slices.BinarySearchFunc(all, t-p.period/2, func(s sighting, at int64) int { return cmp.Compare(s.at, at) })
			for ; i < len(all) && all[i].at < t+p.period/2; i++ {
				put(all[i].lane, all[i].stack)
			}
		}
		if len(seen) > 0 {
			if first == 0 {
				first = t
			}
			last = t
		}
	}
	if first != 0 {
		p.b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverFlight, From: first, Until: last, Sampled: every, Origin: p.b.Origin(0)})
	}
	if p.moreWaits > 0 {
		p.b.Warnf(0, "waits beyond the first %d, which looks at threads do not show: %d", maxWaits, p.moreWaits)
	}
}

// stackDetail rates how informative a wait's stack is, to choose between several at a time: a read of
// a socket parks, which is deeper, and a wait for a monitor that keeps a virtual thread on its
// carrier names the lock.
func (p *parser) stackDetail(stack evidence.StackID) int {
	n := len(p.b.Frames(stack))
	if p.b.Info(stack).Lock != evidence.NoLock {
		n++
	}
	return n
}
