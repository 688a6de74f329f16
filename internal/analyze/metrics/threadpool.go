package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// ThreadPool is what is known of the threads of a managed runtime's pool, from whatever
// told: the runtime's counters, its own events about the pool, looks at its threads.
type ThreadPool struct {
	Threads   *Curve // how many there are; nil: not watched
	Loose     bool   // Threads counts all of the process: its level says nothing, its growth does
	Queue     *Curve // work items that wait for a thread
	Completed *Curve // work items per second

	Raised  map[string]int  // how often the runtime gave it more threads, by its reason
	Reasons evidence.Origin // of Raised

	Worst *threads.Summary // what its threads did when most had work; nil: nobody looked
	Looks evidence.Origin  // of Worst
}

// Reasons of .NET for a change of its pool's size, as ThreadPoolWorkerThreadAdjustment
// gives them (ClrEtwAll.man, map ThreadAdjustmentReasonMap).
const (
	Starvation          = "Starvation"          // nothing was taken from the queue for half a second
	CooperativeBlocking = "CooperativeBlocking" // a thread of the pool began to wait for a task: .NET 6 and later
)

// Short is how long (s) a count must have been watched to say whether it grows.
const Short = 2

// ManyThreads times its processors are more threads than a pool has unless others are
// blocked: work that runs needs one for each.
const ManyThreads = 3

// ThreadPoolOf reads a process's pool. Of those that tell its size the first counts that
// was watched for long enough to show growth.
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

// readAdjusted reads the runtime's own changes to the pool's size and counts, by reason, those
// that gave it more.
func (p *ThreadPool) readAdjusted(b *evidence.Bundle, subject evidence.SubjectID) *Curve {
	v, k := &b.Intervals, &Curve{}
	for _, i := range v.Select(evidence.PoolAdjusted, subject) {
		n, ok := v.Get(i, evidence.PoolThreads)
		if !ok {
			continue
		}
		if !k.Known() || n > k.Last() {
			p.Raised[b.Names.Text(v.Cause[i])]++
			p.Reasons = v.Origin[i]
		}
		k.T, k.V, k.Origin = append(k.T, v.Start[i]), append(k.V, n), v.Origin[i]
	}
	return k
}

// readLooks reads the looks at its threads; the curve is how many there were, nil of one look or
// of looks of no known time.
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

// Size is how many threads the pool has: as it says, else as were seen; NaN unknown.
func (p *ThreadPool) Size() float64 {
	if p.Threads.Known() && !p.Loose {
		return p.Threads.Last()
	}
	if p.Worst != nil {
		return float64(p.Worst.Pool)
	}
	return math.NaN()
}

// Usual is how many threads the pool has in the mean, NaN unknown.
func (p *ThreadPool) Usual() float64 {
	if p.Threads.Known() && !p.Loose {
		return p.Threads.Mean()
	}
	return p.Size()
}

// Blocked counts how often the runtime added a thread because those it had were blocked.
func (p *ThreadPool) Blocked() int { return p.Raised[Starvation] + p.Raised[CooperativeBlocking] }
