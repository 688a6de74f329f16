package ledger

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/stats"
)

// Requests queue for processors where work other than garbage collection keeps the processors this busy.
const kept = .8

// leastBack is the least part of a pause's time that a busy service would regain without the pause. Caches that the pause
// left cold, and concurrent collection, take the rest.
const leastBack = .75

// quickest is the part of all requests that wait for nothing, however long the queue is: their latency is the time that
// requests need.
const quickest = .05

// congestedFrom is how many requests per processor must be under way for the processors to fall behind: each processor
// works on one request while another waits.
const congestedFrom = 2

// estimateBacklog returns how long slow requests waited behind some pauses (ns, in the order of Slow), bounds on the
// sum, and why that is not known. It is for services whose processors were busy without a break, but where the replay
// with drawn demands did not reproduce what was observed, most often because requests also needed something else. The
// answers themselves then show the capacity of the service: while more requests are under way than processors can
// serve, answers follow each other as fast as the service works. With the pauses cut out of the time between two
// answers, the answers come earlier, down to the latency of a request that does not wait. The method calibrates nothing
// and rests only on the processors' being busy; where something else than processors is short there is no figure.
//
// The figure is cautious: it leaves out the cost of a pause while few requests are under way, a tenth to a third of the
// true cost in simulated services. The lower bound assumes that only a part of the pauses' time comes back; the upper
// bound is the whole latency of slow requests that met a pause. The order of service is the order of arrival: the n-th
// request to come has the n-th answer.
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
	// spared is what each slow request would not have waited if a part of the pauses' time had come back.
	spared := func(back float64) []int64 {
		out := make([]int64, len(l.Slow))
		var before int64 // the previous answer without the pauses
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

// markCongested tells for each answer whether more requests were under way than processors can serve at the time of the
// previous answer.
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

// keptBusy returns why requests did not wait for processors, "" if they did.
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
		return fmt.Sprintf("while requests queued, the process used only %.0f %% of the CPUs, too little to tell by its answers how fast it serves them", 100*max(0, used)/free)
	}
	return ""
}
