package syscalls

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// parseFunction reads one of the program: "3 libc.so.6	fsync".
func (p *parser) parseFunction(rest []byte) bool {
	digits, rest, ok := bytes.Cut(rest, []byte(" "))
	id, is := format.ParseDigits(digits)
	file, name, two := bytes.Cut(rest, []byte("\t"))
	if !ok || !is || !two {
		return false
	}
	if len(p.frame) >= mostFrames {
		p.dropped++
		return true
	}
	in, function := recording.Clean(file, longestName), recording.Clean(name, longestName)
	switch {
	case function == "" && in == "":
		function = evidence.UnknownFunction
	case function == "":
		function = in
	case bytes.HasPrefix(name, []byte("0x")): // an address in a file without names
		function = in + "+" + function
	}
	if strings.Contains(in, ".so") {
		function += " (" + in + ")"
	}
	p.frame[id] = evidence.Frame{Func: p.b.Name(function), File: p.b.Name(in)}
	return true
}

// parseCallers reads the functions by which a thread came to the wait of its next line.
func (p *parser) parseCallers(rest []byte) bool {
	digits, rest, _ := bytes.Cut(rest, []byte(" "))
	tid, ok := format.ParseDigits(digits)
	if !ok || tid == 0 {
		return false
	}
	t := p.ensureThread(tid)
	if t == nil {
		return true
	}
	t.next = t.next[:0]
	for len(rest) > 0 && len(t.next) < mostDepth {
		digits, rest, _ = bytes.Cut(rest, []byte(" "))
		n, ok := format.ParseDigits(digits)
		f, told := p.frame[n]
		if !ok || !told {
			t.next = t.next[:0]
			return false
		}
		t.next = append(t.next, f)
	}
	return true
}

// parseVariable reads the name of a word of memory.
func (p *parser) parseVariable(rest []byte) bool {
	address, name, ok := bytes.Cut(rest, []byte(" "))
	if !ok || !bytes.HasPrefix(address, []byte("0x")) || len(name) == 0 {
		return false
	}
	if len(p.words) < mostFDs {
		p.words[string(address)] = recording.Clean(name, longestName)
	}
	return true
}
