package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestVirtualThreads has a JVM that serves requests by virtual threads, of which looks show only
// the one on a CPU, as JDK 25 does, or all. What was not seen is not ruled out.
func TestVirtualThreads(t *testing.T) {
	const epoch = int64(1_700_000_000e9)
	build := func(requests int, took time.Duration, all bool) *evidence.Bundle {
		b := evidence.NewBundle()
		jvm := evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 7, Runtime: "jvm", Version: "25.0.3"}
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		p.Clock().Name = "unix"
		s := p.Subject(jvm)
		for i := range int64(requests) {
			from := epoch + i*10e6
			d := int64(time.Millisecond)
			if i%5 == 0 {
				d = int64(took)
			}
			p.Request(evidence.Request{Subject: s, Start: from, End: from + d, Origin: p.Origin(i)})
		}
		p.Close()
		p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
		p.Clock().Name = "unix"
		s = p.Subject(jvm)
		stack := func(functions string) evidence.StackID {
			return stacktest.Intern(p, stacktest.Of(strings.Fields(functions)...))
		}
		const (
			task    = " shop.Main.serve java.util.concurrent.ThreadPerTaskExecutor$TaskRunner.run java.lang.VirtualThread.run"
			mounted = " java.lang.VirtualThread$VThreadContinuation$1.run jdk.internal.vm.Continuation.enter0 jdk.internal.vm.Continuation.enter [virtual]"
		)
		accepts := stack("sun.nio.ch.Net.accept java.net.ServerSocket.accept shop.Main.main [main]")
		carries := stack("jdk.internal.vm.Continuation.run java.lang.VirtualThread.runContinuation java.util.concurrent.ForkJoinWorkerThread.run [ForkJoinPool-1-worker]")
		runs, waits := stack("shop.Seal.of"+task+mounted), stack("java.lang.VirtualThread.park java.util.concurrent.Semaphore.acquire"+task+" [virtual]")
		for at := epoch; at <= epoch+20e9; at += 200e6 {
			look := func(lane evidence.LaneID, of evidence.StackID) {
				p.Sample(evidence.Sample{Subject: s, Time: at, Lane: lane, Stack: of, Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1, Origin: p.Origin(1)})
			}
			look(7, accepts)
			look(8, carries)
			look(evidence.LanesOfProgram+20, runs)
			if all {
				look(evidence.LanesOfProgram+1, accepts)
				look(evidence.LanesOfProgram+21, waits)
			}
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverThreads, From: epoch, Until: epoch + 20e9, Origin: p.Origin(1)})
		p.Close()
		return b
	}
	for _, x := range []struct {
		what    string
		b       *evidence.Bundle
		outcome string
		lock    string
	}{
		{"slow, on a CPU only", build(2000, 400*time.Millisecond, false), NotExplained, check.Inconclusive},
		{"slow, all", build(2000, 400*time.Millisecond, true), Found, check.RuledOut},
		{"quick, on a CPU only", build(2000, time.Millisecond, false), "", check.RuledOut},
		{"no requests, on a CPU only", build(0, 0, false), NotJudged, check.Inconclusive},
		{"no requests, all", build(0, 0, true), "", check.RuledOut},
	} {
		d, err := Run(t.Context(), x.b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if x.outcome != "" && d.Outcome != x.outcome {
			t.Errorf("%s: %s, want %s", x.what, d.Outcome, x.outcome)
		}
		for _, v := range d.Verdicts {
			seen := strings.Contains(v.Summary, "virtual threads")
			switch v.Cause {
			case "jvm.lock-contention":
				if v.Verdict != x.lock || seen == (x.lock == check.RuledOut) {
					t.Errorf("%s: %s is %s: %s", x.what, v.Cause, v.Verdict, v.Summary)
				}
			case "service.pool-exhausted", "service.dependency-slow", "service.waiting":
				if x.lock == check.Inconclusive && (v.Verdict == check.RuledOut || !seen) {
					t.Errorf("%s: %s is %s: %s", x.what, v.Cause, v.Verdict, v.Summary)
				}
			}
		}
	}
}

// TestCarriersThatCompute has virtual threads that wait for a carrier, by the scheduler's own queue. Where others compute on both, it is their code
// that keeps the carriers; where one of them is pinned in a call instead, that is not said.
func TestCarriersThatCompute(t *testing.T) {
	const (
		epoch   = int64(1_700_000_000e9)
		task    = " shop.Main.serve java.util.concurrent.ThreadPerTaskExecutor$TaskRunner.run java.lang.VirtualThread.run"
		mounted = " java.lang.VirtualThread$VThreadContinuation$1.run jdk.internal.vm.Continuation.enter0 jdk.internal.vm.Continuation.enter [virtual]"
	)
	judge := func(second string) Verdict {
		b := evidence.NewBundle()
		jvm := evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 7, Runtime: "jvm", Version: "25.0.3"}
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		p.Clock().Name = "unix"
		s := p.Subject(jvm)
		for i := range int64(2000) { // each second, those that come in its first half wait until two have computed
			from, took := epoch+i*10e6, int64(1e6)
			if since := from % 1e9; since < 500e6 {
				took = 500e6 - since
			}
			p.Request(evidence.Request{Subject: s, Start: from, End: from + took, Origin: p.Origin(i)})
		}
		p.Close()
		p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
		p.Clock().Name = "unix"
		s = p.Subject(jvm)
		stack := func(functions string) evidence.StackID {
			return stacktest.Intern(p, stacktest.Of(strings.Fields(functions)...))
		}
		carries := stack("jdk.internal.vm.Continuation.run java.lang.VirtualThread.runContinuation java.util.concurrent.ForkJoinWorkerThread.run [ForkJoinPool-1-worker]")
		of := []evidence.StackID{stack("shop.Seal.of" + task + mounted), stack(second + task + mounted)}
		queue := evidence.Series{Name: evidence.SeriesPoolQueue, Unit: "count", Subject: s}
		for at := epoch; at <= epoch+20e9; at += 100e6 {
			look := func(lane evidence.LaneID, of evidence.StackID) {
				p.Sample(evidence.Sample{Subject: s, Time: at, Lane: lane, Stack: of, Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1, Origin: p.Origin(1)})
			}
			look(8, carries)
			queued := 0.
			if at%1e9 < 500e6 {
				look(evidence.LanesOfProgram+20, of[0])
				look(evidence.LanesOfProgram+21, of[1])
				queued = 20
			}
			queue.T, queue.V = append(queue.T, at), append(queue.V, queued)
		}
		p.Series(queue)
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverThreads, From: epoch, Until: epoch + 20e9, Origin: p.Origin(1)})
		p.Close()
		d, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range d.Verdicts {
			if v.Cause == "service.pool-exhausted" {
				return v
			}
		}
		t.Fatal("no verdict on pools")
		return Verdict{}
	}
	v := judge("shop.Seal.of")
	if v.Verdict != check.Supported || !strings.Contains(v.Title, "while others compute on all of them") || len(v.Fix) == 0 || !strings.Contains(v.Fix[0].Code, "Seal.of") {
		t.Errorf("two compute: %s: %s %+v", v.Verdict, v.Title, v.Fix)
	}
	if v := judge("java.lang.VirtualThread.parkOnCarrierThread java.lang.VirtualThread.park java.util.concurrent.Semaphore.acquire shop.Seal.of"); strings.Contains(v.Title, "compute on all") {
		t.Errorf("one is pinned: %s: %s", v.Verdict, v.Title)
	}
}
