package spans

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON as a stream, value by value: a collector's file may be one array of
// gigabytes. Errors stick: after the first, every method returns at once.
type scanner struct {
	r    *bufio.Reader
	text []byte // of the last string or number
	line int64
	err  error
}

// errSyntax is text that is not JSON.
var errSyntax = errors.New("is not JSON")

// Bounds of what is kept of a document.
const (
	maxText  = 2 << 10 // bytes of a string
	maxDepth = 200
)

func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 256<<10), line: 1}
}

func (s *scanner) fail(err error) {
	if s.err == nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		s.err = err
	}
}

func (s *scanner) byte() byte {
	c, err := s.r.ReadByte()
	if err != nil {
		s.fail(err)
		return 0
	}
	if c == '\n' {
		s.line++
	}
	return c
}

// peek is the next byte that is no space, 0 at the end.
func (s *scanner) peek() byte {
	for s.err == nil {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			if err != io.EOF {
				s.fail(err)
			}
			return 0
		case c == '\n':
			s.line++
		case c != ' ' && c != '\t' && c != '\r':
			_ = s.r.UnreadByte() // was just read
			return c
		}
	}
	return 0
}

func (s *scanner) expect(c byte) bool {
	got := s.peek()
	if s.err != nil {
		return false
	}
	switch got {
	case c:
		s.byte()
		return true
	case 0:
		s.fail(io.EOF)
	default:
		s.fail(errSyntax)
	}
	return false
}

// object calls f with each key; f consumes the value. The key is good until it does.
func (s *scanner) object(f func(key []byte)) {
	if !s.expect('{') {
		return
	}
	for first := true; s.err == nil; first = false {
		c := s.peek()
		if c == '}' {
			s.byte()
			return
		}
		if !first && !s.expect(',') {
			return
		}
		key := s.str()
		if s.err != nil || !s.expect(':') {
			return
		}
		f(key)
	}
}

// array calls f before each element; f consumes it.
func (s *scanner) array(f func()) {
	if !s.expect('[') {
		return
	}
	for first := true; s.err == nil; first = false {
		if s.peek() == ']' {
			s.byte()
			return
		}
		if !first && !s.expect(',') {
			return
		}
		f()
	}
}

// scalar is the text of a string, number, true or false; nil of null and of anything else,
// which is skipped. It is good until the next one is read.
func (s *scanner) scalar() []byte {
	switch c := s.peek(); {
	case c == '"':
		return s.str()
	case c == '{' || c == '[':
		s.skip()
		return nil
	}
	word := s.word()
	if string(word) == "null" {
		return nil
	}
	return word
}

// number is the value of a number, or of a string that holds one, as the JSON form of
// protocol buffers writes 64 bits; false of anything else.
func (s *scanner) number() (int64, bool) {
	text := s.scalar()
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return v, true
	}
	if v, err := strconv.ParseFloat(string(text), 64); err == nil && v > -9e18 && v < 9e18 {
		return int64(v), true // 1.6e15, as some libraries write large numbers
	}
	return 0, false
}

// word reads a number or a literal.
func (s *scanner) word() []byte {
	s.text = s.text[:0]
	for s.err == nil {
		c, err := s.r.ReadByte()
		if err != nil {
			if err != io.EOF || len(s.text) == 0 {
				s.fail(err)
			}
			break
		}
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E' {
			if len(s.text) < maxText {
				s.text = append(s.text, c)
			}
			continue
		}
		_ = s.r.UnreadByte() // was just read
		break
	}
	if len(s.text) == 0 {
		s.fail(errSyntax)
	}
	return s.text
}

// str reads a string; what is beyond maxText is left out.
func (s *scanner) str() []byte {
	s.text = s.text[:0]
	if !s.expect('"') {
		return nil
	}
	for s.err == nil {
		c := s.byte()
		switch {
		case s.err != nil:
		case c == '"':
			return s.text
		case c == '\\':
			s.escaped()
		case len(s.text) < maxText:
			s.text = append(s.text, c)
		}
	}
	return nil
}

func (s *scanner) escaped() {
	c := s.byte()
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r', 'b', 'f':
		c = ' '
	case 'u':
		v := s.hex4()
		if utf16.IsSurrogate(v) {
			v = utf8.RuneError // half of a pair: names of services and statements have none
		}
		if len(s.text) < maxText {
			s.text = utf8.AppendRune(s.text, v)
		}
		return
	}
	if len(s.text) < maxText {
		s.text = append(s.text, c)
	}
}

func (s *scanner) hex4() (v rune) {
	for range 4 {
		c := s.byte()
		d, ok := hexDigit(c)
		if !ok {
			s.fail(errSyntax)
			return 0
		}
		v = v<<4 | rune(d)
	}
	return v
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// skip passes over a value.
func (s *scanner) skip() {
	for depth := 0; s.err == nil; {
		switch c := s.peek(); c {
		case 0:
			s.fail(io.EOF)
		case '{', '[':
			s.byte()
			depth++
			if depth > maxDepth {
				s.fail(errSyntax)
			}
			continue
		case '}', ']':
			s.byte()
			depth--
		case '"':
			s.str()
		case ',', ':':
			if depth == 0 {
				s.fail(errSyntax)
			}
			s.byte()
			continue
		default:
			s.word()
		}
		if depth <= 0 {
			return
		}
	}
}

// resync goes on after the line in which something was not JSON.
func (s *scanner) resync() bool {
	if s.err != errSyntax {
		return false
	}
	s.err = nil
	for s.err == nil {
		if s.byte() == '\n' {
			return s.err == nil
		}
	}
	return false
}
