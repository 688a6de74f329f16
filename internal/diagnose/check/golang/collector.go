package golang

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// collector is a case's collector, beside its requests where there are any.
type collector struct{ *goheap.Process }

// collectorOf returns the case's collector, nil if it was not watched.
func collectorOf(c *check.Case) *collector {
	return check.Once(c, func(c *check.Case) *collector {
		release, _ := platform.Go.AtLeast(c.Bundle, c.Subject)
		g := goheap.ProcessOf(c.Bundle, c.Subject, c.Ledger, release)
		if g == nil {
			return nil
		}
		return &collector{g}
	})
}

// profileShare returns the collector's part of the process's CPU time by a CPU profile: background
// and idle marking, assists, sweeping; ok is false without one.
func profileShare(c *check.Case) (share float64, origin evidence.Origin, ok bool) {
	p, ok := metrics.ProfileOf(c.Bundle, c.Subject)
	return float64(p.GC) / float64(max(p.All, 1)), p.Origin, ok
}
