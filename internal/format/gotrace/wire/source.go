package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// source takes generations out of the stream.
type source struct {
	r       *bufio.Reader
	version int
	next    *batch // the first of the next generation: before Go 1.26 nothing else ends one
	ended   error  // why there is none after the last one, io.EOF: the trace is over
	free    [][]byte
}

// taken is a generation, or why there is none.
type taken struct {
	g     *stretch
	err   error
	ended error // of the source, once the generation was taken out
}

func (s *source) takeGeneration() taken {
	g, err := s.readGeneration()
	return taken{g, err, s.ended}
}

// readGeneration returns the next generation, io.EOF where the trace ends as it should. What
// breaks off behind a generation is told when the next one is asked for.
func (s *source) readGeneration() (*stretch, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	g := newStretch()
	g.chunks.free, s.free = s.free, nil
	var err error
	if s.version < 26 {
		err = s.upToNext(g)
	} else {
		err = s.upToEnd(g)
	}
	if err == nil {
		err = g.completeGeneration(s.version)
	}
	if err != nil {
		s.ended = explainCut(err, s.ended)
		return nil, s.ended
	}
	return g, nil
}

// explainCut says why a generation is not well formed: where the stream ended within it, that is
// the reason.
func explainCut(err, ended error) error {
	if ended == nil || ended == io.EOF || err == ended {
		return err
	}
	return fmt.Errorf("the last generation is cut short: %w", ended)
}

// upToEnd reads a generation as Go 1.26 writes them: it is said where one ends.
func (s *source) upToEnd(g *stretch) error {
	for {
		b, end, err := s.readBatch(g)
		switch {
		case err == io.EOF && g.Number == 0:
			return io.EOF
		case err == io.EOF:
			return toUnexpectedEOF(err)
		case err != nil:
			return err
		case end:
			return nil
		case g.Number == 0:
			g.Number = b.generation
		}
		if b.generation != g.Number || b.generation == 0 {
			return fmt.Errorf("generation %d begins before %d ends", b.generation, g.Number)
		}
		if err := g.addBatch(b, s.version); err != nil {
			return err
		}
	}
}

// upToNext reads a generation as Go 1.22 to 1.25 write them: it goes up to the first batch of
// the next.
func (s *source) upToNext(g *stretch) error {
	if b := s.next; b != nil {
		s.next, g.Number = nil, b.generation
		if err := g.addBatch(*b, s.version); err != nil {
			return err
		}
	}
	for {
		b, end, err := s.readBatch(g)
		switch {
		case err != nil && g.Number != 0:
			s.ended = err
			return nil
		case err == io.EOF:
			return errors.New("no events behind the header")
		case err != nil:
			return err
		case end || b.generation == 0:
			return errors.New("a generation of Go 1.26 or without a number")
		case g.Number == 0:
			g.Number = b.generation
		case b.generation == g.Number+1:
			b.data = slices.Clone(b.data) // what it lies in is used again
			s.next = &b
			return nil
		case b.generation != g.Number:
			return fmt.Errorf("generation %d within %d", b.generation, g.Number)
		}
		if err := g.addBatch(b, s.version); err != nil {
			return err
		}
	}
}

// readBatch reads the next batch, io.EOF if there is none; end says whether it ends a generation.
func (s *source) readBatch(g *stretch) (b batch, end bool, err error) {
	k, err := s.r.ReadByte()
	if err != nil {
		return b, false, err
	}
	switch Type(k) {
	case evEndOfGeneration:
		return b, true, nil
	case evExperimentalBatch:
		if b.experiment, err = s.r.ReadByte(); err != nil {
			return b, false, toUnexpectedEOF(err)
		}
	case evEventBatch:
	default:
		return b, false, fmt.Errorf("event %d where a batch should begin", k)
	}
	var header [4]uint64 // generation, thread, time, size
	for i := range header {
		if header[i], err = binary.ReadUvarint(s.r); err != nil {
			return b, false, toUnexpectedEOF(err)
		}
	}
	if header[3] > maxBatch {
		return b, false, fmt.Errorf("a batch of %d bytes, of which there are at most %d", header[3], maxBatch)
	}
	b.generation, b.thread, b.ticks = header[0], int64(header[1]), header[2]
	if b.experiment != 0 { // not kept
		_, err = s.r.Discard(int(header[3]))
		return b, false, toUnexpectedEOF(err)
	}
	b.data = g.chunks.grow(int(header[3]))
	_, err = io.ReadFull(s.r, b.data)
	return b, b.beginsWith(evEndOfGeneration), toUnexpectedEOF(err)
}

// toUnexpectedEOF turns io.EOF, which within something is no end of the trace, into
// io.ErrUnexpectedEOF.
func toUnexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// chunks are what the batches of a generation lie in.
type chunks struct {
	used, free [][]byte
}

// chunkSize holds a few batches, so that little is left unused at the end of one.
const chunkSize = 8 * maxBatch

// grow returns n bytes, at most maxBatch.
func (c *chunks) grow(n int) []byte {
	if k := len(c.used); k > 0 && cap(c.used[k-1])-len(c.used[k-1]) >= n {
		last := c.used[k-1]
		at := len(last)
		c.used[k-1] = last[:at+n]
		return last[at : at+n : at+n]
	}
	var next []byte
	if k := len(c.free); k > 0 {
		next, c.free = c.free[k-1][:0], c.free[:k-1]
	} else {
		next = make([]byte, 0, chunkSize)
	}
	c.used = append(c.used, next[:n])
	return next[:n:n]
}

// all returns every chunk, to be used again.
func (c *chunks) all() [][]byte { return append(c.used, c.free...) }
