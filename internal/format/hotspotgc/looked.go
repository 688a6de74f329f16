package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/format"
)

// looked is what one line says by itself, without those before it: several processors find that
// out, while one puts together what they make of lines.
type looked struct {
	mark      decorators
	at        int // where the message begins
	decorated bool
	below     bool     // it only adds to the line above, and nothing that is of use here
	kind      lineKind // then

	whole bool        // it is all of a collection of a legacy log
	pause *wholePause // then; it is used again for other lines
}

// looker finds that out for one worker.
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

// cutNumber takes the number of the collection off a message, unknown without.
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
