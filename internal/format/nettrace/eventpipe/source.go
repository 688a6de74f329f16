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
	// firstRead is how much memory is allocated for a block before its bytes are read, so that
	// a false size costs no memory.
	firstRead = 256 << 10
)

// source reads the stream and counts its bytes.
type source struct {
	in     *bufio.Reader
	offset int64
}

func (s *source) readFull(p []byte) error {
	n, err := io.ReadFull(s.in, p)
	s.offset += int64(n)
	return toUnexpectedEOF(err)
}

// toUnexpectedEOF turns io.EOF, where something has begun, into io.ErrUnexpectedEOF.
func toUnexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *source) readU8() (byte, error) {
	b, err := s.in.ReadByte()
	if err != nil {
		return 0, toUnexpectedEOF(err)
	}
	s.offset++
	return b, nil
}

func (s *source) readU32() (uint32, error) {
	b, err := s.in.Peek(4)
	n, _ := s.in.Discard(len(b))
	s.offset += int64(n)
	if err == nil {
		return binary.LittleEndian.Uint32(b), nil
	}
	return 0, toUnexpectedEOF(err)
}

func (s *source) skipBytes(n int64) error {
	for n > 0 {
		step := min(n, 1<<30)
		got, err := s.in.Discard(int(step))
		s.offset += int64(got)
		if err != nil {
			return toUnexpectedEOF(err)
		}
		n -= step
	}
	return nil
}

// slack is how many bytes behind a block may be read but not used: a compressed header has up
// to 1+5+(5+10+5)+10+5+10+32+5 bytes, and its last number is read 8 bytes at once.
const slack = 128

// readContent reads size bytes into buf, which grows with what comes and has slack behind them.
// With an error it returns what came before.
func (s *source) readContent(buf []byte, size int) ([]byte, error) {
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
			return buf, toUnexpectedEOF(err)
		}
	}
	return buf, nil
}

// block is the content of an event block. Its bytes are reused after every event
// in it was delivered, unless they were left to the caller.
type block struct {
	data     []byte
	held     int       // events not yet delivered, and one while it is being decoded
	slot     uint32    // in Reader.slots
	contexts []context // that its records name
	kept     bool      // its bytes are not reused: they were left to the caller
}

// context is the parts that seldom change from one event to the next.
type context struct {
	activity, related GUID
	labels            *Labels
	pid               int32
}

const contextBytes = int(unsafe.Sizeof(context{}))
