// Package schema writes JSON Schema files (https://json-schema.org, draft 2020-12) of unstall's output for machines, from
// the Go types of the output: docs/schema/ has one for each value of "schema" (docs/json.md).
//
// The package's opinion: a schema describes what is always there and what may be null, in the words of the types' own
// comments. It allows unknown keys, because every version adds keys. The tests forbid them, so that everything that
// is written has a schema.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Draft is the dialect of the files.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// A Document is a schema file.
type Document struct {
	Name  string // the value of "schema": "unstall.load/v1"
	About string
	Type  reflect.Type
	// Fixed says that Name is the value of its key; the schemas of inspect have two.
	Fixed bool
}

// File returns the path below docs/schema: "load-v1.json".
func (d Document) File() string {
	name := strings.TrimPrefix(d.Name, "unstall.")
	return strings.NewReplacer(".", "-", "/", "-").Replace(name) + ".json"
}

// Write renders a schema. A strict one forbids unnamed keys.
func (d Document) Write(root string, strict bool) ([]byte, error) {
	w := &writer{strict: strict, words: &words{root: root}, defs: make(map[reflect.Type]string)}
	top, err := w.objectSchema(d.Type)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", d.Name, err)
	}
	if d.Fixed {
		top.properties.setKey("schema", fields{{"const", d.Name}})
	}
	out := fields{{"$schema", Draft}, {"$id", "urn:" + strings.NewReplacer(".", ":", "/", ":").Replace(d.Name)}, {"title", d.Name}, {"description", d.About}}
	top.about = "" // the document's own text says more
	out = append(out, top.schemaFields()...)
	for i := 0; i < len(w.queue); i++ { // objects inside objects
		x, err := w.objectSchema(w.queue[i])
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", d.Name, err)
		}
		w.done.setKey(w.defs[w.queue[i]], x.schemaFields())
	}
	if len(w.done) > 0 {
		out = append(out, field{"$defs", w.done})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", d.Name, err)
	}
	return b.Bytes(), nil
}

// field is a key of an object whose order is kept.
type field struct {
	key   string
	value any
}

type fields []field

// MarshalJSON writes them in order.
func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", x.key)
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(x.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (f *fields) setKey(key string, value any) {
	for i := range *f {
		if (*f)[i].key == key {
			(*f)[i].value = value
			return
		}
	}
	*f = append(*f, field{key, value})
}

// object is the schema of a struct.
type object struct {
	about      string
	properties fields
	required   []string
	strict     bool
}

func (o *object) schemaFields() fields {
	var out fields
	if o.about != "" {
		out = append(out, field{"description", o.about})
	}
	out = append(out, field{"type", "object"})
	if len(o.properties) > 0 {
		out = append(out, field{"properties", o.properties})
	}
	if len(o.required) > 0 {
		out = append(out, field{"required", o.required})
	}
	if o.strict {
		out = append(out, field{"additionalProperties", false})
	}
	return out
}

type writer struct {
	strict bool
	words  *words
	defs   map[reflect.Type]string // by name in $defs
	queue  []reflect.Type
	done   fields
}

// objectSchema returns the schema of a struct, or of the shape that replaces it.
func (w *writer) objectSchema(t reflect.Type) (*object, error) {
	about := w.words.commentsOf(t)
	as := t
	if o, ok := instead[t]; ok {
		as = o
	}
	o := &object{about: about.text, strict: w.strict}
	return o, w.addMembers(o, as, true)
}

// addMembers adds the fields of a struct and of the structs it embeds; always says that they are
// always present.
func (w *writer) addMembers(o *object, t reflect.Type, always bool) error {
	about := w.words.commentsOf(t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			inner, there := f.Type, always
			if inner.Kind() == reflect.Pointer {
				inner, there = inner.Elem(), false
			}
			if x, ok := instead[inner]; ok && x != t {
				inner = x
			}
			if err := w.addMembers(o, inner, there); err != nil {
				return err
			}
			continue
		}
		if name == "" {
			return fmt.Errorf("%s.%s has no name in JSON", t, f.Name)
		}
		s, err := w.valueSchema(f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		if text := about.fields[f.Name]; text != "" {
			s = append(fields{{"description", text}}, s...)
		}
		o.properties.setKey(name, s)
		if slices.Contains(o.required, name) {
			continue // the embedding struct writes that key in another form
		}
		if always && !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			o.required = append(o.required, name)
		}
	}
	return nil
}

var (
	moment = reflect.TypeFor[time.Time]()
	raw    = reflect.TypeFor[json.RawMessage]()
)

// valueSchema returns the schema of a field's type.
func (w *writer) valueSchema(t reflect.Type) (fields, error) {
	if _, ok := instead[t]; !ok && t.Kind() != reflect.Pointer && t != moment && t != raw && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil, fmt.Errorf("%s writes itself: say in shapes.go what it writes", t)
	}
	switch {
	case t == moment:
		return fields{{"type", "string"}, {"format", "date-time"}}, nil
	case t == raw:
		return fields{}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		s, err := w.valueSchema(t.Elem())
		if err != nil {
			return nil, err
		}
		if len(s) > 0 && s[0].key == "type" {
			s[0].value = []any{s[0].value, "null"}
			return s, nil
		}
		return fields{{"anyOf", []fields{s, {{"type", "null"}}}}}, nil
	case reflect.Slice, reflect.Array:
		s, err := w.valueSchema(t.Elem())
		return fields{{"type", "array"}, {"items", s}}, err
	case reflect.Map:
		s, err := w.valueSchema(t.Elem())
		return fields{{"type", "object"}, {"additionalProperties", s}}, err
	case reflect.Struct:
		return fields{{"$ref", "#/$defs/" + w.defName(t)}}, nil
	case reflect.String:
		return fields{{"type", "string"}}, nil
	case reflect.Bool:
		return fields{{"type", "boolean"}}, nil
	case reflect.Float64, reflect.Float32:
		return fields{{"type", "number"}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fields{{"type", "integer"}}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fields{{"type", "integer"}, {"minimum", 0}}, nil
	}
	return nil, fmt.Errorf("a %s has no schema", t)
}

// defName returns the name of a struct in $defs: its own, with that of its package if two have it.
// It queues a struct that is new.
func (w *writer) defName(t reflect.Type) string {
	if name, ok := w.defs[t]; ok {
		return name
	}
	name := t.Name()
	for _, taken := range w.defs {
		if taken == name {
			name = t.String() // "goheap.Asked"
		}
	}
	w.defs[t] = name
	w.queue = append(w.queue, t)
	return name
}
