package timeline

import (
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// traced makes a bundle with traced requests, the states of each as given, one
// after another.
func traced(paths ...[]evidence.Segment) *evidence.Bundle {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Runtime: "go", Name: "gateway"})
	p.Clock().Error = evidence.Unanchored
	at := int64(1)
	for i, states := range paths {
		var path evidence.Path
		start := at
		for _, x := range states {
			path = path.Append(x)
			at += x.Dur
		}
		p.Request(evidence.Request{Subject: s, Lane: evidence.LaneID(i + 1), Start: start, End: at, Path: path})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: 1, Until: at})
	p.Close()
	b.Unify()
	b.Align()
	return b
}

// However many states a request has and however long they are, what is shown
// is bounded, sums to the same by mechanism, and keeps what is long as it was.
func TestStatesAreBounded(t *testing.T) {
	kinds := []evidence.Kind{evidence.Running, evidence.Syscall, evidence.NetWait, evidence.GCAssist, evidence.SyncWait}
	lengths := map[string]func(*rand.Rand, int) int64{
		"alike":       func(*rand.Rand, int) int64 { return 1000 },
		"random":      func(r *rand.Rand, _ int) int64 { return 1 + int64(r.ExpFloat64()*1e6) },
		"alternating": func(_ *rand.Rand, i int) int64 { return []int64{1, 1e6}[i%2] },
		"a few long":  func(r *rand.Rand, i int) int64 { return []int64{1e9, 10}[min(i%1000, 1)] },
	}
	for name, length := range lengths {
		for _, n := range []int{1, MaxStates, MaxStates + 1, 3 * MaxStates, 50 * MaxStates} {
			rng := rand.New(rand.NewPCG(uint64(n), 4))
			var states []evidence.Segment
			for i := range n {
				states = append(states, evidence.Segment{Kind: kinds[rng.IntN(len(kinds))], Dur: length(rng, i)})
			}
			b := traced(states)
			l := ledger.Build(b, ledger.Options{SLO: 1})[0]
			x := Of(b, []*ledger.Ledger{l}, l.Subject)
			if len(x.Slow) != 1 {
				t.Fatalf("%s %d: %d requests", name, n, len(x.Slow))
			}
			q := x.Slow[0]
			if len(q.States) > MaxStates || n <= MaxStates && len(q.States) != n || len(q.States) < min(n, MaxStates/5) {
				t.Errorf("%s: %d states became %d", name, n, len(q.States))
			}
			var sum int64
			number := 0
			got := map[string]int64{}
			for _, s := range q.States {
				number += max(s.Number, 1)
				sum += s.Dur
				if s.Parts == nil {
					got[s.Mechanism] += s.Dur
				}
				for _, p := range s.Parts {
					got[p.Mechanism] += p.Dur
				}
				if s.Number > 1 && s.Dur > 2*(3*q.Latency/(MaxStates-1)+1) {
					t.Fatalf("%s %d: a state of %d stands for %d", name, n, s.Dur, s.Number)
				}
			}
			charges := l.Of(0)
			for m, v := range charges {
				if got[ledger.Mechanism(m).String()] != v {
					t.Errorf("%s %d: %s is %d, was %d", name, n, ledger.Mechanism(m), got[ledger.Mechanism(m).String()], v)
				}
			}
			if sum != q.Latency || number != n {
				t.Errorf("%s %d: %d states, %d ns of %d", name, n, number, sum, q.Latency)
			}
		}
	}
}

func TestHolders(t *testing.T) {
	var held evidence.Shares
	held[evidence.HeldByCollector], held[evidence.HeldByRequests] = 75, 25
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Runtime: "go"}}
	l := &layout{b: b}
	for _, c := range []struct {
		s    evidence.Segment
		want string
	}{
		{evidence.Segment{Kind: evidence.LockWait, Holder: 71, HolderKind: evidence.GCAssist}, "goroutine 71: mark assist"},
		{evidence.Segment{Kind: evidence.LockWait, Holder: 71}, "goroutine 71"},
		{evidence.Segment{Kind: evidence.Runnable, Held: held}, "CPUs: GC 75 %, requests 25 %"},
		{evidence.Segment{Kind: evidence.Running, Lane: 5}, "goroutine 5, which it waited for: running"},
		{evidence.Segment{Kind: evidence.Running}, ""},
	} {
		if got := l.holderText(&c.s); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}

func TestWhere(t *testing.T) {
	for _, c := range []struct {
		stack []string
		want  string
	}{
		{[]string{"runtime.gopark", "sync.(*Mutex).Lock", "main.(*cache).get", "main.serve", "net/http.(*conn).serve"}, "sync.(*Mutex).Lock ← main.(*cache).get ← main.serve"},
		{[]string{"internal/poll.(*FD).Read", "net.(*conn).Read", "bufio.(*Reader).fill", "github.com/x/redis.(*Conn).Do", "main.serve"}, "net.(*conn).Read ← github.com/x/redis.(*Conn).Do ← main.serve"},
		{[]string{"runtime.gopark"}, "runtime.gopark"},
		{[]string{"net.(*conn).Write", "bufio.(*Writer).Flush", "net/http.(*response).finishRequest", "net/http.(*conn).serve"}, "net.(*conn).Write ← net/http.(*response).finishRequest"},
		{[]string{"shop/cart.(*Store[go.shape.string]).Add", "net/http.(*conn).serve"}, "shop/cart.(*Store[go.shape.string]).Add"},
		{nil, ""},
	} {
		b := evidence.NewBundle()
		var frames []evidence.Frame
		for _, f := range c.stack {
			frames = append(frames, evidence.Frame{Func: b.Names.ID(f)})
		}
		if got := describeGoStack(b, frames); got != c.want {
			t.Errorf("%v:\n%s, want\n%s", c.stack, got, c.want)
		}
	}
}

// Of more slow requests than are kept, the slowest are, and some of every route and time:
// of a route too, whose slow requests are rare and short.
func TestSpread(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Runtime: "go", Name: "gateway"})
	often, rare := p.Name("GET /often"), p.Name("GET /rare")
	const from, n = int64(1e18), 4 * MaxSlow
	for i := range int64(n) {
		took, route := int64(20e6)+i*1e3, often // later ones are slower
		if i%400 == 0 {
			took, route = 11e6, rare
		}
		path := evidence.Path{}.Append(evidence.Segment{Kind: evidence.Running, Dur: took})
		p.Request(evidence.Request{Subject: s, Route: route, Lane: evidence.LaneID(i + 1), Start: from + i*30e6, End: from + i*30e6 + took, Path: path})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: from, Until: from + n*30e6})
	p.Close()
	b.Unify()
	b.Align()
	l := ledger.Build(b, ledger.Options{SLO: 10e6})[0]
	x := Of(b, []*ledger.Ledger{l}, l.Subject)
	if len(x.Slow) != MaxSlow {
		t.Fatalf("%d are kept", len(x.Slow))
	}
	rares, early := 0, 0
	for i, q := range x.Slow {
		if i > 0 && q.Latency > x.Slow[i-1].Latency {
			t.Fatal("they are not in order")
		}
		if q.Route == "GET /rare" {
			rares++
		}
		if q.At < from+n*30e6/4 {
			early++
		}
	}
	if rares != 4 || early < MaxSlow/16 {
		t.Errorf("%d of the rare route, want 4; %d of the first quarter", rares, early)
	}
	if q := x.Slow[0]; q.Latency != 20e6+(n-1)*1e3 {
		t.Errorf("the slowest is missing: %d", q.Latency)
	}
}
