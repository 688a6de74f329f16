package format

import (
	"bufio"
	"bytes"
	"io"
)

// pieces reads text in pieces of whole lines, which other code splits.
type pieces struct {
	s       *stream
	rest    []byte // already read, of the next line
	number  int64  // of that line
	err     error
	unended bool // the last line had no end
}

// eachPiece calls f, which takes the next piece, until f returns false or the artifact ends. It
// returns what [Artifact.Lines] does.
func (a *Artifact) eachPiece(f func(*pieces) bool) error {
	s, _, err := a.openDecompressed(a.bufferSize())
	if err != nil {
		return err
	}
	defer s.Close()
	p := &pieces{s: s, number: 1}
	for p.err == nil || len(p.rest) > 0 {
		if !f(p) {
			return nil
		}
	}
	a.unended = a.unended || p.unended
	return wrapCut(p.err)
}

// next reads a piece into text, up to about its capacity, and returns the number of its first line. From a
// line longer than MaxLine it returns only the beginning.
func (p *pieces) next(text []byte) (piece []byte, first int64, long bool) {
	first = p.number
	text = append(text[:0], p.rest...)
	p.rest = p.rest[:0]
	for {
		text = p.fill(text)
		n := bytes.Count(text, newLine)
		switch {
		case n > batchLines:
			end := 0
			for range batchLines {
				end += bytes.IndexByte(text[end:], '\n') + 1
			}
			return p.upTo(text, end, batchLines), first, false
		case n > 0 && p.err == nil:
			return p.upTo(text, bytes.LastIndexByte(text, '\n')+1, n), first, false
		case n == 0 && len(text) > MaxLine:
			p.number++
			return text[:MaxLine], first, p.skipRestOfLine(text[MaxLine:])
		case p.err != nil:
			p.unended = len(text) > 0 && text[len(text)-1] != '\n'
			return text, first, false
		}
		text = append(make([]byte, 0, min(2*cap(text), MaxLine+1)), text...)
	}
}

var newLine = []byte("\n")

// upTo returns that many lines and keeps the rest.
func (p *pieces) upTo(text []byte, end, lines int) []byte {
	p.number += int64(lines)
	p.rest = append(p.rest, text[end:]...)
	return text[:end]
}

// fill reads until text is full, or the input ends.
func (p *pieces) fill(text []byte) []byte {
	for empty := 0; p.err == nil && len(text) < cap(text); {
		var n int
		n, p.err = p.s.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if empty++; n > 0 {
			empty = 0
		} else if p.err == nil && empty == mostEmpty {
			p.err = io.ErrNoProgress
		}
	}
	return text
}

// mostEmpty is how often in a row a reader may return nothing.
const mostEmpty = 100

// skipRestOfLine reads the rest of a line, and says whether there was any.
func (p *pieces) skipRestOfLine(more []byte) (some bool) {
	for {
		some = some || len(bytes.TrimRight(more, "\r\n")) > 0
		if bytes.HasSuffix(more, newLine) {
			return some
		}
		if p.err != nil {
			p.unended = true
			return some
		}
		var err error
		if more, err = p.s.ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
			p.err = err
		}
	}
}
