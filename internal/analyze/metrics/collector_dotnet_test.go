package metrics

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Ten seconds of which requests came in five: two young collections and a background one
// of generation 2 in them, with two pauses.
func TestDotnetCollector(t *testing.T) {
	const s = int64(1e9)
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "events.nettrace"}), "nettrace")
	subject := p.Subject(evidence.Subject{Runtime: "dotnet", CPUs: 2})
	for _, x := range []struct {
		at         int64
		generation float64
		after      float64
	}{{1, 0, 9}, {11, 0, 20}, {12, 2, 30}, {13, 1, 25}} {
		p.Interval(evidence.Interval{Subject: subject, Kind: evidence.GCCycle, Start: x.at * s, End: x.at*s + s/10, Origin: p.Origin(x.at), Extra: []evidence.Extra{
			{Key: evidence.Generation, Value: x.generation}, {Key: evidence.HeapAfter, Value: x.after}}})
	}
	for _, at := range []int64{11, 12} {
		p.Interval(evidence.Interval{Subject: subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: at * s, End: at*s + at*s/1000, Origin: p.Origin(at)})
	}
	p.Series(evidence.Series{Subject: subject, Name: evidence.SeriesAllocation, T: []int64{10 * s, 15 * s}, V: []float64{100, 100}})
	p.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGC, From: 5 * s, Until: 15 * s})
	p.Close()
	g := DotnetCollector(b, subject, Scope{Beside: &Beside{Window: Window{10 * s, 15 * s}}})
	if g == nil {
		t.Fatal("nobody watched")
	}
	for name, x := range map[string]struct{ got, want float64 }{
		"span": {g.Span, 5}, "collections": {g.Rate.Number, .6}, "generation 2": {g.Full.Number, .2}, "stopped": {g.Stopped.Number, .0046}, "longest": {g.Longest.Number, .012},
		"allocated": {g.Alloc.Number, 100}, "live": {g.Live.Number, 30}, "processors": {g.Processors.Number, 2},
	} {
		if math.Abs(x.got-x.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, x.got, x.want)
		}
	}
	for name, v := range map[string]Value{"assist": g.Assist, "promoted": g.Promoted, "goal": g.Goal, "capacity": g.Capacity, "CPU in pauses": g.PauseCPU, "marking": g.Marking} {
		if v.Known() {
			t.Errorf("%s: %g, and nothing tells it", name, v.Number)
		}
	}
	if n := len(g.Began().At); n != 3 || g.Stops().Sum() != g.Pauses.Seconds() {
		t.Errorf("%d collections began", n)
	}
}

// Counters without events tell what was allocated, and nothing of pauses.
func TestDotnetCounters(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "counters.csv"}), "dotnetcounters")
	subject := p.Subject(evidence.Subject{Runtime: "dotnet"})
	for name, v := range map[string]float64{evidence.SeriesAllocation: 100, evidence.SeriesGen2Collections: .5} {
		p.Series(evidence.Series{Subject: subject, Name: name, T: []int64{10 * second, 20 * second}, V: []float64{v, v}})
	}
	p.Close()
	g := DotnetCollector(b, subject, Scope{})
	if g == nil || g.Alloc.Number != 100 || g.Full.Number != .5 || g.Rate.Known() || g.Stopped.Known() || g.Longest.Known() || g.Live.Known() {
		t.Errorf("%+v", g)
	}
	if g := DotnetCollector(evidence.NewBundle(), subject, Scope{}); g != nil {
		t.Errorf("figures of nothing: %+v", g)
	}
}
