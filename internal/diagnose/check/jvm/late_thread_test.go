package jvm

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Of the threads whose CPU time dumps give, one that ran for most of the way to each safepoint is the late one, unless another ran as long. What
// each thread runs (ms) follows for the stretches between dumps, a second each, of which the second, third and fourth hold a way of 200 ms.
func TestGuessLateThread(t *testing.T) {
	const (
		moves = "java.lang.System.arraycopy shop.Almanac.shift java.lang.Thread.run [almanac]"
		naps  = "java.lang.Thread.sleep shop.Almanac.run java.lang.Thread.run [almanac]"
	)
	for _, test := range []struct {
		name    string
		runs    [][]int64
		looks   [][]string // of the first thread
		want    string
		in      string
		hits    int
		without bool // the dumps give no CPU time
	}{
		{name: "one ran", runs: [][]int64{{0, 210, 190, 230, 0}, {20, 20, 20, 20, 20}}, looks: [][]string{{naps, naps}, {moves, naps}}, want: "almanac", in: "Almanac.shift()", hits: 3},
		{name: "never met where it runs", runs: [][]int64{{0, 210, 190, 230, 0}}, looks: [][]string{{naps}}, want: "almanac", in: "Almanac.run()", hits: 3},
		{name: "two ran", runs: [][]int64{{0, 210, 190, 230, 0}, {900, 900, 900, 900, 900}}, looks: [][]string{{moves}}},
		{name: "in one of three only", runs: [][]int64{{0, 210, 100, 100, 0}}, looks: [][]string{{moves}}},
		{name: "no CPU time", runs: [][]int64{{0, 210, 190, 230, 0}}, looks: [][]string{{moves}}, without: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := dump()
			for _, stacks := range test.looks {
				d.looks(1, stacks...)
			}
			for i, runs := range test.runs {
				sum := int64(5000)
				for n := range len(runs) + 1 {
					if n > 0 {
						sum += runs[n-1]
					}
					if !test.without {
						d.p.Sample(evidence.Sample{Subject: d.id, Time: epoch + int64(n)*1000*ms, Lane: evidence.LaneID(i + 1), Type: d.p.Name(evidence.SampleThreadCPU), Value: sum * ms, Origin: d.p.Origin(1)})
					}
				}
			}
			d.p.Close()
			var late metrics.Pauses
			for _, n := range []int64{1, 2, 3} {
				late = append(late, metrics.Pause{From: epoch + n*1000*ms + 300*ms, To: epoch + n*1000*ms + 500*ms})
			}
			late = append(late, metrics.Pause{From: epoch + 100*ms, To: epoch + 100*ms + 50_000}) // too short to matter
			got := (&collector{c: &check.Case{Bundle: d.b, Subject: d.id}}).guessLateThread(late)
			if test.want == "" {
				if got != nil {
					t.Errorf("%+v, want none", got)
				}
				return
			}
			if got == nil || got.name != test.want || got.in != test.in || got.hits != test.hits || got.of != 3 {
				t.Errorf("%+v, want %s in %s", got, test.want, test.in)
			}
		})
	}
}
