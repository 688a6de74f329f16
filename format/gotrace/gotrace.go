// Package gotrace reads Go execution traces (runtime/trace, /debug/pprof/trace,
// flight recorder) of Go 1.11 to 1.27.
//
// The stream is decoded by golang.org/x/exp/trace; this package interprets it
// the way the runtime's source means it: runtime/trace.go and proc.go for the
// states, mgc.go and mgcmark.go for the collector, net/http/server.go for the
// requests. The format is described in https://go.dev/issue/60773 (1.22 and
// later) and https://go.dev/s/go15trace (before).
//
// Its opinion: a request needs no annotation, because a serving goroutine's
// stacks say when it read one and when it wrote the answer; what a request
// waited for is what the goroutine that woke it did meanwhile; and a goroutine
// that was ready but not running waited for whoever held the processors.
//
// Traces up to 1.21 are decoded as a whole by x/exp/trace and need memory in
// proportion to their size; later ones are streamed a generation at a time.
package gotrace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

// Format reads Go execution traces.
var Format = format.Format{
	Name:  "gotrace",
	About: "Go execution traces (runtime/trace, /debug/pprof/trace), Go 1.11 to 1.27",
	Match: func(head []byte) format.Confidence {
		if _, ok := header(head); ok {
			return format.Sure
		}
		return format.No
	},
	Parse: parse,
}

// headerSize is the length of "go 1.26 trace\x00\x00\x00".
const headerSize = 16

// newest is the last trace version x/exp/trace decodes; Go 1.27 writes it too.
const newest = 26

// header returns the minor version of a trace's header.
func header(head []byte) (minor int, ok bool) {
	if len(head) < headerSize {
		return 0, false
	}
	s, ok := bytes.CutPrefix(head[:headerSize], []byte("go 1."))
	if !ok {
		return 0, false
	}
	s, rest, ok := bytes.Cut(s, []byte(" trace"))
	if !ok || len(bytes.Trim(rest, "\x00")) != 0 {
		return 0, false
	}
	minor, err := strconv.Atoi(string(s))
	return minor, err == nil
}

func parse(ctx context.Context, a *format.Artifact, b *evidence.Builder) (err error) {
	s, err := a.Reader()
	if err != nil {
		return err
	}
	defer s.Close()
	r := bufio.NewReaderSize(s, 1<<20)
	head, _ := r.Peek(headerSize)
	minor, ok := header(head)
	switch {
	case !ok:
		return errors.New("does not begin like an execution trace")
	case minor > newest:
		return fmt.Errorf("is an execution trace in the format of Go 1.%d; this unstall reads up to Go 1.27: a newer one is needed", minor)
	case minor < 11:
		return fmt.Errorf("is an execution trace of Go 1.%d; the formats read begin with Go 1.11", minor)
	}
	w := newWorld(b, minor)
	err = w.read(ctx, r)
	if len(w.gs) == 0 && len(w.ps) == 0 {
		if err == nil {
			err = errors.New("holds no events: was the recording stopped at once?")
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || cutWithin(err) {
			err = errors.New("is cut within its first generation (about a second), which is not readable in part: record it again, for longer")
		}
		return fmt.Errorf("execution trace of Go 1.%d: %w", minor, oneLine(err))
	}
	w.finish()
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		b.Cut()
		b.Warnf(w.events, "the trace breaks off after %.3f s: %v; what came before is used", float64(w.now-w.first)/1e9, oneLine(err))
	}
	return nil
}

// read feeds every event to the world. Decoding and interpreting take turns on
// two processors.
func (w *world) read(ctx context.Context, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	d := &decoder{full: make(chan []event, 2), empty: make(chan []event, 3)}
	for range cap(d.empty) {
		d.empty <- make([]event, 0, 512)
	}
	done := make(chan error, 1)
	go func() {
		defer close(d.full)
		done <- guard(func() error { return d.run(ctx, r) })
	}()
	err := guard(func() error {
		for batch := range d.full {
			for i := range batch {
				w.event(&batch[i])
			}
			d.empty <- batch[:0]
		}
		return nil
	})
	cancel()
	if decoding := <-done; err == nil {
		err = decoding
	}
	return err
}

// event is an event of the trace. The annotation is read by the decoder, whose
// tables of user strings grow while it goes on.
type event struct {
	trace.Event
	task trace.Task
}

type decoder struct{ full, empty chan []event }

func (d *decoder) run(ctx context.Context, r io.Reader) error {
	tr, err := trace.NewReader(r)
	if err != nil {
		return err
	}
	for {
		var batch []event
		select {
		case batch = <-d.empty:
		case <-ctx.Done():
			return ctx.Err()
		}
		for len(batch) < cap(batch) && err == nil {
			var ev trace.Event
			if ev, err = tr.ReadEvent(); err != nil {
				break
			}
			batch = append(batch, event{Event: ev})
			if k := ev.Kind(); k == trace.EventTaskBegin || k == trace.EventTaskEnd {
				batch[len(batch)-1].task = ev.Task()
			}
		}
		select {
		case d.full <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// guard turns a panic into an error: the decoder's accessors panic on traces
// that are not well formed.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be decoded: %v", p)
		}
	}()
	return f()
}

// oneLine keeps the first line of the decoder's errors; the rest is its state.
func oneLine(err error) error {
	if text, _, more := strings.Cut(err.Error(), "\n"); more {
		return errors.New(strings.TrimRight(text, ": "))
	}
	return err
}

// cutWithin says whether the decoder stopped for want of data rather than
// because of what it read.
func cutWithin(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "failed to advance"))
}
