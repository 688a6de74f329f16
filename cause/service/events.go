package service

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// told are names of waits that end when requests of other routes have something to tell.
type told map[evidence.NameID]bool

// events are the waits for what only requests of other routes hand over: who waits in a
// long poll is told by those who post, and these never wait there themselves, as everybody
// does who takes a place in a pool and gives it back.
func events(c *cause.Case) told {
	return cause.Once(c, func(c *cause.Case) told {
		if !c.Traced() {
			return nil
		}
		r := &c.Bundle.Requests
		lanes := make(map[evidence.LaneID][]int)
		for _, row := range c.Ledger.Rows {
			lanes[r.Lane[row]] = append(lanes[r.Lane[row]], row)
		}
		for _, rows := range lanes {
			slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(r.Start[a], r.Start[b]) })
		}
		type routes map[evidence.NameID]bool
		waiting, giving := make(map[evidence.NameID]routes), make(map[evidence.NameID]routes)
		add := func(to map[evidence.NameID]routes, name, route evidence.NameID) {
			if to[name] == nil {
				to[name] = make(routes)
			}
			to[name][route] = true
		}
		for _, row := range c.Ledger.Rows {
			c.Ledger.Walk(row, func(at int64, s evidence.Segment, _ *ledger.Charges) {
				if s.Kind != evidence.PoolWait || s.Holder == 0 {
					return
				}
				add(waiting, s.Cause, r.Route[row])
				rows := lanes[s.Holder]
				n, _ := slices.BinarySearchFunc(rows, at+s.Dur, func(i int, t int64) int { return cmp.Compare(r.Start[i], t) })
				if n > 0 && r.End[rows[n-1]] >= at+s.Dur {
					add(giving, s.Cause, r.Route[rows[n-1]])
				}
			})
		}
		out := make(told)
	next:
		for name, by := range giving {
			for route := range by {
				if waiting[name][route] {
					continue next
				}
			}
			out[name] = true
		}
		return out
	})
}

// waitsForEvents is how long (ns) a request waited to be told of something.
func waitsForEvents(c *cause.Case, row int) (ns int64) {
	of := events(c)
	if len(of) == 0 {
		return 0
	}
	for s := range c.Bundle.Requests.Path(row).All {
		if s.Kind == evidence.PoolWait && of[s.Cause] {
			ns += s.Dur
		}
	}
	return ns
}
