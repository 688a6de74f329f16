package service

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// The owner of a call is unknown where requests share connections (HTTP/2) or pass through a proxy. A request that is slow because of a
// call begins before it and ends right after it: within alignedEnd, plus the way back.
var (
	alignedEnd = check.Threshold{Name: "time between the ends of calls of different requests", Value: 5e6, Unit: "ns",
		Why: "they end together by one event", Source: "judgement: weighs answers that one event lets go, some µs to ms apart, against answers that come close by chance"}
	wayBack = check.Threshold{Name: "part of a request's time, by which such ends may differ", Value: .02, Unit: "1",
		Why: "the way back takes some of it", Source: "judgement: weighs the way of an answer, which is a part of the time of longer requests, against answers that come close by chance"}
	mostOfTime = check.Threshold{Name: "part of a slow request's time in the call", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	mostAligned = check.Threshold{Name: "part of slow requests that have such a call", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

// judgeAligned judges by calls that end as slow requests do; false if there are none, or no more
// than by chance.
func judgeAligned(c *check.Case, x *exchanged) (v check.Verdict, ok bool) {
	if !c.Slow() || len(x.calls) == 0 {
		return v, false
	}
	l, r := c.Ledger, &c.Bundle.Requests
	usual := make(map[evidence.NameID]int64)
	took := make(map[evidence.NameID][]int64)
	byEnd := make([]*exchangedCall, len(x.calls))
	for i := range x.calls {
		byEnd[i] = &x.calls[i]
		took[x.calls[i].to] = append(took[x.calls[i].to], x.calls[i].answerTime())
	}
	var sorted []int64
	for to, all := range took {
		sorted = append(sorted, all...)
		usual[to] = stats.QuantileOf(all, .5)
	}
	slices.Sort(sorted)
	slices.SortFunc(byEnd, func(a, b *exchangedCall) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.begun, b.begun)) })
	per := make(map[evidence.NameID][]int64)
	sums := make(map[evidence.NameID]int64)
	met, expected := 0, 0.
	seconds := float64(max(1, x.until-x.from))
	for n, row := range l.Slow {
		from, until := r.End.At(row)-r.Latency(row), r.End.At(row)
		slack := alignedEnd.Int64() + int64(wayBack.Value*float64(until-from))
		first, _ := slices.BinarySearchFunc(byEnd, until-slack, func(call *exchangedCall, at int64) int { return cmp.Compare(call.end, at) })
		var best *exchangedCall
		for _, call := range byEnd[first:] {
			if call.end > until {
				break
			}
			if call.begun >= from && float64(call.answerTime()) >= mostOfTime.Value*float64(until-from) && (best == nil || call.answerTime() > best.answerTime()) {
				best = call
			}
		}
		shorter, _ := slices.BinarySearch(sorted, int64(mostOfTime.Value*float64(until-from)))
		fit, _ := slices.BinarySearch(sorted, until-from+1)
		expected += min(1, float64(fit-shorter)*float64(slack)/seconds)
		if best == nil {
			continue
		}
		met++
		if per[best.to] == nil {
			per[best.to] = make([]int64, len(l.Slow))
		}
		per[best.to][n] = max(0, best.answerTime()-usual[best.to])
		sums[best.to] += per[best.to][n]
	}
	if float64(met) < mostAligned.Value*float64(len(l.Slow)) || float64(met) < aboveChance.Value*expected {
		return v, false
	}
	var top evidence.NameID
	for _, to := range slices.Sorted(maps.Keys(sums)) {
		if top == 0 || sums[to] > sums[top] {
			top = to
		}
	}
	share := float64(sums[top]) / float64(max(1, l.Total))
	v = check.Verdict{Rule: check.TooLittle, Summary: formatBeyondUsual(max(1, sums[top]), sums[top], share)}
	v.Evidence = append(v.Evidence,
		c.Figure("slow.aligned_share", "share of the slow requests that end right after a call which takes most of their time", float64(met)/float64(len(l.Slow)), "1", x.origin),
		c.Figure("requests.usual_dependency_ms", "usual wait for dependencies per request (median)", float64(usual[top])/1e6, "ms", x.origin))
	v.Weigh(share, check.Material)
	if share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		return v, true
	}
	whom := c.Bundle.Names.Text(top)
	if a := x.whileSlow(c)[top]; a != nil {
		whom = a.addOperation(c, whom)
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Slow requests wait for %s.", whom)
	v.Saves = c.Save(per[top], -1, -1)
	v.Fix = append(v.Fix, boundFor(c, &v, whom))
	rows := make(map[int]int64, len(l.Slow))
	for n, row := range l.Slow {
		rows[row] = per[top][n]
	}
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return rows[row] }))
	return v, true
}
