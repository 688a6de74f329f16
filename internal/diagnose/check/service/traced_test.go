package service

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// traced is ten seconds of a Go service whose requests' states are known: of each hundred,
// so many slow ones among the usual.
type traced struct {
	usual, slow func(n *names, i int) []evidence.Segment
	share       int // slow ones of a hundred
}

// names makes what segments refer to.
type names struct{ p *evidence.Builder }

func (n *names) id(text string) evidence.NameID { return n.p.Name(text) }

// stack is innermost first.
func (n *names) stack(funcs ...string) evidence.StackID {
	var frames []evidence.Frame
	for i, f := range funcs {
		frames = append(frames, evidence.Frame{Func: n.id(f), File: n.id("main.go"), Line: int32(10 + i)})
	}
	return n.p.Stack(frames)
}

func (in traced) subject(t *testing.T) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	p.Clock().Name = "unix"
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
	n := &names{p}
	for i := range 1000 {
		of := in.usual
		if i%100 < in.share {
			of = in.slow
		}
		r := evidence.Request{Subject: s, Lane: evidence.LaneID(1000 + i), Route: n.id("main.handle"), Start: epoch + int64(i)*10*ms}
		r.End = r.Start
		for _, x := range of(n, i) {
			r.Path = r.Path.Append(x)
			r.End += x.Dur
		}
		p.Request(r)
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 10_000*ms, Origin: p.Origin(1)})
	}
	p.Close()
	return &check.Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{})[0]}
}

// first asks the service's causes as a diagnosis does and returns what is found, by rank.
func found(t *testing.T, c *check.Case) (out []check.Found) {
	t.Helper()
	for _, k := range []check.Check{DependencySlow, PoolExhausted, OverCapacity, OwnWork, Waiting} {
		v := k.Judge(c)
		checktest.Decides(t, "", c, &v)
		if v.State == check.Supported {
			c.Found = append(c.Found, check.Found{ID: k.ID, Step: k.Step, Verdict: v})
		}
	}
	out = slices.Clone(c.Found)
	slices.SortStableFunc(out, func(a, b check.Found) int { return cmp.Compare(b.Saves.Value, a.Saves.Value) })
	return out
}

func running(ns int64) evidence.Segment { return evidence.Segment{Kind: evidence.Running, Dur: ns} }

// work is a request that computes for so long.
func work(ns int64) func(*names, int) []evidence.Segment {
	return func(*names, int) []evidence.Segment { return []evidence.Segment{running(ns)} }
}

// call is a request that calls a database for so long.
func call(d int64) func(*names, int) []evidence.Segment {
	return func(n *names, _ int) []evidence.Segment {
		return []evidence.Segment{running(ms), {Kind: evidence.NetWait, Dur: d, Cause: n.id("10.0.0.7:5432")}}
	}
}

// waiter is a request that waits for what others hold before it calls.
func waiter(kind evidence.Kind, what string, d, called int64, holder func(n *names, i int, s *evidence.Segment)) func(*names, int) []evidence.Segment {
	return func(n *names, i int) []evidence.Segment {
		s := evidence.Segment{Kind: kind, Dur: d, Cause: n.id(what), Stack: n.stack("runtime.selectgo", "main.enter", "main.handle"), Holder: evidence.LaneID(1000 + (i+999)%1000)}
		holder(n, i, &s)
		return append([]evidence.Segment{s}, call(called)(n, i)...)
	}
}

func TestVerdictsOfWaits(t *testing.T) {
	calls := func(n *names, _ int, s *evidence.Segment) {
		s.HolderKind, s.HolderCause = evidence.NetWait, n.id("10.0.0.7:5432")
	}
	one := func(then func(n *names, i int, s *evidence.Segment)) func(n *names, i int, s *evidence.Segment) {
		return func(n *names, i int, s *evidence.Segment) {
			then(n, i, s)
			s.Holder = 7 // always the same goroutine
		}
	}
	for name, x := range map[string]struct {
		traced
		first string // "" nothing
		says  []string
	}{
		"a pool too small for calls as long as ever": {traced{call(5 * ms), waiter(evidence.PoolWait, "semaphore in main.enter", 90*ms, 5*ms, calls), 40},
			"service.pool-exhausted", []string{"semaphore in main.enter"}},
		"a pool whose dependency is slow": {traced{call(5 * ms), func(n *names, i int) []evidence.Segment {
			if i%10 < 3 {
				return call(80*ms)(n, i)
			}
			return waiter(evidence.PoolWait, "semaphore in main.enter", 90*ms, 5*ms, calls)(n, i)
		}, 40}, "service.dependency-slow", []string{"10.0.0.7:5432", "semaphore in main.enter"}},
		"a pool whose holders wait for CPUs that GC has": {traced{call(5 * ms), waiter(evidence.PoolWait, "semaphore in main.enter", 90*ms, 5*ms, func(_ *names, _ int, s *evidence.Segment) {
			s.HolderKind, s.Held[evidence.HeldByCollector] = evidence.Runnable, s.Dur
		}), 40}, "", nil},
		"one goroutine that serves all others": {traced{call(5 * ms), waiter(evidence.PoolWait, "queue of main.owner", 90*ms, 5*ms, one(func(n *names, _ int, s *evidence.Segment) {
			s.HolderKind, s.HolderStack = evidence.Running, n.stack("main.checksum", "main.owner")
		})), 40}, "service.waiting", []string{"one after the other", "queue of main.owner"}},
		"a lock that is held while the disk syncs": {traced{call(5 * ms), waiter(evidence.LockWait, "mutex in main.(*journal).append", 90*ms, 5*ms, func(n *names, _ int, s *evidence.Segment) {
			s.HolderKind, s.HolderCause, s.HolderStack = evidence.Syscall, n.id("fsync in main.(*journal).append"), n.stack("syscall.Fsync", "os.(*File).Sync", "main.(*journal).append")
		}), 40}, "service.waiting", []string{"system call", "fsync", "through mutex in main.(*journal).append"}},
		"a pause before another try": {traced{call(5 * ms), func(n *names, i int) []evidence.Segment {
			return append(call(5*ms)(n, i), evidence.Segment{Kind: evidence.SleepWait, Dur: 80 * ms, Stack: n.stack("time.Sleep", "main.backOff", "main.handle")})
		}, 40}, "service.waiting", []string{"time.Sleep in main.backOff"}},
		"a long poll": {traced{func(n *names, i int) []evidence.Segment {
			return []evidence.Segment{running(ms), {Kind: evidence.SleepWait, Dur: int64(100+i) * ms, Stack: n.stack("runtime.selectgo", "main.poll", "main.handle")}}
		}, nil, 0}, "", nil},
		"a call that is longer than usual, over in no time": {traced{call(ms / 2), call(4 * ms), 40}, "", nil},
		"much to compute": {traced{call(5 * ms), func(*names, int) []evidence.Segment { return []evidence.Segment{running(90 * ms)} }, 20}, "service.own-work", []string{"own work"}},
		"one in ten computes a hundred times as long": {traced{work(ms / 10), work(12 * ms), 10}, "service.own-work", []string{"own work"}},
		"more or less to compute":                     {traced{work(ms / 10), func(n *names, i int) []evidence.Segment { return work(ms/10<<(i%8))(n, i) }, 10}, "", nil},
		"background work": {traced{call(5 * ms), func(n *names, i int) []evidence.Segment {
			s := evidence.Segment{Kind: evidence.Runnable, Dur: 90 * ms}
			s.Held[evidence.HeldByBackground] = s.Dur
			return append([]evidence.Segment{s}, call(5*ms)(n, i)...)
		}, 20}, "service.over-capacity", []string{"background work"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := found(t, x.subject(t))
			if x.first == "" {
				if len(got) > 0 {
					t.Fatalf("%s: %s", got[0].ID, got[0].Title)
				}
				return
			}
			if len(got) == 0 || got[0].ID != x.first {
				t.Fatalf("%+v, want %s", got, x.first)
			}
			for _, part := range x.says {
				if !strings.Contains(got[0].Title, part) {
					t.Errorf("%q does not say %q", got[0].Title, part)
				}
			}
		})
	}
}

// What a page tells must not say less than it: a pool's waits that end with the collector
// are ruled out by saying so.
func TestPoolBehindCollectorIsTold(t *testing.T) {
	c := traced{call(5 * ms), waiter(evidence.PoolWait, "semaphore in main.enter", 90*ms, 5*ms, func(_ *names, _ int, s *evidence.Segment) {
		s.HolderKind, s.Held[evidence.HeldByCollector] = evidence.Runnable, s.Dur
	}), 40}.subject(t)
	v := PoolExhausted.Judge(c)
	if v.State != check.RuledOut || !strings.Contains(v.Summary, "CPU busy with GC") {
		t.Errorf("%s: %s", v.State, v.Summary)
	}
}

// Work that another cause makes is not the requests' own: it takes its part of what own work
// could save, and where little is left nobody is told to compute less.
func TestWorkThatOthersMake(t *testing.T) {
	busy := func() *check.Case {
		return traced{call(5 * ms), func(*names, int) []evidence.Segment { return []evidence.Segment{running(90 * ms)} }, 20}.subject(t)
	}
	whole := OwnWork.Judge(busy())
	if whole.State != check.Supported {
		t.Fatalf("%s: %s", whole.State, whole.Summary)
	}
	for _, x := range []struct {
		work  float64
		state string
	}{{.4, check.Supported}, {.9, check.RuledOut}} {
		c := busy()
		c.Found = []check.Found{{ID: "linux.page-faults", Verdict: check.Verdict{Rule: check.Matters, Work: x.work}}}
		v := OwnWork.Judge(c)
		if v.State != x.state {
			t.Errorf("%.0f %% made by another: %s: %s", 100*x.work, v.State, v.Summary)
		}
		switch v.State {
		case check.Supported:
			if part := v.Saves.Value / whole.Saves.Value; part < .59 || part > .61 {
				t.Errorf("saves %.2f of what all of it would, want .60", part)
			}
		default:
			if !strings.Contains(v.Summary, "90 % of that is linux.page-faults") {
				t.Errorf("says %q", v.Summary)
			}
		}
	}
}
