package spans

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON as a stream, value by value: a collector's file may be one array of
// gigabytes. Errors stick: after the first, every method returns at once.
type scanner struct {
	r     io.Reader
	buf   []byte // what was read
	at    int    // of that, what is next
	ended error  // of reading
	text  []byte // of the last string or number
	line  int64
	err   error
}

// errSyntax is text that is not JSON.
var errSyntax = errors.New("is not JSON")

// Bounds of what is kept of a document.
const (
	maxText  = 2 << 10 // bytes of a string
	maxDepth = 200
)

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, 0, 256<<10), line: 1}
}

// fillBuffer makes sure that the buffer holds a next byte; it returns false if reading failed or
// came to the end.
func (s *scanner) fillBuffer() bool {
	for tries := 0; s.at == len(s.buf); tries++ {
		if s.ended == nil && tries == maxTries {
			s.ended = io.ErrNoProgress
		}
		if s.ended != nil {
			return false
		}
		var n int
		n, s.ended = s.r.Read(s.buf[:cap(s.buf)])
		s.buf, s.at = s.buf[:max(n, 0)], 0
	}
	return true
}

// maxTries is how often a reader may give nothing.
const maxTries = 100

// skipMark passes over the mark that some programs begin UTF-8 with.
func (s *scanner) skipMark() {
	for tries := 0; s.ended == nil && len(s.buf) < 3 && tries < maxTries; tries++ {
		var n int
		n, s.ended = s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+max(n, 0)]
	}
	if bytes.HasPrefix(s.buf, []byte("\xef\xbb\xbf")) {
		s.at = 3
	}
}

func (s *scanner) setError(err error) {
	if s.err == nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		s.err = err
	}
}

func (s *scanner) readByte() byte {
	if !s.fillBuffer() {
		s.setError(s.ended)
		return 0
	}
	c := s.buf[s.at]
	s.at++
	if c == '\n' {
		s.line++
	}
	return c
}

// peek returns the next byte that is no space, without passing over it; 0 at the end.
func (s *scanner) peek() byte {
	for s.err == nil {
		for s.at < len(s.buf) {
			switch c := s.buf[s.at]; c {
			case '\n':
				s.line++
			case ' ', '\t', '\r':
			default:
				return c
			}
			s.at++
		}
		if !s.fillBuffer() {
			if s.ended != io.EOF {
				s.setError(s.ended)
			}
			return 0
		}
	}
	return 0
}

func (s *scanner) expect(c byte) bool {
	if s.err == nil && s.at < len(s.buf) && s.buf[s.at] == c {
		s.at++ // no line's end
		return true
	}
	got := s.peek()
	if s.err != nil {
		return false
	}
	switch got {
	case c:
		s.at++ // no line's end
		return true
	case 0:
		s.setError(io.EOF)
	default:
		s.setError(errSyntax)
	}
	return false
}

// scanObject calls f with each key; f consumes the value. The key is good until it does.
func (s *scanner) scanObject(f func(key []byte)) {
	if !s.expect('{') {
		return
	}
	for first := true; s.err == nil; first = false {
		c := s.peek()
		if c == '}' {
			s.readByte()
			return
		}
		if !first && !s.expect(',') {
			return
		}
		key := s.scanString()
		if s.err != nil || !s.expect(':') {
			return
		}
		f(key)
	}
}

// scanArray calls f before each element; f consumes it.
func (s *scanner) scanArray(f func()) {
	if !s.expect('[') {
		return
	}
	for first := true; s.err == nil; first = false {
		if s.peek() == ']' {
			s.readByte()
			return
		}
		if !first && !s.expect(',') {
			return
		}
		f()
	}
}

// scanScalar returns the text of a string, number, true or false; nil of null and of anything
// else, which is skipped. It is good until the next one is read.
func (s *scanner) scanScalar() []byte {
	switch c := s.peek(); {
	case c == '"':
		return s.scanString()
	case c == '{' || c == '[':
		s.skipValue()
		return nil
	}
	word := s.scanWord()
	if string(word) == "null" {
		return nil
	}
	return word
}

// scanNumber returns the value of a number, or of a string that holds one, as the JSON form of
// protocol buffers writes 64 bits; false of anything else.
func (s *scanner) scanNumber() (int64, bool) {
	text := s.scanScalar()
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return v, true
	}
	if v, err := strconv.ParseFloat(string(text), 64); err == nil && v > -9e18 && v < 9e18 {
		return int64(v), true // 1.6e15, as some libraries write large numbers
	}
	return 0, false
}

// scanWord reads a number or a literal.
func (s *scanner) scanWord() []byte {
	if s.err == nil {
		rest := s.buf[s.at:]
		n := 0
		for n < len(rest) && n < maxText && inWord[rest[n]] {
			n++
		}
		if n > 0 && n < len(rest) && n < maxText { // all of it is there
			s.at += n
			return rest[:n:n]
		}
	}
	s.text = s.text[:0]
	for s.err == nil {
		if !s.fillBuffer() {
			if s.ended != io.EOF || len(s.text) == 0 {
				s.setError(s.ended)
			}
			break
		}
		rest := s.buf[s.at:]
		n := 0
		for n < len(rest) && inWord[rest[n]] {
			n++
		}
		s.keepText(rest[:n])
		if s.at += n; n < len(rest) {
			break
		}
	}
	if len(s.text) == 0 {
		s.setError(errSyntax)
	}
	return s.text
}

// scanString reads a string; what is beyond maxText is left out.
func (s *scanner) scanString() []byte {
	if !s.expect('"') {
		return nil
	}
	if text, ok := s.scanUnescaped(); ok {
		return text
	}
	s.text = s.text[:0]
	for s.err == nil {
		if !s.fillBuffer() {
			s.setError(s.ended)
			return nil
		}
		rest := s.buf[s.at:]
		n := 0
		for n < len(rest) && rest[n] != '"' && rest[n] != '\\' {
			if rest[n] == '\n' {
				s.line++
			}
			n++
		}
		s.keepText(rest[:n])
		if s.at += n; n == len(rest) {
			continue
		}
		s.at++
		if rest[n] == '"' {
			return s.text
		}
		s.scanEscape()
	}
	return nil
}

// scanUnescaped returns the rest of a string in which nothing is escaped, where it and what
// follows it are in the buffer. It need not be copied: reading on to the colon behind a key, or to
// a comma, reads nothing into the buffer.
func (s *scanner) scanUnescaped() (text []byte, ok bool) {
	rest := s.buf[s.at:]
	for n, c := range rest[:min(len(rest), maxText)] {
		if !special[c] {
			continue
		}
		if c != '"' || n+1 == len(rest) || rest[n+1] <= ' ' {
			break
		}
		s.at += n + 1
		return rest[:n:n], true
	}
	return nil, false
}

// special are the bytes in a string that are not just taken.
var special = [256]bool{'"': true, '\\': true, '\n': true}

// keepText appends b to the text, as far as there is room.
func (s *scanner) keepText(b []byte) {
	s.text = append(s.text, b[:min(len(b), max(0, maxText-len(s.text)))]...)
}

// inWord are the bytes of numbers and literals.
var inWord = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdefghijklmnopqrstuvwxyz-+.E") {
		is[c] = true
	}
	return is
}()

func (s *scanner) scanEscape() {
	c := s.readByte()
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r', 'b', 'f':
		c = ' '
	case 'u':
		v := s.scanHex4()
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

func (s *scanner) scanHex4() (v rune) {
	for range 4 {
		c := s.readByte()
		d, ok := hexDigit(c)
		if !ok {
			s.setError(errSyntax)
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

// skipValue passes over a value.
func (s *scanner) skipValue() {
	for depth := 0; s.err == nil; {
		switch c := s.peek(); c {
		case 0:
			s.setError(io.EOF)
		case '{', '[':
			s.readByte()
			depth++
			if depth > maxDepth {
				s.setError(errSyntax)
			}
			continue
		case '}', ']':
			s.readByte()
			depth--
		case '"':
			s.scanString()
		case ',', ':':
			if depth == 0 {
				s.setError(errSyntax)
			}
			s.readByte()
			continue
		default:
			s.scanWord()
		}
		if depth <= 0 {
			return
		}
	}
}

// resyncAtLine goes on after the line in which something was not JSON.
func (s *scanner) resyncAtLine() bool {
	if s.err != errSyntax {
		return false
	}
	s.err = nil
	for s.err == nil {
		if s.readByte() == '\n' {
			return s.err == nil
		}
	}
	return false
}
