package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A wait is charged to what the last holder did; what that was with a processor of its own,
// and what is not known of it, stays with the wait.
func TestRooted(t *testing.T) {
	held := func(kind, holder evidence.Kind) evidence.Segment {
		return evidence.Segment{Kind: kind, Dur: 10, HolderKind: holder}
	}
	gc := held(evidence.PoolWait, evidence.Runnable)
	gc.Held[evidence.HeldByCollector], gc.Held[evidence.HeldByRequests] = 6, 4
	for _, x := range []struct {
		s    evidence.Segment
		want Charges
	}{
		{state(evidence.Running, 10), Charges{Own: 10}},
		{held(evidence.LockWait, evidence.Running), Charges{Lock: 10}},
		{held(evidence.PoolWait, evidence.KindUnknown), Charges{Pool: 10}},
		{held(evidence.PoolWait, evidence.NetWait), Charges{Dependency: 10}},
		{held(evidence.LockWait, evidence.Syscall), Charges{Kernel: 10}},
		{held(evidence.ThreadWait, evidence.SleepWait), Charges{Timer: 10}},
		{held(evidence.SyncWait, evidence.Running), Charges{Goroutine: 10}},
		{held(evidence.PoolWait, evidence.GCAssist), Charges{MarkAssist: 10}},
		{gc, Charges{CollectorCPU: 6, RequestsCPU: 4}},
		{held(evidence.PoolWait, evidence.Runnable), Charges{Pool: 10}}, // for what is not known
	} {
		var c Charges
		chargeSegment(&x.s, &c)
		if got := Rooted(&x.s, &c); got != x.want {
			t.Errorf("%v held by %v: %v, want %v", x.s.Kind, x.s.HolderKind, got, x.want)
		}
	}
}

// Places keep all of the slow time, and tell how requests got to where a holder was.
func TestPlaces(t *testing.T) {
	b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
	p := newSource(b, "trace.out", exact, 0)
	stack := func(f string) evidence.StackID { return p.Stack([]evidence.Frame{{Func: p.Name(f)}}) }
	for i := range int64(100) {
		r := evidence.Request{Start: epoch + i*100*ms, Path: path(state(evidence.Running, ms))}
		if i%2 == 0 {
			r.Path = path(state(evidence.Running, ms),
				evidence.Segment{Kind: evidence.LockWait, Dur: 40 * ms, Cause: p.Name("mutex"), Via: p.Name("pool"), HolderKind: evidence.Syscall, HolderStack: stack("sync")},
				evidence.Segment{Kind: evidence.Syscall, Dur: 10 * ms, Stack: stack("sync")})
		}
		r.End = r.Start
		for s := range r.Path.All {
			r.End += s.Dur
		}
		p.Request(r)
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverStates, From: epoch, Until: epoch + 10_000*ms, Origin: p.Origin(1)})
	l := one(t, b, Options{})
	site := func(s evidence.StackID) (string, string) {
		if s == 0 {
			return "", ""
		}
		return "main.append", b.Names.Text(b.Stacks.Frames(s)[0].Func)
	}
	places := l.Places(site, Claimed{})
	var sum int64
	for _, x := range places {
		sum += x.Ns
	}
	if sum != l.Total {
		t.Errorf("%d ns in all places, of %d", sum, l.Total)
	}
	top := places[0]
	if top.Mechanism != Kernel || top.What != "sync" || top.Where != "main.append" || top.Ns != 50*50*ms || top.Requests != 50 {
		t.Errorf("%+v", top)
	}
	if len(top.Through) != 2 || top.Through[0] != "mutex" || top.Through[1] != "pool" || top.Linked[Lock] != 50*40*ms {
		t.Errorf("through %v, linked %v", top.Through, top.Linked)
	}
	if at := l.At(l.Slow[0], &top, site); at != 50*ms {
		t.Errorf("%d ns of one request", at)
	}
}
