package service

import (
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// locks are the names of those that slow requests wait for.
type locks map[string]bool

func locksOf(c *check.Case) locks {
	return check.Once(c, func(c *check.Case) locks {
		names := make(locks)
		for _, row := range c.Ledger.Slow {
			c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
				if s.Kind == evidence.LockWait && ch[ledger.Lock] > 0 {
					names[c.Bundle.Names.Text(s.Cause)] = true
				}
			})
		}
		delete(names, "")
		return names
	})
}

// holdWait says whether what a request waits for is held by threads that wait for one of these
// locks.
func (l locks) holdWait(c *check.Case, s *evidence.Segment) bool {
	first, _, _ := strings.Cut(c.Bundle.Names.Text(s.Via), evidence.Link)
	return l[first]
}

// ofThreads says whether most of the wait for threads of a pool is because these threads wait for
// locks.
func (l locks) ofThreads(c *check.Case) bool {
	var all, locked int64
	for _, row := range c.Ledger.Slow {
		c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			all += ch[ledger.PoolThread]
			if l.holdWait(c, &s) {
				locked += ch[ledger.PoolThread]
			}
		})
	}
	return all > 0 && 2*locked >= all
}
