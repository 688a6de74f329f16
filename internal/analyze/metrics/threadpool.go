package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// ThreadPool is what is known of a managed runtime's thread pool, from any source: the runtime's counters, its events about the
// pool, looks at its threads.
type ThreadPool struct {
	Threads   *Curve // number of threads; nil: not watched
	Loose     bool   // Threads counts all threads of the process: its growth is meaningful, its level is not
	Queue     *Curve // work items that wait for a thread
	Completed *Curve // work items per second

	Raised  map[string]int  // how often the runtime gave it more threads, by its reason
	Reasons evidence.Origin // of Raised

	Worst *threads.Summary // what its threads did when most had work; nil: no looks
	Looks evidence.Origin  // of Worst
}

// Reasons of .NET for a change of its pool's size, as ThreadPoolWorkerThreadAdjustment
// gives them (ClrEtwAll.man, map ThreadAdjustmentReasonMap).
const (
	Starvation          = "Starvation"          // nothing was taken from the queue for half a second
	CooperativeBlocking = "CooperativeBlocking" // a thread of the pool began to wait for a task: .NET 6 and later
)

// Short is how long (s) a count must have been watched to tell whether it grows.
const Short = 2

// ManyThreads × the process's processors is more threads than a pool has unless threads are blocked: running work needs one per
// processor.
const ManyThreads = 3

// ThreadPoolOf reads a process's pool. Of several sources of its size, the first one that was watched long enough to show
// growth counts.
func ThreadPoolOf(b *evidence.Bundle, of *threads.Threads, subject evidence.SubjectID, w Window) *ThreadPool {
	p := &ThreadPool{Raised: make(map[string]int),
		Queue: CurveOf(b, subject, evidence.SeriesPoolQueue, w), Completed: CurveOf(b, subject, evidence.SeriesPoolCompleted, w)}
	seen := p.readLooks(of, subject)
	all := CurveOf(b, subject, evidence.SeriesProcessThreads, w)
	for _, k := range []*Curve{CurveOf(b, subject, evidence.SeriesPoolThreads, w), p.readAdjusted(b, subject), seen, all} {
		if k.Known() && (p.Threads == nil || p.Threads.Span() < Short && k.Span() >= Short) {
			p.Threads, p.Loose = k, k == all
		}
	}
	return p
}

// readAdjusted reads the runtime's own changes of the pool's size and counts, by reason, those that enlarged it.
func (p *ThreadPool) readAdjusted(b *evidence.Bundle, subject evidence.SubjectID) *Curve {
	v, k := &b.Intervals, &Curve{}
	for _, i := range v.Select(evidence.PoolAdjusted, subject) {
		n, ok := v.Get(i, evidence.PoolThreads)
		if !ok {
			continue
		}
		if !k.Known() || n > k.Last() {
			p.Raised[b.Names.Text(v.Cause.At(i))]++
			p.Reasons = v.Origin.At(i)
		}
		k.T, k.V, k.Origin = append(k.T, v.Start[i]), append(k.V, n), v.Origin.At(i)
	}
	return k
}

// readLooks reads the looks at the pool's threads. The curve is their number, nil for one look or for looks without times.
func (p *ThreadPool) readLooks(of *threads.Threads, subject evidence.SubjectID) *Curve {
	worst := of.Summary(subject)
	if worst == nil || worst.Pool == 0 {
		return nil
	}
	p.Worst = worst
	if a, ok := worst.Rows[0].Origin.Artifact(); ok {
		p.Looks = evidence.NewOrigin(a, 0)
	}
	k := &Curve{Origin: p.Looks}
	for _, looks := range of.Rounds(subject) {
		n := 0
		for i := range looks {
			if looks[i].View.Role == threadstack.Worker {
				n++
			}
		}
		k.T, k.V = append(k.T, looks[0].Time), append(k.V, float64(n))
	}
	if len(k.T) < 2 || k.T[0] == 0 {
		return nil
	}
	return k
}

// Size returns the pool's number of threads: as reported, else as seen; NaN unknown.
func (p *ThreadPool) Size() float64 {
	if p.Threads.Known() && !p.Loose {
		return p.Threads.Last()
	}
	if p.Worst != nil {
		return float64(p.Worst.Pool)
	}
	return math.NaN()
}

// Usual returns the mean number of threads, NaN unknown.
func (p *ThreadPool) Usual() float64 {
	if p.Threads.Known() && !p.Loose {
		return p.Threads.Mean()
	}
	return p.Size()
}

// Blocked returns how often the runtime added a thread because existing threads were blocked.
func (p *ThreadPool) Blocked() int { return p.Raised[Starvation] + p.Raised[CooperativeBlocking] }
