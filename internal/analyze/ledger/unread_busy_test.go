package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Data that no thread reads while the process keeps all processors busy waits for one of these; else nothing is known of it but that it waits. The
// CPU's clock tells it, or how much CPU time was counted between readings.
func TestUnreadBusy(t *testing.T) {
	for k := range 4 {
		full, counted := k%2 == 0, k >= 2
		b := newBundle(evidence.Subject{Kind: evidence.Process, CPUs: 2})
		p := newSource(b, "exchanges.txt", exact, 0)
		p.SeenFrom(evidence.FromKernel)
		unread, on := p.Wait(evidence.ArrivedAt, "port 8080"), p.Name(evidence.SampleOnCPU)
		cpu := evidence.Series{Name: evidence.SeriesProcessCPU, Origin: p.Origin(1)}
		for i := range int64(60) {
			r := evidence.Request{Start: epoch + i*100*ms, Path: path(state(evidence.Unobserved, ms))}
			if i%4 == 0 {
				r.Path = path(evidence.Segment{Kind: evidence.BeforeService, Dur: 40 * ms, Cause: unread}, state(evidence.Unobserved, ms))
				for k, used := range []float64{.6, .1} { // the reading spans more than the wait
					if full && k == 0 {
						used = 2
					}
					cpu.T, cpu.V = append(cpu.T, r.Start+int64(k)*50*ms), append(cpu.V, used)
				}
				for k := range int64(4) { // the clock of each processor
					if counted {
						break
					}
					if full || k == 0 {
						p.Sample(evidence.Sample{Time: r.Start + (k*10+5)*ms, Type: on, Value: 10 * ms})
						p.Sample(evidence.Sample{Time: r.Start + (k*10+7)*ms, Type: on, Value: 10 * ms})
					}
				}
			}
			r.End = r.Start
			for s := range r.Path.All {
				r.End += s.Dur
			}
			p.Request(r)
		}
		if counted {
			p.Series(cpu)
		}
		l := one(t, b, Options{})
		got := l.Of(l.Slow[0])
		if full && (l.Unread == nil || l.Unread.CPUs != 2 || got[RequestsCPU] != 40*ms) {
			t.Errorf("full, counted %v: %+v, %v", counted, l.Unread, got)
		}
		if !full && (l.Unread != nil || got[Queued] != 40*ms) {
			t.Errorf("not full, counted %v: %+v, %v", counted, l.Unread, got)
		}
	}
}

// Of the time in which requests wait for CPUs that the process fills, GC has its part of the process's CPU time.
func TestCollectorShare(t *testing.T) {
	b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
	p := newSource(b, "exchanges.txt", exact, 0)
	p.SeenFrom(evidence.FromKernel)
	unread, on := p.Wait(evidence.ArrivedAt, "port 8080"), p.Name(evidence.SampleOnCPU)
	stack := func(names ...string) evidence.StackID {
		var frames []evidence.Frame
		for _, name := range names {
			frames = append(frames, evidence.Frame{Func: p.Name(name)})
		}
		return p.Stack(frames)
	}
	collects, works := stack("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker", "runtime.goexit"), stack("main.encode", "main.serve", "runtime.goexit")
	for i := range int64(60) {
		r := evidence.Request{Start: epoch + i*100*ms, Path: path(state(evidence.Unobserved, ms))}
		if i%4 == 0 {
			r.Path = path(evidence.Segment{Kind: evidence.BeforeService, Dur: 40 * ms, Cause: unread}, state(evidence.Unobserved, ms))
			for k := range int64(8) { // three of four samples are GC's
				x := evidence.Sample{Time: r.Start + k*5*ms + ms, Type: on, Stack: collects, Value: 10 * ms}
				if k%4 == 0 {
					x.Stack = works
				}
				p.Sample(x)
			}
		}
		r.End = r.Start
		for s := range r.Path.All {
			r.End += s.Dur
		}
		p.Request(r)
	}
	l := one(t, b, Options{})
	if got := l.Of(l.Slow[0]); got[CollectorCPU] != 30*ms || got[RequestsCPU] != 10*ms {
		t.Errorf("three quarters are GC's: %v", got)
	}
}
