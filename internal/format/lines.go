package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Line is one line of a text artifact, without its envelope.
type Line struct {
	Text   []byte // without line end; valid until the next line
	Stamp  int64  // ns since the epoch, from the envelope; 0 if there is none
	Number int64  // 1 is the first; for a line that a collector had cut, its first piece
	Long   bool   // longer than MaxLine: Text is its beginning
	From   []byte // the writer, if the envelope names several; valid until the next line
}

// MaxLine is how many bytes of a line are kept.
const MaxLine = 1 << 20

// ErrCut is wrapped by errors for an artifact that broke off: everything before the break
// is good.
var ErrCut = errors.New("truncated")

// Lines calls f for each line until f returns false or the artifact ends. It
// returns an error wrapping ErrCut if the artifact breaks off within its
// compression, nil at a proper end.
func (a *Artifact) Lines(f func(Line) bool) error {
	if a.lines != nil {
		for _, l := range a.lines {
			if !f(l) {
				return nil
			}
		}
		return nil
	}
	if _, err := a.readHead(); err != nil {
		return err
	}
	s, _, err := a.openDecompressed(a.bufferSize())
	if err != nil {
		return err
	}
	defer s.Close()
	r := &lineReader{r: s.Reader}
	var u *unwrapper
	if a.envelope != nil {
		u = newUnwrapper(a.envelope, a.Modified)
	}
	for number := int64(1); ; number++ {
		text, long, err := r.next()
		if text == nil && err != nil {
			if u != nil {
				u.flushPending(f)
			}
			a.unended = a.unended || r.unended
			return wrapCut(err)
		}
		l, whole := Line{Text: text, Number: number, Long: long}, true
		if u != nil {
			l, whole = u.unwrapLine(l)
		}
		if whole && !f(l) {
			return nil
		}
	}
}

// wrapCut wraps the error that ended reading in ErrCut; nil at a proper end.
func wrapCut(err error) error {
	if err == io.EOF {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCut, withoutPath(err))
}

// lineReader splits into lines, reassembling those longer than the buffer.
type lineReader struct {
	r    *bufio.Reader
	long []byte
	// unended: the last line had no end. A line that is still being written, or
	// was cut, looks like that.
	unended bool
}

func (r *lineReader) next() (line []byte, long bool, err error) {
	line, err = r.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = r.r.ReadSlice('\n')
			if room := MaxLine - len(r.long); len(line) > room {
				long = long || len(bytes.TrimRight(line[room:], "\r\n")) > 0
				line = line[:room]
			}
			r.long = append(r.long, line...)
		}
		line = r.long
	}
	if len(line) == 0 {
		return nil, false, err
	}
	r.unended = r.unended || err != nil
	return withoutEnd(line), long, nil
}

// withoutEnd removes the end of a line, if it has one.
func withoutEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
