package threadpool

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// ErrNoPool says that nothing of a pool was recorded; what to record is in the text.
var ErrNoPool = errors.New("the pool's threads were not recorded: record the process under load (unstall record PID --for 30s)")

// answerQuestion answers from what was recorded.
func answerQuestion(q model.Question) (*model.Answer, error) {
	s, err := ProcessOf(q.Bundle, q.Subject, q.Ledger, threads.Of(q.Bundle, threads.Readers{q.Bundle.Subjects[q.Subject].Runtime: threads.DotnetStacks})).Situation()
	if err != nil {
		return nil, err
	}
	return s.Ask(q.Name, q.Wanted)
}

// Situation is what the simulation of the pool starts from: the pool as recorded. What a
// request waits for, and how many are in flight, may not be known; the simulation says so.
func (p *Process) Situation() (Situation, error) {
	if !p.Watched() {
		return Situation{}, ErrNoPool
	}
	pattern, waits, err := p.findPattern()
	if err != nil {
		return Situation{}, err
	}
	s := p.With(p.Needed(), pattern)
	s.Waits = waits
	return s, nil
}

// With returns the pool as recorded, with operations of a given length, during which threads do what pattern says.
func (p *Process) With(operation Service, pattern Pattern) Situation {
	flying, _ := p.InFlight()
	s := Situation{
		Case: Case{Version: p.Bundle.Subjects[p.Subject].Version, Cores: int(p.Cores), Connections: int(flying),
			Min: p.forcedSize(evidence.FactForcedPoolMinimum), Max: p.forcedSize(evidence.FactForcedPoolMaximum), Pattern: pattern, Service: operation},
		Measured: Measured{Threads: model.Exactly(p.Size()), Rate: model.Unknown, Latency: model.Unknown, P99: model.Unknown},
		Seconds:  p.Threads.Span(),
	}
	l := p.Ledger
	if l == nil || l.Requests.To <= l.Requests.From {
		return s
	}
	s.Seconds = float64(l.Requests.To-l.Requests.From) / 1e9
	finished := l.Requests.Count - l.Requests.Unfinished - l.Requests.TimedOut
	s.Measured.Rate = model.Exactly(float64(finished) / s.Seconds)
	if l.Requests.P99 > 0 {
		s.Measured.P99 = model.Exactly(float64(l.Requests.P99) / 1e6)
	}
	s.Measured.Latency = model.Exactly(p.meanLatency())
	if finished >= enoughToCompute && p.CPU > 0 {
		s.Case.CPU = min(p.CPU*p.Cores*s.Seconds/float64(finished), p.marginalCPU(), p.slowRequestCPU())
	}
	return s
}

// marginalCPU returns an upper bound (s) of the CPU time that each further request per second costs the process; +Inf if it is unknown. It
// leaves out what the process computes anyway, such as starting and being recorded, which must not grow with the requests that a fix lets
// through.
func (p *Process) marginalCPU() float64 {
	l := p.Ledger
	used := metrics.ProcessorTime(p.Bundle, p.Subject, p.requestWindow())
	n := int((l.Requests.To - l.Requests.From) / 1e9)
	if !used.Known() || n < fewSeconds {
		return math.Inf(1)
	}
	type second struct{ ended, took float64 }
	seconds := make([]second, n)
	r := &p.Bundle.Requests
	for i := range r.Len() {
		if a, ok := r.Origin.At(i).Artifact(); ok && a == l.Requests.Source && r.Subject.At(i) == p.Subject && r.Timed(i) {
			if k := (r.End.At(i) - l.Requests.From) / 1e9; k >= 0 && k < int64(n) {
				seconds[k].ended++
			}
		}
	}
	watched := seconds[:0]
	for k, x := range seconds {
		from := l.Requests.From + int64(k)*1e9
		if v := used.Over(metrics.Window{From: from, Until: from + 1e9}); v.Known() { // clients may have seen more than was recorded
			watched = append(watched, second{x.ended, v.Number})
		}
	}
	if seconds, n = watched, len(watched); n < fewSeconds {
		return math.Inf(1)
	}
	sorting.Short(seconds, func(a, b second) int { return cmp.Compare(a.ended, b.ended) })
	ended, took := make([]float64, n), make([]float64, n)
	for k, x := range seconds {
		ended[k], took[k] = x.ended, x.took
	}
	_, _, high := stats.TheilSen(ended, took)
	if math.IsNaN(high) {
		return math.Inf(1)
	}
	return max(0, high)
}

// slowRequestCPU returns an upper bound (s) of the mean CPU time of a slow request, by what threads were seen to do while such requests were
// under way; +Inf if most of that is unknown. It is needed if equally many requests end in each second, so that [Process.marginalCPU] is
// unknown.
func (p *Process) slowRequestCPU() float64 {
	l := p.Ledger
	if unknown := l.Charges[ledger.Unobserved] + l.Charges[ledger.Unexplained]; len(l.Slow) < ledger.MinRequests || float64(unknown) >= mostlyUnknown*float64(l.Total) {
		return math.Inf(1)
	}
	return float64(l.Charges[ledger.Own]+l.Charges[ledger.RequestsCPU]) / 1e9 / float64(len(l.Slow))
}

// mostlyUnknown is the unknown part of slow time from which the rest does not represent all of it.
const mostlyUnknown = .1

// fewSeconds is the least number of seconds that show how CPU time depends on requests.
const fewSeconds = 8

// enoughToCompute is the number of requests from which the CPU time of a process counts as theirs.
const enoughToCompute = 200

// meanLatency returns the mean latency of the requests that were answered, ms, by the source that
// tells rate and p99; NaN if none was.
func (p *Process) meanLatency() float64 {
	r := &p.Bundle.Requests
	var sum, n float64
	for i := range r.Len() {
		if a, ok := r.Origin.At(i).Artifact(); ok && a == p.Ledger.Requests.Source && r.Subject.At(i) == p.Subject && r.Outcome.At(i) == evidence.OK {
			sum += float64(r.Latency(i)) / 1e6
			n++
		}
	}
	return sum / n
}

// findPattern returns how most of the pool's blocked threads wait, and in words.
func (p *Process) findPattern() (Pattern, string, error) {
	if p.Worst != nil {
		groups := p.Waiting()
		if len(groups) == 0 || !p.Above(float64(p.Worst.Pool)) && float64(p.Standing()) < p.Cores {
			return Await, "", nil
		}
		g := groups[0]
		waits := fmt.Sprintf("%d of %d pool threads blocked in %s %s", g.Pool, p.Worst.Pool, Method(g.View), On(g.View))
		switch g.View.State {
		case evidence.TaskWait:
			return TaskWait, waits, nil
		case evidence.SleepWait, evidence.KindUnknown:
			return SleepWait, waits, nil
		case evidence.NetWait, evidence.Syscall:
			return Call, waits, nil
		case evidence.LockWait, evidence.PoolWait:
			return "", "", fmt.Errorf("%s: this depends on how long other threads hold the resource, which the model does not know", waits)
		}
		return "", "", fmt.Errorf("%s: the model covers only waits for tasks, sleeps and synchronous I/O", waits)
	}
	// The runtime says why it adds threads, not where they wait.
	switch release, known := p.Release(); {
	case p.Raised[metrics.CooperativeBlocking] > 0:
		return TaskWait, "pool threads wait for tasks", nil
	case p.Raised[metrics.Starvation] > 0 && known && release >= 6:
		return SleepWait, "pool threads are blocked, not in waits for tasks", nil
	case p.Raised[metrics.Starvation] > 0 || p.Climbs():
		return TaskWait, "pool threads are blocked", nil
	}
	return Await, "", nil
}

// forcedSize returns what the environment says of the pool's size, 0 nothing. The runtime reads it
// as hexadecimal; DOTNET_ goes before COMPlus_, and is not known before 6.
func (p *Process) forcedSize(name string) int {
	release, known := p.Release()
	for _, prefix := range []string{"DOTNET_", "COMPlus_"} {
		if prefix == "DOTNET_" && known && release < 6 {
			continue
		}
		f, ok := p.Fact(prefix + name)
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(f.Value, 16, 15); err == nil && n > 0 {
			return int(n)
		}
	}
	return 0
}

// undisturbed is the quantile of such requests' times that counts as the need of a request: longer ones were disturbed.
const undisturbed = .25

// alone is the least number of requests that did not wait for a thread from which the need of a request is taken.
const alone = 2

// Needed returns how long a request takes if it need not wait for a thread, which a starving service hardly ever shows. It takes the slow
// route's requests, of any source, that ended while no more of them were in progress than the pool has threads from the beginning; else
// those that the service followed from the moment a thread took them.
func (p *Process) Needed() Service {
	l := p.Ledger
	if l == nil {
		return Service{}
	}
	if l.Rule == ledger.RuleBaseline {
		return Service{float64(l.Threshold) / 1e9, "the baseline"}
	}
	r := &p.Bundle.Requests
	route := routeOf(r, l)
	seen := make(map[evidence.ArtifactID][]int)
	for i := range r.Len() {
		if a, ok := r.Origin.At(i).Artifact(); ok && r.Subject.At(i) == p.Subject && r.Timed(i) {
			seen[a] = append(seen[a], i)
		}
	}
	var best []int64
	for _, a := range slices.Sorted(maps.Keys(seen)) {
		if took := p.timesAlone(seen[a], route); len(took) > len(best) {
			best = took
		}
	}
	if len(best) < alone {
		return p.fastestService(route)
	}
	slices.Sort(best)
	return Service{float64(stats.Quantile(best, undisturbed)) / 1e9, "requests in this recording that ran one at a time"}
}

// The least time of requests that hold a thread: that of the fastest, or, of many requests, a quantile, because some may have found their
// answer in a cache.
const (
	leastEnded = 5
	quickest   = .1
)

// fastestService returns what the fastest requests of a route took from when a thread of the pool
// began with them. That their operation is complete is noticed late in a starving pool, never too
// early.
func (p *Process) fastestService(route evidence.NameID) Service {
	r := &p.Bundle.Requests
	var took []int64
	for i := range r.Len() {
		if r.Subject.At(i) == p.Subject && r.Lane.At(i) != 0 && r.Route.At(i) == route && r.Outcome.At(i) == evidence.OK {
			took = append(took, r.Latency(i))
		}
	}
	if len(took) < leastEnded {
		return Service{}
	}
	slices.Sort(took)
	return Service{float64(stats.Quantile(took, quickest)) / 1e9, "the fastest requests in this recording, from when a thread took them"}
}

// Served is what requests take where each has a thread, blocked as that is.
func (p *Process) Served() Service {
	l := p.Ledger
	if l == nil {
		return Service{}
	}
	r := &p.Bundle.Requests
	route := routeOf(r, l)
	var took []int64
	for _, i := range l.Rows {
		if r.Route.At(i) == route && r.Outcome.At(i) == evidence.OK {
			took = append(took, r.Latency(i))
		}
	}
	if len(took) < ledger.MinRequests {
		return Service{}
	}
	return Service{stats.Median(took) / 1e9, "requests in this recording that did not wait for a thread"}
}

// routeOf is the route of most slow requests, else of most.
func routeOf(r *evidence.Requests, l *ledger.Ledger) evidence.NameID {
	rows := l.Slow
	if len(rows) == 0 {
		rows = l.Rows
	}
	n := make(map[evidence.NameID]int64)
	for _, i := range rows {
		n[r.Route.At(i)]++
	}
	var most evidence.NameID
	for _, k := range slices.Sorted(maps.Keys(n)) {
		if n[k] > n[most] {
			most = k
		}
	}
	return most
}

// timesAlone returns what the requests of a route took (ns) beside which there were hardly others.
func (p *Process) timesAlone(rows []int, route evidence.NameID) (took []int64) {
	r := &p.Bundle.Requests
	var starts, ends []int64
	for _, i := range rows {
		starts, ends = append(starts, r.End.At(i)-r.Latency(i)), append(ends, r.End.At(i))
	}
	slices.Sort(starts)
	slices.Sort(ends)
	before := func(at []int64, t int64) int { n, _ := slices.BinarySearch(at, t); return n }
	for _, i := range rows {
		from, to := r.End.At(i)-r.Latency(i), r.End.At(i)
		if beside := before(starts, to) - before(ends, from); r.Route.At(i) == route && r.Outcome.At(i) == evidence.OK && float64(beside) <= max(1, p.Cores) {
			took = append(took, r.Latency(i))
		}
	}
	return took
}
