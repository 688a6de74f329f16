package check

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// ProcessorsUsed returns how many processors the process used while its requests were watched.
func (c *Case) ProcessorsUsed() (cpus float64, origin evidence.Origin, ok bool) {
	v := metrics.ProcessorsUsed(c.Bundle, c.Subject, float64(c.Bundle.CPUsOf(c.Subject)), c.ledgerWindow())
	return v.Number, v.Origin, v.Known()
}

// OwnProcessors returns ProcessorsUsed without the collector's part, as far as its log or an execution trace shows it.
// The collector's part is not the requests' work, and fewer collections give it back.
func (c *Case) OwnProcessors() (cpus float64, origin evidence.Origin, ok bool) {
	if cpus, origin, ok = c.tracedProcessors(); ok {
		return cpus, origin, ok
	}
	cpus, origin, ok = c.ProcessorsUsed()
	if !ok {
		return 0, 0, false
	}
	l, v := c.Ledger, &c.Bundle.Intervals
	var ns float64
	for i, k := range v.Kind {
		if k != evidence.StopTheWorld && k != evidence.GCConcurrent || v.Subject.At(i) != c.Subject || v.Start[i] < l.From || v.Start[i] >= l.To {
			continue
		}
		user, _ := v.Get(i, evidence.UserCPU)
		system, _ := v.Get(i, evidence.SystemCPU)
		ns += user + system
	}
	return max(0, cpus-ns/float64(max(1, l.To-l.From))), origin, true
}

// tracedProcessors returns how many processors the program's own code used, by a trace of its
// states; the collector's workers and assists are not included.
func (c *Case) tracedProcessors() (cpus float64, origin evidence.Origin, ok bool) {
	run, ok := c.Fact(evidence.FactRunTime)
	if !ok || !c.Traced() || c.Ledger.Sampled || run.Until <= run.From {
		return 0, 0, false
	}
	var workers float64
	v := &c.Bundle.Intervals
	for _, i := range v.Select(evidence.GCCycle, c.Subject) {
		if a, _ := v.Origin.At(i).Artifact(); From(a) != run.Origin {
			continue
		}
		for _, k := range []evidence.Key{evidence.BackgroundTime, evidence.IdleTime, evidence.AssistTime} {
			x, _ := v.Get(i, k)
			workers += x
		}
	}
	return (run.Number - workers) / float64(run.Until-run.From), run.Origin, true
}

// A service at FullCPUs fills its CPUs by itself; at NearlyFull it does so only if the host has none left (HostFull).
var (
	FullCPUs = Threshold{Name: "share of the CPUs that the service's own work takes when none is free", Value: .9, Unit: "1",
		Why: "a queue at 90 % is nine times as long as what is served", Source: "M/M/1: ρ/(1−ρ)"}
	NearlyFull = Threshold{Name: "share of the CPUs that the service's own work takes, on a host with none free", Value: .8, Unit: "1",
		Why: "others take the rest", Source: "M/M/1: ρ/(1−ρ) is 4 at 80 %"}
	HostFull = Threshold{Name: "share of the host's CPUs in use when none is free", Value: .95, Unit: "1",
		Why: "readings of busy CPUs miss some ticks", Source: "M/M/1: ρ/(1−ρ) is 19 at 95 %"}
)

// Full says whether the service's own work fills the processors, so that requests queue for them. It is false if that is
// unknown, for example because the host did not always run the process.
func (c *Case) Full() bool {
	if c.Ledger == nil || c.Traced() && c.Ledger.Host.Starved() {
		return false
	}
	own, _, ok := c.OwnProcessors()
	n := float64(c.Bundle.CPUsOf(c.Subject))
	switch {
	case !ok || n == 0 || own < NearlyFull.Value*n:
		return false
	case own >= FullCPUs.Value*n:
		return true
	}
	h := metrics.HostOf(c.Bundle, c.Subject, c.ledgerWindow())
	return h.Busy.Known() && h.CPUs > 0 && h.Taken() >= HostFull.Value*h.CPUs
}

// useWindow is the length (ns) of the windows in which the CPUs' use is computed: the interval of the kernel's readings.
// Requests that queue by chance wait far less than that.
const useWindow = int64(250e6)

// OwnWhileSlow returns the share of the processors that the service's own work kept busy while slow requests were under
// way, weighted by how many were. It is known only if the slowest requests take longer than a [useWindow].
func (c *Case) OwnWhileSlow() (share float64, origin evidence.Origin, ok bool) {
	l := c.Ledger
	n := float64(c.Bundle.CPUsOf(c.Subject))
	if l == nil || n == 0 || l.To <= l.From || len(l.Slow) == 0 || l.P99() < float64(useWindow) {
		return 0, 0, false
	}
	own := make([]float64, (l.To-l.From)/useWindow+1)
	for k := range own {
		own[k] = math.NaN()
	}
	if origin, ok = c.tracedWindows(own); !ok {
		if origin, ok = c.countedWindows(own); !ok {
			return 0, 0, false
		}
	}
	var sum, all, missed float64
	r := &c.Bundle.Requests
	for _, row := range l.Slow {
		c.overlappedWindows(r.End.At(row)-r.Latency(row), r.End.At(row), len(own), func(k int, ns int64) {
			if math.IsNaN(own[k]) {
				missed += float64(ns)
				return
			}
			sum += float64(ns) * min(1, own[k]/n)
			all += float64(ns)
		})
	}
	return sum / max(1, all), origin, all > missed
}

// overlappedWindows yields each window that a time span overlaps, and the overlap (ns).
func (c *Case) overlappedWindows(from, to int64, windows int, yield func(k int, ns int64)) {
	start := c.Ledger.From
	for k := max(0, (from-start)/useWindow); k < int64(windows) && start+k*useWindow < to; k++ {
		if ns := min(to, start+(k+1)*useWindow) - max(from, start+k*useWindow); ns > 0 {
			yield(int(k), ns)
		}
	}
}

// tracedWindows fills in how many processors the program's own code used in each window, by traces; the collector is not
// included.
func (c *Case) tracedWindows(own []float64) (origin evidence.Origin, found bool) {
	if !c.Traced() {
		return 0, false
	}
	watched := make([]float64, len(own)) // ns
	for i := range c.Bundle.Processors {
		p := &c.Bundle.Processors[i]
		if a, _ := p.Origin.Artifact(); p.Subject != c.Subject || !c.Ledger.TracedBy(a) {
			continue
		}
		if !found {
			origin, found = p.Origin, true
		}
		c.overlappedWindows(p.From, p.Until, len(own), func(k int, ns int64) {
			if math.IsNaN(own[k]) {
				own[k] = 0
			}
			watched[k] += float64(ns)
		})
		for lane := range p.Lanes {
			for s := range p.Spans(lane) {
				var work int64
				for w, ns := range s.Each {
					if w == evidence.WorkRequest || w == evidence.WorkBackground {
						work += ns
					}
				}
				part := float64(work) / float64(max(1, s.To-s.From))
				c.overlappedWindows(s.From, s.To, len(own), func(k int, ns int64) { own[k] += part * float64(ns) })
			}
		}
	}
	for k := range own {
		own[k] /= max(1, watched[k])
	}
	return origin, found
}

// countedWindows fills in how many processors the process used in each window, by the kernel's counters, less the mean
// share of the collector: the counters do not show when it ran.
func (c *Case) countedWindows(own []float64) (evidence.Origin, bool) {
	used := metrics.ProcessorTime(c.Bundle, c.Subject, c.ledgerWindow())
	mean := used.Over(c.ledgerWindow())
	if !mean.MostlyKnown() || mean.Number <= 0 {
		return 0, false
	}
	part := 1.0
	if mine, _, ok := c.OwnProcessors(); ok {
		part = min(1, mine/mean.Number)
	}
	for k := range own {
		from := c.Ledger.From + int64(k)*useWindow
		if v := used.Over(metrics.Window{From: from, Until: from + useWindow}); v.Known() {
			own[k] = part * v.Number
		}
	}
	return mean.Origin, true
}

// ledgerWindow returns the time span of the requests that the ledger charges.
func (c *Case) ledgerWindow() metrics.Window {
	return metrics.Window{From: c.Ledger.From, Until: c.Ledger.To}
}
