package timeline

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// The type of what is allocated is the innermost frame, of a process that was asked who
// allocates; what a Go heap profile has allocated is not shown.
func TestAllocationFlames(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Shop"})
	stack := p.Stack([]evidence.Frame{{Func: p.Name("Shop!OrderBook.Statement()")}, {Func: p.Name("Shop!Program.Main()")}})
	for _, typ := range []string{evidence.SampleAllocated, evidence.SampleLargeAllocated} {
		p.Sample(evidence.Sample{Subject: s, Stack: stack, Type: p.Name(typ), Unit: p.Name("bytes"), Class: p.Name("System.Byte[]"), Value: 100})
	}
	p.Close()
	if f := Of(b, nil, s).Flames; len(f) != 0 {
		t.Fatalf("%d flames of a process that nobody asked", len(f))
	}
	b.Coverage = append(b.Coverage, evidence.Coverage{Subject: s, Kind: evidence.CoverAllocation, From: 1, Until: 2})
	f := Of(b, nil, s).Flames
	if len(f) != 2 || f[0].ID != "large-objects" || f[0].Unit != "bytes" || f[0].Total != 100 {
		t.Fatalf("%+v", f)
	}
	if n := f[0].Nodes; len(n) != 4 || n[3].Name != "System.Byte[]" || n[3].Parent != 2 || n[3].Value != 100 {
		t.Errorf("%+v", n)
	}
}

// What threads do is drawn however many others are idle, and however rarely it was seen; idle threads are measured by all.
func TestFlameBesideIdleThreads(t *testing.T) {
	tree := newTree("all")
	for _, x := range []struct {
		name, kind string
		value      int64
	}{{"poll", "idle", 8400}, {"park", "idle", 7}, {"parse", "own", 130}, {"render", "own", 1}} {
		tree.addTotal(x.value)
		tree.addChild(0, x.name, x.kind, x.value)
	}
	f := tree.buildFlame("threads", "thread samples", "1")
	var names []string
	for _, n := range f.Nodes {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "all poll parse render" || f.Cut != 7 {
		t.Errorf("drawn are %q, %d cut", got, f.Cut)
	}
}

// Who held the CPUs are those that were sampled while a slow request waited for one, and
// not what ran while none did; another process is named.
func TestHeld(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Runtime: "go", Name: "gateway", PID: 7})
	other := p.Subject(evidence.Subject{Name: "batch", PID: 9})
	var busy evidence.Shares
	busy[evidence.HeldByRequests] = 1e9
	path := evidence.Path{}.Append(evidence.Segment{Kind: evidence.Runnable, Dur: 1e9, Held: busy}).Append(evidence.Segment{Kind: evidence.Running, Dur: 1e9})
	const from = int64(1e18)
	p.Request(evidence.Request{Subject: s, Lane: 1, Start: from, End: from + 2e9, Path: path})
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: from, Until: from + 2e9})
	render, own := p.Stack([]evidence.Frame{{Func: p.Name("main.render")}, {Func: p.Name("main.serve")}}), p.Stack([]evidence.Frame{{Func: p.Name("main.own")}})
	for i := range int64(20) {
		at := from + i*100e6 // half of them while it waited
		stack := own
		if i < 10 {
			stack = render
		}
		p.Sample(evidence.Sample{Subject: s, Time: at + 1, Lane: 2, Stack: stack, Type: p.Name(evidence.SampleWork), Unit: p.Name("nanoseconds"), Value: 10e6})
	}
	p.Sample(evidence.Sample{Subject: other, Time: from + 5, Lane: 3, Stack: own, Type: p.Name(evidence.SampleOnCPU), Unit: p.Name("nanoseconds"), Value: 10e6})
	p.Close()
	b.Unify()
	b.Align()
	l := ledger.Build(b, ledger.Options{SLO: 1e6})[0]
	var held *Flame
	for _, f := range Of(b, []*ledger.Ledger{l}, l.Subject).Flames {
		if f.ID == "held" {
			held = &f
		}
	}
	if held == nil {
		t.Fatal("there is no flame of who held the CPUs")
	}
	value := make(map[string]int64)
	for _, n := range held.Nodes {
		value[n.Name] += n.Value
	}
	if held.Total != 110e6 || value["main.render"] != 100e6 || value["main.own"] != 10e6 {
		t.Errorf("%d in all: %v", held.Total, value)
	}
	if len(held.Nodes) != 5 || held.Nodes[3].Kind != Mechanism+ledger.HostCPU.String() {
		t.Errorf("the other process is not named: %+v", held.Nodes)
	}
}
