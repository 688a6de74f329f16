package goheap

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/stats"
)

// typical are the quantiles of the requests of usual stretches: the median over
// stretches of a second, or of three cycles where those take longer. A host that stops
// for a moment, once, decides the p99 of a whole run, and no model of the collector
// can or should give it.
type typical struct {
	all  []int64
	each [len(ranks)][]float64
}

// ranks are the quantiles that are looked at.
var ranks = [...]float64{.5, .99}

// addRun adds a run, given in order of arrival, in which so many cycles began per second.
func (t *typical) addRun(arrive, latency []int64, cycles float64) {
	length := int64(1e9)
	if cycles > 0 {
		length = int64(max(1, 3/cycles) * 1e9)
	}
	from := arrive[0]
	var stretch []int64
	end := func() {
		if len(stretch) >= queue.MinReplay {
			for k, q := range ranks {
				t.each[k] = append(t.each[k], float64(stats.QuantileOf(stretch, q)))
			}
		}
		stretch = stretch[:0]
	}
	for i, at := range arrive {
		for at >= from+length {
			end()
			from += length
		}
		stretch = append(stretch, latency[i])
	}
	end()
	if t.hasStretches() {
		t.all = nil // they are not needed any more
	} else {
		t.all = append(t.all, latency...)
	}
}

// hasStretches says whether there are enough stretches to tell a usual one.
func (t *typical) hasStretches() bool { return len(t.each[0]) >= 3 }

// quantileAt returns one of the ranks, ns.
func (t *typical) quantileAt(q float64) int64 {
	if k := slices.Index(ranks[:], q); k >= 0 && t.hasStretches() {
		return int64(stats.Median(t.each[k]))
	}
	stats.SortInts(t.all)
	return stats.Quantile(t.all, q)
}

// fallsBehind says whether requests pile up, so that what they take depends on how
// long one watches: those of each quarter of the run take longer than those of the
// one before, and the last ones many times as long as the first.
func fallsBehind(latency []int64) bool {
	var median [4]int64
	for k := range median {
		part := slices.Clone(latency[k*len(latency)/4 : (k+1)*len(latency)/4])
		if len(part) == 0 {
			return false
		}
		if median[k] = stats.QuantileOf(part, .5); k > 0 && median[k] < median[k-1] {
			return false
		}
	}
	return median[3] > 4*max(median[0], 1)
}
