package wire

import (
	"errors"
	"fmt"
)

// prefetch takes the next generation out of the stream while another one is decoded.
type prefetch struct {
	next chan taken    // without room: one generation is ready at a time
	back chan [][]byte // chunks of a generation that has been decoded
	quit chan struct{}
}

// mostBeside is the largest generation (bytes) during whose decoding the next one is read. It bounds the memory.
const mostBeside = 32 << 20

// ReadAhead has another goroutine read the next generation from now on while one is decoded. Close ends it.
func (r *Reader) ReadAhead() {
	a := &prefetch{next: make(chan taken), back: make(chan [][]byte, 2), quit: make(chan struct{})}
	r.ahead = a
	go a.readGenerations(&r.source)
}

// Close ends what ReadAhead began; the stream is not read any more when it returns.
func (r *Reader) Close() {
	if a := r.ahead; a != nil {
		close(a.quit)
		for range a.next {
		}
		r.ahead = nil
	}
}

func (a *prefetch) readGenerations(s *source) {
	defer close(a.next)
	kept := 0 // chunks of the generation that is being decoded
	release := func() (ok bool) {
		select {
		case s.free = <-a.back:
			kept = 0
			return true
		case <-a.quit:
			return false
		}
	}
	for {
		if kept*chunkSize > mostBeside && !release() {
			return
		}
		t := takeGuarded(s)
		select {
		case a.next <- t:
		case <-a.quit:
			return
		}
		if t.err != nil || kept > 0 && !release() { // the reader takes this one after it has decoded the one before
			return
		}
		kept = len(t.g.chunks.used)
	}
}

// takeGuarded takes a generation and turns a panic of the stream into an error, as reading without
// a prefetch does.
func takeGuarded(s *source) (t taken) {
	defer func() {
		if p := recover(); p != nil {
			t.err = fmt.Errorf("cannot be read: %v", p)
		}
	}()
	return s.takeGeneration()
}

var errClosed = errors.New("the trace is closed")

// takeGeneration returns the next generation.
func (r *Reader) takeGeneration() taken {
	if r.ahead == nil {
		return r.source.takeGeneration()
	}
	t, ok := <-r.ahead.next
	if !ok {
		t.err = errClosed
	}
	return t
}

// releaseGeneration gives back the chunks that the batches of a generation are kept in.
func (r *Reader) releaseGeneration(g *stretch) {
	if r.ahead == nil {
		r.source.free = g.chunks.all()
		return
	}
	r.ahead.back <- g.chunks.all()
}
