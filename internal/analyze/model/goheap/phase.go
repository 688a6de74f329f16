package goheap

import (
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/stats"
)

// phase is a request's arrival relative to the collector's cycles.
type phase uint8

const (
	meets  phase = iota // a cycle marks, or will before the request ends
	behind              // the backlog of the last cycle may still be there
	apart               // neither
	phases
)

// Placed is a request with a known place relative to the cycles.
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

// phaseOf says where a request lies that arrived at t, marks being in order and apart, and which
// of them is the last that it may meet: −1 is none. That of the request asked for before is
// where it looks first, as that is mostly the one.
func (r reach) phaseOf(marks []queue.Stop, t int64, before int) (p phase, last int) {
	for last = before; last+1 < len(marks) && marks[last+1].From <= t+r.ahead; {
		last++
	}
	for last >= 0 && marks[last].From > t+r.ahead {
		last--
	}
	switch {
	case last < 0:
		return apart, last
	case t < marks[last].To:
		return meets, last
	case t < marks[last].To+r.after:
		return behind, last
	}
	return apart, last
}
