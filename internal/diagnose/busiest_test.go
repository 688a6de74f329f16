package diagnose

import (
	"context"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Requests of one route that all take as long are not slow beside each other; the report says where their time goes, unless
// most of it was not seen.
func TestBusiestRoute(t *testing.T) {
	run := func(path func(p *evidence.Builder, took time.Duration) evidence.Path) *Busiest {
		t.Helper()
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", Runtime: "go", CPUs: 2})
		at := int64(time.Hour)
		for i := range 200 {
			for _, x := range []struct {
				route string
				took  time.Duration
			}{{"GET /quick", time.Millisecond}, {"GET /report", 40 * time.Millisecond}} {
				at += int64(50 * time.Millisecond)
				p.Request(evidence.Request{Subject: s, Lane: evidence.LaneID(i + 1), Route: b.Names.ID(x.route), Start: at - int64(x.took), End: at, Path: path(p, x.took)})
			}
		}
		for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
			p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: int64(time.Hour), Until: at})
		}
		p.Close()
		d, err := Run(context.Background(), b, Options{SLO: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome == Found {
			t.Fatalf("%s: nothing is slow", d.Outcome)
		}
		return d.Busiest
	}
	got := run(func(p *evidence.Builder, took time.Duration) evidence.Path {
		return evidence.Path{}.Append(evidence.Segment{Kind: evidence.Running, Dur: int64(took) / 4}).
			Append(evidence.Segment{Kind: evidence.NetWait, Dur: int64(took) - int64(took)/4, Cause: p.Name("10.0.0.7:5432")})
	})
	if got == nil || got.Route != "GET /report" || *got.P50Ms != 40 || *got.Share < .97 || *got.Share > .98 || len(got.Parts) != 2 {
		t.Fatalf("%+v", got)
	}
	if p := got.Parts[0]; p.Mechanism != "dependency" || p.Detail != "10.0.0.7:5432" || *p.Share != .75 {
		t.Errorf("%+v: three quarters are a call", p)
	}
	if p := got.Parts[1]; p.Mechanism != "own" || *p.Share != .25 {
		t.Errorf("%+v: a quarter is own work", p)
	}
	if got.Code != "" {
		t.Errorf("%q: a call is no work", got.Code)
	}
	got = run(func(p *evidence.Builder, took time.Duration) evidence.Path {
		stack := p.Stack([]evidence.Frame{{Func: p.Name("main.render")}, {Func: p.Name("net/http.(*conn).serve")}})
		return evidence.Path{}.Append(evidence.Segment{Kind: evidence.Running, Dur: int64(took), Stack: stack})
	})
	if got == nil || got.Code != "main.render" {
		t.Errorf("%+v: the work is in main.render, by the states of requests alone", got)
	}
	if got := run(func(_ *evidence.Builder, took time.Duration) evidence.Path {
		return evidence.Path{}.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: int64(took)})
	}); got != nil {
		t.Errorf("nothing was seen of it: %+v", got)
	}
}

// Where every request takes as long, what takes most of it is told for those to whom that is too long, unless they have said what is, or it is quick.
func TestIfTooLong(t *testing.T) {
	for _, x := range []struct {
		took  time.Duration
		part  int64 // of it that passes in the call, per cent
		slo   time.Duration
		cause string
	}{
		{40 * time.Millisecond, 80, 0, "service.dependency-slow"},
		{40 * time.Millisecond, 80, time.Second, ""},
		{40 * time.Millisecond, 40, 0, ""}, // less than half of it
		{15 * time.Millisecond, 80, 0, ""},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", Runtime: "go", CPUs: 2})
		at := int64(time.Hour)
		for i := range 200 {
			at += int64(50 * time.Millisecond)
			called := int64(x.took) * x.part / 100
			path := evidence.Path{}.Append(evidence.Segment{Kind: evidence.NetWait, Dur: called, Cause: p.Name("10.0.0.7:5432")}).
				Append(evidence.Segment{Kind: evidence.SleepWait, Dur: (int64(x.took) - called) / 2, Cause: p.Name("sleep")}).
				Append(evidence.Segment{Kind: evidence.Running, Dur: int64(x.took) - called - (int64(x.took)-called)/2})
			p.Request(evidence.Request{Subject: s, Lane: evidence.LaneID(i + 1), Route: b.Names.ID("GET /report"), Start: at - int64(x.took), End: at, Path: path})
		}
		for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
			p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: int64(time.Hour), Until: at})
		}
		p.Close()
		d, err := Run(context.Background(), b, Options{SLO: x.slo})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if d.Busiest != nil && d.Busiest.IfTooLong != nil {
			got = d.Busiest.IfTooLong.Cause
		}
		if got != x.cause {
			t.Errorf("%v, %d %% in a call, objective %v: %s, if that is too long %q, want %q", x.took, x.part, x.slo, d.Outcome, got, x.cause)
		}
	}
}
