package goheap

import (
	"math/rand/v2"

	"github.com/unstall/unstall/internal/base/stats"
)

// drawing is what chance decides in a draw, which is the same under every setting.
type drawing struct {
	needs  []int32 // by request
	phase  float64 // of the cycles
	order  []int   // in which the works of the recorded cycles come; nil: they are not known
	arrive []int64 // ns, ascending
}

// mostKept is of how many requests drawings are kept, in 12 bytes of each request and draw: a search for the parameters asks for each of them
// up to 13 times.
const mostKept = 1 << 16

// drawingOf returns draw n. Where it is not kept it overwrites another one.
func (l *Latencies) drawingOf(n uint64, over drawing) drawing {
	if d := l.kept[n]; d.needs != nil {
		return d
	}
	if len(l.r.Arrive) <= mostKept {
		over = drawing{}
	}
	chance := rand.New(rand.NewPCG(n, 0x6c6174))
	d := drawing{needs: withLength(over.needs, len(l.r.Arrive))}
	for i := range d.needs {
		d.needs[i] = int32(chance.IntN(len(l.needs)))
	}
	d.phase = (float64(n) + chance.Float64()) / draws
	sum := 0.
	for _, w := range l.r.MarkWorks {
		sum += w
	}
	if sum > 0 {
		d.order = chance.Perm(len(l.r.MarkWorks))
	}
	d.arrive = l.drawArrivals(chance, over.arrive)
	if len(d.needs) <= mostKept {
		l.kept[n] = d
	}
	return d
}

// orderWorks returns the works of the recorded cycles in an order, with the given mean.
func (l *Latencies) orderWorks(order []int, mean float64) []float64 {
	if order == nil {
		return nil
	}
	sum := 0.
	for _, w := range l.r.MarkWorks {
		sum += w
	}
	all := make([]float64, len(order))
	for i, k := range order {
		all[i] = mean / sum * float64(len(all)) * l.r.MarkWorks[k]
	}
	return all
}

// drawArrivals returns when the requests arrive. Requests that a trace shows in a batch arrived one by one before: they are
// drawn anew within the time from cycle to cycle, so that the load's own changes stay and the batches of the recorded cycles
// do not. It overwrites all, where that has room.
func (l *Latencies) drawArrivals(chance *rand.Rand, all []int64) []int64 {
	if !l.r.Seen {
		return l.r.Arrive
	}
	length := int64(1e9 / l.r.Cycles)
	first, last := l.r.Arrive[0], l.r.Arrive[len(l.r.Arrive)-1]
	all = withLength(all, len(l.r.Arrive))
	for i, at := range l.r.Arrive {
		from := first + (at-first)/length*length
		all[i] = from + chance.Int64N(max(1, min(length, last-from)))
	}
	stats.SortInts(all)
	return all
}
