package accesslog

import (
	"math/bits"

	"github.com/unstall/unstall/internal/base/evidence"
)

// latencies are the durations of requests, by route: a few bytes each. A quantile is found by counting digits,
// highest first, because a copy to sort would take more memory than everything else that is kept of a log.
type latencies struct {
	ns     evidence.Column[int64]
	routes evidence.Column[int32]
	most   int64
	unit   int64   // ns; all are multiples of it; 0: there are none yet
	counts []int64 // by route
	totals []int64 // ns
	sum    float64 // of all, ns
}

func (l *latencies) len() int { return l.ns.Len() }

func (l *latencies) add(ns int64, route uint16) {
	for int(route) >= len(l.counts) {
		l.counts, l.totals = append(l.counts, 0), append(l.totals, 0)
	}
	l.ns.Append(ns)
	l.routes.Append(int32(route))
	l.counts[route]++
	l.totals[route] += ns
	l.sum += float64(ns)
	l.most = max(l.most, ns)
	if l.unit == 0 {
		l.unit = 1e6
	}
	for ns%l.unit != 0 {
		l.unit /= 1000
	}
}

// quantile is the latency at a rank, 0 the lowest, among the requests of a route or among all.
type quantile struct {
	route int
	rank  int64
	value int64 // ns

	found int64 // its digits so far
	same  int   // index of the quantile whose counts this one shares
}

const allRoutes = -1

// nearestRank returns the nearest rank of a quantile among n.
func nearestRank(n int64, q float64) int64 {
	return min(max(int64(q*float64(n)+0.999999)-1, 0), n-1)
}

const (
	digitBits = 16 // latencies below a minute in ms are one digit
	digits    = 1 << digitBits
)

// findQuantiles fills in the values of quantiles.
func (l *latencies) findQuantiles(quantiles []*quantile) {
	counts := make([][]uint32, len(quantiles))
	of := make([][]int, len(l.counts)) // by route, the quantiles to count
	for shift := (bits.Len64(uint64(l.most/l.unit)) - 1) / digitBits * digitBits; shift >= 0; shift -= digitBits {
		clear(of)
		var all []int
		for i, q := range quantiles {
			q.same = i
			for j, o := range quantiles[:i] {
				if o.route == q.route && o.found == q.found {
					q.same = j
					break
				}
			}
			if q.same != i {
				continue
			}
			if counts[i] == nil {
				counts[i] = make([]uint32, digits)
			}
			clear(counts[i])
			if q.route == allRoutes {
				all = append(all, i)
			} else {
				of[q.route] = append(of[q.route], i)
			}
		}
		for i, ns := range l.ns.All() {
			v := ns / l.unit >> shift
			for _, k := range all {
				if v>>digitBits == quantiles[k].found {
					counts[k][v%digits]++
				}
			}
			for _, k := range of[l.routes.At(i)] {
				if v>>digitBits == quantiles[k].found {
					counts[k][v%digits]++
				}
			}
		}
		for _, q := range quantiles {
			q.findNextDigit(counts[q.same])
		}
	}
	for _, q := range quantiles {
		q.value = q.found * l.unit
	}
}

// findNextDigit finds the next digit of the value from the counts of latencies by digit.
func (q *quantile) findNextDigit(counts []uint32) {
	digit := int64(0)
	for ; q.rank >= int64(counts[digit]) && digit < digits-1; digit++ {
		q.rank -= int64(counts[digit])
	}
	q.found = q.found<<digitBits | digit
}
