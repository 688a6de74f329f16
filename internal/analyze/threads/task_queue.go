package threads

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// workers are threads that others hand work to: of one pool, or begun by the same code of the
// user's own.
type workers struct {
	root, pool string
	looks      map[int][]*Sample // those with work, by burst
	most       int
	stack      evidence.StackID
	origin     evidence.Origin
}

// findTaskWorkers finds the threads that do the work that requests wait for, for waits without a known holder: threads that serve no
// request themselves, and all of which have work whenever requests wait. Of several groups it takes the one whose code is nearest to the
// waiting code. If there are fewer workers than waiting requests, the rest wait for one of them, as for a pool. A single worker that serves
// all in turn is no pool, and all wait for it.
func (h *holding) findTaskWorkers(bursts [][]*Sample, may func(*threadstack.View) bool) {
	waits := make([][]*Sample, len(bursts))
	count := 0
	for i, burst := range bursts {
		for _, l := range burst {
			if l.View.Request && l.View.User >= 0 && h.next[l] == nil && may(&l.View) {
				waits[i] = append(waits[i], l)
			}
		}
		if len(waits[i]) > 0 {
			count++
		}
	}
	if count < leastShown {
		return
	}
	w := h.findWorkers(bursts, waits)
	if w == nil {
		return
	}
	limit := Limit{Place: w.pool, Workers: true, Most: w.most, Stack: w.stack, Origin: w.origin}
	if limit.Place == "" {
		limit.Place = threadstack.Bare(threadstack.Short(w.root))
	}
	did := make(tally)
	each := w.tasksOfRequest(waits)
	queued, beyond := 0, 0
	for i := range bursts {
		busy := w.looks[i]
		if len(waits[i]) == 0 || len(busy) == 0 {
			continue
		}
		limit.Looks++
		beyond += len(busy)
		for _, l := range busy {
			did.countDoing(&l.View)
		}
		for n, l := range waits[i] {
			h.next[l] = busy[n%len(busy)]
			if w.most == 1 { // it serves requests one after the other
				l.View.State = evidence.SyncWait
				limit.setWait(&l.View)
				queued++
			} else if float64(n)*each >= float64(len(busy)) && len(busy) >= w.most { // its work has not begun
				l.View.State = evidence.PoolWait
				limit.setWait(&l.View)
				queued++
			}
		}
	}
	if queued == 0 {
		return
	}
	limit.Waiting, limit.Beyond, limit.Doing = float64(queued)/float64(limit.Looks), float64(beyond)/float64(limit.Looks), did.listDoings()
	h.addLimit(limit)
}

// tasksOfRequest returns how many tasks a request hands to the workers at once, in the mean over the looks at which some of them were free: then
// each task has a worker. It returns 1 if there are few such looks.
func (w *workers) tasksOfRequest(waits [][]*Sample) float64 {
	looks, requests, tasks := 0, 0, 0
	for i := range waits {
		if n := len(w.looks[i]); n > 0 && n < w.most && len(waits[i]) > 0 {
			looks, requests, tasks = looks+1, requests+len(waits[i]), tasks+n
		}
	}
	if looks < leastShown {
		return 1
	}
	return max(1, float64(tasks)/float64(requests))
}

func (h *holding) findWorkers(bursts, waits [][]*Sample) *workers {
	groups := make(map[[2]string]*workers)
	one := h.t.of[h.t.b.Subjects[h.s].Runtime].OnePool
	for i, burst := range bursts {
		for _, l := range burst {
			v := &l.View
			if v.Request || v.User < 0 || v.Library || v.Role != threadstack.Worker && v.Role != threadstack.Other || !hasWork(v.State) || one && v.Role == threadstack.Worker {
				continue
			}
			key := [2]string{h.t.rootFunction(h.s, l), v.Pool}
			if v.Role == threadstack.Worker {
				key[0] = ""
			}
			g := groups[key]
			if g == nil {
				g = &workers{root: h.t.rootFunction(h.s, l), pool: v.Pool, looks: make(map[int][]*Sample), stack: l.Stack, origin: l.Origin}
				groups[key] = g
			}
			g.looks[i] = append(g.looks[i], l)
			g.most = max(g.most, len(g.looks[i]))
		}
	}
	var best *workers
	var near, most float64
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		g := groups[key]
		sum, looks := 0, 0
		var of *Sample
		for i := range bursts {
			if len(waits[i]) > 0 {
				looks, sum, of = looks+1, sum+len(g.looks[i]), waits[i][0]
			}
		}
		full := float64(sum) / float64(looks*g.most)
		if full < mostlyFull {
			continue
		}
		if n := countCommonParts(g.root, h.t.userFunction(of)); best == nil || n > near || n == near && full > most {
			best, near, most = g, n, full
		}
	}
	return best
}

// hasWork reports whether a thread that serves no request has work: a thread that sleeps, or waits to be notified, may be waiting for work.
func hasWork(s evidence.Kind) bool {
	switch s {
	case evidence.Running, evidence.NetWait, evidence.Syscall, evidence.LockWait, evidence.PoolWait, evidence.TaskWait:
		return true
	}
	return false
}

// countCommonParts returns how many parts of two functions' packages and classes are the same from
// the beginning.
func countCommonParts(a, b string) (n float64) {
	x, y := strings.FieldsFunc(a, isNameSeparator), strings.FieldsFunc(b, isNameSeparator)
	for n := range min(len(x), len(y)) {
		if x[n] != y[n] {
			return float64(n)
		}
	}
	return float64(min(len(x), len(y)))
}

func isNameSeparator(r rune) bool { return r == '.' || r == '$' }
