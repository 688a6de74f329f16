package goheap

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Requests come every 5 ms and keep one of two places for 9 ms, 3 of them in mark assists: the
// queue is short. Every hundredth finds the dependency slow, and behind it they queue.
func TestBehindPool(t *testing.T) {
	const ms = int64(1e6)
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	p.Clock().Name = "unix"
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
	slots := p.Name("slots in main.handle")
	free := [2]int64{}
	last := [2]evidence.LaneID{}
	var observed int64
	for i := range 400 {
		at := 1000*ms + int64(i)*5*ms
		k := 0
		if free[1] < free[0] {
			k = 1
		}
		var path evidence.Path
		begin := at
		if free[k] > at {
			path = path.Append(evidence.Segment{Kind: evidence.PoolWait, Cause: slots, Holder: last[k], Dur: free[k] - at})
			begin = free[k]
			observed += begin - at
		}
		call := 6 * ms
		if i%100 == 0 {
			call = 60 * ms
		}
		path = path.Append(evidence.Segment{Kind: evidence.NetWait, Dur: call})
		path = path.Append(evidence.Segment{Kind: evidence.GCAssist, Dur: 3 * ms})
		free[k], last[k] = begin+call+3*ms, evidence.LaneID(1000+i)
		path = path.Append(evidence.Segment{Kind: evidence.Running, Dur: ms / 10}) // the answer, without a place
		p.Request(evidence.Request{Subject: s, Lane: last[k], Route: p.Name("main.handle"), Start: at, End: free[k] + ms/10, Path: path})
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: 1000 * ms, Until: 3000 * ms, Origin: p.Origin(1)})
	}
	p.Close()
	g := &Process{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{})[0]}
	got := g.replayPool()
	if got == nil {
		t.Fatal("the replay of a first-come pool does not give what was waited")
	}
	if got.Places != 2 || got.Name != "slots in main.handle" || got.Observed != observed {
		t.Errorf("%d places of %q, waited %d ns; want 2 of slots in main.handle, %d", got.Places, got.Name, got.Observed, observed)
	}
	if got.Part < .25 || got.Part > .35 {
		t.Errorf("the collector has %.2f of the time that places are kept, want about 0.3", got.Part)
	}
	if got.Without >= got.Replayed*3/4 {
		t.Errorf("without the collector the wait is %d ns of %d: at 60 %% of the places in use it should be far less", got.Without, got.Replayed)
	}
}
