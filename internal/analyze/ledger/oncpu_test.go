package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// The kernel's CPU clock decides how long a request ran; time that seemed to be running beyond that was ready.
func TestClockedRequests(t *testing.T) {
	of := threads.Readers{"dotnet": threads.DotnetStacks}
	for _, tt := range []struct {
		name     string
		samples  int
		own, max int64 // ms of 100, and what of the rest may have been ready
	}{
		{"all of it", 10, 100, 0},
		{"half of it", 5, 50, 50},
		{"hardly", 1, 10, 90},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet", Name: "Shop", CPUs: 2})
			s := newSource(b, "x.nettrace", exact, 0)
			frames := func(functions ...string) (all []evidence.Frame) {
				for _, f := range functions {
					all = append(all, evidence.Frame{Func: s.Name(f)})
				}
				return all
			}
			serve := []string{"Microsoft.AspNetCore.Server.Kestrel.Core!Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol.ProcessRequests(class Application)",
				"System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"}
			runs := s.Stack(frames(append([]string{"Shop!Shop.Cart.Add()"}, serve...)...))
			for i := range int64(40) {
				at := i * 200 * ms
				s.Request(evidence.Request{Subject: 0, Lane: 7, Route: s.Name("GET /"), Start: epoch + at, End: epoch + at + 100*ms})
				s.Sample(evidence.Sample{Subject: 0, Lane: 7, Time: epoch + at + 50*ms, Stack: runs, Type: s.Name(evidence.SampleThread), Value: 1})
				for k := range tt.samples {
					s.Sample(evidence.Sample{Subject: 0, Lane: 7, Time: epoch + at + int64(k)*10*ms, Stack: runs, Type: s.Name(evidence.SampleOnCPU), Value: 10 * ms})
				}
			}
			s.watched(evidence.CoverThreads, 0, 8000*ms)
			s.watched(evidence.CoverOnCPU, 0, 8000*ms)
			l := one(t, b, Options{SLO: 1, Stacks: of})
			if l.clock == nil || l.Traced {
				t.Fatalf("clock %v, traced %v", l.clock, l.Traced)
			}
			c := l.Of(l.Rows[20])
			if own := c[Own] / ms; own < tt.own-1 || own > tt.own+1 {
				t.Errorf("own work %d ms, want %d: %v", own, tt.own, c)
			}
			if ready := (c[HostCPU] + c[RequestsCPU]) / ms; ready > tt.max+1 {
				t.Errorf("ready %d ms, want %d at most", ready, tt.max)
			}
		})
	}
}
