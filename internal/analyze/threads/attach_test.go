package threads

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// Stacks of a pool's thread, innermost frame first.
var (
	handler  = []string{"Shop!Shop.Cart.Get()", "Microsoft.AspNetCore.Routing!Microsoft.AspNetCore.Routing.EndpointMiddleware.Invoke()", "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"}
	blocked  = append([]string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Tasks.Task`1[System.__Canon].get_Result()"}, handler...)
	locked   = append([]string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Monitor.Enter()"}, handler...)
	elsewise = []string{"[Native Frames]", "System.Private.CoreLib!System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"}
)

// recording makes a bundle of one .NET process.
type recording struct {
	*evidence.Bundle
	p       *evidence.Builder
	subject evidence.SubjectID
}

func record() *recording {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a"}), "test")
	return &recording{b, p, p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Shop", PID: 1})}
}

func (r *recording) stack(frames []string) evidence.StackID {
	return stacktest.Intern(r.p, stacktest.Of(frames...))
}

func (r *recording) look(lane evidence.LaneID, at int64, frames []string) {
	r.p.Sample(evidence.Sample{Subject: r.subject, Time: at, Lane: lane, Stack: r.stack(frames), Type: r.p.Name(evidence.SampleThread), Unit: r.p.Name("count"), Value: 1})
}

func (r *recording) request(lane evidence.LaneID, from, to int64) evidence.RequestID {
	return r.p.Request(evidence.Request{Subject: r.subject, Lane: lane, Start: from, End: to})
}

func (r *recording) done() *evidence.Bundle {
	r.p.Close()
	r.Align()
	Attach(r.Bundle, stacks)
	return r.Bundle
}

// states writes the path of a request: kinds with how long each was.
func states(b *evidence.Bundle, id evidence.RequestID) (out []any) {
	for s := range b.Requests.Path(int(id) - 1).All {
		out = append(out, s.Kind.String(), int(s.Dur))
	}
	return out
}

func TestAttach(t *testing.T) {
	r := record()
	r.look(1, 100, handler)
	r.look(1, 200, blocked)
	r.look(1, 300, blocked)
	r.look(1, 400, handler)
	whole := r.request(1, 50, 450)
	r.look(2, 100, blocked)
	once := r.request(2, 50, 450)
	r.look(3, 100, handler)
	r.look(3, 200, elsewise)
	r.look(3, 300, handler) // of whatever goes on there
	left := r.request(3, 50, 450)
	r.look(4, 100, blocked)
	r.look(4, 110, blocked)
	r.look(4, 300, handler)
	first, next := r.request(4, 50, 450), r.request(4, 200, 400)
	unseen := r.request(5, 50, 450)
	// The world is stopped for all of them: who waits does not wait longer for it.
	r.look(6, 100, handler)
	r.look(6, 200, handler)
	paused := r.request(6, 50, 250)
	r.p.Interval(evidence.Interval{Subject: r.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: 120, End: 150})
	r.look(7, 100, handler)
	r.look(7, 200, blocked)
	waited := r.request(7, 50, 250)
	r.p.Cover(evidence.Coverage{Subject: r.subject, Kind: evidence.CoverWaits, From: 1, Until: 1000})
	r.p.Interval(evidence.Interval{Subject: r.subject, Lane: 7, Kind: evidence.LockWait, Start: 60, End: 90, Holder: 6, Stack: r.stack(locked)})
	known := r.p.Request(evidence.Request{Subject: r.subject, Lane: 1, Start: 500, End: 600, Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.NetWait, Dur: 100})})
	b := r.done()
	for _, c := range []struct {
		what string
		id   evidence.RequestID
		want []any
	}{
		{"looked at all the time", whole, []any{"running", 70, "paused", 30, "task wait", 200, "running", 100}},
		{"looked at once", once, nil},
		{"gone from its thread", left, []any{"running", 70, "paused", 30, "awaiting", 300}},
		{"its thread began another", first, []any{"task wait", 150, "awaiting", 250}},
		{"begun on a thread that was looked at once since", next, nil},
		{"never looked at", unseen, nil},
		{"stopped with the world", paused, []any{"running", 70, "paused", 30, "running", 100}},
		{"known to have waited for a lock", waited, []any{"running", 10, "lock wait", 30, "running", 30, "paused", 30, "task wait", 100}},
		{"known already", known, []any{"network wait", 100}},
	} {
		if d := cmp.Diff(c.want, states(b, c.id)); d != "" {
			t.Errorf("%s: %s", c.what, d)
		}
	}
}

// Whatever was seen, states are of the whole request, without gaps.
func TestStatesSum(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := record()
		r.p.Cover(evidence.Coverage{Subject: r.subject, Kind: evidence.CoverWaits, From: 1, Until: 2000})
		stacks := [][]string{handler, blocked, locked, elsewise}
		for range 40 {
			lane, from := evidence.LaneID(1+rnd.IntN(3)), 1+rnd.Int64N(1000)
			to := from + rnd.Int64N(300)
			switch rnd.IntN(5) {
			case 0:
				r.request(lane, from, to)
			case 1:
				r.p.Interval(evidence.Interval{Subject: r.subject, Lane: lane, Kind: evidence.LockWait, Start: from, End: to, Stack: r.stack(locked)})
			case 2:
				r.p.Interval(evidence.Interval{Subject: r.subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: from + rnd.Int64N(20)})
			default:
				r.look(lane, from, stacks[rnd.IntN(len(stacks))])
			}
		}
		b := r.done()
		for i := range b.Requests.Len() {
			q := b.Requests.Row(i)
			var sum int64
			for s := range q.Path.All {
				if s.Dur <= 0 {
					t.Fatalf("seed %d: a state of %d ns", seed, s.Dur)
				}
				sum += s.Dur
			}
			if q.Path != nil && sum != q.End-q.Start {
				t.Fatalf("seed %d: states of %d ns, the request took %d: %v", seed, sum, q.End-q.Start, states(b, evidence.RequestID(i+1)))
			}
		}
	}
}

// What is covered says how far looks lie apart.
func TestApart(t *testing.T) {
	r := record()
	r.p.Cover(evidence.Coverage{Subject: r.subject, Kind: evidence.CoverThreads, From: 1000, Until: 5000, Lost: 3})
	for at := int64(1000); at <= 5000; at += 100 {
		r.look(1, at, blocked)
	}
	r.request(1, 1500, 2500)
	b := r.done()
	var got []evidence.Coverage
	for _, c := range b.Coverage {
		if c.Kind == evidence.CoverStates {
			got = append(got, c)
		}
	}
	want := []evidence.Coverage{{Subject: r.subject, Kind: evidence.CoverStates, From: 1000, Until: 5000, Lost: 3, Sampled: 100, Origin: evidence.NewOrigin(0, 0)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Without looks nothing is attached and nothing is covered.
func TestNothing(t *testing.T) {
	r := record()
	id := r.request(1, 1, 100)
	b := r.done()
	if p := states(b, id); p != nil || len(b.Coverage) > 0 {
		t.Errorf("%v, %v", p, b.Coverage)
	}
}

// TestCalls: what a request awaited is the call it made meanwhile.
func TestCalls(t *testing.T) {
	r := record()
	id := r.request(7, 1000, 1100)
	r.request(7, 1010, 1012) // its thread went on to this one
	r.look(7, 1002, handler)
	r.look(7, 1005, handler)
	r.p.Interval(evidence.Interval{Subject: r.subject, Kind: evidence.NetWait, Start: 1003, End: 1080, Request: id, Cause: r.p.Name("http db:80")})
	b := r.done()
	if d := cmp.Diff([]any{"running", 10, "network wait", 70, "awaiting", 20}, states(b, id)); d != "" {
		t.Error(d)
	}
}

// TestCallAwaited: who awaits a socket over a call awaits the call, which has a name; the rest of
// that await is its own.
func TestCallAwaited(t *testing.T) {
	r := record()
	id := r.request(7, 1000, 1100)
	r.request(7, 1010, 1012)
	stack := r.stack(handler)
	r.p.Interval(evidence.Interval{Subject: r.subject, Kind: evidence.NetWait, Start: 1020, End: 1080, Request: id, Cause: r.p.Name("http db:80")})
	r.p.Interval(evidence.Interval{Subject: r.subject, Kind: evidence.NetWait, Start: 1015, End: 1085, Request: id, Cause: r.p.Name("a socket"), Stack: stack})
	b := r.done()
	want := []any{"unobserved", 10, "awaiting", 5, "network wait", 5, "network wait", 60, "network wait", 5, "awaiting", 15}
	if d := cmp.Diff(want, states(b, id)); d != "" {
		t.Error(d)
	}
}

// TestCallsWithin: of a call within a call the inner one says more, and a wait for a connection
// is one for a pool.
func TestCallsWithin(t *testing.T) {
	r := record()
	id := r.request(7, 1000, 1100)
	r.request(7, 1010, 1012)
	for _, x := range []struct {
		kind       evidence.Kind
		start, end int64
		cause      string
	}{{evidence.NetWait, 1020, 1080, "http db:80"}, {evidence.NetWait, 1030, 1040, "dns db"}, {evidence.PoolWait, 1040, 1060, "connections for http db:80"}} {
		r.p.Interval(evidence.Interval{Subject: r.subject, Kind: x.kind, Start: x.start, End: x.end, Request: id, Cause: r.p.Name(x.cause)})
	}
	b := r.done()
	want := []any{"unobserved", 10, "awaiting", 10, "network wait", 10, "network wait", 10, "pool wait", 20, "network wait", 20, "awaiting", 20}
	if d := cmp.Diff(want, states(b, id)); d != "" {
		t.Error(d)
	}
}
