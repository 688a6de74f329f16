package recorded

import "strconv"

// metadata describes the classes of a chunk.
type metadata struct{ classes map[uint64]*class }

type class struct {
	name   string
	fields []classField
}

type classField struct {
	name          string
	class         uint64
	array, pooled bool
}

// metadataOf reads a chunk's metadata event: a table of strings, and a tree of elements with attributes whose names and values are in the
// table. It ignores what it does not understand.
// https://github.com/openjdk/jdk/blob/master/src/jdk.jfr/share/classes/jdk/jfr/internal/MetadataReader.java
func metadataOf(b []byte) *metadata {
	m := &metadata{classes: make(map[uint64]*class)}
	r := &reader{b: b}
	for range 5 { // size, type, start, duration, id
		r.nextVarint()
	}
	var table []string
	for range r.nextCount() {
		from, to, kind := r.nextString()
		if r.bad {
			return m
		}
		if kind == charArray {
			table = append(table, decodeCharArray(r.b[from:to]))
		} else {
			table = append(table, string(r.b[from:to]))
		}
	}
	m.readElement(r, table, nil, 0)
	return m
}

func (m *metadata) readElement(r *reader, table []string, in *class, depth int) {
	word := func() string {
		if i := r.nextVarint(); i < uint64(len(table)) {
			return table[i]
		}
		r.bad = true
		return ""
	}
	kind := word()
	attributes := make(map[string]string)
	for range r.nextCount() {
		key := word()
		attributes[key] = word()
		if r.bad {
			return
		}
	}
	number := func(key string) uint64 {
		n, _ := strconv.ParseUint(attributes[key], 10, 64)
		return n
	}
	switch kind {
	case "class":
		in = &class{name: attributes["name"]}
		m.classes[number("id")] = in
	case "field":
		if in != nil {
			in.fields = append(in.fields, classField{attributes["name"], number("class"), attributes["dimension"] == "1", attributes["constantPool"] == "true"})
		}
		in = nil
	}
	for range r.nextCount() {
		if r.bad || depth > 16 {
			r.bad = true
			return
		}
		m.readElement(r, table, in, depth+1)
	}
}
