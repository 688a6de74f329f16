package ledger

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// A long poll is a request that waits until there is an event to answer with, or until a fixed timeout.
// Requests of other routes, which never wait themselves, send the events: they begin just before a waiting request is
// answered, far more often than by chance. A request that waits for a lock, a pool or a dependency is answered when that
// becomes free, whatever else arrives then; one that waits for a thread of the pool is answered before the next begins.
const (
	pollLeast  = int64(1e8) // ns: the least latency of a long poll
	pollMost   = .6         // of a route's requests last as long, at most; else its purpose cannot be told
	pollTimes  = 10         // × the latency of the requests that send events is how long a long poll waits, at least
	pollTold   = .85        // of those that did not time out ended with an event, at least
	pollBeyond = 4.         // standard deviations by which events must exceed chance
	pollWhole  = .02        // of the timeout is how far apart requests that timed out may be
	pollAtOnce = int64(1e7) // ns between two answers of one event, at most
	pollNear   = int64(3e6) // ns between an event's answers and the end of the request that sent it, at most
	pollJitter = .2         // of the longest wait: those that timed out took no less than the rest
	pollChance = .01        // the chance that a request ends at each of these moments
)

// pollWithin lists how long (ns) before the answer of a long poll the request with its event begins, at most. Where many
// requests come, so many begin within the longer times that these tell nothing.
var pollWithin = []int64{10e6, 3e6, 1e6, 3e5}

// withoutPolls leaves out long polls: requests that one event ends all at once, or each of which ends with an event of its own where requests
// were seen to await something of the program, or threads to wait for others in its code.
func withoutPolls(b *evidence.Bundle, subject evidence.SubjectID, sources map[evidence.ArtifactID][]int, read func() *threads.Threads) {
	r := &b.Requests
	awaits := sync.OnceValue(func() bool { return awaitsOthers(b, subject) || waitsForThreads(read(), subject) })
	polls := make(map[string]string) // by the shape of a route: its name, and what ends its requests
	for _, a := range slices.Sorted(maps.Keys(sources)) {
		all := sources[a]
		if r.Lane.At(all[0]) != 0 || b.VantageOf(all[0]) == evidence.FromKernel { // not clients' records: their latencies include the way there and back
			maps.Copy(polls, pollsOf(b, all, awaits))
		}
	}
	if len(polls) == 0 {
		return
	}
	for _, a := range slices.Sorted(maps.Keys(sources)) {
		all := sources[a]
		family := routeFamilies(b, all)
		rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return polls[routeShape(family[r.Route.At(i)])] != "" })
		n := len(all) - len(rest)
		if n == 0 {
			continue
		}
		if sources[a] = rest; len(rest) == 0 {
			delete(sources, a)
		}
		b.Warnf(evidence.NewOrigin(a, 0), "not counted as slow: %s long-poll requests (they wait for an event; with --slo they count) to %s",
			units.Count(n), strings.Join(slices.Sorted(maps.Values(polls)), ", "))
	}
}

// awaitsOthers reports whether the subject awaits anything other than a timer, a pool or an answer from outside.
func awaitsOthers(b *evidence.Bundle, subject evidence.SubjectID) bool {
	x, other := &b.Samples, b.Names.Lookup(evidence.SampleAwaitOther)
	if other == 0 {
		return false
	}
	for i := range x.Len() {
		if x.Type[i] == other && x.Subject[i] == subject {
			return true
		}
	}
	return false
}

// waitsForThreads reports whether threads of the subject were seen to wait in the program's own code for what another thread does, other than for a lock.
func waitsForThreads(t *threads.Threads, subject evidence.SubjectID) bool {
	return slices.ContainsFunc(t.Samples(subject), func(x threads.Sample) bool {
		return x.View.User >= 0 && (x.View.State == evidence.SyncWait || x.View.State == evidence.TaskWait)
	})
}

// routeShape returns a route with what stands for its parameters left empty: the service has /events/{id} where a load generator has
// /events/{n}.
func routeShape(route string) string {
	route, _, _ = strings.Cut(route, "?")
	return placeholder().ReplaceAllString(route, "{}")
}

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{[^{}/]*\}`)
})

// pollsOf returns the routes that are long polls by their shape, each with what ends it. A request may have an event of its own if requests of the
// program await something of it.
func pollsOf(b *evidence.Bundle, rows []int, awaits func() bool) map[string]string {
	r := &b.Requests
	family := routeFamilies(b, rows)
	of := make(map[string][]int)
	for _, i := range rows {
		if r.Route.At(i) != 0 { // else its beginning was not seen
			name := family[r.Route.At(i)]
			of[name] = append(of[name], i)
		}
	}
	median := make(map[string]int64, len(of))
	for name, rows := range of {
		took := make([]int64, len(rows))
		for n, i := range rows {
			took[n] = r.Latency(i)
		}
		slices.Sort(took)
		median[name] = stats.Quantile(took, .5)
	}
	polls := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		waits, longest := waitsOf(r, of[name])
		if len(of[name]) < MinRequests || float64(len(waits)) < pollMost*float64(len(of[name])) {
			continue
		}
		told := slices.DeleteFunc(slices.Clone(waits), func(i int) bool { return longest > 0 && float64(r.Latency(i)) >= (1-pollWhole)*float64(longest) })
		for _, by := range slices.Sorted(maps.Keys(of)) {
			if pollTimes*median[by] <= median[name] && (len(told) >= leastTold && endsWaits(r, of[by], told) && awaits() || endsAllWaits(r, of[by], of[name], waits)) {
				ends := name + " (answered after requests to " + by
				if longest > 0 {
					ends += ", or after " + units.Time(float64(longest))
				}
				polls[routeShape(name)] = ends + ")"
				break
			}
		}
	}
	return polls
}

// leastTold is how many long polls must have ended with an event: one or two do by chance.
const leastTold = 10

// waitsOf returns the requests that waited, and their timeout (ns) if several reached it; else 0.
func waitsOf(r *evidence.Requests, rows []int) (waits []int, longest int64) {
	for _, i := range rows {
		if r.Outcome.At(i) != evidence.Unfinished && r.Latency(i) >= pollLeast {
			waits = append(waits, i)
			longest = max(longest, r.Latency(i))
		}
	}
	n := 0
	for _, i := range waits {
		if float64(r.Latency(i)) >= (1-pollWhole)*float64(longest) {
			n++
		}
	}
	if n < 3 { // one or two have the same length by chance
		longest = 0
	}
	return waits, longest
}

// endsWaits reports whether the requests of one route (tellers) end the waits of others.
func endsWaits(r *evidence.Requests, tellers, waits []int) bool {
	starts := make([]int64, len(tellers))
	for n, i := range tellers {
		starts[n] = r.Start.At(i)
	}
	slices.Sort(starts)
	for _, within := range pollWithin {
		told := 0
		var watched, covered float64 // ns in which requests waited, and the part in which a request that may send the event had just begun
		for _, i := range waits {
			from, to := r.Start.At(i), r.End.At(i)
			if n := countBefore(starts, to); n > 0 && starts[n-1] >= max(from, to-within) {
				told++
			}
			watched += float64(to - from)
			for n := countBefore(starts, from-within); n < len(starts) && starts[n] < to; n++ {
				next := to
				if n+1 < len(starts) {
					next = min(to, starts[n+1])
				}
				covered += float64(max(0, min(next, starts[n]+within)-max(from, starts[n])))
			}
		}
		n, chance := float64(len(waits)), covered/max(1, watched)
		if float64(told) >= pollTold*n && float64(told) >= chance*n+pollBeyond*math.Sqrt(n*chance*(1-chance)) && chance < pollTold/2 {
			return true
		}
	}
	return false
}

// endsAllWaits reports whether requests of one route (tellers) each end the waits of all that wait at that moment: an event is told to all of
// them at once. A lock or a pool goes to one after the other; and a lock for reading that one request held goes to all, but that one takes as
// long as they wait. The other waits must have timed out, after
// about the same time, that of the longest.
func endsAllWaits(r *evidence.Requests, tellers, route, waits []int) bool {
	moments := func(rows []int, of func(i int) int64) []int64 {
		out := make([]int64, len(rows))
		for n, i := range rows {
			out[n] = of(i)
		}
		slices.Sort(out)
		return out
	}
	slices.SortFunc(waits, func(i, j int) int { return cmp.Compare(r.End.At(i), r.End.At(j)) })
	begun, ended, told := moments(route, r.Begins), moments(route, r.End.At), moments(tellers, r.End.At)
	if len(told) == 0 || len(waits) == 0 {
		return false
	}
	took := moments(waits, r.Latency)
	late := int64((1 - pollJitter) * float64(took[len(took)-1]))
	rate := float64(len(told)) / float64(max(1, told[len(told)-1]-told[0]))
	answered, timedOut, events, unexplained := 0, 0, 0, 0
	chance := 1. // that a teller ends with each of these events
	for from := 0; from < len(waits); {
		to, lates := from, 0
		for ; to < len(waits) && (to == from || r.End.At(waits[to])-r.End.At(waits[to-1]) <= pollAtOnce); to++ {
			if r.Latency(waits[to]) >= late {
				lates++
			}
		}
		first, last, n := r.End.At(waits[from]), r.End.At(waits[to-1]), to-from
		from = to
		waiting := countBefore(begun, first-pollLeast+1) - countBefore(ended, first) // those that have just begun may have missed it
		k := countBefore(told, first-pollNear)
		switch byTeller := k < len(told) && told[k] <= last+pollNear; {
		case n >= 3 && float64(n) >= pollTold*float64(waiting) && byTeller:
			events++
			answered += n
			chance *= min(1, rate*float64(last-first+2*pollNear))
		case lates == n:
			timedOut += n
		case n >= 3 && float64(n) >= pollTold*float64(waiting):
			unexplained++
		}
	}
	return events > 0 && float64(events) >= pollTold*float64(events+unexplained) && chance <= pollChance &&
		answered >= leastTold && float64(answered+timedOut) >= pollTold*float64(len(waits))
}
