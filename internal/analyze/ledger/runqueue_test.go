package ledger

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// TestReady: ten clients wait for ten seconds, of whom the service has a thread for five; its
// threads ran for a quarter of the time in which they were ready or ran.
func TestReady(t *testing.T) {
	build := func(ran, ready, busy float64) *Ledger {
		b := newBundle(evidence.Subject{Runtime: "dotnet", CPUs: 2})
		s := newSource(b, "load", exact, 0)
		for range 10 {
			s.Request(evidence.Request{Intended: epoch, Start: epoch, End: epoch + 10_000*ms, Outcome: evidence.Unfinished})
		}
		s.Close()
		s = newSource(b, "threads", exact, 0)
		for i := range int64(11) {
			s.looked(i*1000*ms, 10, 5)
		}
		s.watched(evidence.CoverThreads, 0, 10_000*ms)
		s.Close()
		s = newSource(b, "proc", exact, 0)
		at := []int64{epoch, epoch + 5_000*ms, epoch + 10_000*ms}
		s.Builder.Series(evidence.Series{Subject: s.subject, Name: evidence.SeriesProcessCPU, T: at, V: []float64{ran, ran, ran}})
		s.Builder.Series(evidence.Series{Subject: s.subject, Name: evidence.SeriesProcessRunDelay, T: at, V: []float64{ready, ready, ready}})
		host := s.Builder.Subject(evidence.Subject{Runtime: "linux", Name: "host", CPUs: 2})
		s.Builder.Series(evidence.Series{Subject: host, Name: evidence.SeriesHostCPUBusy, T: at, V: []float64{busy, busy, busy}})
		s.Close()
		return one(t, b, Options{Stacks: threads.Readers{"dotnet": threads.DotnetStacks}})
	}
	for _, test := range []struct {
		ran, ready, busy   float64
		others, own, unobs float64 // s, of 50 unobserved ones
	}{
		{.5, 1.5, 2, 7.5 * .75, 7.5 * .25, 37.5}, // the unobserved time has 5 s of CPU
		{.5, 1.5, .5, 0, 7.5, 37.5},              // no other process ran
		{.5, 0, 2, 0, 0, 50},                     // no thread waited for a CPU
		{2, 0.1, 2, 0, 40, 0},                    // full: what does not run waits
	} {
		l := build(test.ran, test.ready, test.busy)
		of := func(m Mechanism) float64 { return float64(l.Charges[m]) / 1e9 }
		if math.Abs(of(HostCPU)-test.others) > 1 || math.Abs(of(RequestsCPU)-test.own) > 1 || math.Abs(of(Unobserved)-test.unobs) > 1 {
			t.Errorf("%+v: others %.1f, own threads %.1f, unobserved %.1f; own work %.1f, all %.1f", test, of(HostCPU), of(RequestsCPU), of(Unobserved), of(Own), float64(l.Total)/1e9)
		}
		if l.Charges.Sum() != l.Total {
			t.Errorf("%+v: %d of %d", test, l.Charges.Sum(), l.Total)
		}
	}
}

// Time seen running beyond the process's CPU time was ready, as far as its threads were.
func TestReadySeen(t *testing.T) {
	const s = int64(1e9)
	r := &runQueue{runs: .1, cells: []readyCell{
		{from: 0, to: s, runs: .2, waits: .5, own: .25},
		{from: s, to: 2 * s, runs: .02, waits: 1, own: 0}, // less than in the mean: counters are read late
	}}
	for _, test := range []struct {
		at, dur, running int64
		behind, others   int64
	}{
		{0, s, s / 10, 0, 0},
		{0, s, s * 6 / 10, s / 10, s * 3 / 10},
		{0, s, s, s / 8, s * 3 / 8}, // threads were ready for half of the time
		{s, s, s, 0, s * 9 / 10},
		{5 * s, s, s, 0, 0}, // not counted
		{0, s, 0, 0, 0},
	} {
		behind, others := r.splitRunning(test.at, test.dur, test.running)
		if math.Abs(float64(behind-test.behind)) > 1e3 || math.Abs(float64(others-test.others)) > 1e3 {
			t.Errorf("%+v: behind %d, others %d", test, behind, others)
		}
	}
	if behind, others := (*runQueue)(nil).splitRunning(0, s, s); behind != 0 || others != 0 {
		t.Errorf("not counted: %d, %d", behind, others)
	}
}

// Time seen ready was a wait for a processor, for the process's own threads as far as these held it.
func TestReadyLooks(t *testing.T) {
	b := newBundle(evidence.Subject{CPUs: 2})
	s := newSource(b, "load", exact, 0)
	for range 2 {
		s.Request(evidence.Request{Intended: epoch, Start: epoch, End: epoch + 10_000*ms, Outcome: evidence.Unfinished})
	}
	s.Close()
	s = newSource(b, "threads", exact, 0)
	look := func(at int64, lane evidence.LaneID, texts ...string) {
		s.Sample(evidence.Sample{Subject: s.subject, Time: at, Lane: lane, Stack: stacktest.Intern(s.Builder, stacktest.Kernel(texts...)), Type: s.Name(evidence.SampleSyscall), Value: 1, Origin: s.Origin(1)})
	}
	for i := range int64(11) {
		at := epoch + i*1000*ms
		look(at, 1, "running", "- ready")
		look(at, 2, "running", "count")
		look(at, 3, "accept", "- of listener", "- sp 0x7000")
	}
	for lane := range evidence.LaneID(2) { // they serve clients
		look(epoch+10_001*ms, lane+1, "read", "- of client", "- sp 0x7000")
	}
	s.watched(evidence.CoverSyscalls, 0, 10_001*ms)
	s.Close()
	s = newSource(b, "proc", exact, 0)
	at := []int64{epoch, epoch + 10_000*ms}
	s.Builder.Series(evidence.Series{Subject: s.subject, Name: evidence.SeriesProcessCPU, T: at, V: []float64{1, 1}})
	s.Builder.Series(evidence.Series{Subject: s.subject, Name: evidence.SeriesProcessRunDelay, T: at, V: []float64{1, 1}})
	host := s.Builder.Subject(evidence.Subject{Runtime: "linux", Name: "host", CPUs: 2})
	s.Builder.Series(evidence.Series{Subject: host, Name: evidence.SeriesHostCPUBusy, T: at, V: []float64{2, 2}})
	s.Close()
	of := threads.Readers{"": threads.NativeStacks}
	threads.Adopt(b, of)
	l := one(t, b, Options{Stacks: of})
	seconds := func(m Mechanism) float64 { return float64(l.Charges[m]) / 1e9 }
	if math.Abs(seconds(Own)-10) > 1 || math.Abs(seconds(HostCPU)-5) > 1 || math.Abs(seconds(RequestsCPU)-5) > 1 {
		t.Errorf("own work %.1f s of 20, behind others %.1f, behind its own threads %.1f", seconds(Own), seconds(HostCPU), seconds(RequestsCPU))
	}
}

// A thread that was woken and has no CPU yet looks as if it still waited for its answer: as much of the time in calls is
// ready time as the kernel counted beyond what threads seen running had of it. The holders of a pool's threads share in it.
func TestReadyWoken(t *testing.T) {
	const s = int64(1e9)
	waits := func(m Mechanism, kind, holder evidence.Kind, part float64) share {
		return share{mechanism: m, Segment: evidence.Segment{Kind: kind, HolderKind: holder, HolderCause: 7}, part: part * float64(s)}
	}
	for _, test := range []struct {
		name           string
		waits          float64 // ready time of the threads that serve a request, of all its time
		ready          float64 // of that, of threads seen running
		calls, onCPU   float64 // of the request's own time: in calls, waiting for a CPU
		behind, byHost float64 // of its wait for a thread whose holder called: behind own threads, and behind others
	}{
		{"no thread was ready", 0, 0, .4, 0, 0, 0},
		{"as long as the calls", .4, 0, 0, .4, .3, .1},
		{"half as long", .2, 0, .2, .2, .15, .05},
		{"all of it by threads that run", .2, .2, .4, 0, 0, 0},
		{"longer than the calls", .9, 0, 0, .4, .3, .1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &runQueue{cells: []readyCell{{from: 0, to: s, waits: test.waits, own: .75}}}
			parts := []share{waits(Own, evidence.Running, 0, .2), waits(Dependency, evidence.NetWait, 0, .4), waits(PoolThread, evidence.ThreadWait, evidence.NetWait, .4)}
			var calls, onCPU, sum float64
			var roots Charges
			for _, x := range r.splitWoken(parts, 0, s, 1, .2*float64(s), int64(test.ready*float64(s))) {
				sum += x.part / float64(s)
				switch x.mechanism {
				case Dependency:
					calls += x.part / float64(s)
				case HostCPU:
					onCPU += x.part / float64(s)
				case PoolThread:
					only := Charges{PoolThread: int64(x.part)}
					rooted := Rooted(&x.Segment, &only)
					roots.Add(&rooted)
				}
			}
			near := func(got, want float64) bool { return math.Abs(got-want) < 1e-3 }
			if !near(calls, test.calls) || !near(onCPU, test.onCPU) || !near(sum, 1) {
				t.Errorf("calls %.3f, waiting for a CPU %.3f, in all %.3f", calls, onCPU, sum)
			}
			if !near(float64(roots[RequestsCPU])/float64(s), test.behind) || !near(float64(roots[HostCPU])/float64(s), test.byHost) {
				t.Errorf("holders: behind own threads %d, behind others %d", roots[RequestsCPU], roots[HostCPU])
			}
		})
	}
	if parts := []share{waits(Dependency, evidence.NetWait, 0, 1)}; len((*runQueue)(nil).splitWoken(parts, 0, s, 1, 0, 0)) != 1 {
		t.Error("not counted, and changed")
	}
}
