// Package recording reads the common parts of the recordings that unstall's own probes of the kernel write line by line
// (internal/format/hugepages, kernelstacks, syscalls): words separated by blanks, moments in ns since the
// epoch, whole numbers.
//
// The package's opinion: a line that is not understood is counted and skipped. If it is the last one, the
// recording was cut while the line was written.
package recording

import (
	"bytes"
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Scanner calls a parser for each line and counts the lines that it does not understand.
type Scanner struct {
	Number int64 // of the line that is being read; 1 is the first

	odd, first, last int64 // lines that are not understood: how many, the first, the last
	cut              bool
}

// Scan calls line for each line of a; line says whether it understands the line. Scan ends early with ctx.
func (s *Scanner) Scan(ctx context.Context, a *format.Artifact, line func(text []byte) bool) error {
	err := a.Lines(func(l format.Line) bool {
		s.Number = l.Number
		if l.Long || !line(l.Text) {
			s.odd++
			s.last = l.Number
			if s.first == 0 {
				s.first = l.Number
			}
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	}
	s.cut = err != nil
	if !s.cut && s.odd > 0 && s.last == s.Number {
		s.odd--
		s.cut = true // the last line is not damaged but unfinished
	}
	return nil
}

// Warn reports a recording that broke off and lines that are not understood.
func (s *Scanner) Warn(b *evidence.Builder) {
	if s.cut {
		b.Warnf(s.Number, "the recording is incomplete after this line")
		b.Cut()
	}
	if s.odd > 0 {
		b.Warnf(s.first, "lines not understood: %d", s.odd)
	}
}

// Numbers reads as many whole numbers as fit into the result, separated by one blank, and nothing else.
func Numbers(text []byte, to []int64) bool {
	for i := range to {
		digits, rest, more := bytes.Cut(text, []byte(" "))
		n, ok := format.ParseDigits(digits)
		if !ok || more != (i < len(to)-1) {
			return false
		}
		to[i], text = n, rest
	}
	return true
}

// IsDate reports whether ns since the epoch lie between 1973 and 2096.
func IsDate(ns int64) bool { return ns >= 1e17 && ns <= 4e18 }

// Clean returns at most the given number of bytes of a name, as valid UTF-8 without blanks around it.
func Clean(name []byte, most int) string {
	return string(bytes.TrimSpace(bytes.ToValidUTF8(name[:min(len(name), most)], nil)))
}
