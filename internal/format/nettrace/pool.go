package nettrace

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// pool is the runtime's thread pool: how it changed the number of its threads.
type pool struct {
	watched     bool
	adjustments []adjustment
	dropped     int64
	threads     points // number of worker threads, as threads begin and end
	throughput  points // work items per second, as measured by hill climbing
	bounds      []bound
	byReason    [len(adjustReasons) + 1]int64
}

type bound struct {
	key   string
	value uint16
	n     int64
}

type adjustment struct {
	at      int64
	threads uint32
	reason  uint32
	n       int64
}

// adjustReasons are the reasons for a change of the number of threads, by the runtime's
// names. Starvation: no item was taken off the queue for half a second.
// CooperativeBlocking (.NET 6+): a thread announced that it waits for a task.
var adjustReasons = [...]string{"Warmup", "Initializing", "RandomMove", "ClimbingMove", "ChangePoint", "Stabilizing",
	"Starvation", "ThreadTimedOut", "CooperativeBlocking"}

const maxAdjustments = 256 << 10

// poolAdjustment reads ThreadPoolWorkerThreadAdjustment/Adjustment (55).
func (q *process) poolAdjustment(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.F64() // mean throughput
	a := adjustment{at: e.Time, threads: c.U32(), reason: c.U32(), n: e.N}
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	p := &q.pool
	p.watched = true
	p.byReason[min(int(a.reason), len(adjustReasons))]++
	if len(p.adjustments) == maxAdjustments {
		p.dropped++
		return
	}
	p.adjustments = append(p.adjustments, a)
}

// workerThread reads ThreadPoolWorkerThread/Start (50) and Stop (51).
func (q *process) workerThread(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	n := c.U32()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.pool.watched = true
	q.pool.threads.add(e.Time, float64(n), e.N)
}

// poolThroughput reads ThreadPoolWorkerThreadAdjustment/Sample (54).
func (q *process) poolThroughput(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	v := c.F64()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.pool.watched = true
	q.pool.throughput.add(e.Time, v, e.N)
}

// poolBounds reads ThreadPoolMinMaxThreads (59, .NET 7+).
func (q *process) poolBounds(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	least, most := c.U16(), c.U16()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.pool.bounds = append(q.pool.bounds[:0], bound{evidence.FactPoolMinimum, least, e.N}, bound{evidence.FactPoolMaximum, most, e.N})
}

// managedPool says whether the pool is the one of .NET 6 and later, whose events count
// all its threads; earlier ones count the working threads.
func (q *process) managedPool() bool { return q.majorVersion() >= 6 }

// majorVersion returns the runtime's major version, 0 unknown.
func (q *process) majorVersion() int {
	major, _, _ := strings.Cut(q.version, ".")
	n, _ := strconv.Atoi(major)
	return n
}

func reasonName(reason uint32) string {
	if int(reason) < len(adjustReasons) {
		return adjustReasons[reason]
	}
	return "reason " + strconv.FormatUint(uint64(reason), 10)
}

func (p *pool) emit(q *process) {
	for _, b := range p.bounds {
		q.addFact(b.key, strconv.Itoa(int(b.value)), float64(b.value), b.n)
	}
	if !p.watched {
		return
	}
	for _, a := range p.adjustments {
		q.b.Interval(evidence.Interval{Subject: q.id, Lane: evidence.AllLanes, Kind: evidence.PoolAdjusted, Start: a.at, End: a.at,
			Cause: q.b.Name(reasonName(a.reason)), Extra: []evidence.Extra{{Key: evidence.PoolThreads, Value: float64(a.threads)}}, Origin: q.b.Origin(a.n)})
	}
	if !q.counters.hasSeries(evidence.SeriesPoolThreads) && q.managedPool() {
		p.threads.emit(q, evidence.SeriesPoolThreads, "threads")
	}
	p.throughput.emit(q, "ThreadPool/throughput", "work items/s")
	q.addCoverage(evidence.CoverThreadPool, q.watchedSince(), q.watchedUntil(), 0)
	if p.dropped > 0 {
		q.b.Warnf(0, "more than %d adjustments of the thread pool: later ones left out: %d", maxAdjustments, p.dropped)
	}
}
