package gotrace

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// reader gives the events of a trace, io.EOF after the last.
type reader interface {
	Read(*wire.Batch) error
}

// read feeds every event to the world, a batch at a time, until the trace ends or ctx is done. What
// was decoded before an error counts. Handing batches to another thread would save nothing: to move
// the events to its core takes longer than to decode them.
func (w *world) read(ctx context.Context, in io.Reader) error {
	err := guard(func() error {
		r, err := w.open(in)
		b := wire.NewBatch()
		for err == nil {
			if err = r.Read(b); err == nil {
				w.interpret(b)
				err = ctx.Err()
			}
		}
		return err
	})
	if err == io.EOF {
		return nil
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
