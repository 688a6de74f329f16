// Package gotrace reads Go execution traces (runtime/trace, /debug/pprof/trace,
// flight recorder) of Go 1.11 to 1.27.
//
// Package wire decodes the stream, and golang.org/x/exp/trace that of traces up to
// Go 1.21; this package interprets either the way the runtime's source means it:
// runtime/trace.go and proc.go for the states, mgc.go and mgcmark.go for the
// collector, net/http/server.go for the requests. The format is described in https://go.dev/issue/60773 (1.22 and
// later) and https://go.dev/s/go15trace (before).
//
// Its opinion: a request needs no annotation, because a serving goroutine's
// stacks say when it read one and when it wrote the answer; what a request
// waited for is what the goroutine that woke it did meanwhile; and a goroutine
// that was ready but not running waited for the goroutines on the processors.
//
// Where there are two processors, one decodes a part of the trace while the other interprets the part
// before, and packs what was found out of it when it is ahead; a third, where there is one, reads the next
// generation. Interpretation itself goes on one after the other: what a goroutine is, whom it serves and
// who held what it waits for follows from all before.
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
	"runtime"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads Go execution traces.
var Format = format.Format{
	Name:  "gotrace",
	About: "Go execution traces (runtime/trace, /debug/pprof/trace), Go 1.11 to 1.27",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		if _, ok := parseHeader(head); ok {
			return format.Sure
		}
		return format.No
	},
	Parse: parseArtifact,
}

// headerSize is the length of "go 1.26 trace\x00\x00\x00".
const headerSize = 16

// newest is the last trace version that is decoded; Go 1.27 writes it too.
const newest = 26

// parseHeader returns the minor version of a trace's header.
func parseHeader(head []byte) (minor int, ok bool) {
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

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	return parseBy(ctx, a, b, runtime.GOMAXPROCS(0))
}

// parseBy reads a trace with the help of so many processors; how many changes nothing of what comes of it.
func parseBy(ctx context.Context, a *format.Artifact, b *evidence.Builder, workers int) (err error) {
	s, err := a.Reader()
	if err != nil {
		return err
	}
	defer s.Close()
	r := bufio.NewReaderSize(s, 64<<10)
	head, _ := r.Peek(headerSize)
	minor, ok := parseHeader(head)
	switch {
	case !ok:
		return errors.New("does not begin like an execution trace")
	case minor > newest:
		return fmt.Errorf("is an execution trace in the format of Go 1.%d; this version of unstall reads up to Go 1.27: use a newer one", minor)
	case minor < 11:
		return fmt.Errorf("is an execution trace of Go 1.%d; unstall reads Go 1.11 and later", minor)
	}
	w := newWorld(b, minor)
	err = w.readEvents(ctx, r, workers)
	if w.states == 0 {
		if err == nil {
			err = errors.New("holds no events: the recording may have been stopped at once")
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || cutWithin(err) {
			err = errors.New("is truncated within its first generation (about one second), which can only be read whole: record it again, for longer")
		}
		return fmt.Errorf("execution trace of Go 1.%d: %w", minor, oneLine(err))
	}
	w.finish()
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		b.Cut()
		b.Warnf(w.events, "the trace is incomplete after %.3f s: %v; the part before that is used", float64(w.now-w.first)/1e9, oneLine(err))
	}
	return nil
}
