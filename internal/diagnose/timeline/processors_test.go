package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// busy makes a trace with that many spans on each of two processors, and requests
// served by some of them, one of which is slow.
func busy(spans int) (b *evidence.Bundle, work [NumWorks]int64) {
	b = evidence.NewBundle()
	rng := rand.New(rand.NewPCG(uint64(spans), 5))
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Runtime: "go", Name: "gateway"})
	var log evidence.ProcessorLog
	name := p.Name("main.serve")
	until := int64(0)
	for lane := range 2 {
		at := int64(1e18)
		l := log.Lane(lane, at)
		for i := range spans {
			if rng.IntN(3) == 0 {
				at += rng.Int64N(2000)
			}
			d := 1 + rng.Int64N(5000)
			if rng.IntN(1000) == 0 {
				d *= 1000
			}
			w := evidence.Work(1 + rng.IntN(int(evidence.NumWorks)-1))
			x := evidence.ProcessorSpan{From: at, To: at + d, Work: w, Lane: evidence.LaneID(1 + i%50), Name: name, Number: 1}
			if w == evidence.WorkRequest || w == evidence.WorkRequestAssist {
				x.Serves = x.Lane
			}
			l.Add(&x)
			work[works[w]] += d
			at += d
		}
		until = max(until, at)
	}
	p.Processors(s, &log, 1e18, until)
	for k := range evidence.LaneID(50) {
		dur := (until - 1e18) / 100
		if k == 7 {
			dur *= 2
		}
		var path evidence.Path
		at := 1e18 + int64(k)*dur/2
		p.Request(evidence.Request{Subject: s, Lane: k + 1, Start: at, End: at + dur, Path: path.Append(evidence.Segment{Kind: evidence.Running, Dur: dur})})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: 1e18, Until: until})
	p.Close()
	b.Unify()
	b.Align()
	return b, work
}

// Whatever is drawn together, the time of each kind of work stays, and around the
// slowest request each span is as it was.
func TestProcessorsKeepTheirTime(t *testing.T) {
	for _, n := range []int{10, 1000, 60_000, 400_000} {
		b, want := busy(n)
		l := ledger.Build(b, ledger.Options{SLO: 1})[0]
		x := Of(b, []*ledger.Ledger{l}, l.Subject)
		if len(x.Processors) != 1 || len(x.Processors[0].Lanes) != 2 {
			t.Fatalf("%+v", x.Processors)
		}
		var got [NumWorks]float64
		spans, linked, near := 0, 0, 0
		slowest := x.Slow[0]
		for _, lane := range x.Processors[0].Lanes {
			last := int64(0)
			spans += len(lane.Spans)
			for _, s := range lane.Spans {
				if s.From < last || s.To <= s.From {
					t.Fatalf("%s: out of order", lane.Name)
				}
				last = s.To
				if s.From >= slowest.At && s.To <= slowest.At+slowest.Latency {
					near++
					if n <= 60_000 && s.Shares != nil {
						t.Errorf("a span of the slowest request was drawn together")
					}
				}
				if s.Request == 1 {
					linked++
				}
				if s.Shares == nil {
					got[s.Work] += float64(s.To - s.From)
					continue
				}
				sum := 0.0
				for _, h := range s.Shares {
					got[h.Work] += h.Part * float64(s.To-s.From)
					sum += h.Part
				}
				if sum > 1+1e-9 {
					t.Fatalf("shares sum to %g", sum)
				}
			}
		}
		if spans > MaxSpans || 2*n <= MaxSpans && spans != 2*n {
			t.Errorf("%d spans became %d", 2*n, spans)
		}
		for w := range got {
			if math.Abs(got[w]-float64(want[w])) > 1e-6*float64(want[w])+1 {
				t.Errorf("%d spans: work %d is %g, was %d", n, w, got[w], want[w])
			}
		}
		if n >= 60_000 && (linked == 0 || near == 0) {
			t.Errorf("%d spans: none is of the slowest request", n)
		}
	}
}
