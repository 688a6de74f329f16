package gotrace

import (
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// TestWaitsAreFollowedAsIfCopied has goroutines that work for no request wait for each other in turn, of which
// no more is remembered than for whom: a request that waits for the last of them is told the same as where each
// one keeps what it is told of the one before.
func TestWaitsAreFollowedAsIfCopied(t *testing.T) {
	for seed := range uint64(500) {
		followed, copied := hops(seed, false), hops(seed, true)
		if len(followed) != len(copied) {
			t.Fatalf("seed %d: %d states, not %d:\n%v\n%v", seed, len(followed), len(copied), followed, copied)
		}
		for i := range followed {
			if followed[i] != copied[i] {
				t.Fatalf("seed %d, state %d: %+v, not %+v", seed, i, followed[i], copied[i])
			}
		}
	}
}

// hops is the path of a request that waits for the last of some goroutines, each of which runs, makes system
// calls and waits for the one before. Copy has them keep what that one did.
func hops(seed uint64, copies bool) (path []evidence.Segment) {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := evidence.NewBundle()
	w := newWorld(b.Builder(b.AddArtifact(evidence.Artifact{Name: "test"}), "test"), 26)
	now := int64(1000)
	later := func() int64 { now += 1 + rng.Int64N(50); return now }
	chain := make([]*goroutine, 2+rng.IntN(4))
	for i := range chain {
		g := w.ensureGoroutine(int64(10+i), now)
		if g.state = wire.GoRunning; copies {
			g.role = roleRequests
		}
		chain[i] = g
	}
	r := w.ensureGoroutine(1, now)
	r.role, r.state = roleRequests, wire.GoWaiting
	r.request = &request{serial: 1, start: now, upto: now}
	for range 1 + rng.IntN(3) {
		for i, g := range chain {
			for range rng.IntN(3) {
				w.chargePlain(g, evidence.Running, 0, 0, later())
				w.chargePlain(g, evidence.Syscall, evidence.StackID(rng.IntN(4)), evidence.NameID(rng.IntN(3)), later())
			}
			if rng.IntN(3) == 0 {
				w.chargePlain(g, evidence.Running, 0, 0, later())
				g.since = later() // something that is not known
			}
			w.chargePlain(g, evidence.Running, 0, 0, later())
			if i > 0 {
				later()
				w.chargePlain(chain[i-1], evidence.Running, 0, 0, later())
				w.chargeHop(g, chain[i-1], wait{evidence.SyncWait, evidence.NameID(i), evidence.StackID(rng.IntN(2) * i)}, nil, later())
			}
		}
	}
	w.chargeHop(r, chain[len(chain)-1], wait{kind: evidence.SyncWait, cause: 9}, nil, later())
	for s := range r.request.path.All {
		path = append(path, s)
	}
	return path
}
