// Package recording decodes the container of Java flight recordings: chunks, the metadata that describes
// their events, and the constants that events refer to. Package jfr interprets the
// events.
//
// There is no specification. The sources are the programs that write and read recordings:
// the JVM's writer (https://github.com/openjdk/jdk/tree/master/src/hotspot/share/jfr),
// the JDK's reader (https://github.com/openjdk/jdk/tree/master/src/jdk.jfr/share/classes/jdk/jfr/internal/consumer),
// Mission Control's (https://github.com/openjdk/jmc/tree/master/core/org.openjdk.jmc.flightrecorder), and
// async-profiler's writer (https://github.com/async-profiler/async-profiler/blob/master/src/flightRecorder.cpp).
//
// A recording is one chunk after the other, and each can be read alone. A chunk is a header of
// 68 bytes and then events: a size, a type and the values of that type's fields. Two types are not
// events of the program: type 0 is the metadata, type 1 a checkpoint, which holds constants.
// Both may come at the end of a chunk (JDK 8 to 13) or every second (JDK 14 on),
// and an event may refer to constants that follow it. So a chunk is held in memory while
// it is read, and at most the next one beside it.
//
// The package's opinion: a chunk is read from its beginning by the sizes of its events, and not by the
// positions in its header, so that an unfinished or cut chunk gives all
// its content; only the fields that a caller reads are decoded;
// and data that contradicts its metadata is counted.
package recording

import (
	"encoding/binary"
	"errors"
	"io"
)

// Magic is the beginning of a chunk.
const Magic = "FLR\x00"

const (
	headerSize = 68
	mostChunk  = 1 << 30 // bytes; a JVM begins another chunk at 12 MB by default, async-profiler at 100
	step       = 4 << 20 // bytes that are read at a time: a header may announce more than there is
)

// Errors for a recording that ends too early, and for other files.
var (
	ErrCut   = errors.New("it ends within a chunk")
	ErrOpen  = errors.New("a chunk was never finished")
	ErrOld   = errors.New("that of Oracle's JDK 7 and 8, whose format was never published")
	ErrChunk = errors.New("what follows a chunk is not a chunk")
	ErrLarge = errors.New("a chunk is larger than 1 GiB")
)

// Header is the header of a chunk.
type Header struct {
	Major, Minor uint16
	Size         int64 // bytes, as in the header; 0 if it was never finished
	Start        int64 // ns since the epoch
	Duration     int64 // ns
	Ticks        int64 // at the start
	Frequency    int64 // ticks per second
	Compressed   bool  // numbers are LEB128
	Deltas       bool  // an event's ticks that are smaller than those of the start are relative to the last that are not
	Open         bool  // the JVM had not finished it

	constants, metadata int64 // positions of the last checkpoint and of the metadata
}

// Flags of a chunk, its last byte; before JDK 14 its last four bytes are a number that has the first alone
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/recorder/repository/jfrChunk.cpp).
const (
	flagCompressed = 1 << 0
	flagDeltas     = 1 << 2
)

func parseHeader(b []byte) Header {
	i8 := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	h := Header{Major: binary.BigEndian.Uint16(b[4:]), Minor: binary.BigEndian.Uint16(b[6:]),
		Size: i8(8), constants: i8(16), metadata: i8(24), Start: i8(32), Duration: i8(40), Ticks: i8(48), Frequency: i8(56)}
	flags := b[67]
	h.Compressed, h.Deltas = flags&flagCompressed != 0, flags&flagDeltas != 0
	h.Open = b[64] != 0 || h.Size == 0
	return h
}

// Reader reads a recording chunk by chunk.
type Reader struct {
	in    io.Reader
	data  []byte // of the chunk, header included
	ahead []byte // already read of what follows
	bytes int64  // of chunks that were read

	chunk, prior *Chunk // the one returned last, and the one before
	spare        []byte // the data of the prior one
}

// NewReader returns a reader of a recording.
func NewReader(in io.Reader) *Reader { return &Reader{in: in, chunk: new(Chunk), prior: new(Chunk)} }

// Bytes returns how many bytes were read.
func (r *Reader) Bytes() int64 { return r.bytes }

// Next returns the next chunk, which is valid until Next has been called twice more, so that one can be read while another
// is processed; io.EOF after the last one. With another error it returns the readable part of the chunk, nil if
// there is none.
func (r *Reader) Next() (*Chunk, error) {
	r.data, r.spare = r.spare, r.data
	r.chunk, r.prior = r.prior, r.chunk
	r.data = append(r.data[:0], r.ahead...)
	r.ahead = r.ahead[:0]
	err := r.fillTo(headerSize)
	switch {
	case err == io.EOF && len(r.data) == 0 && r.bytes > 0:
		return nil, io.EOF
	case len(r.data) >= len(Magic) && string(r.data[:len(Magic)]) != Magic:
		return nil, ErrChunk
	case err == io.EOF:
		return nil, ErrCut
	case err != nil:
		return nil, err
	}
	h := parseHeader(r.data)
	if h.Major == 0 {
		*r.chunk = Chunk{Header: h}
		return r.chunk, ErrOld
	}
	err = r.readBody(h)
	r.bytes += int64(len(r.data))
	r.chunk.reset(h, r.data)
	return r.chunk, err
}

// fillTo reads until the chunk has n bytes.
func (r *Reader) fillTo(n int) error {
	for len(r.data) < n {
		from := len(r.data)
		to := min(n, from+step)
		if cap(r.data) < to {
			r.data = append(make([]byte, 0, max(to, min(2*cap(r.data), n))), r.data...)
		}
		r.data = r.data[:to]
		k, err := io.ReadFull(r.in, r.data[from:])
		if r.data = r.data[:from+k]; err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readBody reads the rest of a chunk.
func (r *Reader) readBody(h Header) error {
	if h.Size > mostChunk {
		return ErrLarge
	}
	if h.Size >= headerSize {
		if err := r.fillTo(int(h.Size)); err == io.EOF {
			return ErrCut
		} else if err != nil {
			return err
		}
		if !h.Open {
			return nil
		}
	}
	return r.readUnfinished(!h.Compressed)
}

// readUnfinished reads the rest of a chunk of unknown length: event after event, until
// another chunk begins.
func (r *Reader) readUnfinished(wide bool) error {
	for {
		at := len(r.data)
		switch err := r.fillTo(at + len(Magic)); {
		case err == io.EOF && len(r.data) == at:
			return ErrOpen
		case err == io.EOF:
			return ErrCut
		case err != nil:
			return err
		}
		if string(r.data[at:]) == Magic {
			r.ahead = append(r.ahead, Magic...)
			r.data = r.data[:at]
			return nil
		}
		next := cursor{b: r.data, at: at, wide: wide}
		size := next.readInt()
		if next.bad || size < 2 || size > int64(mostChunk-at) {
			return ErrOpen
		}
		if err := r.fillTo(at + int(max(size, int64(len(Magic))))); err == io.EOF {
			return ErrCut
		} else if err != nil {
			return err
		}
	}
}
