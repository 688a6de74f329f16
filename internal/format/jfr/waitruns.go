package jfr

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// waitRuns keeps waits packed, those of each chunk sorted by themselves: a recording of a GB has millions.
type waitRuns struct {
	lane  evidence.Column[evidence.LaneID]
	start evidence.Column[int64]
	took  evidence.Column[int64]
	stack evidence.Column[evidence.StackID]
	ends  []int // of each chunk's
}

// Len returns the number of waits.
func (r *waitRuns) Len() int { return r.start.Len() }

// addChunk adds the waits of a chunk, which it sorts.
func (r *waitRuns) addChunk(waits []wait) {
	if len(waits) == 0 {
		return
	}
	slices.SortStableFunc(waits, compareWaits)
	for _, w := range waits {
		r.lane.Append(w.lane)
		r.start.Append(w.start)
		r.took.Append(w.end - w.start)
		r.stack.Append(w.stack)
	}
	r.ends = append(r.ends, r.start.Len())
}

func compareWaits(a, b wait) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.lane, b.lane))
}

func (r *waitRuns) waitAt(i int) wait {
	start := r.start.At(i)
	return wait{r.lane.At(i), start, start + r.took.At(i), r.stack.At(i)}
}

// mergeRuns returns the waits of all chunks, by their start: each call of next gives one, and false after the last.
func (r *waitRuns) mergeRuns() (next func() (wait, bool)) {
	var left runs
	from := 0
	for k, end := range r.ends {
		left = append(left, run{r.waitAt(from), from, end, k})
		from = end
	}
	heap.Init(&left)
	return func() (w wait, ok bool) {
		if len(left) == 0 {
			return wait{}, false
		}
		first := &left[0]
		w = first.wait
		if first.at++; first.at < first.end {
			first.wait = r.waitAt(first.at)
			heap.Fix(&left, 0)
		} else {
			heap.Pop(&left)
		}
		return w, true
	}
}

// run is what is left of the waits of a chunk.
type run struct {
	wait    // the next one
	at, end int
	chunk   int
}

// runs is a heap, by the next waits.
type runs []run

func (m runs) Len() int { return len(m) }
func (m runs) Less(i, j int) bool {
	return cmp.Or(compareWaits(m[i].wait, m[j].wait), cmp.Compare(m[i].chunk, m[j].chunk)) < 0
}
func (m runs) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *runs) Push(x any)   { *m = append(*m, x.(run)) }
func (m *runs) Pop() any {
	old := *m
	x := old[len(old)-1]
	*m = old[:len(old)-1]
	return x
}
