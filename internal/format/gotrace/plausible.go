package gotrace

import (
	"math/bits"

	"github.com/unstall/unstall/internal/base/evidence"
)

// plausibility measures whether a processor's time was processor time. A trace
// cannot see that the host did not run a thread: to it, the goroutine was
// running. But things that always take the same few microseconds then take
// milliseconds now and then.
type plausibility struct {
	samples  int64 // of a CPU profile that ran at the same time
	calls    durations
	longRuns int64
	runTime  int64
	stops    durations
}

// quantum is after how long the runtime preempts a goroutine (forcePreemptNS in
// runtime/proc.go). A stretch over twice that was not running all the while.
const quantum = 10e6

func (p *plausibility) noteRun(dur int64) {
	p.runTime += dur
	if dur > 2*quantum {
		p.longRuns += dur - quantum
	}
}

// noteSyscall notes calls that never block: writes of a response. Traces up to 1.21 do not tell
// how long they took.
func (p *plausibility) noteSyscall(g *goroutine, dur int64) {
	if g.where == nil || g.where.server == nil || dur <= 1 {
		return
	}
	if g.where.stage == stageWrite {
		p.calls.add(dur)
	}
}

func (p *plausibility) noteStop(dur int64) { p.stops.add(dur) }

// durations is a histogram with buckets of 1/8 of a power of two.
type durations struct {
	n, sum int64
	bucket [64 * 8]int64
}

func (d *durations) add(v int64) {
	v = max(v, 1)
	d.n++
	d.sum += v
	e := bits.Len64(uint64(v)) - 1
	frac := 0
	if e >= 3 {
		frac = int(v>>(e-3)) & 7
	}
	d.bucket[e*8+frac]++
}

// quantile returns the lower edge of the bucket the quantile lies in.
func (d *durations) quantile(q float64) int64 {
	rank := int64(q * float64(d.n-1))
	for i, n := range d.bucket {
		if rank < n {
			e, frac := i/8, int64(i%8)
			if e < 3 {
				return 1 << e
			}
			return 1<<e + frac<<(e-3)
		}
		rank -= n
	}
	return 0
}

func (w *world) plausibilityFacts() {
	fact := func(key string, v float64) {
		w.b.Fact(evidence.Fact{Subject: w.subject, Key: key, Number: v, From: w.first, Until: w.now, Origin: w.b.Origin(0)})
	}
	p := &w.host
	fact(evidence.FactRunTime, float64(p.runTime))
	fact(evidence.FactLongRuns, float64(p.longRuns))
	if p.calls.n > 0 {
		fact(evidence.FactShortCalls, float64(p.calls.n))
		fact(evidence.FactShortCallMedian, float64(p.calls.quantile(.5)))
		fact(evidence.FactShortCallMean, float64(p.calls.sum)/float64(p.calls.n))
	}
	if p.samples > 0 {
		fact(evidence.FactCPUSamples, float64(p.samples))
	}
}
