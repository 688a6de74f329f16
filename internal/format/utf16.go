package format

import (
	"bufio"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader converts text from UTF-16 to UTF-8. PowerShell before 6 redirects output
// into files as UTF-16 with a byte order mark: jstack PID >threads.txt. Invalid units
// become U+FFFD; half a unit at the end is left out.
type utf16Reader struct {
	in     *bufio.Reader
	little bool
	text   []byte // decoded and not yet read
	after  rune   // a unit that was read ahead for the second half of a pair, -1 none
}

// byteOrder says whether text begins with a byte order mark of UTF-16, and which. FF FE 00 00
// is UTF-32's.
func byteOrder(head []byte) (little, ok bool) {
	if len(head) < 2 {
		return false, false
	}
	switch {
	case head[0] == 0xff && head[1] == 0xfe:
		return true, len(head) < 4 || head[2] != 0 || head[3] != 0
	case head[0] == 0xfe && head[1] == 0xff:
		return false, true
	}
	return false, false
}

// newUTF16 skips the mark.
func newUTF16(in *bufio.Reader, little bool) *utf16Reader {
	_, _ = in.Discard(2)
	return &utf16Reader{in: in, little: little, after: -1}
}

func (r *utf16Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.text) == 0 {
		c, err := r.readChar()
		if err != nil {
			return 0, err
		}
		r.text = utf8.AppendRune(r.text, c)
		for len(r.text) < len(p) && r.in.Buffered() >= 4 {
			if c, err = r.readChar(); err != nil {
				break
			}
			r.text = utf8.AppendRune(r.text, c)
		}
	}
	n := copy(p, r.text)
	r.text = r.text[:copy(r.text, r.text[n:])]
	return n, nil
}

// readChar reads a character, which is a unit or a pair of them.
func (r *utf16Reader) readChar() (rune, error) {
	c, err := r.readUnit()
	if err != nil || !utf16.IsSurrogate(c) {
		return c, err
	}
	second, err := r.readUnit()
	if err != nil {
		return utf8.RuneError, nil //nolint:nilerr // half a pair at the end is a character, and the next one meets the end again
	}
	if pair := utf16.DecodeRune(c, second); pair != utf8.RuneError {
		return pair, nil
	}
	r.after = second
	return utf8.RuneError, nil
}

func (r *utf16Reader) readUnit() (rune, error) {
	if c := r.after; c >= 0 {
		r.after = -1
		return c, nil
	}
	a, err := r.in.ReadByte()
	if err != nil {
		return 0, err
	}
	b, err := r.in.ReadByte()
	if err != nil {
		return 0, io.EOF
	}
	if r.little {
		a, b = b, a
	}
	return rune(a)<<8 | rune(b), nil
}
