package exchanges

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Signs that a thread does a request's work which another thread reads and answers, as where event loops hand requests to threads that may block (asyncio's and
// Tornado's executors, Vert.x' workers): its calls since the request was read begin soon after that, or soon after it has worked for another one, and the last of
// them ends soon before the answer. This must hold for linkedLeast of the requests of a route, and notByChance times as often as for other moments.
const (
	jobEdge = .1 // of a request's time: before its first call, and after its last, at most, or [later]
)

// jobShifts are the times (ns) to other moments. The one with which fewest requests have a job counts, as requests may come at equal distances.
var jobShifts = [...]int64{613e6, 1127e6, 1711e6}

// job is the calls that a thread makes for a request.
type job struct {
	calls   []int32
	queued  bool  // the thread worked for another request until then
	outside int64 // ns without a call of the thread before it, and after it
}

// isBetter says whether a job is more likely a request's than another one.
func (j *job) isBetter(than *job) bool {
	if len(than.calls) == 0 || j.queued != than.queued {
		return len(than.calls) == 0 || than.queued
	}
	return j.outside > than.outside
}

// jobThreads are the threads that make calls one at a time and read no requests, with their calls in the order of time.
type jobThreads struct {
	requests, calls []exchange
	of              map[int64][]int32
	threads         []int64
}

// linkByJobs links calls to requests by the threads that do these requests' work, and returns the requests and how many calls it linked.
func linkByJobs(requests, calls []exchange) (found map[int32]bool, linked int) {
	t := collectJobThreads(requests, calls)
	if t == nil {
		return nil, 0
	}
	var answered []int32
	all := make(map[evidence.NameID]int)
	for i := range requests {
		if x := &requests[i]; x.first > 0 && !x.isStreamed() {
			answered = append(answered, int32(i))
			all[x.what]++
		}
	}
	slices.SortFunc(answered, func(a, b int32) int {
		return cmp.Or(cmp.Compare(requests[a].first, requests[b].first), cmp.Compare(a, b))
	})
	count := func(jobs map[int32][]int32) map[evidence.NameID]int {
		n := make(map[evidence.NameID]int)
		for r := range jobs {
			n[requests[r].what]++
		}
		return n
	}
	jobs := t.findJobs(answered, 0)
	met, chance := count(jobs), make(map[evidence.NameID]int)
	for n, shift := range jobShifts {
		other := count(t.findJobs(answered, shift))
		for route := range met {
			if n == 0 || other[route] < chance[route] {
				chance[route] = other[route]
			}
		}
	}
	found = make(map[int32]bool)
	for r, calling := range jobs {
		route := requests[r].what
		if n := met[route]; n < routeLeast || float64(n) < linkedLeast*float64(all[route]) || n < notByChance*chance[route] {
			continue
		}
		for _, k := range calling {
			calls[k].request = r
			linked++
		}
		found[r] = true
	}
	return found, linked
}

// collectJobThreads returns nil where no thread may work for the requests that others read.
func collectJobThreads(requests, calls []exchange) *jobThreads {
	serves := make(map[int64]bool)
	for i := range requests {
		x := &requests[i]
		if serves[x.thread] = true; x.first > 0 {
			serves[x.other] = true
		}
	}
	t := &jobThreads{requests: requests, calls: calls, of: make(map[int64][]int32)}
	several := make(map[int64]int) // by thread: calls that others end, or that are not over when it begins the next
	for i := range calls {
		c := &calls[i]
		if c.request >= 0 || c.lookup || c.multiplexed || c.goroutines[0] > 0 || c.first == 0 || serves[c.thread] {
			continue
		}
		if c.other != c.thread {
			several[c.thread]++
		}
		t.of[c.thread] = append(t.of[c.thread], int32(i))
	}
	for thread, of := range t.of {
		slices.SortFunc(of, func(a, b int32) int { return cmp.Or(cmp.Compare(calls[a].begun, calls[b].begun), cmp.Compare(a, b)) })
		for n := 1; n < len(of); n++ {
			if calls[of[n]].begun < t.endOf(of[n-1]) {
				several[thread]++
			}
		}
		if float64(several[thread]) > mostOutlived*float64(len(of)) {
			delete(t.of, thread)
			continue
		}
		t.threads = append(t.threads, thread)
	}
	if len(t.of) == 0 || len(t.of) > mostWorkers {
		return nil
	}
	slices.Sort(t.threads)
	return t
}

func (t *jobThreads) endOf(k int32) int64 { return max(t.calls[k].first, t.calls[k].last) }

// findJobs returns the calls of requests, as if each had come and been answered later than it was, by some time (ns).
func (t *jobThreads) findJobs(answered []int32, shift int64) map[int32][]int32 {
	found := make(map[int32][]int32)
	taken := make(map[int32]bool) // calls
	for _, r := range answered {
		var best job
		for _, thread := range t.threads {
			if j := t.jobOf(t.of[thread], r, shift, taken); len(j.calls) > 0 && j.isBetter(&best) {
				best = j
			}
		}
		if len(best.calls) == 0 {
			continue
		}
		found[r] = best.calls
		for _, k := range best.calls {
			taken[k] = true
		}
	}
	return found
}

// jobOf returns what a thread calls for a request; no calls if it does not work for it.
func (t *jobThreads) jobOf(of []int32, r int32, shift int64, taken map[int32]bool) (j job) {
	x := &t.requests[r]
	begun, answered := x.begun+shift, x.first+shift
	edge := max(later, int64(jobEdge*float64(answered-begun)))
	from, _ := slices.BinarySearchFunc(of, begun, func(k int32, at int64) int { return cmp.Compare(t.calls[k].begun, at) })
	until, _ := slices.BinarySearchFunc(of, answered, func(k int32, at int64) int { return cmp.Compare(t.calls[k].begun, at) })
	if from >= until || t.endOf(of[until-1]) > answered || answered-t.endOf(of[until-1]) > edge {
		return j
	}
	free, queued := begun, false
	for n := until - 1; n >= from; n-- {
		if taken[of[n]] { // it has worked for another one until then
			from, free, queued = n+1, t.endOf(of[n]), true
			break
		}
	}
	if from >= until || t.calls[of[from]].begun-free > edge {
		return j
	}
	before, after, within := longest, longest, int64(0)
	for n := from + 1; n < until; n++ {
		within = max(within, t.calls[of[n]].begun-t.endOf(of[n-1]))
	}
	if from > 0 && !queued && !taken[of[from-1]] {
		ended := t.endOf(of[from-1])
		if before = t.calls[of[from]].begun - ended; before < within || ended > begun { // it works for another one, which is not answered yet
			return j
		}
	}
	if until < len(of) {
		after = t.calls[of[until]].begun - t.endOf(of[until-1])
	}
	return job{of[from:until], queued, before + after}
}
