// Package columnar writes files of Apache Parquet (https://github.com/apache/parquet-format): rows
// of structs, shredded into columns as Dremel does, with dictionaries where they help, in pages
// compressed by zstd, with the least, the greatest and the number of nulls of each, so that readers
// can skip what they need not read. What it has no need of is not here: other encodings and codecs,
// maps, lists in lists, reading.
package columnar

import (
	"reflect"
	"strings"
	"time"
)

// Node is a column, or a list of them.
type Node struct {
	Name     string
	Kind     Kind
	Optional bool
	Dict     bool    // values come often: they are written once, and numbered
	List     bool    // of elements; of structs, if it has fields
	Fields   []*Node // of the structs of a list

	index []int // of the field in the struct
	leaf  *Leaf // nil: it has fields
}

// Kind is the type of a column's values.
type Kind int

// The kinds, and how docs name them.
const (
	Text Kind = iota
	Int32
	Int64
	Double
	Boolean
	Time // µs since the epoch in UTC
)

func (k Kind) String() string {
	return [...]string{"text", "int32", "int64", "double", "boolean", "timestamp, µs"}[k]
}

// Schema is the columns of a table.
type Schema []*Node

// SchemaOf reads that of a struct from the tags of its fields: `parquet:"name,optional,dict"`, of a
// slice `parquet:"name,list"`. It panics at types that it has no need of.
func SchemaOf(row any) (s Schema) { return fields(reflect.TypeOf(row)) }

func fields(t reflect.Type) (all []*Node) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		of := f.Type
		n := &Node{Name: name, index: f.Index, Dict: strings.Contains(options, "dict")}
		if of.Kind() == reflect.Slice {
			n.List, of = true, of.Elem()
		}
		if of.Kind() == reflect.Pointer {
			n.Optional, of = true, of.Elem()
		}
		switch {
		case of == reflect.TypeFor[time.Time]():
			n.Kind = Time
		case of.Kind() == reflect.Struct && n.List:
			n.Fields = fields(of)
		case of.Kind() == reflect.String:
			n.Kind = Text
		case of.Kind() == reflect.Int32:
			n.Kind = Int32
		case of.Kind() == reflect.Int64:
			n.Kind = Int64
		case of.Kind() == reflect.Float64:
			n.Kind = Double
		case of.Kind() == reflect.Bool:
			n.Kind = Boolean
		default:
			panic(name + ": no column of " + of.String())
		}
		all = append(all, n)
	}
	return all
}

// leaves gives each column its values' place.
func leaves(nodes []*Node, path []string, def, rep int) (all []*Leaf) {
	for _, n := range nodes {
		here := append(append([]string{}, path...), n.Name)
		d, r := def, rep
		if n.List {
			here, d, r = append(here, "list", "element"), d+1, r+1
		}
		if n.Fields != nil {
			all = append(all, leaves(n.Fields, here, d, r)...)
			continue
		}
		if n.Optional {
			d++
		}
		n.leaf = &Leaf{node: n, path: here, def: d, rep: r}
		all = append(all, n.leaf)
	}
	return all
}

// put shreds a value into the columns below a node. Rep is at which list it repeats, def how much of
// the path to it is there.
func (n *Node) put(v reflect.Value, rep, def int) {
	if !n.List {
		n.element(v, rep, def)
		return
	}
	if v.Len() == 0 {
		n.nothing(rep, def)
	}
	for i := range v.Len() {
		if i > 0 {
			rep = 1 // lists are not in lists
		}
		n.element(v.Index(i), rep, def+1)
	}
}

func (n *Node) element(v reflect.Value, rep, def int) {
	for _, f := range n.Fields {
		f.put(v.FieldByIndex(f.index), rep, def)
	}
	if n.Fields != nil {
		return
	}
	if n.Optional {
		if v.IsNil() {
			n.leaf.null(rep, def)
			return
		}
		v, def = v.Elem(), def+1
	}
	l := n.leaf
	switch n.Kind {
	case Text:
		l.text(v.String())
	case Int32, Int64:
		l.int(v.Int())
	case Double:
		l.double(v.Float())
	case Boolean:
		l.bool(v.Bool())
	case Time:
		t, _ := v.Interface().(time.Time)
		l.int(t.UnixMicro())
	}
	l.level(rep, def)
}

// nothing is a list without elements.
func (n *Node) nothing(rep, def int) {
	for _, f := range n.Fields {
		f.nothing(rep, def)
	}
	if n.leaf != nil {
		n.leaf.null(rep, def)
	}
}
