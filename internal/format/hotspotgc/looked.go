package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/format"
)

// looked is the content of one line without its context: several workers read lines,
// and one goroutine combines the results.
type looked struct {
	mark      decorators
	at        int // beginning of the message
	decorated bool
	below     bool     // it only adds unused details to the line above
	kind      lineKind // of a line below another

	whole bool        // it is a complete collection of a legacy log
	pause *wholePause // for whole; reused for other lines
}

// looker reads lines for one worker.
type looker struct{ whole wholeReader }

func newLook() func(format.Line, *looked) {
	var k looker
	return func(l format.Line, s *looked) { k.examineLine(l.Text, s) }
}

func (k *looker) examineLine(line []byte, s *looked) {
	text, ok := s.mark.cutDecorators(line)
	s.at, s.decorated, s.below, s.whole = len(line)-len(text), ok, false, false
	if !ok {
		if len(line) > 0 && isDigit(line[0]) {
			if s.pause == nil {
				s.pause = new(wholePause)
			}
			s.whole = k.whole.parsePause(line, s.pause)
		}
		return
	}
	_, text = cutNumber(text)
	if len(text) > 0 && text[0] == ' ' && !bytes.HasSuffix(s.mark.tags, statsTag) {
		s.kind, s.below = belowKind(s.mark.tags, bytes.TrimLeft(text, " "))
	}
}

var statsTag = []byte("stats")

// cutNumber removes the number of the collection from a message; unknown without one.
func cutNumber(b []byte) (id int64, text []byte) {
	if !bytes.HasPrefix(b, gcPrefix) {
		return unknown, b
	}
	v, n := parseInteger(b[len(gcPrefix):])
	if n == 0 || len(b) <= len(gcPrefix)+n || b[len(gcPrefix)+n] != ')' {
		return unknown, b
	}
	if text = b[len(gcPrefix)+n+1:]; len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	return v, text
}
