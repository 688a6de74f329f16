package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// chunk is a piece of an artifact in the file.
type chunk struct {
	offset int64
	size   int32  // up to maxStored
	crc    string // checksum from its note
}

var errDamaged = errors.New("part of it is damaged")

// read reads the chunk into buf, or into a new buffer if buf is too small. It verifies the checksum.
func (c chunk) read(f io.ReaderAt, buf []byte) ([]byte, error) {
	if cap(buf) < int(c.size) {
		buf = make([]byte, c.size)
	}
	buf = buf[:c.size]
	if n, err := f.ReadAt(buf, c.offset); n < len(buf) {
		return nil, fmt.Errorf("it was truncated after it was opened: %w", err)
	}
	if checksumHex(buf) != c.crc {
		return nil, errDamaged
	}
	return buf, nil
}

// chunkReader reads an artifact from beginning to end and verifies each chunk.
type chunkReader struct {
	f    *os.File
	todo []chunk
	buf  []byte
	rest []byte // unread part of buf
}

func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.todo) == 0 {
			return 0, io.EOF
		}
		b, err := r.todo[0].read(r.f, r.buf)
		if err != nil {
			return 0, err
		}
		r.todo, r.buf, r.rest = r.todo[1:], b, b
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *chunkReader) Close() error { return r.f.Close() }
