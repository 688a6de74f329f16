package golang

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// What only MemStats told: how often, not at what cost. The runtime remembers 256 cycles, of long before or of the end alone; a counter that
// fell is of another process; and one reading shows no rate.
func TestCyclesThatAreOnlyCounted(t *testing.T) {
	type series struct {
		at    []int64 // s
		count []float64
	}
	before := series{[]int64{1, 50, 100}, []float64{1, 900, 1000}}
	for _, x := range []struct {
		read []series
		row
	}{
		{[]series{{[]int64{1, 50, 100, 110}, []float64{1, 900, 1000, 1005}}}, row{About: "5 in 10 s", Rule: check.TooLittle, ID: "gc.counted_cycles_per_s", Figure: .5}},
		{[]series{{[]int64{1, 50, 100, 110}, []float64{1, 900, 1000, 1090}}}, row{About: "90 in 10 s", Rule: check.CostUnknown, ID: "gc.counted_cycles_per_s", Figure: 9}},
		{[]series{{[]int64{1, 50, 110}, []float64{1, 1000, 1090}}}, row{About: "no reading at the start", Rule: check.CostUnknown, ID: "gc.counted_cycles_per_s", Figure: 9}},
		{[]series{{[]int64{100, 104, 105, 110}, []float64{1000, 1060, 4, 30}}}, row{About: "a restart", Rule: check.CostUnknown, ID: "gc.counted_cycles_per_s", Figure: 9}},
		{[]series{{[]int64{108, 109, 110}, []float64{9000, 9100, 9200}}}, row{About: "only the last are remembered", Rule: check.CostUnknown, ID: "gc.counted_cycles_per_s", Figure: 100}},
		{[]series{before, {[]int64{1, 50, 100, 110}, []float64{1, 900, 1000, 1090}}}, row{About: "two profiles", Rule: check.CostUnknown, ID: "gc.counted_cycles_per_s", Figure: 9}},
		{[]series{before}, row{About: "nothing since the first profile", Rule: check.NotRecorded}},
		{[]series{{[]int64{110}, []float64{1090}}}, row{About: "one reading", Rule: check.NotRecorded}},
		{nil, row{About: "none", Rule: check.NotRecorded}},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "heap", Series: "heap"}), "gopprof")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		const second = int64(1e9)
		for _, at := range []int64{100, 110} {
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverHeap, From: at * second, Until: at * second})
		}
		for _, r := range x.read {
			y := evidence.Series{Subject: s, Name: evidence.SeriesGoCycles, V: r.count, Origin: p.Origin(1)}
			for _, at := range r.at {
				y.T = append(y.T, at*second)
			}
			p.Series(y)
		}
		p.Close()
		c := &check.Case{Bundle: b, Subject: s}
		v := judgeGCRate(c)
		x.Judged(t, &GCRate, c, &v)
	}
}

// A requested cycle is counted, too, after the process has started again.
func TestForcedCyclesCountedOverRestart(t *testing.T) {
	c := checktest.Told{Of: evidence.Subject{Runtime: "go"}, Series: figures{evidence.SeriesGoForced: 50}}.Case()
	for i := range c.Bundle.Series {
		c.Bundle.Series[i].V = []float64{50, 50, 50, 50, 0, 1, 2, 3, 4, 5, 6}
	}
	v := judgeForcedCounter(c)
	r := row{About: "six since the restart", Rule: check.NotRecorded, ID: "gc.forced_cycles_per_s", Figure: .6}
	r.Judged(t, &ForcedGC, c, &v)
}
