package dotnet

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// listFigures returns the evidence of a pool: what blocks its threads, how many it has and why,
// the CPU, and what waits.
func (s *starving) listFigures() (out []check.Evidence) {
	c, p := s.c, s.pool
	add := func(id, text string, v float64, unit string, o evidence.Origin) {
		if !math.IsNaN(v) {
			out = append(out, c.Figure(id, text, v, unit, o))
		}
	}
	if w := p.Worst; w != nil {
		for _, g := range p.Waiting()[:min(3, len(p.Waiting()))] {
			add("pool.blocked_threads_at", fmt.Sprintf("pool threads (of %d) blocked in %s, %s", w.Pool, frameToChange(g.View), threadpool.On(g.View)), float64(g.Pool), "count", g.Origin)
		}
		if p.Standing() == 0 && !isExcerpt(w) {
			add("pool.blocked_threads", fmt.Sprintf("most pool threads (of %d) blocked at the same time", w.Pool), 0, "count", p.Looks)
		}
	}
	if k := p.Threads; k.Known() {
		whose := "pool threads"
		if p.Loose {
			whose = "threads of the process"
		}
		if p.Climb.To > p.Climb.From && k.Span() >= metrics.Short {
			add("pool.threads", fmt.Sprintf("%s, from %.0f", whose, p.Climb.From), p.Climb.To, "count", k.Origin)
		} else {
			add("pool.threads", whose, k.Last(), "count", k.Origin)
		}
		if p.Grows() && p.Climb.Steps > 1 {
			add("pool.growth_per_s", "growth of the pool", p.Climb.Rate, "1/s", k.Origin)
		}
	}
	if n := p.Raised[metrics.Starvation]; n > 0 {
		add("pool.starvation_times", "threads the runtime added because no work item started for 0.5 s (Starvation)", float64(n), "count", p.Reasons)
	}
	if n := p.Raised[metrics.CooperativeBlocking]; n > 0 {
		add("pool.blocking_times", "times the runtime added threads because pool threads waited for tasks (CooperativeBlocking)", float64(n), "count", p.Reasons)
	}
	text := "share of the CPUs in use"
	if p.Cores > 0 {
		text = fmt.Sprintf("share of %.0f CPUs in use", p.Cores)
	}
	add("process.cpus_share", text, p.CPU, "1", p.Used)
	if p.Queue.Known() {
		text := "work items waiting for a pool thread, on average"
		if p.Queued() && c.Ledger != nil && c.Bundle.Requests.Lane.At(c.Ledger.Rows[0]) != 0 {
			text += "; queued requests have not started, so no request figure includes them"
		}
		add("pool.queued_items", text, p.Queue.Mean(), "count", p.Queue.Origin)
	}
	if p.Completed.Known() {
		add("pool.items_per_s", "work items completed", p.Completed.Mean(), "1/s", p.Completed.Origin)
	}
	if n, o := p.InFlight(); n > 0 {
		text := "requests in flight"
		if p.Queue.Known() && o == p.Queue.Origin {
			text += " at the end, counting each queued work item as one"
		}
		add("requests.in_flight", text, n, "count", o)
		if end := n - p.Threads.Last(); p.Grows() && p.Climb.Still && !p.Loose && end > 0 {
			limit := "the pool's maximum"
			if f, ok := c.Fact(evidence.FactPoolMaximum); ok && f.Number > 0 {
				limit += fmt.Sprintf(" of %.0f", f.Number)
			}
			add("pool.enough_threads_in_s", "time until each has a thread at this rate; growth stops earlier at "+limit+", or when the CPUs are busy", end/p.Climb.Rate, "s", p.Threads.Origin)
		}
	}
	out = append(out, s.growthFigures()...)
	if share, from := s.gcPausedShare(); share > 0 {
		add("gc.paused_share", "share of the time paused by GC", share, "1", from)
	}
	return out
}

var atRest = check.Threshold{Name: "threads by which a pool that begins at rest grows", Value: 4, Unit: "threads",
	Why: "the pool gives its minimum at once", Source: "judgement: weighs a pool that starts against one whose load rises; a pool of two or more that is given its minimum does not grow so"}

// growthFigures returns what else grew during the recording, if that begins with a pool at rest.
func (s *starving) growthFigures() (out []check.Evidence) {
	if !s.pool.Grows() || s.pool.Climb.From > max(s.pool.Cores, s.pool.Climb.To/atRest.Value) {
		return nil
	}
	for _, x := range []struct{ id, series, text, unit string }{
		{"process.timers", evidence.SeriesTimers, "active timers", "count"},
		{"process.working_set_bytes", evidence.SeriesWorkingSet, "working set", "bytes"},
	} {
		k := s.pool.Counter(x.series)
		if k.Span() < metrics.Short || k.Last() <= k.V[0] {
			continue
		}
		from := fmt.Sprintf("%.0f", k.V[0])
		if x.unit == "bytes" {
			from = fmt.Sprintf("%.0f MiB", k.V[0]/(1<<20))
		}
		out = append(out, s.c.Figure(x.id, x.text+", from "+from+" at the beginning", k.Last(), x.unit, k.Origin))
	}
	return out
}

// gcPausedShare returns the share of the watched time in which the collector stopped all threads;
// 0 where that was not watched.
func (s *starving) gcPausedShare() (share float64, from evidence.Origin) {
	c := s.c
	var watched int64
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverGC) {
		watched += w.Until - w.From
		from = w.Origin
	}
	if watched > 0 {
		var stopped int64
		v := &c.Bundle.Intervals
		for _, i := range v.Select(evidence.StopTheWorld, c.Subject) {
			stopped += v.End[i] - v.Start[i]
		}
		return float64(stopped) / float64(watched), from
	}
	if k := s.pool.Counter(evidence.SeriesGCTime); k.Known() {
		return k.Mean() / 100, k.Origin
	}
	return 0, from
}
