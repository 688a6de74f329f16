// Package recorded removes secrets from a service's recordings before they are stored. Everything in a capture passes through it once. It
// recognises each kind of recording by its beginning: it cleans text line by line, profiles in their labels, execution traces and streams
// of events in their texts, flight recordings event by event.
//
// The package's opinion: a recording that cannot be read is worthless, and one with secrets must not be passed on. So it overwrites secrets
// in place, or rewrites the piece around them; lengths, offsets and checksums stay right; and it searches data that it does not understand
// for texts, too.
package recorded

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/redact"
)

// Hint is what the caller knows of a recording's content.
type Hint struct {
	Lines   bool // text that other programs wrote
	Threads bool // thread dumps, with thread names in quotes
}

// Filter removes the secrets from one recording, which it gets in pieces. Its zero value is for a recording without a hint.
type Filter struct {
	Hint Hint
	Seen *redact.Seen // texts that other recordings of the same process have, too; may be nil
	head []byte       // held back until the kind is known
	to   cleaner
}

// cleaner is a filter for one kind of recording. What it returns is valid until the next call.
type cleaner interface {
	cleanPiece(p []byte) []byte
	cleanRest() []byte
}

// headSize is the number of bytes that identify the kind of a recording.
const headSize = 16

// Next takes the next piece, and returns what can be stored so far.
func (f *Filter) Next(p []byte) []byte {
	if f.to == nil {
		f.head = append(f.head, p...)
		if len(f.head) < headSize {
			return nil
		}
		p = f.chooseCleaner()
	}
	return f.to.cleanPiece(p)
}

// End returns the rest, which Next held back.
func (f *Filter) End() []byte {
	if f.to != nil {
		return f.to.cleanRest()
	}
	if len(f.head) == 0 {
		return nil
	}
	head := f.chooseCleaner()
	return append(bytes.Clone(f.to.cleanPiece(head)), f.to.cleanRest()...)
}

func (f *Filter) chooseCleaner() (head []byte) {
	head, f.head = f.head, nil
	switch {
	case bytes.HasPrefix(head, []byte(flightMagic)):
		f.to = &flight{}
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		f.to = &zipped{}
	case bytes.HasPrefix(head, []byte("go 1.")) && bytes.HasPrefix(head[min(len(head), 7):], []byte(" trace\x00")):
		f.to = traceOf(head)
	case isText(head):
		f.to = &text{hint: f.Hint, secrets: redact.Text{Seen: f.Seen}}
	default:
		f.to = &data{seen: f.Seen}
	}
	return head
}

func isText(head []byte) bool {
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0x1b && c != '\f' {
			return false
		}
	}
	return true
}

// All removes the secrets from a whole recording.
func All(b []byte, hint Hint) []byte {
	f := Filter{Hint: hint}
	return append(bytes.Clone(f.Next(b)), f.End()...)
}

// longestLine is the length at which an unfinished line is scanned.
const longestLine = 256 << 10

// text cleans text that unstall wrote about a service, such as its counters.
type text struct {
	hint    Hint
	secrets redact.Text
	partial []byte
	out     []byte
}

func (t *text) cleanPiece(p []byte) []byte {
	t.out = t.out[:0]
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		line := p[:i]
		if len(t.partial) > 0 {
			t.partial = append(t.partial, line...)
			line = t.partial
		}
		t.addLine(line)
		t.out = append(t.out, '\n')
		t.partial = t.partial[:0]
		p = p[i+1:]
	}
	if t.partial = append(t.partial, p...); len(t.partial) > longestLine {
		t.addLine(t.partial)
		t.partial = t.partial[:0]
	}
	return t.out
}

func (t *text) cleanRest() []byte {
	t.out = t.out[:0]
	if len(t.partial) > 0 {
		t.addLine(t.partial)
	}
	return t.out
}

func (t *text) addLine(b []byte) {
	t.out = append(t.out, Line(&t.secrets, b, t.hint)...)
}

// Line returns the next line of a text without its secrets.
func Line(t *redact.Text, b []byte, hint Hint) []byte {
	if hint.Threads {
		b = redactThreadNames(b)
	}
	if hint.Lines || hint.Threads {
		return t.Line(b)
	}
	return t.Own(b)
}

// redactThreadNames removes the secrets from the names of threads, which are in quotes.
func redactThreadNames(b []byte) []byte {
	from := bytes.IndexByte(b, '"')
	if from < 0 {
		return b
	}
	to := from + 1
	for to < len(b) && (b[to] != '"' || b[to-1] == '\\') {
		to++
	}
	if key := b[from+1 : to]; string(key) == "name" || string(key) == "container" { // JSON
		if next := bytes.IndexByte(b[min(len(b), to+1):], '"'); next >= 0 {
			from = to + 1 + next
			for to = from + 1; to < len(b) && (b[to] != '"' || b[to-1] == '\\'); {
				to++
			}
		}
	}
	name := b[from+1 : to]
	safe := redact.Value(name)
	if bytes.Equal(safe, name) {
		return b
	}
	return append(append(bytes.Clone(b[:from+1]), safe...), b[to:]...)
}
