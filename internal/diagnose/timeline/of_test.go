package timeline

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

func build(b *evidence.Bundle) *Timeline {
	b.Unify()
	b.Align()
	ledgers := ledger.Build(b, ledger.Options{SLO: 10e6})
	s := evidence.SubjectID(0)
	if len(ledgers) > 0 {
		s = ledgers[0].Subject
	}
	return Of(b, ledgers, s)
}

func TestNothing(t *testing.T) {
	for _, s := range []evidence.SubjectID{-1, 0, 7} {
		if x := Of(evidence.NewBundle(), nil, s); len(x.Requests)+len(x.Bands)+len(x.Charts)+len(x.Slow)+len(x.Flames) != 0 {
			t.Errorf("subject %d: %+v", s, x)
		}
	}
}

func TestOneRequest(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Name: "gateway"})
	p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: 1e18, End: 1e18 + 50e6})
	p.Close()
	x := build(b)
	if len(x.Requests) != 1 || x.Requests[0].Count != 1 || len(x.Requests[0].At) != 1 || x.Requests[0].Flags[0] != Slow {
		t.Fatalf("%+v", x.Requests)
	}
	if x.From != 1e18 || x.To != 1e18+50e6 || !x.Anchored {
		t.Errorf("from %d to %d", x.From, x.To)
	}
	if len(x.Slow) != 0 {
		t.Error("states of a request whose states are not known")
	}
}

// One traced request has its states shown, on a clock that knows no time of day.
func TestOneTracedRequest(t *testing.T) {
	b := traced([]evidence.Segment{{Kind: evidence.Running, Dur: 3e6}, {Kind: evidence.GCAssist, Dur: 20e6}})
	x := build(b)
	if x.Anchored || len(x.Slow) != 1 || len(x.Slow[0].States) != 2 || !x.Slow[0].Slow || x.Slow[0].Apart || len(x.Typical) != 0 {
		t.Fatalf("%+v", x)
	}
	if p := x.Requests[0]; p.Detail[0] != 1 || p.Flags[0] != Slow|Traced {
		t.Errorf("%+v", p)
	}
	for _, c := range x.Charts {
		if c.ID == "assist" && len(c.Curves) == 2 {
			return
		}
	}
	t.Error("no chart of assists")
}

// Where no request was slow, the slowest are shown all the same, and said not to be.
func TestNoneSlow(t *testing.T) {
	var paths [][]evidence.Segment
	for i := range 100 {
		paths = append(paths, []evidence.Segment{{Kind: evidence.Running, Dur: int64(1e6 + i)}})
	}
	x := build(traced(paths...))
	if len(x.Slow) != fewSlow || x.Slow[0].Latency != 1e6+99 || x.Slow[0].Slow {
		t.Errorf("%d slow: %+v", len(x.Slow), x.Slow[0])
	}
	if len(x.Typical) != MaxTypical || x.Typical[0].Latency < 1e6+40 || x.Typical[0].Latency > 1e6+60 {
		t.Errorf("%d typical, the first %d", len(x.Typical), x.Typical[0].Latency)
	}
}

// A trace that knows no time of day beside a log that does: its requests have
// their states, but no place.
func TestApart(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Name: "gateway"})
	for i := range int64(100) {
		p.Request(evidence.Request{Subject: s, Start: 1e18 + i*1e9, End: 1e18 + i*1e9 + 20e6})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: 1e18, Until: 1e18 + 100e9})
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	p.Clock().Error = evidence.Unanchored
	s = p.Subject(evidence.Subject{Name: "gateway", Runtime: "go"})
	for i := range int64(30) {
		var path evidence.Path
		p.Request(evidence.Request{Subject: s, Start: 1 + i*1e8, End: 1 + i*1e8 + 20e6, Path: path.Append(evidence.Segment{Kind: evidence.Running, Dur: 20e6})})
	}
	p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCMark, Start: 5, End: 1e6, Origin: p.Origin(1)})
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: 1, Until: 3e9})
	p.Close()
	x := build(b)
	if !x.Anchored || len(x.Requests) != 1 || x.Requests[0].Source != "access.log" || x.From != 1e18 || x.To != 1e18+100e9 {
		t.Fatalf("%+v", x)
	}
	if len(x.Slow) != 30 || !x.Slow[0].Apart || len(x.Bands) != 0 {
		t.Errorf("%d slow, %d bands", len(x.Slow), len(x.Bands))
	}
	if text := strings.Join(x.Omitted, "\n"); !strings.Contains(text, "the 30 requests of trace.out: their time of day is not known") {
		t.Errorf("omitted: %s", text)
	}
}

// Of several services one is shown, and said so; so is a log that goes on for
// hours without requests.
func TestOthersAreOmitted(t *testing.T) {
	b := evidence.NewBundle()
	for i, name := range []string{"gateway", "worker"} {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name + ".log"}), "accesslog")
		s := p.Subject(evidence.Subject{Name: name, PID: i + 1, Runtime: "go"})
		for k := range int64(50) {
			p.Request(evidence.Request{Subject: s, Start: 1e18 + k*1e6, End: 1e18 + k*1e6 + 20e6, Outcome: evidence.Unfinished})
		}
		p.Close()
	}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "gctrace")
	s := p.Subject(evidence.Subject{Name: "gateway", PID: 1, Runtime: "go"})
	for k := range int64(100) {
		at := int64(1e18) - 3588e9 + k*36e9
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCMark, Start: at, End: at + 1e6, Origin: p.Origin(k)})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: 1e18 - 3600e9, Until: 1e18})
	p.Close()
	x := build(b)
	if x.Subject != "gateway pid 1" || x.Requests[0].Count != 50 || x.Requests[0].Flags[0]&Unfinished == 0 {
		t.Fatalf("%+v", x)
	}
	if x.From >= 1e18 || x.From < 1e18-31e9 {
		t.Errorf("begins %g s before the requests", float64(1e18-x.From)/1e9)
	}
	text := strings.Join(x.Omitted, "\n")
	for _, want := range []string{"50 requests of worker pid 2: this timeline covers gateway pid 1", "without requests, before the first and after the last"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if len(x.Bands) != 1 || len(x.Bands[0].From) != 1 || len(x.Bands[0].Watched) != 1 || x.Bands[0].Watched[0] != [2]int64{x.From, 1e18} {
		t.Errorf("bands: %+v", x.Bands)
	}
}

// One file may hold what two programs wrote, by two clocks: a container's log with
// access lines, and a collector's that count from the start of the process. Times of
// the one are no times of the other, whichever comes first.
func TestTwoClocksInOneFile(t *testing.T) {
	for _, first := range []string{"access lines", "collector's"} {
		b := evidence.NewBundle()
		a := b.AddArtifact(evidence.Artifact{Name: "pod.log"})
		access := func() {
			p := b.Builder(a, "accesslog")
			s := p.Subject(evidence.Subject{Name: "gateway"})
			for i := range int64(30) {
				p.Request(evidence.Request{Subject: s, Start: 1e18 + i*1e9, End: 1e18 + i*1e9 + 20e6})
			}
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: 1e18, Until: 1e18 + 30e9})
			p.Close()
		}
		collector := func() {
			p := b.Builder(a, "gctrace")
			p.Clock().Error = evidence.Unanchored
			s := p.Subject(evidence.Subject{Name: "gateway", Runtime: "go"})
			p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: 5e9, End: 5e9 + 1e6, Origin: p.Origin(1)})
			p.Series(evidence.Series{Subject: s, Name: "/gc/heap/goal:bytes", Unit: "bytes", T: []int64{5e9}, V: []float64{1}, Origin: p.Origin(1)})
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: 5e9, Until: 6e9})
			p.Close()
		}
		if first == "access lines" {
			access()
			collector()
		} else {
			collector()
			access()
		}
		x := build(b)
		if !x.Anchored || len(x.Requests) != 1 || x.From != 1e18 || x.To != 1e18+30e9 {
			t.Errorf("%s first: from %d to %d, %d sources", first, x.From, x.To, len(x.Requests))
		}
		if len(x.Bands) != 0 {
			t.Errorf("%s first: cycles of no known time at %d", first, x.Bands[0].From[0])
		}
		for _, c := range x.Charts {
			if c.ID == "heap" {
				t.Errorf("%s first: a heap of no known time", first)
			}
		}
	}
}
