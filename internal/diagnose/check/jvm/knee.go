package jvm

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// kneeFigures returns the evidence of the knee.
func kneeFigures(c *check.Case, w younggen.Load) []check.Evidence {
	from := check.From(c.Ledger.StatesFrom())
	return []check.Evidence{
		c.Figure("requests.per_s", "request rate", w.Offered, "1/s", from),
		c.Figure("knee.requests_per_s", fmt.Sprintf("knee: the request rate at which work and GC use all %s CPUs", units.Num(w.Knee.Processors)), w.Knee.Rate().Value, "1/s", w.CPU),
		c.Figure("knee.without_gc_per_s", "the knee without these collections", w.Knee.Free().Value, "1/s", w.CPU),
		c.Figure("requests.cpu_ms", "CPU time per request, without GC", 1e3*w.Knee.Work, "ms", w.CPU),
	}
}

// largerYoung returns the flags for a young generation that is the given number of times as large,
// with a larger heap where it would not fit; "" if its size is unknown.
func (g *collector) largerYoung(times float64) string {
	s, err := younggen.SituationOf(g.c.Bundle, g.c.Subject, g.Collector)
	if err != nil || s.Size == 0 || g.Is("G1") || g.Is("ZGC") || g.Is("Shenandoah") {
		return ""
	}
	return s.Flags(times)
}
