package golang

import (
	"fmt"
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// pieces is a process that was traced several times for a second each, with as many
// cycles as said.
func pieces(series string, cycles ...int) *check.Case {
	const second = int64(1e9)
	b := evidence.NewBundle()
	var subject evidence.SubjectID
	for k, n := range cycles {
		name := fmt.Sprintf("trace-%d", k+1)
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name, Series: series}), "gotrace")
		if k == 0 {
			subject = p.Subject(evidence.Subject{Runtime: "go"})
		}
		from := int64(10*(k+1)) * second
		for i := range n {
			at := from + int64(i)*second/int64(n)
			live := 40. * mib
			p.Interval(evidence.Interval{Subject: subject, Kind: evidence.GCCycle, Start: at, End: at + second/50, Origin: p.Origin(int64(i + 1)), Extra: []evidence.Extra{
				{Key: evidence.HeapLive, Value: live}, {Key: evidence.HeapGoal, Value: 2 * live}, {Key: evidence.HeapBefore, Value: 1.8 * live}, {Key: evidence.HeapAfter, Value: 2 * live},
				{Key: evidence.MarkTime, Value: 2e7}, {Key: evidence.BackgroundTime, Value: 1e7}, {Key: evidence.Processors, Value: 2}}})
		}
		p.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGC, From: from, Until: from + second})
		p.Close()
	}
	return &check.Case{Bundle: b, Subject: subject}
}

// All pieces of a recording say how often the collector runs, those without a cycle,
// too; traces that are not one recording do not add up.
func TestHeapOfPieces(t *testing.T) {
	c := pieces("trace", 4, 8, 0)
	h, err := heapOfCase(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Cycles) != 12 || h.Span != 3 || math.Abs(h.Paced-4) > 1e-9 || math.Abs(h.Marking-12*.02/3) > 1e-9 || h.Procs != 2 {
		t.Errorf("%d cycles in %g s, %g/s, marking %g on %g", len(h.Cycles), h.Span, h.Paced, h.Marking, h.Procs)
	}
	if s := h.Source; s != "trace ×3" {
		t.Errorf("from %q", s)
	}
	alone := pieces("", 4, 8, 0)
	if h, err = heapOfCase(alone); err != nil || len(h.Cycles) != 4 || h.Span != 1 {
		t.Errorf("%d cycles in %g s of traces that are not one recording (%v)", len(h.Cycles), h.Span, err)
	}
	if s := h.Source; s != "trace-1" {
		t.Errorf("from %q", s)
	}
}

func TestQuotaOf(t *testing.T) {
	for quota, below := range map[float64]bool{0: false, .5: true, 1.5: true, 2: false, 4: false} {
		c := pieces("", 8)
		p := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "cgroup"}), "procfs")
		p.Fact(evidence.Fact{Subject: c.Subject, Key: evidence.FactContainerCPU, Number: quota})
		p.Close()
		if got, ok := collectorOf(c).Quota(); ok != below || ok && got != quota {
			t.Errorf("a quota of %g of 2: %g, %v", quota, got, ok)
		}
	}
}

// The name of a verdict's p99 says where it is from, and of requests that pile up
// there is none.
func TestPredictedP99(t *testing.T) {
	c := log{n: 40, period: 1e8, mark: 3e7, live: wobble, goal: follows, workers: .5}.build()
	g := collectorOf(c)
	outcome := func(ms float64) goheap.Outcome { return goheap.Outcome{P99: model.Exactly(ms)} }
	f := &goheap.Frontier{Now: outcome(20)}
	last := func(at goheap.Outcome, replayed bool) check.Prediction {
		all := g.predictFix(c, f, at, nil, replayed)
		return all[len(all)-1]
	}
	if p := last(outcome(3), true); p.Metric != "p99 by replay" || *p.Now != 20 || *p.Then != 3 {
		t.Errorf("%+v", p)
	}
	if p := last(goheap.Outcome{P99: model.Unknown, PilesUp: true}, true); p.Metric != "gc cpu" {
		t.Errorf("%+v", p)
	}
	if p := last(outcome(3), false); p.Metric != "gc cpu" {
		t.Errorf("without a bill: %+v", p)
	}
}
