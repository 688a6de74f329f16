package ledger

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

const (
	dispatch = "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"
	invoke   = "Microsoft.AspNetCore.Mvc.Core!Microsoft.AspNetCore.Mvc.Infrastructure.ControllerActionInvoker.InvokeActionMethodAsync()"
)

// looked adds a look at each of n threads of a pool, of which some wait for a task on
// behalf of a request.
func (s source) looked(at int64, n, waiting int) {
	stack := func(names ...string) evidence.StackID {
		var frames []evidence.Frame
		for _, f := range names {
			frames = append(frames, evidence.Frame{Func: s.Name(f)})
		}
		return s.Stack(frames)
	}
	waits := stack("System.Private.CoreLib!System.Threading.Tasks.Task`1[System.__Canon].GetResultCore(bool)", "Shop!Shop.Cart.Get()", invoke, dispatch)
	idle := stack("System.Private.CoreLib!System.Threading.LowLevelLifoSemaphore.WaitForSignal(int32)", "System.Private.CoreLib!System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()")
	for i := range n {
		x := evidence.Sample{Subject: s.subject, Time: epoch + at + int64(i), Lane: evidence.LaneID(i + 1), Stack: idle, Type: s.Name("thread"), Value: 1, Origin: s.Origin(int64(i + 1))}
		if i < waiting {
			x.Stack = waits
		}
		s.Sample(x)
	}
}

// TestClientsOfAStarvingService: 100 clients wait for ten seconds, of whom the service
// has a thread for ten at first and for thirty in the end.
func TestClientsOfAStarvingService(t *testing.T) {
	build := func(idle int) *Ledger {
		b := newBundle(evidence.Subject{Runtime: "dotnet"})
		s := newSource(b, "load", exact, 0)
		for range 100 {
			s.Request(evidence.Request{Intended: epoch, Start: epoch, End: epoch + 10_000*ms, Outcome: evidence.Unfinished})
		}
		s.Close()
		s = newSource(b, "threads", exact, 0)
		for i := range int64(11) {
			s.looked(i*1000*ms, 10+2*int(i)+idle, 10+2*int(i))
		}
		s.watched(evidence.CoverThreads, 0, 10_000*ms)
		s.Close()
		return one(t, b, Options{Stacks: threads.Readers{"dotnet": threads.DotnetStacks}})
	}
	of := func(l *Ledger, m Mechanism) float64 { return float64(l.Charges[m]) / 1e9 }
	l := build(0)
	if blocked := of(l, TaskWait); math.Abs(blocked-200) > 1 {
		t.Errorf("%.1f s of 1,000 are on a thread, want 20 of 100 clients for 10 s", blocked)
	}
	if waited := of(l, PoolThread); math.Abs(waited-800) > 1 {
		t.Errorf("%.1f s are waits for a thread, want those of the other 80", waited)
	}
	for _, e := range l.Entries {
		if e.Method != MethodShare || e.Mechanism == TaskWait && l.b.Names.Text(e.Detail) != ".Result in Shop!Cart.Get()" {
			t.Errorf("%s %q by %s", e.Mechanism, l.b.Names.Text(e.Detail), e.Method)
		}
	}
	if l = build(1); of(l, PoolThread) != 0 || math.Abs(of(l, Unobserved)-800) > 1 {
		t.Errorf("a thread is free, and %.1f s are waits for one; %.1f are not known, want 800", of(l, PoolThread), of(l, Unobserved))
	}
}

// TestQueuedForAThread: of twenty requests that hold no thread, fifteen are in the queue
// of the pool for the first five seconds.
func TestQueuedForAThread(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(20) {
		s.Request(evidence.Request{Lane: evidence.LaneID(i + 1), Start: epoch, End: epoch + 10_000*ms, Outcome: evidence.Unfinished, Path: path(state(evidence.Awaiting, 10_000*ms))})
	}
	s.Series(evidence.Series{Name: evidence.SeriesPoolQueue, T: []int64{epoch + 1000*ms, epoch + 5000*ms, epoch + 6000*ms}, V: []float64{15, 0, 0}, Origin: s.Origin(1)})
	s.Close()
	l := one(t, b, Options{SLO: 1})
	if got := l.Charges[PoolThread]; got < 74_999*ms || got > 75_000*ms {
		t.Errorf("%d ns are waits for a thread, want those of 15 requests for 5 s", got)
	}
	for _, e := range l.Entries {
		if e.Mechanism == PoolThread && e.Method != MethodShare {
			t.Errorf("by %s", e.Method)
		}
	}
}

// TestClientsThatAllWaitAlike: clients whose requests all take a second see no floor; the
// service, which needs ten milliseconds for each once it begins, does.
func TestClientsThatAllWaitAlike(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet"})
	s := newSource(b, "load", exact, 0)
	for i := range int64(100) {
		at := epoch + i*100*ms
		s.Request(evidence.Request{Intended: at, Start: at, End: at + 1000*ms + i})
	}
	s.Close()
	s = newSource(b, "events", exact, 0)
	for i := range int64(50) {
		at := epoch + i*200*ms
		s.Request(evidence.Request{Lane: 3, Start: at, End: at + 10*ms})
	}
	s.Close()
	s = newSource(b, "threads", exact, 0)
	s.looked(0, 2, 1)
	s.looked(9000*ms, 2, 1)
	s.watched(evidence.CoverThreads, 0, 10_000*ms)
	s.Close()
	if l := one(t, b, Options{Stacks: threads.Readers{"dotnet": threads.DotnetStacks}}); l.Threshold != 30*ms || len(l.Slow) != 100 {
		t.Errorf("%d slow above %d ms, want all above 30", len(l.Slow), l.Threshold/ms)
	}
}

// TestNothingLeftOfARequest: looks at moments in which all was queued leave nothing of the
// requests of the time between them: that is no floor.
func TestNothingLeftOfARequest(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet", CPUs: 2})
	s := newSource(b, "load", exact, 0)
	for i := range int64(100) {
		at := epoch + i*100*ms
		s.Request(evidence.Request{Intended: at, Start: at, End: at + 10*ms + i})
	}
	s.Close()
	s = newSource(b, "threads", exact, 0)
	s.looked(0, 2, 0)
	s.looked(10_000*ms, 2, 0)
	s.watched(evidence.CoverThreads, 0, 10_000*ms)
	s.Series(evidence.Series{Name: evidence.SeriesPoolQueue, T: []int64{epoch, epoch + 5000*ms, epoch + 10_000*ms}, V: []float64{50, 50, 50}, Origin: s.Origin(1)})
	s.Close()
	if l := one(t, b, Options{Stacks: threads.Readers{"dotnet": threads.DotnetStacks}}); l.Threshold/ms != 30 {
		t.Errorf("%d slow above %d ns, want those above 30 ms", len(l.Slow), l.Threshold)
	}
}

// TestQueueBetweenLooks: thirty seconds between two bursts of looks, in which the pool's queue
// never empties: who has no thread waits for one, and what held the threads still does.
func TestQueueBetweenLooks(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet", CPUs: 2})
	s := newSource(b, "load", exact, 0)
	for range 100 {
		s.Request(evidence.Request{Intended: epoch, Start: epoch, End: epoch + 30_000*ms, Outcome: evidence.Unfinished})
	}
	s.Close()
	s = newSource(b, "threads", exact, 0)
	s.looked(0, 10, 10)
	s.looked(30_000*ms, 10, 10)
	s.watched(evidence.CoverThreads, 0, 30_000*ms)
	queue, pool := evidence.Series{Name: evidence.SeriesPoolQueue, Origin: s.Origin(1)}, evidence.Series{Name: evidence.SeriesPoolThreads, Origin: s.Origin(1)}
	for i := range int64(31) {
		queue.T, queue.V = append(queue.T, epoch+i*1000*ms), append(queue.V, 90)
		pool.T, pool.V = append(pool.T, epoch+i*1000*ms), append(pool.V, 10)
	}
	s.Series(queue)
	s.Series(pool)
	s.Close()
	l := one(t, b, Options{Stacks: threads.Readers{"dotnet": threads.DotnetStacks}})
	waited, blocked, unseen := float64(l.Charges[PoolThread])/1e9, float64(l.Charges[TaskWait])/1e9, float64(l.Charges[Unobserved])/1e9
	if math.Abs(waited-2700) > 10 || math.Abs(blocked-300) > 10 || unseen > 5 {
		t.Errorf("%.0f s waiting for a thread, %.0f s on one, %.0f s unobserved, want 2700, 300 and none", waited, blocked, unseen)
	}
	for _, e := range l.Entries {
		if e.Mechanism == PoolThread && e.Method != MethodShare {
			t.Errorf("by %s", e.Method)
		}
	}
}

// TestAwaited: what requests await that hold no thread is split as all awaits of a moment were.
func TestAwaited(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet"})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(20) {
		s.Request(evidence.Request{Lane: evidence.LaneID(i + 1), Start: epoch, End: epoch + 10_000*ms, Path: path(state(evidence.Running, 1000*ms), state(evidence.Awaiting, 9000*ms))})
	}
	s.Close()
	s = newSource(b, "awaits", exact, 0)
	at := s.Stack([]evidence.Frame{{Func: s.Name("Shop!Shop.Gate+<Enter>d__1.MoveNext()")}})
	s.Sample(evidence.Sample{Subject: s.subject, Time: epoch, Stack: at, Type: s.Name(evidence.SampleAwaitPool), Class: s.Name("limit of 4 at"), Value: 800, Origin: s.Origin(1)})
	s.Sample(evidence.Sample{Subject: s.subject, Time: epoch, Stack: at, Type: s.Name(evidence.SampleAwaitTimer), Class: s.Name("Task.Delay"), Value: 200, Origin: s.Origin(2)})
	s.Close()
	l := one(t, b, Options{SLO: 1, Stacks: threads.Readers{"dotnet": threads.DotnetStacks}})
	if pool, timer := l.Charges[Pool]/ms, l.Charges[Timer]/ms; pool != 144_000 || timer != 36_000 || l.Charges[Awaiting] != 0 {
		t.Errorf("%d ms for a pool, %d ms for a timer, want 144000 and 36000", pool, timer)
	}
	for _, e := range l.Entries {
		if text := b.Names.Text(e.Detail); e.Mechanism == Pool && text != "limit of 4 at Gate.Enter" {
			t.Errorf("it waits for %q", text)
		}
	}
}

// TestQueuedForFullCPUs: requests in the queue of the pool wait for a CPU while the process fills them, as its pool threads are
// ready, and for a thread otherwise.
func TestQueuedForFullCPUs(t *testing.T) {
	for _, cpus := range []int64{2, 1} { // of two, that are busy
		b := newBundle(evidence.Subject{CPUs: 2})
		s := newSource(b, "trace", exact, 0)
		for i := range int64(20) {
			s.Request(evidence.Request{Lane: evidence.LaneID(i + 1), Start: epoch, End: epoch + 10_000*ms, Outcome: evidence.Unfinished, Path: path(state(evidence.Awaiting, 10_000*ms))})
		}
		s.Series(evidence.Series{Name: evidence.SeriesPoolQueue, T: []int64{epoch, epoch + 10_000*ms}, V: []float64{15, 15}, Origin: s.Origin(1)})
		on := s.Name(evidence.SampleOnCPU)
		for at := int64(5); at < 10_000; at += 10 {
			for range cpus {
				s.Sample(evidence.Sample{Time: epoch + at*ms, Type: on, Value: 10 * ms})
			}
		}
		s.Close()
		l := one(t, b, Options{SLO: 1})
		thread, cpu := l.Charges[PoolThread], l.Charges[RequestsCPU]
		if full := cpus == 2; full && (cpu < 149_000*ms || thread > 1000*ms) || !full && (thread < 149_000*ms || cpu > 0) {
			t.Errorf("%d of 2 CPUs busy: %d ms are waits for a CPU, %d ms for a thread", cpus, cpu/ms, thread/ms)
		}
	}
}

// TestAwaitedLimits: where the pieces of a recording found different limits at one place, none is named.
func TestAwaitedLimits(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet"})
	s := newSource(b, "trace", exact, 0)
	for i := range int64(20) {
		s.Request(evidence.Request{Lane: evidence.LaneID(i + 1), Start: epoch, End: epoch + 10_000*ms, Path: path(state(evidence.Awaiting, 10_000*ms))})
	}
	s.Close()
	s = newSource(b, "awaits", exact, 0)
	at := s.Stack([]evidence.Frame{{Func: s.Name("Shop!Shop.Gate+<Enter>d__1.MoveNext()")}})
	for n, limit := range []string{"limit of 17 at", "limit of 6 at", "limit of 1 at"} {
		s.Sample(evidence.Sample{Subject: s.subject, Time: epoch + int64(n)*ms, Stack: at, Type: s.Name(evidence.SampleAwaitPool), Class: s.Name(limit), Value: 800, Origin: s.Origin(int64(n + 1))})
	}
	s.Close()
	l := one(t, b, Options{SLO: 1, Stacks: threads.Readers{"dotnet": threads.DotnetStacks}})
	var waits []string
	for _, e := range l.Entries {
		if e.Mechanism == Pool {
			waits = append(waits, b.Names.Text(e.Detail))
		}
	}
	if len(waits) != 1 || waits[0] != "limit at Gate.Enter" {
		t.Errorf("it waits for %q", waits)
	}
}

// While none of several requests is answered and one thread is blocked for one of them, the others wait for that one, as for a lock that it
// holds: as many goroutines wait unseen. Where requests are answered meanwhile, or the thread runs, they do not.
func TestBlockedAlone(t *testing.T) {
	for _, test := range []struct {
		name string
		call []string
		end  func(i int64) int64 // of the requests that begin at 5 s, ms
		want float64             // s of 19 s of their time that wait for another
	}{
		{"all are answered after the call", []string{"write", "- of file /log"}, func(int64) int64 { return 6000 }, 18},
		{"one after the other", []string{"write", "- of file /log"}, func(i int64) int64 { return 5100 + i*50 }, 0},
		{"the thread runs", []string{"running", "count"}, func(int64) int64 { return 6000 }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
			s := newSource(b, "load", exact, 0)
			for i := range int64(1000) {
				if at := i * 10; at < 5000 || at >= 6000 {
					s.Request(evidence.Request{Intended: epoch + at*ms, Start: epoch + at*ms, End: epoch + (at+1)*ms})
				}
			}
			for i := range int64(19) {
				s.Request(evidence.Request{Intended: epoch + 5000*ms, Start: epoch + 5000*ms, End: epoch + test.end(i)*ms})
			}
			s.Close()
			s = newSource(b, "syscalls", exact, 0)
			for i := range int64(400) {
				at, lines := epoch+i*25*ms, []string{"accept", "- of listener"}
				if i >= 200 && i < 240 {
					lines = test.call
				}
				s.Sample(evidence.Sample{Subject: s.subject, Time: at, Lane: 1, Stack: stacktest.Intern(s.Builder, stacktest.Kernel(lines...)), Type: s.Name(evidence.SampleSyscall), Value: 1, Origin: s.Origin(1)})
				s.Sample(evidence.Sample{Subject: s.subject, Time: at, Lane: 2, Stack: stacktest.Intern(s.Builder, stacktest.Kernel("epoll_wait")), Type: s.Name(evidence.SampleSyscall), Value: 1, Origin: s.Origin(1)})
			}
			s.watched(evidence.CoverSyscalls, 0, 10_000*ms)
			s.Close()
			of := threads.Readers{"go": threads.ScheduledStacks}
			threads.Adopt(b, of)
			l := one(t, b, Options{Stacks: of, OnThreads: func(string) bool { return false }})
			if got := float64(l.Charges[Goroutine]) / 1e9; math.Abs(got-test.want) > 1.5 {
				t.Errorf("%.2f s wait for another, want %.0f: %v", got, test.want, l.Charges)
			}
		})
	}
}

// TestBlockedPool: four threads write to a pipe that nobody reads for a second; the requests of one route wait for one of them, and those of another are answered.
func TestBlockedPool(t *testing.T) {
	for _, test := range []struct {
		name   string
		second []string // what two of the four do
		want   float64  // s of 16 s of the time of requests beyond the four that wait for these
	}{
		{"all in one call", []string{"write", "- of file /log"}, 16},
		{"in two calls", []string{"fsync", "- of file /data"}, 0},
		{"some run", []string{"running", "count"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
			s := newSource(b, "load", exact, 0)
			files, others := s.Name("GET /files"), s.Name("GET /others")
			for i := range int64(1000) {
				at := epoch + i*10*ms
				s.Request(evidence.Request{Route: others, Intended: at, Start: at, End: at + ms})
				if i < 500 || i >= 600 {
					s.Request(evidence.Request{Route: files, Intended: at, Start: at, End: at + ms})
				}
			}
			for range 20 {
				s.Request(evidence.Request{Route: files, Intended: epoch + 5000*ms, Start: epoch + 5000*ms, End: epoch + 6000*ms})
			}
			s.Close()
			s = newSource(b, "syscalls", exact, 0)
			for i := range int64(400) {
				at := epoch + i*25*ms
				look := func(lane evidence.LaneID, lines ...string) {
					s.Sample(evidence.Sample{Subject: s.subject, Time: at, Lane: lane, Stack: stacktest.Intern(s.Builder, stacktest.Kernel(lines...)), Type: s.Name(evidence.SampleSyscall), Value: 1, Origin: s.Origin(1)})
				}
				for lane := range evidence.LaneID(4) {
					switch {
					case i < 200 || i >= 240:
						look(lane+1, "accept", "- of listener")
					case lane < 2:
						look(lane+1, "write", "- of file /log")
					default:
						look(lane+1, test.second...)
					}
				}
				look(5, "epoll_wait")
			}
			s.watched(evidence.CoverSyscalls, 0, 10_000*ms)
			s.Close()
			of := threads.Readers{"go": threads.ScheduledStacks}
			threads.Adopt(b, of)
			l := one(t, b, Options{Stacks: of, OnThreads: func(string) bool { return false }})
			if got := float64(l.Charges[Goroutine]) / 1e9; math.Abs(got-test.want) > 2 {
				t.Errorf("%.2f s wait for the four, want %.0f: %v", got, test.want, l.Charges)
			}
		})
	}
}

// TestOtherClients: of a service's requests those of one route are known as their clients saw them, the others only as the kernel did. Both take its threads.
func TestOtherClients(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "load", exact, 0)
	asked, sent := s.Name("GET /claims"), s.Name("POST /photos")
	for i := range int64(400) {
		at := epoch + i*17*ms + i*i%11*ms
		s.Request(evidence.Request{Route: asked, Intended: at, Start: at, End: at + (90+i%7)*ms})
	}
	s.Close()
	k := newSource(b, "kernel", exact, 0)
	for i := range int64(400) {
		at := epoch + i*17*ms + i*i%11*ms
		k.Request(evidence.Request{Route: asked, Start: at + ms/5, End: at + (90+i%7)*ms - ms/5})
		if i%4 == 0 {
			k.Request(evidence.Request{Route: sent, Start: at - 500*ms, End: at + 700*ms})
		}
	}
	k.Close()
	for i := range b.Artifacts {
		if b.Artifacts[i].Name == "kernel" {
			b.Artifacts[i].Vantage = evidence.FromKernel
		}
	}
	l := one(t, b, Options{Joined: sightings.Join(b)})
	if len(l.Rows) != 400 || len(l.others) != 100 {
		t.Fatalf("%d requests are charged beside %d others, want 400 beside 100", len(l.Rows), len(l.others))
	}
	m := l.newMeanwhile()
	at := epoch + 3400*ms
	starts, ends := l.underWay(l.Rows)
	if own := countBefore(starts, at+1) - countBefore(ends, at); m.inFlight(at) < float64(own+15) || m.first != starts[0] {
		t.Errorf("%v requests are under way, %d of them the clients'", m.inFlight(at), own)
	}
	for _, row := range l.others {
		if b.Requests.Route.At(row) != sent {
			t.Fatalf("row %d is one of the clients' requests", row)
		}
	}
}

// A call that others wait for is held under a lock where more threads were seen at the lock than in calls; where threads make calls
// side by side, or wait for a result, it is not.
func TestLockOverCall(t *testing.T) {
	met := func(parts ...share) *occupancy { return &occupancy{met: [2][]share{nil, parts}} }
	for name, of := range map[string]struct {
		o    *occupancy
		want bool
	}{
		"one calls, two wait for its lock": {met(share{mechanism: Dependency, part: .2}, share{mechanism: Lock, part: .4}), true},
		"most call, few wait for a lock":   {met(share{mechanism: Dependency, part: .6}, share{mechanism: Lock, part: .1}), false},
		"others wait for the result":       {met(share{mechanism: Dependency, part: .2}, share{mechanism: TaskWait, part: .6}), false},
		"as many call as wait for a lock":  {met(share{mechanism: Dependency, part: .3}, share{mechanism: Lock, part: .3}), false},
		"a few more wait for a lock":       {met(share{mechanism: Dependency, part: .3}, share{mechanism: Lock, part: .31}), true},
		"in several places":                {met(share{mechanism: Lock, part: .2}, share{mechanism: Dependency, part: .3}, share{mechanism: Lock, part: .2}), true},
		"locks, and no calls":              {met(share{mechanism: Lock, part: .1}), true},
		"a pool is no lock":                {met(share{mechanism: Dependency, part: .1}, share{mechanism: Pool, part: .8}), false},
		"no looks":                         {nil, false},
	} {
		if got := of.o.hasLockOverCall(); got != of.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
