package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A goroutine that looks saw running works, less the part of the time in which its program's threads had no processor.
func TestLookedWork(t *testing.T) {
	for name, of := range map[string]struct {
		ran, ready, others float64 // CPUs, threads, CPUs of other programs
		own, behind, host  int64   // ms of 40 ms in which it ran
	}{
		"it has the CPUs it needs":          {1, 0, 0, 40, 0, 0},
		"its threads wait for its own":      {2, 2, 0, 20, 20, 0},
		"its threads wait for others":       {.5, .5, 1.5, 20, 5, 15},
		"the kernel's account is not there": {0, 0, 0, 40, 0, 0},
	} {
		b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
		p := newSource(b, "exchanges.txt", exact, 0)
		p.SeenFrom(evidence.FromKernel)
		p.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverExchanges, From: epoch, Until: epoch + 60*100*ms, Sampled: 20 * ms})
		for i := range int64(60) {
			r := evidence.Request{Start: epoch + i*100*ms, Path: path(state(evidence.Unobserved, ms))}
			if i%4 == 0 {
				r.Path = path(state(evidence.Running, 40*ms), state(evidence.Unobserved, ms))
			}
			r.End = r.Start
			for s := range r.Path.All {
				r.End += s.Dur
			}
			p.Request(r)
		}
		if of.ran > 0 {
			series := func(name string, v float64) {
				s := evidence.Series{Subject: p.subject, Name: name}
				for at := epoch - 100*ms; at <= epoch+61*100*ms; at += 100 * ms {
					s.T, s.V = append(s.T, at), append(s.V, v)
				}
				p.Builder.Series(s)
			}
			series(evidence.SeriesProcessCPU, of.ran)
			series(evidence.SeriesProcessRunDelay, of.ready)
			host := p.Builder.Subject(evidence.Subject{Runtime: "linux", Name: "host", CPUs: 2})
			busy := evidence.Series{Subject: host, Name: evidence.SeriesHostCPUBusy}
			for at := epoch - 100*ms; at <= epoch+61*100*ms; at += 100 * ms {
				busy.T, busy.V = append(busy.T, at), append(busy.V, of.ran+of.others)
			}
			p.Builder.Series(busy)
		}
		l := one(t, b, Options{})
		got := l.Of(l.Slow[0])
		if !l.Looked || l.Traced || got[Own] != of.own*ms || got[RequestsCPU] != of.behind*ms || got[HostCPU] != of.host*ms {
			t.Errorf("%s: looked %v, traced %v, own %d, behind its own %d, host %d", name, l.Looked, l.Traced, got[Own]/ms, got[RequestsCPU]/ms, got[HostCPU]/ms)
		}
	}
}

// A request that arrived and is unread waits for a CPU for as long as a thread of its Go program was ready.
func TestDeniedReading(t *testing.T) {
	for name, of := range map[string]struct {
		ready        float64 // threads, on average over 100 ms of which a request is unread for 40
		queued, host int64   // ms
	}{
		"a thread was ready all that time": {.4, 0, 40},
		"a thread was ready half of it":    {.2, 20, 20},
		"threads had the CPUs they needed": {0, 40, 0},
		"several were ready, one reads it": {1.2, 0, 40},
	} {
		b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
		p := newSource(b, "exchanges.txt", exact, 0)
		p.SeenFrom(evidence.FromKernel)
		p.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverExchanges, From: epoch, Until: epoch + 60*100*ms, Sampled: 20 * ms})
		unread := p.Wait(evidence.ArrivedAt, "port 8080")
		for i := range int64(60) {
			r := evidence.Request{Start: epoch + i*100*ms, Path: path(state(evidence.Unobserved, ms))}
			if i%4 == 0 {
				r.Path = path(evidence.Segment{Kind: evidence.BeforeService, Dur: 40 * ms, Cause: unread}, state(evidence.Unobserved, ms))
			}
			r.End = r.Start
			for s := range r.Path.All {
				r.End += s.Dur
			}
			p.Request(r)
		}
		host := p.Builder.Subject(evidence.Subject{Runtime: "linux", Name: "host", CPUs: 2})
		for _, s := range []evidence.Series{
			{Subject: p.subject, Name: evidence.SeriesProcessCPU}, {Subject: p.subject, Name: evidence.SeriesProcessRunDelay}, {Subject: host, Name: evidence.SeriesHostCPUBusy},
		} {
			v := map[string]float64{evidence.SeriesProcessCPU: 1e-9, evidence.SeriesProcessRunDelay: of.ready, evidence.SeriesHostCPUBusy: 2}[s.Name]
			for at := epoch - 100*ms; at <= epoch+61*100*ms; at += 100 * ms {
				s.T, s.V = append(s.T, at), append(s.V, v)
			}
			p.Builder.Series(s)
		}
		l := one(t, b, Options{})
		got := l.Of(l.Slow[0])
		about := func(ns, want int64) bool { return ns/1e5 >= want*10-1 && ns/1e5 <= want*10+1 }
		if !about(got[Queued], of.queued) || !about(got[HostCPU], of.host) {
			t.Errorf("%s: queued %d µs, host %d µs", name, got[Queued]/1000, got[HostCPU]/1000)
		}
	}
}
