package format

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Line is one line of a text artifact, its envelope taken off.
type Line struct {
	Text   []byte // without line end; valid until the next line
	Stamp  int64  // ns since the epoch, from the envelope; 0 if there is none
	Number int64  // 1 is the first
	Long   bool   // longer than MaxLine: Text is its beginning
}

// MaxLine is how much of a line is kept.
const MaxLine = 1 << 20

// ErrCut is wrapped by errors for an artifact that broke off: what came before
// is good.
var ErrCut = errors.New("ends in the middle")

// Lines calls f for each line until f returns false or the artifact ends. It
// returns an error wrapping ErrCut if the artifact breaks off within its
// compression, nil at a proper end.
func (a *Artifact) Lines(f func(Line) bool) error {
	if _, err := a.head(); err != nil {
		return err
	}
	s, err := a.Reader()
	if err != nil {
		return err
	}
	defer s.Close()
	r := &lineReader{r: bufio.NewReaderSize(s, 256<<10)}
	var l Line
	for {
		text, long, err := r.next()
		if text == nil && err != nil {
			if err == io.EOF {
				return nil
			}
			return errors.Join(ErrCut, plain(err))
		}
		l.Number++
		l.Text, l.Stamp, l.Long = text, 0, long
		if a.envelope != nil {
			l.Text, l.Stamp = a.envelope.line(text)
		}
		if !f(l) {
			return nil
		}
	}
}

// lineReader splits into lines, reassembling those longer than the buffer.
type lineReader struct {
	r    *bufio.Reader
	long []byte
}

func (r *lineReader) next() (line []byte, long bool, err error) {
	line, err = r.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = r.r.ReadSlice('\n')
			if room := MaxLine - len(r.long); len(line) > room {
				line, long = line[:room], true
			}
			r.long = append(r.long, line...)
		}
		line = r.long
	}
	if len(line) == 0 {
		return nil, false, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), long, nil
}
