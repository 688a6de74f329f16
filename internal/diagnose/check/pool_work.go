package check

import (
	"maps"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// poolWork is what looks show of the threads of one pool.
type poolWork struct {
	running map[evidence.StackID]int // looks by stack in which a thread of it ran
	looks   int                      // all of these
	serves  bool                     // some of its threads work on requests
	origin  evidence.Origin
}

// ranByPool returns what the pools of a runtime's threads ran during spans, and the share of the CPU time of pools that serve no request (NaN
// where no look shows a request). A pool's CPU time is what the kernel counted of threads of its name, so that a pool that looks met only once has
// its full weight; where that time passed is told by the looks in which its threads ran, at any time. It is unknown where half of the process's
// CPU time is of threads that no look shows, such as those of the collector.
func (c *Case) ranByPool(spans metrics.Spans) (where []Effort, beside float64, ok bool) {
	var all, known, apart, placed float64
	total, byName := metrics.ThreadsRun(c.Bundle, c.Subject)
	if all = runTime(total, spans); all == 0 {
		return nil, 0, false
	}
	pools, requests := c.poolsSeen()
	sums := newWork(c)
	var origin evidence.Origin
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		p := findPool(pools, name)
		if p == nil {
			continue
		}
		ns := runTime(byName[name], spans)
		if known += ns; !p.serves {
			apart += ns
		}
		for _, stack := range slices.Sorted(maps.Keys(p.running)) {
			part := ns * float64(p.running[stack]) / float64(p.looks)
			sums.add(stack, part)
			placed, origin = placed+part, p.origin
		}
	}
	switch {
	case 2*known < all || 2*placed < known:
		return nil, 0, false
	case !requests:
		return sums.rankEfforts(origin), math.NaN(), true
	}
	return sums.rankEfforts(origin), apart / known, true
}

// poolsSeen returns what looks show of each pool, by name, and whether any shows a request.
func (c *Case) poolsSeen() (pools map[string]*poolWork, requests bool) {
	pools = make(map[string]*poolWork)
	looks := c.Threads().Samples(c.Subject)
	for i := range looks {
		s := &looks[i]
		requests = requests || s.View.Request
		if s.View.Pool == "" {
			continue
		}
		p := pools[s.View.Pool]
		if p == nil {
			p = &poolWork{running: make(map[evidence.StackID]int)}
			pools[s.View.Pool] = p
		}
		p.serves = p.serves || s.View.Request || s.View.Carrier
		if s.View.State == evidence.Running && s.View.Owner != "" {
			p.running[s.Stack] += s.Count
			p.looks += s.Count
			p.origin = s.Origin
		}
	}
	return pools, requests
}

// findPool returns the pool whose threads have a name for the kernel; nil if there is none, or more than one begins like it.
func findPool(pools map[string]*poolWork, comm string) (found *poolWork) {
	if p := pools[comm]; p != nil {
		return p
	}
	for name, p := range pools {
		if threadstack.IsCutName(comm, name) {
			if found != nil {
				return nil
			}
			found = p
		}
	}
	return found
}

// runTime returns the CPU time (ns) within spans; 0 where it was not counted.
func runTime(cores *metrics.Curve, spans metrics.Spans) (ns float64) {
	for _, s := range spans {
		if v := cores.Over(metrics.Window{From: s.From, Until: s.To}); v.Known() {
			ns += v.Number * float64(s.To-s.From)
		}
	}
	return ns
}
