// Package jfrtext makes flight recordings from a text, so that a test's recording is readable.
// A line is one of
//
//	chunk start=2026-11-23T12:00:00Z ticks=1000 frequency=1000000000 duration=5s [open] [wide] [deltas]
//	class jdk.types.Symbol string:java.lang.String
//	event jdk.JavaMonitorEnter startTime:long@TICKS duration:long@TICKS eventThread:java.lang.Thread* frames:jdk.types.StackFrame[]
//	constant jdk.types.Symbol 7 "run"
//	checkpoint
//	metadata
//	jdk.JavaMonitorEnter 1000 2000 3 [(1 2) (3 4)]
//
// Types of a field are a class, with * for a key of a constant, [] for an array and @ for the
// unit that its annotation has. Values are numbers, strings ("…" in UTF-8, c"…" in UTF-16, l"…" in Latin-1, #7 a
// constant, - none), structures in parentheses and arrays in brackets. Constants are written at the next
// checkpoint, and at the end of a chunk, where the metadata stands, too, unless there was one.
package jfrtext

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// Compile makes a recording.
func Compile(text string) ([]byte, error) {
	var out []byte
	var c *chunk
	for n, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch {
		case word == "" || strings.HasPrefix(word, "//"):
		case word == "chunk":
			out = c.finishChunk(out)
			c, err = beginChunk(rest)
		case c == nil:
			err = fmt.Errorf("no chunk")
		default:
			err = c.compileLine(word, rest)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return c.finishChunk(out), nil
}

type field struct {
	name, class, unit string
	array, pooled     bool
}

type class struct {
	id     int64
	name   string
	event  bool
	fields []field
}

type constant struct {
	class  string
	key    int64
	tokens []string
}

type chunk struct {
	start, duration, ticks, frequency int64
	open, wide, deltas                bool

	body      []byte // header included
	classes   []*class
	constants []constant
	last      int64 // position of the last checkpoint
	metadata  int64
}

var primitives = []string{"boolean", "byte", "char", "short", "int", "long", "float", "double", "java.lang.String", "jdk.jfr.Timespan", "jdk.jfr.Timestamp"}

func beginChunk(options string) (*chunk, error) {
	c := &chunk{ticks: 1000, frequency: 1e9, body: make([]byte, 68)}
	for i, name := range primitives {
		c.classes = append(c.classes, &class{id: int64(i + 2), name: name})
	}
	for _, o := range strings.Fields(options) {
		key, value, _ := strings.Cut(o, "=")
		var err error
		switch key {
		case "start":
			var at time.Time
			at, err = time.Parse(time.RFC3339, value)
			c.start = at.UnixNano()
		case "duration":
			var d time.Duration
			d, err = time.ParseDuration(value)
			c.duration = int64(d)
		case "ticks":
			c.ticks, err = strconv.ParseInt(value, 0, 64)
		case "frequency":
			c.frequency, err = strconv.ParseInt(value, 0, 64)
		case "open":
			c.open = true
		case "wide":
			c.wide = true
		case "deltas":
			c.deltas = true
		default:
			err = fmt.Errorf("no option %q", key)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *chunk) compileLine(word, rest string) error {
	switch word {
	case "class", "event":
		name, fields, _ := strings.Cut(rest, " ")
		x := &class{id: int64(100 + len(c.classes)), name: name, event: word == "event"}
		for _, f := range strings.Fields(fields) {
			key, typ, _ := strings.Cut(f, ":")
			d := field{name: key}
			typ, d.unit, _ = strings.Cut(typ, "@")
			typ, d.array = strings.CutSuffix(typ, "[]")
			d.class, d.pooled = strings.CutSuffix(typ, "*")
			x.fields = append(x.fields, d)
		}
		c.classes = append(c.classes, x)
		return nil
	case "constant":
		tokens, err := splitTokens(rest)
		if err != nil {
			return fmt.Errorf("a constant: %w", err)
		}
		if len(tokens) < 3 {
			return fmt.Errorf("a constant has a class, a key and a value: %q", rest)
		}
		key, err := strconv.ParseInt(tokens[1], 0, 64)
		c.constants = append(c.constants, constant{tokens[0], key, tokens[2:]})
		return err
	case "checkpoint":
		return c.writeCheckpoint()
	case "metadata":
		c.writeMetadata()
		return nil
	}
	x := c.findClass(word)
	if x == nil {
		return fmt.Errorf("no class %q", word)
	}
	tokens, err := splitTokens(rest)
	if err != nil {
		return err
	}
	w := &writer{wide: c.wide}
	w.writeLong(x.id)
	if tokens, err = c.writeValues(w, x, tokens); err == nil && len(tokens) > 0 {
		err = fmt.Errorf("%d values too many", len(tokens))
	}
	c.appendEvent(w)
	return err
}

func (c *chunk) findClass(name string) *class {
	i := slices.IndexFunc(c.classes, func(x *class) bool { return x.name == name })
	if i < 0 {
		return nil
	}
	return c.classes[i]
}

// appendEvent appends an event behind its size, which takes four bytes, as the JVM writes it.
func (c *chunk) appendEvent(w *writer) {
	n := len(w.b) + 4
	if c.wide {
		c.body = binary.BigEndian.AppendUint32(c.body, uint32(n))
	} else {
		c.body = append(c.body, byte(n)|0x80, byte(n>>7)|0x80, byte(n>>14)|0x80, byte(n>>21))
	}
	c.body = append(c.body, w.b...)
}

func (c *chunk) writeCheckpoint() error {
	if len(c.constants) == 0 {
		return nil
	}
	at := int64(len(c.body))
	w := &writer{wide: c.wide}
	w.writeLong(1)
	w.writeLong(0)
	w.writeLong(0)
	if c.last > 0 {
		w.writeLong(c.last - at)
	} else {
		w.writeLong(0)
	}
	w.b = append(w.b, 0)
	var order []string
	by := make(map[string][]constant)
	for _, k := range c.constants {
		if by[k.class] == nil {
			order = append(order, k.class)
		}
		by[k.class] = append(by[k.class], k)
	}
	w.writeInt(int64(len(order)))
	for _, name := range order {
		x := c.findClass(name)
		if x == nil {
			return fmt.Errorf("no class %q", name)
		}
		w.writeLong(x.id)
		w.writeInt(int64(len(by[name])))
		for _, k := range by[name] {
			w.writeLong(k.key)
			rest, err := c.writeValue(w, field{class: name}, k.tokens)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("more than a value: %q", rest)
			}
			if err != nil {
				return fmt.Errorf("constant %d of %s: %w", k.key, name, err)
			}
		}
	}
	c.last, c.constants = at, nil
	c.appendEvent(w)
	return nil
}

// writeMetadata writes the metadata.
func (c *chunk) writeMetadata() {
	var table []string
	word := func(s string) int64 {
		i := slices.Index(table, s)
		if i < 0 {
			i = len(table)
			table = append(table, s)
		}
		return int64(i)
	}
	tree := &writer{wide: c.wide}
	element := func(name string, children int, attributes ...string) {
		tree.writeInt(word(name))
		tree.writeInt(int64(len(attributes) / 2))
		for _, a := range attributes {
			tree.writeInt(word(a))
		}
		tree.writeInt(int64(children))
	}
	// A tree says how many children an element has behind its attributes.
	element("root", 2)
	element("metadata", len(c.classes))
	for _, x := range c.classes {
		attributes := []string{"id", strconv.FormatInt(x.id, 10), "name", x.name}
		if x.event {
			attributes = append(attributes, "superType", "jdk.jfr.Event")
		}
		element("class", len(x.fields), attributes...)
		for _, f := range x.fields {
			id := int64(-1)
			if of := c.findClass(f.class); of != nil {
				id = of.id
			}
			attributes := []string{"name", f.name, "class", strconv.FormatInt(id, 10)}
			if f.array {
				attributes = append(attributes, "dimension", "1")
			}
			if f.pooled {
				attributes = append(attributes, "constantPool", "true")
			}
			if f.unit == "" {
				element("field", 0, attributes...)
				continue
			}
			element("field", 1, attributes...)
			annotation := "jdk.jfr.Timespan"
			if f.name == "startTime" || strings.HasSuffix(f.unit, "_SINCE_EPOCH") {
				annotation = "jdk.jfr.Timestamp"
			}
			element("annotation", 0, "class", strconv.FormatInt(c.findClass(annotation).id, 10), "value", f.unit)
		}
	}
	element("region", 0)
	w := &writer{wide: c.wide}
	w.writeLong(0) // type, start, duration, id
	w.writeLong(0)
	w.writeLong(0)
	w.writeLong(1)
	w.writeInt(int64(len(table)))
	for _, s := range table {
		w.writeText(s)
	}
	w.b = append(w.b, tree.b...)
	c.metadata = int64(len(c.body))
	c.appendEvent(w)
}

func (c *chunk) finishChunk(out []byte) []byte {
	if c == nil {
		return out
	}
	if err := c.writeCheckpoint(); err != nil {
		panic(err) // of a test
	}
	if c.metadata == 0 {
		c.writeMetadata()
	}
	h := c.body
	copy(h, "FLR\x00")
	binary.BigEndian.PutUint16(h[4:], 2)
	binary.BigEndian.PutUint16(h[6:], 1)
	if !c.open {
		for at, v := range map[int]int64{8: int64(len(h)), 16: c.last, 24: c.metadata} {
			binary.BigEndian.PutUint64(h[at:], uint64(v))
		}
	}
	for at, v := range map[int]int64{32: c.start, 40: c.duration, 48: c.ticks, 56: c.frequency} {
		binary.BigEndian.PutUint64(h[at:], uint64(v))
	}
	if c.open {
		h[64] = 1
	}
	if !c.wide {
		h[67] |= 1
	}
	if c.deltas {
		h[67] |= 4
	}
	return append(out, h...)
}

// writeValues writes the fields of a class.
func (c *chunk) writeValues(w *writer, x *class, tokens []string) (_ []string, err error) {
	for _, f := range x.fields {
		if tokens, err = c.writeValue(w, f, tokens); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", x.name, f.name, err)
		}
	}
	return tokens, nil
}

func (c *chunk) writeValue(w *writer, f field, tokens []string) (rest []string, err error) {
	if len(tokens) == 0 {
		return nil, fmt.Errorf("no value")
	}
	one := tokens[0]
	switch {
	case f.array:
		if one != "[" {
			return nil, fmt.Errorf("no array: %q", one)
		}
		element, n := &writer{wide: c.wide}, int64(0)
		for rest = tokens[1:]; len(rest) > 0 && rest[0] != "]"; n++ {
			of := f
			of.array = false
			if rest, err = c.writeValue(element, of, rest); err != nil {
				return nil, err
			}
		}
		if len(rest) == 0 {
			return nil, fmt.Errorf("an array without end")
		}
		w.writeInt(n)
		w.b = append(w.b, element.b...)
		return rest[1:], nil
	case one == "(":
		x := c.findClass(f.class)
		if x == nil {
			return nil, fmt.Errorf("no class %q", f.class)
		}
		if rest, err = c.writeValues(w, x, tokens[1:]); err != nil {
			return nil, err
		}
		if len(rest) == 0 || rest[0] != ")" {
			return nil, fmt.Errorf("no end of a %s at %q", x.name, rest)
		}
		return rest[1:], nil
	}
	return tokens[1:], w.writeScalar(c, f, one)
}

// writeScalar writes a number or a string; a class of one field is written as its field.
func (w *writer) writeScalar(c *chunk, f field, token string) error {
	if x := c.findClass(f.class); !f.pooled && x != nil && len(x.fields) == 1 {
		return w.writeScalar(c, x.fields[0], token)
	}
	if f.class == "java.lang.String" && !f.pooled {
		return w.writeString(token)
	}
	if f.class == "float" || f.class == "double" {
		v, err := strconv.ParseFloat(token, 64)
		if f.class == "float" {
			w.b = binary.BigEndian.AppendUint32(w.b, math.Float32bits(float32(v)))
		} else {
			w.b = binary.BigEndian.AppendUint64(w.b, math.Float64bits(v))
		}
		return err
	}
	v, err := strconv.ParseInt(token, 0, 64)
	switch {
	case f.pooled || f.class == "long":
		w.writeLong(v)
	case f.class == "boolean" || f.class == "byte":
		w.b = append(w.b, byte(v))
	case f.class == "short" || f.class == "char":
		w.writeNumber(v, 2)
	default:
		w.writeInt(v)
	}
	return err
}

type writer struct {
	b    []byte
	wide bool
}

func (w *writer) writeLong(v int64) { w.writeNumber(v, 8) }
func (w *writer) writeInt(v int64)  { w.writeNumber(v, 4) }

func (w *writer) writeNumber(v int64, width int) {
	if w.wide {
		b := binary.BigEndian.AppendUint64(nil, uint64(v))
		w.b = append(w.b, b[8-width:]...)
		return
	}
	u := uint64(v)
	for range 8 {
		if u < 0x80 {
			w.b = append(w.b, byte(u))
			return
		}
		w.b = append(w.b, byte(u)|0x80)
		u >>= 7
	}
	w.b = append(w.b, byte(u))
}

func (w *writer) writeText(s string) {
	w.b = append(w.b, 3)
	w.writeInt(int64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) writeString(token string) error {
	switch {
	case token == "-":
		w.b = append(w.b, 0)
		return nil
	case token[0] == '#':
		key, err := strconv.ParseInt(token[1:], 0, 64)
		w.b = append(w.b, 2)
		w.writeLong(key)
		return err
	}
	quoted := strings.TrimLeft(token, "cl")
	s, err := strconv.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("no string: %s", token)
	}
	switch {
	case s == "":
		w.b = append(w.b, 1)
	case token[0] == 'c':
		chars := utf16.Encode([]rune(s))
		w.b = append(w.b, 4)
		w.writeInt(int64(len(chars)))
		for _, x := range chars {
			w.writeNumber(int64(x), 2)
		}
	case token[0] == 'l':
		runes := []rune(s)
		w.b = append(w.b, 5)
		w.writeInt(int64(len(runes)))
		for _, r := range runes {
			w.b = append(w.b, byte(r))
		}
	default:
		w.writeText(s)
	}
	return nil
}

// splitTokens cuts a line into numbers, strings, and brackets.
func splitTokens(s string) (tokens []string, err error) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		n := strings.IndexAny(s, " ()[]\"")
		switch {
		case n < 0:
			n = len(s)
		case s[n] == '"':
			end := n + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				return nil, fmt.Errorf("a string without end: %s", s)
			}
			n = end + 1
		case n == 0:
			n = 1
		}
		tokens, s = append(tokens, s[:n]), s[n:]
	}
	return tokens, nil
}
