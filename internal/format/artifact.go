package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Artifact is an input to parse: a file, or bytes that a probe recorded. It can
// be read several times, once for each format that claims it.
type Artifact struct {
	Name     string
	Size     int64 // bytes as stored, -1 unknown
	Modified int64 // ns since the epoch, 0 unknown
	Open     func() (io.ReadCloser, error)

	Walked bool // found in a directory, so it may be anything

	// Known to the recorder; a file has neither.
	About  evidence.Subject // the process it is of
	Series string           // shared by the pieces of one recording

	compression []string // outermost first; known after head
	unended     bool     // its last line has no end; known after Lines
	envelope    *envelope
	start       []byte
	chosen      []Format // that read it; known after Recognise
	recognised  bool
	lines       []Line // the lines of a section of a paste: only these are read
}

// File returns the artifact for a path. The file is opened when it is read.
func File(path string) *Artifact {
	a := &Artifact{Name: path, Size: -1, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
	if fi, err := os.Stat(path); err == nil {
		a.Size, a.Modified = fi.Size(), fi.ModTime().UnixNano()
	}
	return a
}

// Envelopes names what was unwrapped, outermost first.
func (a *Artifact) Envelopes() []string {
	e := append([]string(nil), a.compression...)
	if a.envelope != nil {
		e = append(e, a.envelope.name)
	}
	return e
}

// Reader opens the artifact without its compression. Line envelopes
// stay on: [Artifact.Lines] removes them.
func (a *Artifact) Reader() (io.ReadCloser, error) {
	r, _, err := a.openDecompressed(a.bufferSize())
	return r, err
}

// BlockReader is [Artifact.Reader] for a format that itself reads much at once: what it reads bypasses the buffer.
func (a *Artifact) BlockReader() (io.ReadCloser, error) {
	r, _, err := a.openDecompressed(headBuffer)
	return r, err
}

// Unwrapped opens the artifact without its compression and line envelopes: a document that a log collector split.
func (a *Artifact) Unwrapped() (io.ReadCloser, error) {
	if _, err := a.readHead(); err != nil {
		return nil, err
	}
	if a.envelope == nil {
		return a.Reader()
	}
	var text bytes.Buffer
	err := a.Lines(func(l Line) bool {
		text.Write(l.Text)
		text.WriteByte('\n')
		return text.Len() < mostUnwrapped
	})
	if err != nil && text.Len() == 0 {
		return nil, err
	}
	return io.NopCloser(&text), nil
}

// mostUnwrapped bounds a document that is joined from lines.
const mostUnwrapped = 16 << 20

// stream closes everything that was opened to read it.
type stream struct {
	*bufio.Reader
	closers []io.Closer
}

func (s *stream) Close() (err error) {
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closers[i].Close())
	}
	return err
}

const maxNesting = 4

// openDecompressed opens the artifact without its compression and UTF-16. It reads buffer
// bytes at once and returns the names of what it removed, outermost first.
func (a *Artifact) openDecompressed(buffer int) (*stream, []string, error) {
	f, err := a.Open()
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	s := &stream{bufio.NewReaderSize(f, buffer), []io.Closer{f}}
	unpacked := min(256<<10, 4*buffer)
	var layers []string
	for {
		magic, err := s.Peek(4)
		if err != nil && err != io.EOF {
			_ = s.Close()
			if len(layers) > 0 {
				return nil, nil, wrapCut(err)
			}
			return nil, nil, withoutPath(err)
		}
		switch {
		case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
			z, err := gzip.NewReader(s.Reader)
			if err != nil {
				_ = s.Close()
				return nil, nil, fmt.Errorf("its gzip header is damaged: %w", err)
			}
			s = &stream{bufio.NewReaderSize(z, unpacked), append(s.closers, z)}
			layers = append(layers, "gzip")
		case string(magic) == "\x28\xb5\x2f\xfd":
			z, err := newUnpacker(s.Reader)
			if err != nil {
				_ = s.Close()
				return nil, nil, fmt.Errorf("its zstd header is damaged: %w", err)
			}
			s = &stream{bufio.NewReaderSize(z, unpacked), append(s.closers, z)}
			layers = append(layers, "zstd")
		default:
			if len(magic) >= 3 && string(magic[:3]) == "\ufeff" { // a byte order mark of UTF-8, which has no byte order
				_, _ = s.Discard(3)
				return s, layers, nil
			}
			if little, ok := byteOrder(magic); ok {
				s = &stream{bufio.NewReaderSize(newUTF16(s.Reader, little), 256<<10), s.closers}
				layers = append(layers, "utf-16")
			}
			return s, layers, nil
		}
		if len(layers) > maxNesting {
			_ = s.Close()
			return nil, nil, fmt.Errorf("it is compressed more than %d times over", maxNesting)
		}
	}
}

// bufferSize returns how many bytes are read at once. A small artifact gets a small buffer, since
// a watch reads it often.
func (a *Artifact) bufferSize() int {
	if a.Size < 0 {
		return 256 << 10
	}
	return int(min(256<<10, max(16<<10, a.Size)))
}

// headBuffer is small, since the beginning of an artifact is read into memory of its own, which
// bypasses the buffer.
const headBuffer = 16 << 10

// withoutPath returns the error without its path: the caller prints the artifact's name before it.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// readHead returns the unwrapped beginning and finds the artifact's wrapping. Of a damaged
// stream it returns the readable part.
func (a *Artifact) readHead() ([]byte, error) {
	if a.start != nil {
		return a.start, nil
	}
	s, layers, err := a.openDecompressed(headBuffer)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	a.compression = layers
	var start bytes.Buffer
	start.Grow(a.bufferSize() + bytes.MinRead)
	n, err := start.ReadFrom(io.LimitReader(s, HeadSize))
	if n == 0 && err != nil {
		return nil, withoutPath(err)
	}
	head := start.Bytes()
	a.envelope = findEnvelope(head, a.Modified)
	if a.envelope != nil {
		head = newUnwrapper(a.envelope, a.Modified).unwrapHead(head)
	}
	a.start = head
	return head, nil
}
