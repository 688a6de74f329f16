package gotrace

import (
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// samplePeriod is what one sample stands for: the runtime profiles at 100 Hz of CPU time
// (runtime/pprof.StartCPUProfile, https://go.dev/src/runtime/pprof/pprof.go).
const samplePeriod = 10 * time.Millisecond

// addSample takes a sample of a CPU profile that ran beside the trace. It is the only thing in a
// trace that says what a goroutine did while it ran: of goroutines that work for the program it is
// kept, by goroutine and time.
func (w *world) addSample(ev *wire.Event, t int64) {
	w.host.samples++
	if ev.Goroutine == wire.None {
		return
	}
	g := w.ensureGoroutine(ev.Goroutine, t)
	s := w.stacks.stackAt(ev.Stack)
	if s == nil || g.role == roleWorker || g.role == roleRuntime {
		return
	}
	w.b.Sample(evidence.Sample{Subject: w.subject, Time: t, Lane: g.id, Stack: s.sid, Type: w.b.Name(evidence.SampleWork), Unit: w.b.Name("nanoseconds"),
		Value: samplePeriod.Nanoseconds(), Origin: w.b.Origin(w.events)})
}
