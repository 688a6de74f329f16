package metrics

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

const second = int64(1e9)

// jvmLog adds a log of young collections of 50 ms, one each second of [from, until), eden of
// 100 bytes full each time, of which 10 are promoted and 20 survive.
func jvmLog(b *evidence.Bundle, name string, clock evidence.Clock, from, until, offset int64) evidence.SubjectID {
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), "hotspotgc")
	*p.Clock() = clock
	if len(b.Subjects) == 0 {
		p.Subject(evidence.Subject{Runtime: "jvm", CPUs: 4})
	}
	for at := from; at < until; at++ {
		start := at*second + second/2 + offset
		old := 10 * float64(at)
		p.Interval(evidence.Interval{Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: start, End: start + second/20, Origin: p.Origin(at + 1), Extra: []evidence.Extra{
			{Key: evidence.PauseOf, Value: float64(evidence.PauseYoung)}, {Key: evidence.HeapCapacity, Value: 1000},
			{Key: evidence.HeapBefore, Value: old + 120}, {Key: evidence.HeapAfter, Value: old + 30}, {Key: evidence.YoungBefore, Value: 120}, {Key: evidence.YoungAfter, Value: 20},
			{Key: evidence.UserCPU, Value: 1e8}, {Key: evidence.SystemCPU, Value: 2e7}}})
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverGC, From: from * second, Until: until * second})
	p.Close()
	return 0
}

var dated = evidence.Clock{Name: "dates", Resolution: 1e6}

func TestJVMCollector(t *testing.T) {
	b := evidence.NewBundle()
	subject := jvmLog(b, "gc.log", dated, 100, 160, 0)
	for name, c := range map[string]struct {
		beside *Beside
		span   float64
		pauses int
	}{
		"alone":                      {nil, 60, 60},
		"beside requests":            {&Beside{Window: Window{110 * second, 130 * second}}, 20, 20},
		"requests that begin sooner": {&Beside{Window: Window{90 * second, 130 * second}}, 30, 30},
		"hardly any of them watched": {&Beside{Window: Window{10 * second, 105 * second}}, 60, 60},
	} {
		g := JVMCollector(b, subject, Scope{Beside: c.beside})
		if g == nil || len(g.All) != 60 || len(g.Pauses) != c.pauses || math.Abs(g.Span-c.span) > 1e-9 {
			t.Errorf("%s: %+v", name, g)
			continue
		}
		for what, x := range map[string]struct{ got, want float64 }{
			"collections": {g.Rate.Number, 1}, "full": {g.Full.Number, 0}, "stopped": {g.Stopped.Number, .05}, "longest": {g.Longest.Number, .05}, "allocated": {g.Alloc.Number, 100},
			"each": {g.Each.Number, 100}, "promoted": {g.Promoted.Number, 10}, "CPU in pauses": {g.PauseCPU.Number, .12}, "capacity": {g.Capacity.Number, 1000},
			"promoted, one by one": {g.Promotions().Sum(), 10 * float64(c.pauses)}, "watched": {g.Stopped.Watched, 1},
		} {
			if math.Abs(x.got-x.want) > 1e-9 {
				t.Errorf("%s: %s: %g, want %g", name, what, x.got, x.want)
			}
		}
		for what, v := range map[string]Value{"live": g.Live, "goal": g.Goal, "assist": g.Assist, "part of the CPU": g.Share, "marking": g.Marking} {
			if v.Known() {
				t.Errorf("%s: %s: %g, and nothing tells it", name, what, v.Number)
			}
		}
	}
}

// Of two logs of the same pauses none counts twice; what one saw before the other adds to
// it, unless nothing says how their clocks lie to each other.
func TestTwoLogsOfTheSame(t *testing.T) {
	running := evidence.Clock{Name: "since start", Error: evidence.Unanchored, Resolution: 1e6}
	for name, c := range map[string]struct {
		clock       evidence.Clock
		from, until int64
		pauses      int
		span        float64
	}{
		"half of it again":       {dated, 100, 130, 60, 60},
		"and some before":        {dated, 80, 100, 80, 80},
		"with a gap between":     {dated, 40, 50, 70, 70},
		"by a clock of its own":  {running, 0, 30, 60, 60},
		"without stamps at all":  {evidence.Clock{Error: evidence.Unanchored}, 0, 30, 60, 60},
		"a little of both sides": {dated, 90, 170, 80, 80},
	} {
		b := evidence.NewBundle()
		subject := jvmLog(b, "gc.log", dated, 100, 160, 0)
		jvmLog(b, "gc2.log", c.clock, c.from, c.until, 20_000)
		if g := JVMCollector(b, subject, Scope{}); g == nil || len(g.Pauses) != c.pauses || math.Abs(g.Span-c.span) > 1e-9 || !g.Placed {
			t.Errorf("%s: %d pauses in %g s, want %d in %g", name, len(g.Pauses), g.Span, c.pauses, c.span)
		}
	}
	alone := evidence.NewBundle()
	subject := jvmLog(alone, "gc.log", evidence.Clock{Error: evidence.Unanchored}, 0, 30, 0)
	if g := JVMCollector(alone, subject, Scope{}); g != nil {
		t.Errorf("a log without stamps tells how often it collects: %+v", g.Rate)
	}
}

// ZGC's pauses tell neither the heap nor one of them a collection: its cycles do.
func TestCyclesBesideTheProgram(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "hotspotgc")
	*p.Clock() = dated
	subject := p.Subject(evidence.Subject{Runtime: "jvm"})
	for at := int64(10); at < 20; at++ {
		for n, of := range []evidence.Pause{evidence.PauseInitialMark, evidence.PauseRemark, evidence.PauseOther} {
			start := at*second + int64(n)*second/10
			p.Interval(evidence.Interval{Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: start, End: start + 1000, Origin: p.Origin(at), Extra: []evidence.Extra{{Key: evidence.PauseOf, Value: float64(of)}}})
		}
		p.Interval(evidence.Interval{Kind: evidence.GCConcurrent, Start: at * second, End: at*second + second/2, Cause: p.Name("Garbage Collection"), Origin: p.Origin(at), Extra: []evidence.Extra{
			{Key: evidence.HeapBefore, Value: 300}, {Key: evidence.HeapAfter, Value: 200}}})
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverGC, From: 10 * second, Until: 20 * second})
	p.Close()
	g := JVMCollector(b, subject, Scope{})
	if g == nil || g.Rate.Number != 1 || g.Alloc.Number != 200 || g.Live.Number != 200 || g.Promoted.Known() || g.PauseCPU.Known() {
		t.Errorf("%+v", g)
	}
}
