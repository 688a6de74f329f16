package gauges

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/unstall/unstall/internal/format"
)

// object is one reading as JSON: its members by name.
type object map[string]any

func (o object) keys() (all []string) {
	for k := range o {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// maxObject bounds the length of an object.
const maxObject = 64 << 10

// readObjects reads objects, one a line or in a list.
func (p *parser) readObjects(a *format.Artifact) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 64<<10)
	for line, n := int64(1), 0; ; n++ {
		if n%1024 == 0 && p.ctx.Err() != nil {
			return nil
		}
		text, at, err := nextObject(in, &line)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("%w: %w", format.ErrCut, err)
		}
		o := decodeObject(text)
		if o == nil {
			p.countUnparsed(at)
			continue
		}
		keys := o.keys()
		t := tableOf(keys)
		if t == nil {
			p.countUnparsed(at)
			continue
		}
		fields := make([]string, len(keys))
		for i, k := range keys {
			if v := o[k]; v != nil {
				fields[i] = fmt.Sprint(v)
			}
		}
		p.addRow(t, fields, at)
	}
}

func decodeObject(text []byte) object {
	var o map[string]json.RawMessage
	if json.Unmarshal(text, &o) != nil {
		return nil
	}
	out := make(object, len(o))
	for k, raw := range o {
		var s string
		switch {
		case len(raw) == 0 || string(raw) == "null" || raw[0] == '{' || raw[0] == '[':
			out[k] = nil
		case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
			out[k] = s
		default:
			out[k] = string(raw)
		}
	}
	return out
}

// firstObject returns the first object of a text that may be cut, nil if it is incomplete.
func firstObject(text []byte) object {
	line := int64(1)
	o, _, err := nextObject(bufio.NewReader(bytes.NewReader(text)), &line)
	if err != nil {
		return nil
	}
	return decodeObject(o)
}

// nextObject returns the next object and the line at which it begins. It cuts an object that is too long, which is then
// invalid JSON.
func nextObject(r *bufio.Reader, line *int64) (text []byte, at int64, err error) {
	depth, quoted, escaped := 0, false, false
	for {
		c, err := r.ReadByte()
		if err != nil {
			if err == io.EOF && depth > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, at, err
		}
		if c == '\n' {
			*line++
		}
		switch {
		case depth == 0 && c != '{':
			continue
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth == 1 {
				at = *line
			}
		case c == '}' || c == ']':
			depth--
		}
		if len(text) < maxObject {
			text = append(text, c)
		}
		if depth == 0 {
			return text, at, nil
		}
	}
}
