package inspect

import (
	"math"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

const (
	second = int64(1e9)
	mib    = float64(1 << 20)
)

var began = time.Date(2026, 11, 20, 14, 2, 10, 0, time.UTC).UnixNano()

// log adds an artifact with a collector's cycles a second apart: each pauses
// for 1 and 3 ms and marks for 10 ms; the heap grows from 40 to 79 MiB, to 80
// while it is marked, of which 41 live.
func log(b *evidence.Bundle, name string, numbers ...int) evidence.ArtifactID {
	a := b.AddArtifact(evidence.Artifact{Name: name, Bytes: -1})
	p := b.Builder(a, "gctrace")
	defer p.Close()
	s := p.Subject(evidence.Subject{Runtime: "go"})
	sweep, term := p.Name("GC sweep termination"), p.Name("GC mark termination")
	for _, n := range numbers {
		at := began + int64(n)*second
		ms := int64(1e6)
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: at, End: at + 14*ms, Origin: p.Origin(int64(n)), Extra: []evidence.Extra{
			{Key: evidence.CycleNumber, Value: float64(n)}, {Key: evidence.HeapBefore, Value: 79 * mib}, {Key: evidence.HeapAfter, Value: 80 * mib},
			{Key: evidence.HeapLive, Value: 41 * mib}, {Key: evidence.HeapGoal, Value: 82 * mib}, {Key: evidence.AssistTime, Value: 2e6}, {Key: evidence.Forced, Value: float64(n % 2)},
		}})
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: at, End: at + ms, Cause: sweep, Origin: p.Origin(int64(n))})
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCMark, Start: at + ms, End: at + 11*ms, Origin: p.Origin(int64(n))})
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: at + 11*ms, End: at + 14*ms, Cause: term, Origin: p.Origin(int64(n))})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: began, Until: began + 10*second})
	p.Fact(evidence.Fact{Subject: s, Key: evidence.FactLinesIgnored, Number: 7, Origin: p.Origin(0)})
	p.Table(evidence.Table{Title: "Cycles", Columns: []string{"kind", "count"}, Rows: [][]string{{"gc", "3"}}})
	p.Warnf(3, "odd line")
	return a
}

func TestGC(t *testing.T) {
	b := evidence.NewBundle()
	log(b, "gc.log", 1, 2, 3, 7, 8) // 4 to 6 are missing
	r := Of(b)
	g := r.GC
	if r.Schema != GCSchema || g == nil || len(r.Artifacts) != 1 {
		t.Fatalf("%s, %v: one artifact with cycles is its collector's summary", r.Schema, g)
	}
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	if *g.Pauses.Count != 10 || len(g.ByKind) != 2 || g.ByKind[0].Kind != "GC mark termination" || g.ByKind[0].Count != 5 {
		t.Errorf("pauses %+v, by kind %+v", g.Pauses, g.ByKind)
	}
	near("total", g.Pauses.TotalS, .020)
	near("max", g.Pauses.MaxS, .003)
	near("mean", g.Pauses.MeanS, .002)
	near("p99", g.Pauses.P99S, .003)
	near("mean of mark termination", &g.ByKind[0].MeanS, .003)
	near("mark", g.Concurrent.MarkS, .050)
	near("assist", g.Concurrent.AssistS, .010)
	near("stalls", g.Stalls.ThreadS, .010)
	near("peak", g.Heap.Peak, 80*mib)
	near("live", g.Heap.LiveLast, 41*mib)
	// From 41 to 79, and one while marking, in each of the 3 seconds between
	// neighbours; the 4 s with missing cycles do not count.
	near("allocation", g.Rates.Alloc, 39*mib)
	near("rate of cycles", g.Rates.Cycles, 1)
	if g.Rates.Promote != nil || g.Stalls.Count != nil || g.Concurrent.BackgroundS != nil || g.UnexplainedLines != nil {
		t.Error("what is not known must be nil")
	}
	if *g.Induced != 3 || *g.IgnoredLines != 7 || *g.Runtime != "go" {
		t.Errorf("induced %d, ignored lines %d, runtime %s", *g.Induced, *g.IgnoredLines, *g.Runtime)
	}
}

func TestArtifacts(t *testing.T) {
	b := evidence.NewBundle()
	log(b, "gc.log", 1, 2)
	unplaced := b.Builder(b.AddArtifact(evidence.Artifact{Name: "other", Bytes: 12, Tail: true}), "other")
	*unplaced.Clock() = evidence.Clock{Name: "since process start", Error: evidence.Unanchored, Resolution: 1e6}
	unplaced.Cover(evidence.Coverage{Kind: "something", From: 1, Until: 2*second + 1, Lost: 5})
	unplaced.Close()
	b.Warnf(0, "about nothing in particular")

	r := Of(b)
	if r.Schema != Schema || r.GC != nil || len(r.Artifacts) != 2 {
		t.Fatalf("%s, %v, %d artifacts", r.Schema, r.GC, len(r.Artifacts))
	}
	gc, other := r.Artifacts[0], r.Artifacts[1]
	if gc.GC == nil || gc.Bytes != nil || len(gc.Tables) != 1 || len(gc.Warnings) != 1 || gc.Warnings[0].Origin != "gc.log:3" || !gc.Clock.Anchored || !gc.Coverage[0].From.Equal(time.Unix(0, began)) {
		t.Errorf("gc.log is %+v", gc)
	}
	c := other.Coverage[0]
	if other.GC != nil || *other.Bytes != 12 || !other.Cut || other.Clock.Anchored || other.Clock.ErrorS != nil || c.From != nil || c.Seconds != 2 || c.Lost != 5 {
		t.Errorf("other is %+v, its coverage %+v", other, c)
	}
	if len(r.Warnings) != 1 {
		t.Errorf("%d warnings of no artifact, want 1", len(r.Warnings))
	}
}
