package dotnet

import (
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
)

// pool is what is known of a process's pool of threads, from whatever told.
type pool struct {
	cores   float64 // processors the runtime schedules on, 0 unknown
	cpu     float64 // share of them that was in use, NaN unknown
	used    evidence.Origin
	threads *curve // how many the pool has
	raised  map[string]int
	reasons evidence.Origin // of raised
	queue   *curve
	done    *curve // work items per second
	seen    stacks
}

// Reasons of the runtime for a change of the pool's size, as ThreadPoolWorkerThreadAdjustment
// gives them (ClrEtwAll.man, map ThreadAdjustmentReasonMap).
const (
	starvation  = "Starvation"          // nothing was taken from the queue for half a second
	cooperative = "CooperativeBlocking" // a thread of the pool began to wait for a task: .NET 6 and later
)

// saturated is the share of the processors from which what waits, waits for them.
const saturated = .9

func poolOf(c *cause.Case) *pool {
	p := &pool{cores: coresOf(c), cpu: math.NaN(), raised: make(map[string]int), seen: stacksOf(c)}
	p.queue, p.done = counter(c, evidence.SeriesPoolQueue), counter(c, evidence.SeriesPoolCompleted)
	adjusted := p.adjustments(c)
	for _, k := range []*curve{counter(c, evidence.SeriesPoolThreads), adjusted, p.seen.curve(), processThreads(c)} {
		if k.known() && (p.threads == nil || p.threads.span() < short && k.span() >= short) {
			p.threads = k
		}
	}
	if s := c.Series(evidence.SeriesCPU); s != nil && len(s.T) > 0 {
		p.cpu, p.used = counter(c, evidence.SeriesCPU).mean()/100, s.Origin
	} else if s := c.Series(evidence.SeriesProcessCPU); s != nil && len(s.T) > 1 && p.cores > 0 {
		from, until := p.window(s)
		if mean, watched := s.Mean(from, until); watched > 0 {
			p.cpu, p.used = mean/p.cores, s.Origin
		}
	}
	if p.cores > 0 {
		p.seen.standing(p.cpu*p.cores, counter(c, evidence.SeriesProcessRunDelay).mean(), p.cores, full(c))
	}
	return p
}

// full says whether others, too, use up the processors of the host.
func full(c *cause.Case) bool {
	for _, s := range c.Bundle.Series {
		if s.Name == evidence.SeriesHostCPUBusy && len(s.T) > 1 {
			mean, _ := s.Mean(s.T[0], s.T[len(s.T)-1])
			return mean >= saturated*float64(c.Bundle.Subjects[s.Subject].CPUs)
		}
	}
	return false
}

// short is how long (s) a pool must have been watched to say whether it grows.
const short = 2

// window is when the pool was watched, else when s was.
func (p *pool) window(s *evidence.Series) (from, until int64) {
	if p.threads.span() > 0 {
		return p.threads.t[0], p.threads.t[len(p.threads.t)-1]
	}
	return s.T[0], s.T[len(s.T)-1]
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

// adjustments reads the runtime's own changes to the pool's size and counts, by
// reason, those that gave it more.
func (p *pool) adjustments(c *cause.Case) *curve {
	v := &c.Bundle.Intervals
	k := &curve{}
	for _, i := range v.Select(evidence.PoolAdjusted, c.Subject) {
		n, ok := v.Get(i, evidence.PoolThreads)
		if !ok {
			continue
		}
		if len(k.v) == 0 || n > k.level() {
			p.raised[c.Bundle.Names.Text(v.Cause[i])]++
			p.reasons = v.Origin[i]
		}
		k.t, k.v, k.origin = append(k.t, v.Start[i]), append(k.v, n), v.Origin[i]
	}
	return k
}

// starved counts how often the runtime added a thread because those it had were
// blocked.
func (p *pool) starved() int { return p.raised[starvation] + p.raised[cooperative] }

// processThreads counts all threads of the process, those of the pool among them.
func processThreads(c *cause.Case) *curve {
	k := counter(c, evidence.SeriesProcessThreads)
	if k != nil {
		k.loose = true
	}
	return k
}

// level is how many threads the pool has: as it says, else as were seen; NaN unknown.
func (p *pool) level() float64 {
	if p.threads.known() && !p.threads.loose {
		return p.threads.level()
	}
	if p.seen.worst != nil {
		return float64(p.seen.worst.Pool)
	}
	return math.NaN()
}

// many is the multiple of its processors above which a pool has threads only because
// others are blocked: work that runs needs one for each.
const many = 3

// above says whether n threads are more than a pool of this many processors needs.
func (p *pool) above(n float64) bool { return p.cores > 0 && n > many*p.cores }

// busy says whether the processors are what is short.
func (p *pool) busy() bool { return p.cpu >= saturated }
