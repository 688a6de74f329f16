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

// readEvents feeds every event to the world, a batch at a time, until the trace ends or ctx is
// done. What was decoded before an error counts. With more than one worker, another one decodes.
func (w *world) readEvents(ctx context.Context, in io.Reader, workers int) error {
	read := w.readHere
	if workers > 1 {
		read = w.readBeside
	}
	if err := read(ctx, in); err != io.EOF {
		return err
	}
	return nil
}

// readHere decodes and interprets in turn.
func (w *world) readHere(ctx context.Context, in io.Reader) error {
	return catchPanic(func() error {
		r, err := w.openReader(in)
		b := wire.NewBatch(wire.Few)
		for err == nil {
			if err = r.Read(b); err == nil {
				w.interpretBatch(b)
				err = ctx.Err()
			}
		}
		return err
	})
}

// Batches that are decoded beside what reads them are so large that waking the reader costs
// little, and so few that all of them stay in a core's second cache: 1 MiB.
const (
	besideEvents  = 4 << 10
	besideBatches = 4
)

// readBeside interprets what another goroutine decodes meanwhile. That one ends before it returns.
func (w *world) readBeside(ctx context.Context, in io.Reader) error {
	decoded, free := make(chan *wire.Batch, besideBatches), make(chan *wire.Batch, besideBatches)
	for range besideBatches {
		free <- wire.NewBatch(besideEvents)
	}
	var ended error // read once decoded is closed
	go func() {
		defer close(decoded)
		ended = catchPanic(func() error {
			r, err := w.openReader(in)
			if r, ok := r.(*wire.Reader); ok && err == nil {
				r.ReadAhead()
				defer r.Close()
			}
			for err == nil {
				b, ok := <-free
				if !ok {
					return nil // nobody reads on
				}
				if err = r.Read(b); err == nil {
					decoded <- b
				}
			}
			return err
		})
	}()
	w.out.startBeside()
	err := catchPanic(func() error {
		for b := range decoded {
			w.interpretBatch(b)
			if err := ctx.Err(); err != nil {
				return err
			}
			free <- b
		}
		return nil
	})
	close(free)
	for range decoded { // until the other one has ended
	}
	if unwritten := w.out.finish(); unwritten != nil {
		return unwritten
	}
	if err != nil {
		return err
	}
	return ended
}

func (w *world) interpretBatch(b *wire.Batch) {
	w.batch = b
	w.stacks.setGeneration(b.Generation)
	w.reasons.setGeneration(b.Generation)
	if w.events == 0 && len(b.Events) > 0 {
		w.first = b.Events[0].Time
		w.held.last = w.first
	}
	for i := range b.Events {
		w.interpretEvent(&b.Events[i])
	}
}

func (w *world) openReader(r io.Reader) (reader, error) {
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
