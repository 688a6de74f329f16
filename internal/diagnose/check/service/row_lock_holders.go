package service

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// lockHolder is a transaction that held a lock while others waited.
type lockHolder struct {
	wait *lockWait // a wait that it ended
	ns   int64     // of waits, in which it held its lock
}

// heldFor returns how long (ns) the holder had its lock while a call waited.
func (w *lockWait) heldFor(x *exchangedCall) int64 {
	if w.before == nil {
		return 0
	}
	return max(0, min(w.ender.arrived, x.arrived)-max(w.before.arrived, x.begun))
}

// holdersOf returns the transactions that held locks while others waited, in the order of their ends. Who ends a wait may have waited for the same
// lock: of the wait's time only that belongs to it in which it had the lock, and the rest to those who had it before.
func (k *rowLocks) holdersOf() []lockHolder {
	ofCall := make(map[*exchangedCall]*lockWait)
	for i := range k.waits {
		ofCall[k.waits[i].call] = &k.waits[i]
	}
	by := make(map[*exchangedCall]*lockHolder) // by the call that ends the transaction
	for i := range k.waits {
		x := k.waits[i].call
		for w := &k.waits[i]; w != nil && w.before != nil; {
			h := by[w.ender]
			if h == nil {
				h = &lockHolder{wait: w}
				by[w.ender] = h
			}
			h.ns += w.heldFor(x)
			earlier := ofCall[w.before]
			if earlier == nil || earlier.ender.arrived >= w.ender.arrived || earlier.ender.arrived <= x.begun {
				break
			}
			w = earlier
		}
	}
	holders := make([]lockHolder, 0, len(by))
	for _, h := range by {
		holders = append(holders, *h)
	}
	slices.SortFunc(holders, func(a, b lockHolder) int {
		return cmp.Or(cmp.Compare(a.wait.ender.arrived, b.wait.ender.arrived), cmp.Compare(a.wait.ender.port, b.wait.ender.port))
	})
	return holders
}

// weighed is a time (ns) that counts for as many ns of waits.
type weighed struct{ value, ns int64 }

// weighedMedian returns the median of times, each of which counts for its waits; 0 if nothing waited.
func weighedMedian(times []weighed) int64 {
	slices.SortFunc(times, func(a, b weighed) int { return cmp.Compare(a.value, b.value) })
	var all, below int64
	for _, t := range times {
		all += t.ns
	}
	for _, t := range times {
		if below += t.ns; 2*below >= all && all > 0 {
			return t.value
		}
	}
	return 0
}

// describeHolders sets what holders do while they hold the lock. Each counts for the time that others waited for it.
func (k *rowLocks) describeHolders(c *check.Case, x *exchanged) {
	var held, away []weighed
	calls := make(map[evidence.NameID][]int64)
	waited := make(map[evidence.NameID]int64) // ns of waits for holders that make the call
	operations := make(map[[2]evidence.NameID]int)
	var all int64
	for _, h := range k.holdersOf() {
		w := h.wait
		all += h.ns
		held = append(held, weighed{w.ender.arrived - w.before.arrived, h.ns})
		var without int64
		from := slices.Index(w.holder, w.before)
		made := make(map[evidence.NameID]bool)
		for j := from; j+1 < len(w.holder); j++ {
			without += max(0, w.holder[j+1].begun-w.holder[j].end)
			if call := x.callWithin(w.holder[j].end, w.holder[j+1].begun, k.to, w.holder[j].request); call != nil {
				made[call.to] = true
				calls[call.to] = append(calls[call.to], call.answerTime())
				operations[[2]evidence.NameID{call.to, call.operation}]++
			}
		}
		for to := range made {
			waited[to] += h.ns
		}
		away = append(away, weighed{without, h.ns})
	}
	if all == 0 {
		return
	}
	k.held, k.away = weighedMedian(held), weighedMedian(away)
	var top evidence.NameID
	for _, to := range slices.Sorted(maps.Keys(calls)) {
		if top == 0 || waited[to] > waited[top] {
			top = to
		}
	}
	if float64(waited[top]) < mostHolders.Value*float64(all) {
		return
	}
	k.callTook = stats.QuantileOf(calls[top], .5)
	k.calling = c.Bundle.Names.Text(top)
	var operation evidence.NameID
	for at, n := range operations {
		if at[0] == top && at[1] != 0 && (operation == 0 || n > operations[[2]evidence.NameID{top, operation}]) {
			operation = at[1]
		}
	}
	if operation != 0 {
		k.calling = fmt.Sprintf("%s at %s", c.Bundle.Names.Text(operation), c.Bundle.Names.Text(top))
	}
}
