package ledger

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Demands may differ by this factor from the CPU time that the process used for each request: some CPU time serves no
// request, and waits in between are not counted.
const (
	leastWork = .75
	mostWork  = 1.25
)

// queuesFrom is the share of the processors from which requests queue for them at all: at it, an M/M/1 system holds two
// thirds of a request on average; below it, requests wait for something else.
const queuesFrom = .4

// halvings is how many times the range of demands is halved; it finds the scale to a hundred-thousandth.
const halvings = 16

// replayWork splits the unlabelled time of requests of a service near saturation, where hardly any request ran far from a
// pause and its backlog. It takes what a request needs of a processor from the process's CPU time without the
// collector's, divided by the answered requests. The rest of the quickest requests' latency passes elsewhere, however
// long the queue is.
//
// It calibrates one figure within what the CPU time allows: it scales demands until the sum of all latencies is as
// observed. The p50, the p99 and the time of requests near pauses must then be reproduced, or the model is not used. It is
// not used either where /proc rows do not tell the CPU time, or where processors are not short.
func (l *Ledger) replayWork() {
	work, why := l.workEach()
	if why != "" {
		l.Replay.Why += "; " + why
		return
	}
	m := l.listArrivals()
	quiet := l.quietDemands(&m)
	shape, mean := quiet.all, 0.
	for _, v := range shape {
		mean += float64(v) / float64(len(shape))
	}
	least := stats.Quantile(slices.Sorted(slices.Values(m.observed)), quickest)
	elsewhere := max(0, least-int64(work))
	var observed int64
	for _, v := range m.observed {
		observed += v
	}
	drawn := func(draw uint64, scale float64) {
		for n := range m.rows {
			d := work * scale
			if len(shape) >= MinRequests && mean > 0 {
				d *= float64(shape[drawNumber(draw<<32|uint64(n), len(shape))]) / mean
			}
			m.demand[n] = int64(d)
		}
	}
	seen := slices.Clone(m.observed)
	for n := range m.observed {
		m.observed[n] = max(0, m.observed[n]-elsewhere)
	}
	sum := func(draw uint64, scale float64) (total int64, ok bool) {
		drawn(draw, scale)
		out, ok := l.replayShifted(&m, l.listShifts()[0])
		for _, v := range out.With.Latency {
			total += v + elsewhere
		}
		return total, ok
	}
	scale := func(draw uint64) (float64, bool) {
		from, to := leastWork, mostWork
		for range halvings {
			middle := (from + to) / 2
			total, ok := sum(draw, middle)
			if !ok {
				return 0, false
			}
			if total < observed {
				from = middle
			} else {
				to = middle
			}
		}
		if from == leastWork || to == mostWork {
			l.Replay.Why = fmt.Sprintf("no CPU demand near the measured %.3g ms per request reproduces the observed latencies", work/1e6)
			return 0, false
		}
		return (from + to) / 2, true
	}
	for draw := range uint64(draws) {
		by, ok := scale(draw)
		if !ok {
			return
		}
		drawn(draw, by)
		for j, d := range l.listShifts() {
			out, ok := l.replayShifted(&m, d)
			if !ok {
				return
			}
			first := draw == 0 && j == 0
			if first && !l.acceptFit(out, sumNear(m.observed, quiet.near), sumNear(out.With.Latency, quiet.near), "total latency of requests near pauses is") {
				return
			}
			l.recordMoved(m.rows, first, func(n int) int64 {
				stopped := l.stops.meanStopped(l.sentAt(m.rows[n]), l.b.Requests.End.At(m.rows[n]))
				return max(0, min(out.With.Latency[n]-out.Without.Latency[n], seen[n]-least)-stopped)
			})
		}
	}
}

// workEach returns the CPU time (ns) that the process used for each request besides collecting, and why that is no
// measure of its queue.
func (l *Ledger) workEach() (ns float64, why string) {
	cpu, host := l.cpuAndHost()
	if cpu.Span() == 0 || l.To <= l.From {
		return 0, "the CPU time of the process was not recorded"
	}
	// A recording may end before the last answers of a queue come.
	from, to := max(l.From, cpu.T[0]), min(l.To, cpu.T[len(cpu.T)-1])
	mean := cpu.Over(metrics.Window{From: from, Until: to})
	if !mean.Known() || mean.Watched*float64(to-from) < metrics.Most*float64(l.To-l.From) {
		return 0, "the CPU time of the process is known for less than half of the time"
	}
	used := mean.Number
	span := float64(to-from) / 1e9
	collected := l.sumCollectorCPU()(from, to) / span
	done := 0
	for _, i := range l.Rows {
		if end := l.b.Requests.End.At(i); end >= from && end <= to {
			done++
		}
	}
	stopped := float64(l.stops.stoppedWithin(from, to)) / float64(to-from)
	// CPU time that others on the host use is not available to requests, which take longer for it.
	all := float64(l.Replay.Servers)
	left := host.Left(all, metrics.Window{From: from, Until: to})
	free := left * (1 - stopped)
	if busy := max(0, used-collected) / free; busy < queuesFrom {
		return 0, fmt.Sprintf("requests use only %.0f %% of the CPUs, too little to replay a queue for them", 100*busy)
	}
	if done == 0 || used <= collected {
		return 0, "no request finished"
	}
	return (used - collected) * span / float64(done) * 1e9 * all / left, ""
}

// cpuAndHost returns the CPU time of the process and of its host over time.
func (l *Ledger) cpuAndHost() (cpu *metrics.Curve, host *metrics.Host) {
	w := metrics.Window{From: l.From, Until: l.To}
	return metrics.ProcessorTime(l.b, l.Subject, w), metrics.HostOf(l.b, l.Subject, w)
}

// sumCollectorCPU returns a function that sums the CPU time (s) of the collector's pauses that began within a time: as the
// log tells it, else all processors for the pause. It is a function because a log has many pauses and is asked often.
func (l *Ledger) sumCollectorCPU() func(from, to int64) (s float64) {
	v := &l.b.Intervals
	rows := v.Select(evidence.StopTheWorld, l.Subject)
	began, until := make([]int64, len(rows)), make([]float64, len(rows)+1)
	for n, i := range rows {
		user, ok := v.Get(i, evidence.UserCPU)
		system, _ := v.Get(i, evidence.SystemCPU)
		if !ok {
			user, system = float64(l.Replay.Servers)*float64(v.End[i]-v.Start[i]), 0
		}
		began[n], until[n+1] = v.Start[i], until[n]+(user+system)/1e9
	}
	return func(from, to int64) float64 {
		first, _ := slices.BinarySearch(began, from)
		last, _ := slices.BinarySearch(began, to)
		return until[max(first, last)] - until[first]
	}
}
