package recording

import (
	"strconv"
	"unicode/utf16"
)

func utf16Text(s []uint16) string { return string(utf16.Decode(s)) }

// Class is a type of events, of constants or of their parts.
type Class struct {
	ID     int64
	Name   string // "jdk.ExecutionSample", "java.lang.Thread", "long"
	Label  string // for people, "" none
	Super  string // "jdk.jfr.Event" of events
	Simple bool   // it stands for its only field
	Fields []Field
	Tag    int // for callers, to store what they know of the class

	kind    kind
	numbers int   // a value consists of this many integers, if those are compressed; 0: it does not
	pool    *pool // its constants; nil: there are none
}

// Event says whether the class is a type of events.
func (c *Class) Event() bool { return c.Super == "jdk.jfr.Event" }

// Field finds a field, -1 if there is none.
func (c *Class) Field(name string) int {
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Field is a field of a class.
type Field struct {
	Name   string
	Class  *Class // nil: the metadata lacks it
	Array  bool
	Pooled bool // a field holds the key of a constant
	Unit   Unit

	class int64
	how   how
}

// how is how a field's value is decoded, precomputed because each event needs it.
type how uint8

const (
	aside how = iota // only its position is needed
	aByte
	aShort
	aChar
	anInt
	aLong // or a key
	aFloat
	aDouble
	aStructure
)

func (f *Field) valueForm() how {
	switch {
	case f.Array || f.Class == nil && !f.Pooled:
		return aside
	case f.Pooled:
		return aLong
	}
	switch f.Class.kind {
	case oneByte:
		return aByte
	case twoBytes:
		if f.Class.Name == "char" {
			return aChar
		}
		return aShort
	case fourBytes:
		return anInt
	case eightBytes:
		return aLong
	case floatKind:
		return aFloat
	case doubleKind:
		return aDouble
	}
	return aStructure
}

// Unit is the unit of a number, from the annotations of its field.
type Unit uint8

// Units. Times are returned in ns from any recorded unit.
const (
	Plain Unit = iota
	SpanTicks
	SpanNanos
	SpanMicros
	SpanMillis
	SpanSeconds
	TimeTicks
	TimeMillis // since the epoch
	TimeNanos  // since the epoch
)

// units are the values of the annotations jdk.jfr.Timespan and jdk.jfr.Timestamp
// (https://docs.oracle.com/en/java/javase/21/docs/api/jdk.jfr/jdk/jfr/Timespan.html).
var units = map[string]map[string]Unit{
	"jdk.jfr.Timespan":  {"TICKS": SpanTicks, "NANOSECONDS": SpanNanos, "MICROSECONDS": SpanMicros, "MILLISECONDS": SpanMillis, "SECONDS": SpanSeconds},
	"jdk.jfr.Timestamp": {"TICKS": TimeTicks, "MILLISECONDS_SINCE_EPOCH": TimeMillis, "NANOSECONDS_SINCE_EPOCH": TimeNanos},
}

// kind is the encoding of a class's value.
type kind uint8

const (
	composite kind = iota
	oneByte
	twoBytes
	fourBytes
	eightBytes
	floatKind
	doubleKind
	stringKind
)

var kinds = map[string]kind{"boolean": oneByte, "byte": oneByte, "short": twoBytes, "char": twoBytes, "int": fourBytes, "long": eightBytes,
	"float": floatKind, "double": doubleKind, "java.lang.String": stringKind}

const (
	mostDepth = 16 // of elements of the metadata, and of structures in structures
	metaType  = 0
	checkType = 1
)

// decodeMetadata decodes an event of type 0 from behind its type: a table of strings, and a tree
// of elements, each with attributes whose names and values are in the table.
// https://github.com/openjdk/jdk/blob/master/src/jdk.jfr/share/classes/jdk/jfr/internal/MetadataReader.java
func decodeMetadata(c cursor) (map[int64]*Class, bool) {
	c.readLong() // start
	c.readLong() // duration
	c.readLong() // id
	m := &tree{cursor: c, classes: make(map[int64]*Class)}
	n := m.readCount()
	for range n {
		s, _, _ := m.readString()
		if m.bad {
			return nil, false
		}
		m.strings = append(m.strings, s)
	}
	m.readElement(nil, nil, 0)
	for _, x := range m.classes {
		for i := range x.Fields {
			x.Fields[i].Class = m.classes[x.Fields[i].class]
			x.Fields[i].how = x.Fields[i].valueForm()
		}
	}
	for _, x := range m.classes {
		x.numbers = x.countIntegers()
	}
	m.applyAnnotations()
	return m.classes, !m.bad
}

// countIntegers counts the integers of a structure that consists of integers only, such as a frame of a
// stack; 0 for others.
func (c *Class) countIntegers() int {
	if c.kind != composite {
		return 0
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		number := f.Pooled
		if !number && f.Class != nil {
			number = f.Class.kind == twoBytes || f.Class.kind == fourBytes || f.Class.kind == eightBytes
		}
		if f.Array || !number {
			return 0
		}
	}
	return len(c.Fields)
}

// tree is the metadata while it is read.
type tree struct {
	cursor
	strings []string
	classes map[int64]*Class
	notes   []note
}

// note is an annotation of a field or class.
type note struct {
	on    *Class
	field int // -1: of the class
	class int64
	value string
}

func (t *tree) readWord() string {
	if i := t.readInt(); i >= 0 && i < int64(len(t.strings)) {
		return t.strings[i]
	}
	t.markBad()
	return ""
}

// readElement reads an element within a class, and within a field or annotation of it.
func (t *tree) readElement(in *Class, field *Field, depth int) {
	if depth > mostDepth {
		t.markBad()
	}
	kind := t.readWord()
	attributes := make(map[string]string, 4)
	for range t.readCount() {
		key := t.readWord()
		attributes[key] = t.readWord()
		if t.bad {
			return
		}
	}
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(attributes[key], 10, 64)
		return n
	}
	switch kind {
	case "class":
		in = &Class{ID: number("id"), Name: attributes["name"], Super: attributes["superType"], Simple: attributes["simpleType"] == "true"}
		in.kind = kinds[in.Name]
		t.classes[in.ID] = in
		field = nil
	case "field":
		if in != nil {
			in.Fields = append(in.Fields, Field{Name: attributes["name"], class: number("class"),
				Array: attributes["dimension"] == "1", Pooled: attributes["constantPool"] == "true"})
			field = &in.Fields[len(in.Fields)-1]
		}
	case "annotation":
		if in != nil {
			x := note{on: in, field: -1, class: number("class"), value: attributes["value"]}
			if field != nil {
				x.field = len(in.Fields) - 1
			}
			t.notes = append(t.notes, x)
		}
	}
	for range t.readCount() {
		if t.bad {
			return
		}
		t.readElement(in, field, depth+1)
	}
}

// applyAnnotations applies annotations, whose classes may come after them.
func (t *tree) applyAnnotations() {
	for _, x := range t.notes {
		c := t.classes[x.class]
		switch {
		case c == nil:
		case x.field >= 0:
			if u := units[c.Name][x.value]; u != Plain {
				x.on.Fields[x.field].Unit = u
			}
		case c.Name == "jdk.jfr.Label":
			x.on.Label = x.value
		}
	}
}
