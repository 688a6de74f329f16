package goheap

import (
	"slices"

	"github.com/unstall/unstall/model/queue"
	"github.com/unstall/unstall/stats"
)

// phase is where beside the collector's cycles a request arrived.
type phase uint8

const (
	meets  phase = iota // a cycle marks, or will before the request is done
	behind              // what the last cycle left waiting may still be there
	apart               // neither
	phases
)

// Placed is a request of which it is known where it lies beside the cycles.
type Placed struct {
	Arrive, Latency int64 // ns
	Cycle           int   // since which cycle, or since which beginning of a watched stretch: what is resampled together
	phase           phase
}

// reach is how far (ns) a cycle reaches beyond its marking: to requests that arrive so
// shortly before that they run into it, and to those behind its backlog.
type reach struct{ ahead, after int64 }

// Of what a request takes in the median, and of the time from cycle to cycle. A request
// takes longer than that without a cycle once in hundreds; the backlog of a cycle is gone
// by then, or no request of the recording runs without one.
const (
	aheadOf = 4
	afterOf = .5
)

// reachOf takes it from a recording's gaps between cycles and what requests take that met none.
func reachOf(gaps []float64, free []int64) reach {
	return reach{int64(aheadOf * stats.Median(free)), int64(afterOf * stats.Median(gaps))}
}

// of says where a request lies that arrived at t, marks being in order and apart.
func (r reach) of(marks []queue.Stop, t int64) (p phase, last int) {
	last, _ = slices.BinarySearchFunc(marks, t+r.ahead, func(m queue.Stop, t int64) int {
		if m.From <= t {
			return -1
		}
		return 1
	})
	switch last--; {
	case last < 0:
		return apart, last
	case t < marks[last].To:
		return meets, last
	case t < marks[last].To+r.after:
		return behind, last
	}
	return apart, last
}
