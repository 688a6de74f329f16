package service

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// told are names of waits that end with an event.
type told map[evidence.NameID]bool

// Waits are for events if the requests that end them waited for the same themselves no more often than by chance; and at least so many must
// have been seen.
var (
	tellers = check.Threshold{Name: "requests seen to end others' waits", Value: 5, Unit: "count",
		Why: "fewer say nothing", Source: "Poisson error: 1/√5"}
	alsoWaited = check.Threshold{Name: "part of those that end waits, that waited for the same themselves", Value: .1, Unit: "1",
		Why: "chance makes so many", Source: "judgement: weighs requests that post to others and wait, now and then, against workers that all wait for the same"}
)

// eventWaits returns the waits that are ended by requests which never wait there themselves: a
// long poll is ended by those who post events. In a used-up pool, requests that take a place and
// give it back have mostly waited for it, too.
func eventWaits(c *check.Case) told {
	return check.Once(c, func(c *check.Case) told {
		if !c.Traced() {
			return nil
		}
		r := &c.Bundle.Requests
		lanes := make(map[evidence.LaneID][]int)
		waiting := make(map[evidence.NameID]map[int]bool) // rows that wait
		for _, row := range c.Ledger.KnownRows() {
			lanes[r.Lane.At(row)] = append(lanes[r.Lane.At(row)], row)
			for s := range r.Path(row).All {
				if s.Kind == evidence.PoolWait {
					if waiting[s.Cause] == nil {
						waiting[s.Cause] = make(map[int]bool)
					}
					waiting[s.Cause][row] = true
				}
			}
		}
		for _, rows := range lanes {
			sorting.Short(rows, func(a, b int) int { return cmp.Compare(r.Begins(a), r.Begins(b)) })
		}
		giving := make(map[evidence.NameID]map[int]bool) // rows that end a wait
		for _, row := range c.Ledger.KnownRows() {
			c.Ledger.Walk(row, func(at int64, s evidence.Segment, _ *ledger.Charges) {
				if s.Kind != evidence.PoolWait || s.Holder == 0 {
					return
				}
				rows := lanes[s.Holder]
				n, _ := slices.BinarySearchFunc(rows, at+s.Dur, func(i int, t int64) int { return cmp.Compare(r.Begins(i), t) })
				if n > 0 && r.End.At(rows[n-1]) >= at+s.Dur {
					if giving[s.Cause] == nil {
						giving[s.Cause] = make(map[int]bool)
					}
					giving[s.Cause][rows[n-1]] = true
				}
			})
		}
		out := make(told)
		for name, rows := range giving {
			also := 0
			for row := range rows {
				if waiting[name][row] {
					also++
				}
			}
			out[name] = len(rows) >= tellers.Int() && float64(also) <= alsoWaited.Value*float64(len(rows))
		}
		return out
	})
}

// waitsForEvents returns how long (ns) a request waited for an event.
func waitsForEvents(c *check.Case, row int) (ns int64) {
	of := eventWaits(c)
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
