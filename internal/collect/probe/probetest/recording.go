package probetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// One returns the only access to a target, which must have no lack.
func One(t testing.TB, find func(context.Context, discover.Target) []probe.Access, x discover.Target) probe.Access {
	t.Helper()
	found := find(t.Context(), x)
	if len(found) != 1 || len(found[0].Lacks) > 0 || found[0].Missing != nil {
		t.Fatalf("%+v: found %+v", x, found)
	}
	return found[0]
}

// Record records for a time, and requires that there is no error.
func Record(t testing.TB, a probe.Access, plan probe.Plan) *Sink {
	t.Helper()
	s := NewSink()
	if err := a.Record(t.Context(), plan, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Recording is a recording in the background.
type Recording struct {
	*Sink

	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

// Begin begins a recording of an hour.
func Begin(t testing.TB, a probe.Access) *Recording {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &Recording{Sink: NewSink(), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.err = a.Record(ctx, probe.Plan{For: time.Hour}, r.Sink)
	}()
	t.Cleanup(func() { cancel(); <-r.ended })
	return r
}

// Wait waits until an artifact's content is enough.
func (r *Recording) Wait(t testing.TB, name string, enough func([]byte) bool) {
	t.Helper()
	r.waitFor(t, r.ended, name, enough)
}

// Some is a condition for [Recording.Wait]: there is any content.
func Some(b []byte) bool { return len(b) > 0 }

// Lines returns a condition: there are n lines that contain a text; any lines if the text is "".
func Lines(n int, text string) func([]byte) bool {
	return func(b []byte) bool { return bytes.Count(b, []byte(text+"\n")) >= n }
}

// End interrupts the recording and returns its error.
func (r *Recording) End() error {
	r.cancel()
	return r.Ended()
}

// Ended waits until the recording ends by itself and returns its error.
func (r *Recording) Ended() error {
	<-r.ended
	return r.err
}
