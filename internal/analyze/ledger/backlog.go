package ledger

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/stats"
)

// Processors are short where requests wait and others than the collector keep them this busy.
const kept = .8

// leastBack is how much of a pause's time a busy service gets back at least, had the pause
// not been: caches that it left cold, and what collects beside the program, take the rest.
const leastBack = .75

// quickest is the part of all requests that wait for nothing, however long the queue is:
// what they take is needed.
const quickest = .05

// congestedFrom times as many requests as processors under way are more than these can
// serve: one is worked on by each, and one waits behind it.
const congestedFrom = 2

// estimateBacklog returns how long slow requests waited behind some pauses (ns, in the order of
// Slow), bounds on the sum, and why that is not known. It is for services whose processors were
// busy without a break, where the replay with drawn demands did not reproduce what was observed,
// most often because requests needed something else meanwhile. Then the answers themselves tell
// what the service could do. While more requests are under way than processors can serve, one
// answer comes after the other as fast as the service works; cut the pauses out of the time
// between two answers, and the answers come earlier, down to what a request takes that need not
// wait. Nothing is calibrated, and only the processors' being busy proves it: where something else
// than processors is short there is no figure.
//
// The figure is cautious: it leaves out what a pause costs while few requests are under way, a
// tenth to a third of the truth in simulated services. The lower bound assumes that only a part of
// the pauses' time comes back, the upper bound is all that slow requests which met a pause took.
// The order in which requests are served is taken from the arrivals: the n-th to come has the n-th
// answer.
func (l *Ledger) estimateBacklog(gone stops) (behind []int64, low, high int64, why string) {
	m := l.listArrivals()
	answers := make([]int64, len(m.rows))
	for n, row := range m.rows {
		answers[n] = l.b.Requests.End.At(row)
	}
	slices.Sort(answers)
	waits := l.markCongested(&m, answers)
	if why := l.keptBusy(answers, waits); why != "" {
		return nil, 0, 0, why
	}
	sorted := slices.Sorted(slices.Values(m.observed))
	quick := stats.Quantile(sorted, quickest)
	usual := quick
	var free []int64
	for n := range m.rows {
		if !waits[n] {
			free = append(free, answers[n]-m.arrive[n])
		}
	}
	if len(free) >= MinRequests {
		slices.Sort(free)
		usual = max(quick, stats.Quantile(free, .5))
	}
	slow := make(map[int]int, len(l.Slow)) // row to place in l.Slow
	for n, row := range l.Slow {
		slow[row] = n
	}
	// spared is what each slow request waited, had the pauses' time come back in part.
	spared := func(back float64) []int64 {
		out := make([]int64, len(l.Slow))
		var before int64 // the answer before, had the pauses not been
		for n, at := range answers {
			then := at - gone.meanStopped(m.arrive[n], at)
			if waits[n] && n > 0 {
				gap := at - answers[n-1]
				then = max(m.arrive[n]+usual, before+gap-int64(back*float64(gone.meanStopped(answers[n-1], at))))
			}
			then = min(then, at)
			before = then
			if k, ok := slow[m.rows[n]]; ok {
				row := m.rows[n]
				direct := gone.meanStopped(m.arrive[n], l.b.Requests.End.At(row))
				out[k] = max(0, min(at-then, m.observed[n]-usual)-direct)
			}
		}
		return out
	}
	sum := func(all []int64) (s int64) {
		for _, v := range all {
			s += v
		}
		return s
	}
	for _, row := range l.Slow {
		from, to := l.sentAt(row), l.b.Requests.End.At(row)
		if stopped := gone.meanStopped(from, to); stopped > 0 {
			high += to - from - stopped
		}
	}
	behind = spared(1)
	of := sum(behind)
	return behind, min(of, sum(spared(leastBack))), max(of, high), ""
}

// markCongested says of each answer whether more requests were under way than processors can serve
// when the answer before it was given.
func (l *Ledger) markCongested(m *replayed, answers []int64) []bool {
	waits := make([]bool, len(answers))
	came := 0
	for n := 1; n < len(answers); n++ {
		for came < len(m.arrive) && m.arrive[came] <= answers[n-1] {
			came++
		}
		waits[n] = came-n > congestedFrom*l.Replay.Servers
	}
	return waits
}

// keptBusy says why the processors were not what requests waited for.
func (l *Ledger) keptBusy(answers []int64, waits []bool) string {
	cpu, host := l.cpuAndHost()
	if !cpu.Known() || l.Replay.Servers == 0 {
		return "the CPU time of the process was not recorded"
	}
	collecting := l.sumCollectorCPU()
	var used, free, watched, waited float64 // s of processors; of time
	for n := 1; n < len(answers); n++ {
		if !waits[n] {
			continue
		}
		first := n
		for n+1 < len(answers) && waits[n+1] {
			n++
		}
		from, to := answers[first-1], answers[n]
		waited += float64(to-from) / 1e9
		w := metrics.Window{From: from, Until: to}
		mean := cpu.Over(w)
		if !mean.Known() {
			continue
		}
		s := float64(to-from) / 1e9
		watched += s * mean.Watched
		used += mean.Number*s - collecting(from, to)
		free += host.Left(float64(l.Replay.Servers), w) * (s - float64(l.stops.meanStopped(from, to))/1e9)
	}
	switch {
	case waited == 0:
		return "no requests queued"
	case watched < metrics.Most*waited:
		return "the CPU time of the process is known for less than half of the time in which requests queued"
	case used < kept*free:
		return fmt.Sprintf("requests queued while using only %.0f %% of the CPUs, so they waited for something else", 100*max(0, used)/free)
	}
	return ""
}
