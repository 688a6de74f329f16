package gotrace

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/unstall/unstall/format/gotrace/wire"
)

// reader gives the events of a trace, io.EOF after the last.
type reader interface {
	Read(*wire.Batch) error
}

// read feeds every event to the world. Decoding goes on while the events before
// are interpreted, where there is a second processor.
func (w *world) read(ctx context.Context, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	full, empty := make(chan *wire.Batch, 4), make(chan *wire.Batch, 4)
	for range cap(empty) {
		empty <- wire.NewBatch()
	}
	decoded := make(chan error, 1)
	go func() {
		defer close(full)
		decoded <- guard(func() error { return w.decode(ctx, r, full, empty) })
	}()
	err := guard(func() error {
		for b := range full {
			w.interpret(b)
			empty <- b
		}
		return nil
	})
	cancel()
	if e := <-decoded; err == nil {
		err = e
	}
	return err
}

func (w *world) interpret(b *wire.Batch) {
	w.batch = b
	w.stacks.generation(b.Generation)
	for i := range b.Events {
		w.event(&b.Events[i])
	}
}

// decode takes events out of the stream until it ends or ctx is done. What was
// decoded before an error is handed over, too.
func (w *world) decode(ctx context.Context, in io.Reader, full chan<- *wire.Batch, empty <-chan *wire.Batch) error {
	r, err := w.open(in)
	for err == nil {
		var b *wire.Batch
		select {
		case b = <-empty:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err = r.Read(b); err != nil {
			break
		}
		select {
		case full <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func (w *world) open(r io.Reader) (reader, error) {
	if wire.Supported(w.minor) {
		return wire.NewReader(r)
	}
	return newOldTrace(r)
}

// cutWithin says whether the decoder stopped for want of data rather than
// because of what it read.
func cutWithin(err error) bool {
	return err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "failed to advance"))
}
