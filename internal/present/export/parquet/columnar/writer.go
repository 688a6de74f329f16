package columnar

import (
	"encoding/binary"
	"io"
	"reflect"

	"github.com/klauspost/compress/zstd"
)

// Writer writes a file.
type Writer struct {
	w      io.Writer
	schema Schema
	leaves []*Leaf
	most   int // rows of a group
	zstd   *zstd.Encoder

	at     int64
	rows   int64 // of the group that is open
	groups []group
	err    error
}

// group is a row group that is written.
type group struct {
	rows, bytes, compressed, at int64
	chunks                      []chunk
}

// chunk is a column's part of it.
type chunk struct {
	leaf                     *Leaf
	values, nulls            int64
	bytes, compressed        int64
	dictionary, data         int64 // where the pages are, dictionary 0 none
	least, most              []byte
	hasDictionary, hasBounds bool
}

// magic is what a file begins and ends with.
const magic = "PAR1"

// NewWriter writes row groups of so many rows.
func NewWriter(w io.Writer, schema Schema, rows int) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	x := &Writer{w: w, schema: schema, leaves: leaves(schema, nil, 0, 0), most: rows, zstd: z}
	x.write([]byte(magic))
	return x, x.err
}

// Write writes a row, a pointer to the struct that the schema is of.
func (w *Writer) Write(row any) error {
	v := reflect.ValueOf(row).Elem()
	for _, n := range w.schema {
		n.put(v.FieldByIndex(n.index), 0, 0)
	}
	return w.End()
}

// Columns are those of a table without lists: who puts a value into each calls End.
func (w *Writer) Columns() []*Leaf { return w.leaves }

// End ends a row whose values were put into the columns.
func (w *Writer) End() error {
	if w.rows++; w.rows >= int64(w.most) {
		w.group()
	}
	return w.err
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.at += int64(len(b))
	}
}

func (w *Writer) group() {
	if w.rows == 0 {
		return
	}
	g := group{rows: w.rows, at: w.at}
	for _, l := range w.leaves {
		c := w.chunk(l)
		g.bytes, g.compressed = g.bytes+c.bytes, g.compressed+c.compressed
		g.chunks = append(g.chunks, c)
		l.clear()
	}
	w.groups, w.rows = append(w.groups, g), 0
}

func (w *Writer) chunk(l *Leaf) chunk {
	c := chunk{leaf: l, values: int64(len(l.defs)), nulls: l.nulls, least: l.least, most: l.most, hasDictionary: l.node.Dict, hasBounds: l.least != nil && l.most != nil && !l.long}
	from := w.at
	if l.node.Dict {
		c.dictionary = w.at
		c.bytes += w.page(l.plain, func(t *thrift) {
			t.structure(7, func() { t.i32(1, len(l.known)); t.i32(2, plainEncoding) })
		}, dictionaryPage)
	}
	c.data = w.at
	c.bytes += w.page(l.page(), func(t *thrift) {
		t.structure(5, func() {
			t.i32(1, len(l.defs))
			t.i32(2, l.encoding())
			t.i32(3, rleEncoding)
			t.i32(4, rleEncoding)
		})
	}, dataPage)
	c.compressed = w.at - from
	return c
}

// The enumerations of parquet.thrift.
const (
	dataPage       = 0
	dictionaryPage = 2
	plainEncoding  = 0
	rleEncoding    = 3
	dictEncoding   = 8
	zstdCodec      = 6
)

// page writes one and its header, and returns how long both are before compression.
func (w *Writer) page(text []byte, header func(*thrift), kind int) int64 {
	small := w.zstd.EncodeAll(text, nil)
	var t thrift
	t.inside(func() {
		t.i32(1, kind)
		t.i32(2, len(text))
		t.i32(3, len(small))
		header(&t)
	})
	w.write(t.b)
	w.write(small)
	return int64(len(t.b) + len(text))
}

func (l *Leaf) encoding() int {
	if l.node.Dict {
		return dictEncoding
	}
	return plainEncoding
}

// Close writes what is left and the footer. The file is the caller's.
func (w *Writer) Close() error {
	w.group()
	_ = w.zstd.Close()
	var t thrift
	t.inside(func() {
		t.i32(1, 2)
		w.schemaTo(&t)
		var rows int64
		for _, g := range w.groups {
			rows += g.rows
		}
		t.i64(3, rows)
		t.list(4, typeStruct, len(w.groups))
		for i := range w.groups {
			w.groups[i].to(&t)
		}
		t.binary(6, "unstall")
		t.list(7, typeStruct, len(w.leaves))
		for range w.leaves {
			t.inside(func() { t.structure(1, func() {}) }) // the least and the greatest are by the order of the type
		}
	})
	w.write(t.b)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(t.b))))
	w.write([]byte(magic))
	return w.err
}

func (g *group) to(t *thrift) {
	t.inside(func() {
		t.list(1, typeStruct, len(g.chunks))
		for i := range g.chunks {
			g.chunks[i].to(t)
		}
		t.i64(2, g.bytes)
		t.i64(3, g.rows)
		t.i64(5, g.at)
		t.i64(6, g.compressed)
	})
}

func (c *chunk) to(t *thrift) {
	l := c.leaf
	t.inside(func() {
		t.i64(2, 0) // none of it is elsewhere
		t.structure(3, func() {
			t.i32(1, l.node.Kind.physical())
			encodings := []int{plainEncoding, rleEncoding}
			if c.hasDictionary {
				encodings = append(encodings, dictEncoding)
			}
			t.list(2, typeI32, len(encodings))
			for _, e := range encodings {
				t.b = binary.AppendVarint(t.b, int64(e))
			}
			t.list(3, typeBinary, len(l.path))
			for _, name := range l.path {
				t.text(name)
			}
			t.i32(4, zstdCodec)
			t.i64(5, c.values)
			t.i64(6, c.bytes)
			t.i64(7, c.compressed)
			t.i64(9, c.data)
			if c.hasDictionary {
				t.i64(11, c.dictionary)
			}
			t.structure(12, func() {
				t.i64(3, c.nulls)
				if c.hasBounds {
					t.binary(5, string(c.most))
					t.binary(6, string(c.least))
				}
			})
		})
	})
}

// physical is the type that values are stored as.
func (k Kind) physical() int {
	return [...]int{Text: 6, Int32: 1, Int64: 2, Double: 5, Boolean: 0, Time: 2}[k]
}

// schemaTo writes the schema as the list of its nodes, depth first.
func (w *Writer) schemaTo(t *thrift) {
	count := 1
	for _, n := range w.schema {
		count += n.count()
	}
	t.list(2, typeStruct, count)
	t.inside(func() {
		t.binary(4, "schema")
		t.i32(5, len(w.schema))
	})
	for _, n := range w.schema {
		n.to(t)
	}
}

func (n *Node) count() int {
	count := 1
	if n.List {
		count += 2
	}
	for _, f := range n.Fields {
		count += f.count()
	}
	return count
}

// How often a node is there.
const (
	required = 0
	optional = 1
	repeated = 2
)

// to writes a node; a list is a group of a repeated group of its element
// (https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists).
func (n *Node) to(t *thrift) {
	name := n.Name
	if n.List {
		t.inside(func() {
			t.i32(3, required)
			t.binary(4, n.Name)
			t.i32(5, 1)
			t.i32(6, 3)
			t.structure(10, func() { t.structure(3, func() {}) })
		})
		t.inside(func() {
			t.i32(3, repeated)
			t.binary(4, "list")
			t.i32(5, 1)
		})
		name = "element"
	}
	t.inside(func() {
		if n.Fields == nil {
			t.i32(1, n.Kind.physical())
		}
		if n.Optional {
			t.i32(3, optional)
		} else {
			t.i32(3, required)
		}
		t.binary(4, name)
		if n.Fields != nil {
			t.i32(5, len(n.Fields))
			return
		}
		n.Kind.logical(t)
	})
	for _, f := range n.Fields {
		f.to(t)
	}
}

// logical writes what values mean, as readers before and since 2.4 of the format want it.
func (k Kind) logical(t *thrift) {
	switch k {
	case Text:
		t.i32(6, 0)
		t.structure(10, func() { t.structure(1, func() {}) })
	case Int32, Int64:
		t.i32(6, map[Kind]int{Int32: 17, Int64: 18}[k])
		t.structure(10, func() {
			t.structure(10, func() {
				t.field(1, typeByte)
				t.b = append(t.b, map[Kind]byte{Int32: 32, Int64: 64}[k])
				t.bool(2, true)
			})
		})
	case Time:
		t.i32(6, 10)
		t.structure(10, func() {
			t.structure(8, func() {
				t.bool(1, true)
				t.structure(2, func() { t.structure(2, func() {}) })
			})
		})
	}
}
