package cause

import (
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/stats"
)

// Excess is by how much slow requests exceed, in all, what requests of their route usually
// wait, as a share of the time they took. Usual is that of the route most of them are of.
func (c *Case) Excess(all, slow []int, wait func(row int) int64) (per []int64, usual int64, share float64) {
	r := &c.Bundle.Requests
	of := make(map[evidence.NameID][2][]int)
	for k, rows := range [][]int{all, slow} {
		for _, row := range rows {
			x := of[r.Route.At(row)]
			x[k] = append(x[k], row)
			of[r.Route.At(row)] = x
		}
	}
	known := make(map[int]int64, len(all))
	asked := wait
	wait = func(row int) int64 { // each is asked for thrice, and to charge it is work
		ns, ok := known[row]
		if !ok {
			ns = asked(row)
			known[row] = ns
		}
		return ns
	}
	overall := usually(all, slow, wait)
	usuals := make(map[evidence.NameID]int64, len(of))
	lost := make(map[evidence.NameID]int64, len(of))
	for route, x := range of {
		usuals[route] = overall // a route with few requests has no usual of its own
		if len(x[0]) >= ledger.MinRequests {
			usuals[route] = usually(x[0], x[1], wait)
		}
	}
	var sum, total int64
	for _, row := range slow {
		over := max(0, wait(row)-usuals[r.Route.At(row)])
		per = append(per, over)
		sum += over
		lost[r.Route.At(row)] += over
		total += r.Latency(row)
	}
	var route evidence.NameID // that most of it is of
	most := int64(-1)
	for id, ns := range lost {
		if ns > most || ns == most && id < route {
			route, most = id, ns
		}
	}
	return per, usuals[route], float64(sum) / float64(max(total, 1))
}

// usually is the median of what requests wait, in ns. Where most of them are slow it is
// that of the others; where there are hardly any, what is usual is not in the evidence,
// and an objective missed by all counts from zero.
func usually(all, slow []int, wait func(row int) int64) int64 {
	if 2*len(slow) > len(all) {
		isSlow := make(map[int]bool, len(slow))
		for _, i := range slow {
			isSlow[i] = true
		}
		all = slices.DeleteFunc(slices.Clone(all), func(i int) bool { return isSlow[i] })
		if len(all) < ledger.MinRequests {
			return 0
		}
	}
	v := make([]int64, 0, len(all))
	for _, i := range all {
		v = append(v, wait(i))
	}
	slices.Sort(v)
	return stats.Quantile(v, .5)
}
