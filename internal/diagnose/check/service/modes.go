package service

import (
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A route has two modes where some of its requests take so many times what half of them do, and
// hardly any something between: then they do something else, and its p95 is all theirs. They are
// noticed earlier than what is just slower than the quickest.
var (
	modeTimes = check.Threshold{Name: "length of a route's upper mode over its median", Value: 20, Unit: "times",
		Why: "then these requests do something else", Source: "arithmetic: of times that vary exponentially one in a million is 20 times their median (2⁻²⁰)"}
	modePart = check.Threshold{Name: "part of a route's requests in its upper mode", Value: .05, Unit: "1",
		Why: "its p95 is all theirs", Source: "arithmetic: the p95"}
	modeGap = check.Threshold{Name: "requests about the mean of both modes, as part of those in the upper one", Value: .25, Unit: "1",
		Why: "hardly any lie between", Source: "judgement: weighs two kinds of requests, with nothing between, against times with a long tail"}
	modeLeast = check.Threshold{Name: "p99 of a route with two modes", Value: float64(10 * time.Millisecond), Unit: "ns",
		Why: "they are noticed earlier than what is just slower than the quickest", Source: "judgement: as long as a call that is noticed"}
)

// twoModes says whether most of the work of slow requests beyond the usual is done in the upper
// mode of routes that have two modes. Work is how much (ns) each slow request did.
func twoModes(c *check.Case, work []int64) bool {
	if !c.UserVisible(modeLeast) {
		return false
	}
	r := &c.Bundle.Requests
	took := make(map[evidence.NameID][]int64)
	for _, row := range c.Ledger.Rows {
		took[r.Route.At(row)] = append(took[r.Route.At(row)], r.Latency(row))
	}
	from := make(map[evidence.NameID]int64) // what the upper mode takes at least
	for route, v := range took {
		slices.Sort(v)
		least := modeTimes.Int64() * stats.Quantile(v, .5)
		first, _ := slices.BinarySearch(v, least)
		upper := v[first:]
		if float64(len(upper)) < modePart.Value*float64(len(v)) {
			continue
		}
		middle := math.Sqrt(float64(stats.Quantile(v, .5)) * float64(stats.Quantile(upper, .5)))
		low, _ := slices.BinarySearch(v, int64(middle/2))
		high, _ := slices.BinarySearch(v, int64(2*middle))
		if float64(high-low) <= modeGap.Value*float64(len(upper)) {
			from[route] = least
		}
	}
	var in, all int64
	for n, row := range c.Ledger.Slow {
		all += work[n]
		if least, ok := from[r.Route.At(row)]; ok && r.Latency(row) >= least {
			in += work[n]
		}
	}
	return 2*in > all
}
