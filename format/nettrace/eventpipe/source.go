package eventpipe

import (
	"bufio"
	"encoding/binary"
	"io"
	"unsafe"
)

const (
	// maxBlock is the largest block that is decoded. Runtimes end a block at 100 KB,
	// version 6 cannot tell more than 16 MB.
	maxBlock = 64 << 20
	// firstRead is how much of a block is believed without having been seen, so that
	// a size that is a lie costs no memory.
	firstRead = 256 << 10
)

// source reads the stream and knows how far it is.
type source struct {
	in     *bufio.Reader
	offset int64
}

func (s *source) full(p []byte) error {
	n, err := io.ReadFull(s.in, p)
	s.offset += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (s *source) u8() (byte, error) {
	b, err := s.in.ReadByte()
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	s.offset++
	return b, nil
}

func (s *source) u32() (uint32, error) {
	var b [4]byte
	err := s.full(b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

func (s *source) skip(n int64) error {
	for n > 0 {
		step := min(n, 1<<30)
		got, err := s.in.Discard(int(step))
		s.offset += int64(got)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		n -= step
	}
	return nil
}

// slack is what may be read, but not used, behind a block: see uvarint.
const slack = 8

// content reads size bytes into buf, which grows with what comes and has slack behind
// them. With an error it returns what came before.
func (s *source) content(buf []byte, size int) ([]byte, error) {
	buf = buf[:0]
	for len(buf) < size {
		want := min(size, max(firstRead, 2*len(buf)))
		if cap(buf) < want+slack {
			grown := make([]byte, len(buf), want+slack)
			copy(grown, buf)
			buf = grown
		}
		have := len(buf)
		n, err := io.ReadFull(s.in, buf[have:want])
		s.offset += int64(n)
		buf = buf[:have+n]
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return buf, err
		}
	}
	return buf, nil
}

// block is the content of an event block. Its bytes are used again once every event
// in it was delivered.
type block struct {
	data     []byte
	held     int       // events not yet delivered, and one while it is being decoded
	slot     uint32    // in Reader.slots
	contexts []context // that its records name
}

// context is what changes seldom from one event to the next.
type context struct {
	activity, related GUID
	labels            *Labels
	pid               int32
}

const contextBytes = int(unsafe.Sizeof(context{}))
