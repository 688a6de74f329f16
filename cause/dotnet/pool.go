package dotnet

import (
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/runtime"
	"github.com/unstall/unstall/threads"
)

// pool is what is known of a process's pool of threads, and of the processors they run on.
type pool struct {
	*reading.ThreadPool
	cores float64 // processors the runtime schedules on, 0 unknown
	cpu   float64 // share of them that was in use, NaN unknown
	used  evidence.Origin
	seen  stacks
}

// saturated is the share of the processors from which what waits, waits for them.
const saturated = .9

func poolOf(c *cause.Case) *pool {
	of := threads.Of(c.Bundle, runtime.Stacks())
	p := &pool{ThreadPool: reading.ThreadPoolOf(c.Bundle, of, c.Subject, window(c)), cores: coresOf(c), cpu: math.NaN()}
	p.seen = stacks{of: of, worst: p.Worst}
	if k := counter(c, evidence.SeriesCPU); k.Known() {
		p.cpu, p.used = k.Mean()/100, k.Origin
	} else if p.cores > 0 {
		w := reading.Whole
		if p.Threads.Span() > 0 {
			w = p.Threads.Window() // when the pool was watched
		}
		if v := reading.ProcessOf(c.Bundle, c.Subject, w).CPU; v.Known() {
			p.cpu, p.used = v.Number/p.cores, v.Origin
		}
	}
	if p.cores > 0 {
		whole := reading.ProcessOf(c.Bundle, c.Subject, reading.Whole)
		p.seen.standing(p.cpu*p.cores, whole.RunDelay.Number, p.cores, full(c))
	}
	return p
}

// window is the time of the requests that the ledger charges; without any, nothing.
func window(c *cause.Case) reading.Window {
	if c.Ledger == nil {
		return reading.Window{}
	}
	return reading.Window{From: c.Ledger.From, Until: c.Ledger.To}
}

// counter is a figure of the process over time.
func counter(c *cause.Case, name string) *reading.Curve {
	return reading.CurveOf(c.Bundle, c.Subject, name, window(c))
}

// full says whether others, too, use up the processors of the host.
func full(c *cause.Case) bool {
	h := reading.HostOf(c.Bundle, c.Subject, reading.Whole)
	return h.Busy.Number >= saturated*h.CPUs
}

func coresOf(c *cause.Case) float64 {
	if n := c.Bundle.Subjects[c.Subject].CPUs; n > 0 {
		return float64(n)
	}
	for _, s := range c.Bundle.Subjects {
		if s.Kind == evidence.Host && s.CPUs > 0 {
			return float64(s.CPUs)
		}
	}
	return 0
}

// Growth from which a pool is taken to climb: coming and going within a pool that has
// enough moves its size by one or two.
const (
	climbLeast = 3
	climbRate  = .2 // per second
)

// climbing says whether the growth is that of a pool which is given threads one by one.
func climbing(g reading.Climb) bool { return g.To-g.From >= climbLeast && g.Rate >= climbRate }

// above says whether n threads are more than a pool of this many processors needs.
func (p *pool) above(n float64) bool { return p.cores > 0 && n > reading.ManyThreads*p.cores }

// busy says whether the processors are what is short.
func (p *pool) busy() bool { return p.cpu >= saturated }
