package inspect

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestLongestPauses(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "hotspotgc")
	*p.Clock() = evidence.Clock{Name: "dates of the log", Error: 1e6, Resolution: 1e6}
	jvm := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	put := func(line int64, took int64, extra ...evidence.Extra) {
		start := began + line*second
		p.Interval(evidence.Interval{Subject: jvm, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: start, End: start + took, Cause: p.Name("ParNew"),
			Extra: append(extra, evidence.Extra{Key: evidence.PauseOf, Value: float64(evidence.PauseYoung)}), Origin: p.Origin(line)})
	}
	for line := range int64(4) {
		put(line+1, (line+1)*1e6)
	}
	k := func(v float64) float64 { return v * 1024 }
	put(5, 32_301_000, // the line of an incident
		evidence.Extra{Key: evidence.Trigger, Value: float64(p.Name("Allocation Failure"))}, evidence.Extra{Key: evidence.YoungTime, Value: 31_714_100},
		evidence.Extra{Key: evidence.YoungBefore, Value: k(1770060)}, evidence.Extra{Key: evidence.YoungAfter, Value: k(25950)}, evidence.Extra{Key: evidence.YoungCapacity, Value: k(1922432)},
		evidence.Extra{Key: evidence.HeapBefore, Value: k(2105763)}, evidence.Extra{Key: evidence.HeapAfter, Value: k(361653)}, evidence.Extra{Key: evidence.HeapCapacity, Value: k(4019584)},
		evidence.Extra{Key: evidence.UserCPU, Value: 120e6}, evidence.Extra{Key: evidence.SystemCPU, Value: 0}, evidence.Extra{Key: evidence.RealTime, Value: 40e6})
	put(6, 2e6)
	p.Close()

	g := Of(b).GC
	if len(g.Longest) != mostLongest {
		t.Fatalf("%d pauses, want %d", len(g.Longest), mostLongest)
	}
	var lines []string
	for _, l := range g.Longest {
		lines = append(lines, l.Origin)
	}
	if want := []string{"gc.log:5", "gc.log:4", "gc.log:3", "gc.log:2", "gc.log:6"}; !slices.Equal(lines, want) {
		t.Errorf("longest are %v, want %v", lines, want)
	}
	row := longestTable(g.Longest).Rows[0]
	want := []string{"2026-11-20 14:02:15.000", "ParNew", "Allocation Failure", "32.3 ms", "1770060K→25950K(1922432K) in 31.7 ms", "2105763K→361653K(4019584K)", "0.12 0.00 0.04 s"}
	if !slices.Equal(row, want) {
		t.Errorf("%q, want %q", row, want)
	}
	if c := (&Change{Before: 24 << 20, After: 3 << 20}); c.String() != "24M→3M" {
		t.Errorf("%s", c)
	}
}
