package accesslog

import (
	"bytes"
	"encoding/json"
)

type valueKind uint8

const (
	scalar valueKind = iota // number, true, false, null, or an unquoted logfmt value
	text                    // a string; raw is between the quotes
	list                    // an array, raw
)

// pair is a key and its value in a structured line. Keys of nested objects are
// joined by dots: request.method.
type pair struct {
	key, raw []byte
	kind     valueKind
	escaped  bool // raw holds backslash escapes
}

// unescapedValue returns the value with its escapes resolved.
func (p *pair) unescapedValue() []byte {
	if !p.escaped {
		return p.raw
	}
	var s string
	if json.Unmarshal(append(append([]byte{'"'}, p.raw...), '"'), &s) != nil {
		return p.raw
	}
	return []byte(s)
}

const maxDepth = 4

// jsonScanner walks an object of scalars and nested objects without building it.
type jsonScanner struct {
	b      []byte
	i      int
	path   []byte // "request." while in a nested object
	ends   [maxDepth]int
	depth  int
	wanted func(prefix []byte) bool // whether to walk a nested object; nil: all
	plain  bool                     // nothing is escaped in the line
	broken bool
	done   bool
}

// startLine begins a line; it returns false if the line is no object.
func (s *jsonScanner) startLine(line []byte) bool {
	s.b, s.i, s.path, s.depth, s.broken, s.done = line, 0, s.path[:0], 0, false, false
	s.skipSpaces()
	if s.i >= len(line) || line[s.i] != '{' {
		return false
	}
	s.i++
	s.plain = bytes.IndexByte(line, '\\') < 0
	return true
}

// nextPair returns the next pair. It returns false at the end, and sets broken if the text
// breaks off or is not JSON.
func (s *jsonScanner) nextPair(p *pair) bool {
	for {
		s.skipSpaces()
		if s.i >= len(s.b) {
			return s.markBroken()
		}
		switch s.b[s.i] {
		case ',':
			s.i++
			continue
		case '}':
			s.i++
			if s.depth == 0 {
				s.done = true
				return false
			}
			s.depth--
			s.path = s.path[:s.ends[s.depth]]
			continue
		case '"':
		default:
			return s.markBroken()
		}
		key, _, ok := s.scanString()
		if !ok {
			return s.markBroken()
		}
		s.skipSpaces()
		if s.i >= len(s.b) || s.b[s.i] != ':' {
			return s.markBroken()
		}
		s.i++
		s.skipSpaces()
		if s.i >= len(s.b) {
			return s.markBroken()
		}
		if s.b[s.i] == '{' {
			if s.depth < maxDepth {
				end := len(s.path)
				s.path = append(append(s.path, key...), '.')
				if s.wanted == nil || s.wanted(s.path) {
					s.ends[s.depth] = end
					s.depth++
					s.i++
					continue
				}
				s.path = s.path[:end]
			}
			if !s.skipNested() {
				return s.markBroken()
			}
			continue
		}
		p.key = key
		if s.depth > 0 {
			end := len(s.path)
			s.path = append(s.path, key...)
			p.key = s.path
			s.path = s.path[:end]
		}
		switch s.b[s.i] {
		case '"':
			p.kind = text
			if p.raw, p.escaped, ok = s.scanString(); !ok {
				return s.markBroken()
			}
		case '[':
			from := s.i
			if !s.skipNested() {
				return s.markBroken()
			}
			p.kind, p.raw, p.escaped = list, s.b[from:s.i], false
		default:
			from := s.i
			for s.i < len(s.b) && s.b[s.i] != ',' && s.b[s.i] != '}' {
				s.i++
			}
			p.kind, p.raw, p.escaped = scalar, bytes.TrimRight(s.b[from:s.i], " \t"), false
			if len(p.raw) == 0 {
				return s.markBroken()
			}
		}
		return true
	}
}

func (s *jsonScanner) markBroken() bool {
	s.broken = true
	return false
}

func (s *jsonScanner) skipSpaces() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t') {
		s.i++
	}
}

// scanString reads the string at i.
func (s *jsonScanner) scanString() (raw []byte, escaped, ok bool) {
	from := s.i + 1
	for i := from; ; {
		j := bytes.IndexByte(s.b[i:], '"')
		if j < 0 {
			return nil, false, false
		}
		j += i
		if s.plain {
			s.i = j + 1
			return s.b[from:j], false, true
		}
		if s.b[j-1] != '\\' || j == from {
			s.i = j + 1
			raw = s.b[from:j]
			return raw, escaped || bytes.IndexByte(raw, '\\') >= 0, true
		}
		escaped = true
		slashes := 0
		for k := j - 1; k >= from && s.b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			s.i = j + 1
			return s.b[from:j], true, true
		}
		i = j + 1
	}
}

// skipNested skips an object or array.
func (s *jsonScanner) skipNested() bool {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return true
			}
		case '"':
			if _, _, ok := s.scanString(); !ok {
				return false
			}
			continue
		}
		s.i++
	}
	return false
}

// pairScanner reads key=value (logfmt) or key:value (LTSV) lines.
type pairScanner struct {
	b      []byte
	i      int
	ltsv   bool
	broken bool
}

func (s *pairScanner) startLine(line []byte) bool {
	s.b, s.i, s.broken = line, 0, false
	return len(line) > 0
}

func (s *pairScanner) nextPair(p *pair) bool {
	separator, assign := byte(' '), byte('=')
	if s.ltsv {
		separator, assign = '\t', ':'
	}
	for {
		for s.i < len(s.b) && (s.b[s.i] == separator || s.b[s.i] == ' ') {
			s.i++
		}
		from := s.i
		for s.i < len(s.b) && s.b[s.i] != assign && s.b[s.i] != separator {
			s.i++
		}
		if s.i >= len(s.b) {
			return false
		}
		if s.b[s.i] == separator { // a word without a value
			continue
		}
		p.key = s.b[from:s.i]
		s.i++
		p.kind, p.escaped = scalar, false
		if !s.ltsv && s.i < len(s.b) && s.b[s.i] == '"' {
			j := jsonScanner{b: s.b, i: s.i}
			raw, escaped, ok := j.scanString()
			if !ok {
				s.broken = true
				return false
			}
			p.kind, p.raw, p.escaped, s.i = text, raw, escaped, j.i
			return true
		}
		from = s.i
		if n := bytes.IndexByte(s.b[s.i:], separator); n >= 0 {
			s.i += n
		} else {
			s.i = len(s.b)
		}
		p.raw = s.b[from:s.i]
		return true
	}
}
