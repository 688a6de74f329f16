package ledger

import (
	"math"
	"testing"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/threads"
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
		others, own, unobs float64 // s, of 50 that nobody saw
	}{
		{.5, 1.5, 2, 7.5 * .75, 7.5 * .25, 37.5}, // 5 s of CPU are in what nobody saw
		{.5, 1.5, .5, 0, 7.5, 37.5},              // nobody else was there
		{.5, 0, 2, 0, 0, 50},                     // nobody waited for a CPU
		{2, 0.1, 2, 0, 40, 0},                    // full: who does not run waits
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
