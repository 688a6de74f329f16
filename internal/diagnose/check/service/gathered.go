package service

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A clock gathers what requests hand over: at equal distances one call is made for all that came since the call before, and they are answered when it has
// ended. Requests that wait for events, as in a long poll, wait through several such calls, or are answered without one.
var (
	clockTicks = check.Threshold{Name: "calls at equal distances, with which requests are answered", Value: 8, Unit: "count",
		Why: "so many in step are no chance", Source: "arithmetic: where a distance is within 15 % of the usual one in 3 of 10 cases by chance, seven are in 0.02 % of recordings"}
	clockNear = check.Threshold{Name: "difference of such a distance from the usual one, as a part of it", Value: .15, Unit: "1",
		Why: "a timer fires some ms late", Source: "judgement: weighs timers on busy hosts, with calls that take longer or shorter, against calls that come as requests do"}
	clockMost = check.Threshold{Name: "part of these distances that are equal, and of the requests that are answered with a call", Value: .8, Unit: "1",
		Why: "some are late, or found nothing to do", Source: "binomial: where half are by chance, 16 of 20 are in 0.6 % of recordings"}
	clockAnswered = check.Threshold{Name: "time from the end of such a call to the answer", Value: 5e6, Unit: "ns",
		Why: "to wake up, and the way", Source: "judgement: as for calls that are shared; of calls a second apart 0.5 % of moments lie so close by chance"}
	clockWaits = check.Threshold{Name: "median wait for such a call, as a part of the distance between two", Value: .25, Unit: "1",
		Why: "requests that come at any time wait for half of it", Source: "arithmetic: the mean of a uniform distribution is half; a quarter leaves room for requests that come together"}
)

// gathering is calls at equal distances, one for all requests that came since the one before.
type gathering struct {
	what     operationAt
	apart    int64 // ns, usual time between two
	requests int   // answered with one
	calls    int
	origin   evidence.Origin
}

// findGathering returns the calls at equal distances with which requests of a route are answered; nil if there are none.
func findGathering(c *check.Case, route evidence.NameID) *gathering {
	x := exchangedOf(c)
	if x == nil {
		return nil
	}
	kinds := make(map[operationAt][]*exchangedCall)
	for i := range x.calls {
		if call := &x.calls[i]; !call.failed && call.end > 0 {
			k := operationAt{call.to, call.operation}
			kinds[k] = append(kinds[k], call)
		}
	}
	rows := watchedRows(c, x, route)
	for _, k := range slices.SortedFunc(maps.Keys(kinds), func(a, b operationAt) int {
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.operation, b.operation))
	}) {
		if g := gatheredBy(c, kinds[k], rows); g != nil {
			g.what, g.origin = k, x.origin
			return g
		}
	}
	return nil
}

// watchedRows returns the requests of a route as the kernel saw them.
func watchedRows(c *check.Case, x *exchanged, route evidence.NameID) (rows []int) {
	r := &c.Bundle.Requests
	kernels := func(row int) bool {
		a, ok := r.Origin.At(row).Artifact()
		return ok && check.From(a) == x.origin
	}
	for _, row := range c.Ledger.Rows {
		if r.Route.At(row) != route {
			continue
		}
		if kernels(row) {
			rows = append(rows, row)
			continue
		}
		for in := range c.Ledger.Inside(row) {
			if kernels(in) {
				rows = append(rows, in)
			}
		}
	}
	return rows
}

// gatheredBy says whether calls come at equal distances, and whether requests are answered with them; nil if not.
func gatheredBy(c *check.Case, calls []*exchangedCall, rows []int) *gathering {
	if len(calls) < clockTicks.Int() || len(rows) < ledger.MinRequests || len(calls) >= len(rows) {
		return nil
	}
	between := make([]int64, 0, len(calls))
	for n := 1; n < len(calls); n++ {
		between = append(between, calls[n].begun-calls[n-1].begun)
	}
	apart, even := stats.EvenDistances(between, clockNear.Value, math.MaxInt64) // no call is made where nothing was handed over
	if float64(apart) < check.Noticeable.Value || float64(even) < clockMost.Value*float64(len(between)) {
		return nil
	}
	r := &c.Bundle.Requests
	answered := 0
	met := make(map[*exchangedCall]bool)
	waits := make([]int64, 0, len(rows))
	for _, row := range rows {
		until := r.End.At(row)
		from := until - r.Latency(row)
		n := sort.Search(len(calls), func(i int) bool { return calls[i].end > until })
		if n == 0 || until-calls[n-1].end > clockAnswered.Int64() || calls[n-1].begun < from || n > 1 && calls[n-2].begun > from+clockAnswered.Int64() {
			continue
		}
		answered++
		met[calls[n-1]] = true
		waits = append(waits, calls[n-1].begun-from)
	}
	if len(met) < clockTicks.Int() || float64(answered) < clockMost.Value*float64(len(rows)) || float64(stats.QuantileOf(waits, .5)) < clockWaits.Value*float64(apart) {
		return nil
	}
	return &gathering{apart: apart, requests: answered, calls: len(met)}
}

// describeWait writes what requests wait for.
func (g *gathering) describeWait(c *check.Case) string {
	whom := c.Bundle.Names.Text(g.what.to)
	if g.what.operation != 0 {
		whom = fmt.Sprintf("%s (%s)", whom, c.Bundle.Names.Text(g.what.operation))
	}
	return fmt.Sprintf("a timer that takes up what they hand over each %s, by one call to %s for all of them", units.Time(float64(g.apart)), whom)
}

func (g *gathering) addEvidence(c *check.Case, v *check.Verdict) {
	v.Evidence = append(v.Evidence,
		c.Figure("timer.apart_ms", "usual time between two of these calls", float64(g.apart)/1e6, "ms", g.origin),
		c.Figure("timer.requests", fmt.Sprintf("requests that were answered within %s of the end of one of %s", units.Time(clockAnswered.Value), units.Plural(g.calls, "such call")), float64(g.requests), "count", g.origin))
}
