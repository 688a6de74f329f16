package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// TestAlike: all requests wait for a socket as long, and slow ones for a limit before; half of
// them are under way while awaits are told of, and the others are taken to be like them. Of a call
// the part that waits for a connection is its pool's.
func TestAlike(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet"})
	s := newSource(b, "trace", exact, 0)
	at := s.Stack([]evidence.Frame{{Func: s.Name("Shop!Shop.Gate+<Enter>d__1.MoveNext()")}})
	limit, socket, call, queue := s.Name("limit of 4 at"), s.Name("a socket"), s.Name("http db:80"), s.Name(evidence.ConnectionsFor+"http db:80")
	const requests = 40
	for i := range int64(requests) {
		x := evidence.Request{Lane: evidence.LaneID(i + 1), Start: epoch + i*1000*ms}
		end := x.Start + 40*ms
		if slow := i%2 == 1; slow {
			end = x.Start + 400*ms
		}
		x.End = end
		known := i < requests/2
		if !known {
			x.Path = path(state(evidence.Awaiting, end-x.Start))
			if i%4 == 3 {
				x.Path = path(evidence.Segment{Kind: evidence.NetWait, Cause: call, Dur: end - x.Start})
			}
		}
		x.Subject = s.subject
		id := s.Builder.Request(x)
		row := func(kind evidence.Kind, cause evidence.NameID, stack evidence.StackID, from, until int64) {
			s.Builder.Interval(evidence.Interval{Subject: s.subject, Kind: kind, Request: id, Cause: cause, Stack: stack, Start: from, End: until, Origin: s.Origin(i)})
		}
		switch {
		case !known:
		case i%4 == 3:
			row(evidence.NetWait, call, 0, x.Start, end)
			row(evidence.PoolWait, queue, at, x.Start, end-40*ms)
		default:
			if i%2 == 1 {
				row(evidence.PoolWait, limit, at, x.Start, end-40*ms)
			}
			row(evidence.NetWait, socket, at, end-40*ms, end)
		}
	}
	s.watched(evidence.CoverAwaits, 0, requests/2*1000*ms)
	s.watched(evidence.CoverRequests, 0, requests*1000*ms)
	s.Close()
	threads.Attach(b, threads.Readers{"dotnet": threads.DotnetStacks})
	l := one(t, b, Options{Stacks: threads.Readers{"dotnet": threads.DotnetStacks}})
	for _, row := range l.Rows {
		ch := l.Of(row)
		pool, network := ch[Pool], ch[Dependency]
		if want := max(0, b.Requests.Latency(row)-40*ms); abs(pool-want) > 1000 || abs(network-40*ms) > 1000 {
			t.Errorf("request %d of %d ms: %d ns for a pool, %d for a dependency", row, b.Requests.Latency(row)/ms, pool, network)
		}
		if ch.Sum() != b.Requests.Latency(row) {
			t.Errorf("request %d: %d charged", row, ch.Sum())
		}
	}
	if len(l.Slow) != requests/2 {
		t.Errorf("%d are slow", len(l.Slow))
	}
}

func abs(n int64) int64 { return max(n, -n) }
