package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// serveAll makes requests that come each so many ns and are served by so many servers, each for a time, of which it waits for a lock.
func serveAll(t *testing.T, servers, n int, each, locked, own int64) (*Ledger, int64) {
	t.Helper()
	b := newBundle(evidence.Subject{})
	s := newSource(b, "exchanges.txt", exact, 0)
	free := make([]int64, servers)
	var longest int64
	for i := range n {
		at, first := int64(i)*each, 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		begun := max(at, free[first])
		free[first] = begun + locked + own
		longest = max(longest, free[first]-at)
		s.request(at, free[first], path(state(evidence.BeforeService, begun-at), state(evidence.LockWait, locked), state(evidence.Running, own)))
	}
	return one(t, b, Options{}), longest
}

// What waits for a lock holds a server, and who waits before the service waits for that.
func TestFreeServers(t *testing.T) {
	const locked, own = 15 * ms, 5 * ms
	l, longest := serveAll(t, 4, 400, 4*ms, locked, own)
	if longest < 200*ms {
		t.Fatalf("requests take at most %d ns", longest)
	}
	freed := l.FreeServers(func(int) int64 { return locked })
	for _, row := range l.Rows {
		if left := l.b.Requests.Latency(row) - locked - freed(row); left > 2*own {
			t.Fatalf("row %d still takes %d ns", row, left)
		}
	}
	l, _ = serveAll(t, 400, 400, 4*ms, locked, own) // nothing waits before it
	freed = l.FreeServers(func(int) int64 { return locked })
	for _, row := range l.Rows {
		if got := freed(row); got != 0 {
			t.Fatalf("row %d waits %d ns less before the service", row, got)
		}
	}
}
