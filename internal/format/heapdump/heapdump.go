// Package heapdump reads heap dumps of a JVM (.hprof: jmap -dump, jcmd GC.heap_dump, HeapDumpOnOutOfMemoryError): the number of
// objects of each class, their own size, and the memory that they keep alive. It reads the dump once, from front to back, and
// keeps counts by class and the names of classes. For dumps of up to two million objects it also keeps the references (graph.go), from which
// it computes dominators (dominators.go). In larger dumps the retained memory is unknown.
//
// Source: https://hg.openjdk.org/jdk8/jdk8/jdk/raw-file/tip/src/share/demo/jvmti/hprof/manual.html#mozTocId848088, and HotSpot's
// heapDumper.cpp. An object takes its fields and a header of 16 bytes, an array 16 (JVMs of 64 bits with compressed
// class pointers), both rounded up to 8: HotSpot's own figures, which the dump does not have.
package heapdump

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/classhisto"
)

// Format reads heap dumps.
var Format = format.Format{
	Name:    "heapdump",
	About:   "heap dumps of a JVM (.hprof): objects and bytes by class, and what they keep alive in dumps of up to two million objects",
	Whole:   true,
	Moments: true,
	Match: func(head []byte) format.Confidence {
		return format.SureIf(bytes.HasPrefix(head, []byte("JAVA PROFILE 1.0.")))
	},
	Parse: parseArtifact,
}

// Bounds of what is kept: about 200 MB at worst.
const (
	maxClasses = 500_000
	maxNames   = 64 << 20 // bytes of strings that may be names of classes
	maxName    = 300
	maxShown   = 2000
)

// Tags of records and of the parts of a dump's segment.
const (
	tagString  = 0x01
	tagClass   = 0x02
	tagDump    = 0x0c
	tagSegment = 0x1c

	subClass     = 0x20
	subInstance  = 0x21
	subObjects   = 0x22
	subPrimitive = 0x23
)

// roots are the lengths of root records, in identifiers and in further bytes.
var roots = map[byte][2]int{0xff: {1, 0}, 0x01: {2, 0}, 0x02: {1, 8}, 0x03: {1, 8}, 0x04: {1, 4}, 0x05: {1, 0}, 0x06: {1, 4}, 0x07: {1, 0}, 0x08: {1, 8}}

var primitives = map[byte]struct {
	size int64
	name string
}{4: {1, "[Z"}, 5: {2, "[C"}, 6: {4, "[F"}, 7: {8, "[D"}, 8: {1, "[B"}, 9: {2, "[S"}, 10: {4, "[I"}, 11: {8, "[J"}}

type count struct {
	objects, bytes int64
}

type reader struct {
	in      *bufio.Reader
	ids     int
	left    int64 // of the record
	names   map[uint64]string
	kept    int               // bytes of these
	classes map[uint64]uint64 // object → string
	counts  map[uint64]*count
	arrays  map[byte]*count
	objects int64
	dropped int64

	graph *graph // nil: given up
}

var errOdd = errors.New("a record of a kind that is not known")

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	x := &reader{in: bufio.NewReaderSize(r, 1<<20), names: make(map[uint64]string), classes: make(map[uint64]uint64), counts: make(map[uint64]*count), arrays: make(map[byte]*count), graph: newGraph()}
	at, err := x.readHeader()
	if err != nil {
		return fmt.Errorf("heapdump: its header is damaged: %w", err)
	}
	err = x.readRecords(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if x.objects == 0 {
		if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("heapdump: it breaks off before the first object: write it again with jcmd PID GC.heap_dump FILE")
		}
		return fmt.Errorf("heapdump: %w", err)
	}
	if err != nil {
		b.Cut()
		b.Warnf(0, "the dump breaks off: what came before it was counted")
	}
	if x.dropped > 0 {
		b.Warnf(0, "classes that were not kept: %d", x.dropped)
	}
	if x.graph == nil || err != nil {
		b.Warnf(0, "objects are counted with what they take themselves; what they keep alive shows a tool that walks references (Eclipse MAT)")
	} else {
		x.addRetainedTables(b)
	}
	return classhisto.Format.Parse(ctx, format.Rewritten(a, x.histogramLines(at)), b)
}

func (x *reader) readHeader() (at int64, err error) {
	name, err := x.in.ReadBytes(0)
	if err != nil || len(name) > 64 {
		return 0, errOdd
	}
	var h [12]byte
	if _, err := io.ReadFull(x.in, h[:]); err != nil {
		return 0, err
	}
	x.ids = int(binary.BigEndian.Uint32(h[:4]))
	if x.ids != 4 && x.ids != 8 {
		return 0, errOdd
	}
	return int64(binary.BigEndian.Uint64(h[4:])), nil
}

func (x *reader) readRecords(ctx context.Context) error {
	var h [9]byte
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.ReadFull(x.in, h[:]); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		x.left = int64(binary.BigEndian.Uint32(h[5:]))
		var err error
		switch h[0] {
		case tagString:
			err = x.readName()
		case tagClass:
			err = x.readClass()
		case tagDump, tagSegment:
			if h[0] == tagDump && x.left == 0 {
				x.left = 1 << 62 // longer than its field can say: up to the end
			}
			err = x.readSegment(ctx)
		}
		if err == nil {
			err = x.skip(x.left)
		}
		if err != nil {
			return err
		}
	}
}

func (x *reader) skip(n int64) error {
	if n < 0 {
		return errOdd
	}
	x.left -= n
	for n > 0 {
		k, err := x.in.Discard(int(min(n, 1<<30)))
		n -= int64(k)
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *reader) readUint(size int) (v uint64, err error) {
	x.left -= int64(size)
	b, err := x.in.Peek(size)
	switch {
	case err == io.EOF && len(b) > 0:
		return 0, io.ErrUnexpectedEOF
	case err != nil:
		return 0, err
	}
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	_, err = x.in.Discard(size)
	return v, err
}

func (x *reader) readID() (uint64, error) { return x.readUint(x.ids) }

func (x *reader) readName() error {
	id, err := x.readID()
	if err != nil || x.left < 0 || x.left > maxName || x.kept+int(x.left) > maxNames {
		return err
	}
	b := make([]byte, x.left)
	x.left = 0
	if _, err := io.ReadFull(x.in, b); err != nil {
		return err
	}
	x.names[id] = string(b)
	x.kept += len(b) + 32
	return nil
}

func (x *reader) readClass() error {
	if err := x.skip(4); err != nil {
		return err
	}
	object, err := x.readID()
	if err != nil {
		return err
	}
	if err := x.skip(4); err != nil {
		return err
	}
	name, err := x.readID()
	if err == nil && len(x.classes) < maxClasses {
		x.classes[object] = name
	}
	return err
}

func (x *reader) ensureCount(class uint64) *count {
	c := x.counts[class]
	if c == nil {
		if len(x.counts) == maxClasses {
			x.dropped++
			return &count{}
		}
		c = &count{}
		x.counts[class] = c
	}
	return c
}

func (x *reader) readSegment(ctx context.Context) error {
	for n := 0; x.left > 0; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		tag, err := x.readUint(1)
		if err != nil {
			if err == io.EOF && x.left > 1<<61 {
				x.left = 0
				return nil
			}
			return err
		}
		if root, ok := roots[byte(tag)]; ok {
			id, err := x.readID()
			if err == nil {
				err = x.skip(int64((root[0]-1)*x.ids + root[1]))
			}
			if err != nil {
				return err
			}
			if x.graph != nil && len(x.graph.roots) < maxRoots {
				x.graph.roots = append(x.graph.roots, id)
			}
			continue
		}
		switch byte(tag) {
		case subClass:
			err = x.readClassDump()
		case subInstance:
			err = x.readInstance()
		case subObjects:
			err = x.readObjectArray()
		case subPrimitive:
			err = x.readPrimitiveArray()
		default:
			if x.left > 1<<61 {
				x.left = 0
				return nil // records follow
			}
			return errOdd
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readClassDump reads a class's own record: its fields, and the references of its static fields.
func (x *reader) readClassDump() error {
	object, err := x.readID()
	if err == nil {
		err = x.skip(4)
	}
	super, loader := uint64(0), uint64(0)
	for i := range 6 { // the class above, its loader, signers, protection domain, two that are free
		if err != nil {
			return err
		}
		var id uint64
		switch id, err = x.readID(); i {
		case 0:
			super = id
		case 1:
			loader = id
		}
		x.addReference(id, i == 0, object)
	}
	if err == nil {
		err = x.skip(4)
	}
	if err != nil {
		return err
	}
	l := &layout{super: super}
	for step, before := range []int64{2, int64(x.ids), int64(x.ids)} { // constants, static fields, fields
		n, err := x.readUint(2)
		if err != nil {
			return err
		}
		for range n {
			if err := x.skip(before); err != nil {
				return err
			}
			kind, err := x.readUint(1)
			if err != nil {
				return err
			}
			p, ok := primitives[byte(kind)]
			switch {
			case kind != 2 && !ok:
				return errOdd
			case step == 2:
				l.own = append(l.own, byte(kind))
			case kind == 2:
				id, err := x.readID()
				if err != nil {
					return err
				}
				x.addReference(id, false, 0)
			default:
				if err := x.skip(p.size); err != nil {
					return err
				}
			}
		}
	}
	if x.graph != nil {
		if len(x.graph.layouts) == maxClasses {
			x.graph = nil
			return nil
		}
		x.graph.layouts[object] = l
		switch {
		case loader != 0:
			x.graph.defined[loader] = append(x.graph.defined[loader], object)
		case len(x.graph.roots) < maxRoots:
			x.graph.roots = append(x.graph.roots, object)
		}
	}
	return nil
}

// addReference adds a reference of the object being read, and gives up the graph if there is no
// room. If begin is set, it is the first reference of a class, which it adds too.
func (x *reader) addReference(to uint64, begin bool, class uint64) {
	if x.graph == nil {
		return
	}
	if begin && !x.graph.addObject(class, classOfClasses, 16) || !x.graph.addReference(to) {
		x.graph = nil
	}
}

// objectSize returns the bytes of an object with its header, aligned.
func objectSize(n int64) int64 { return (n + 16 + 7) &^ 7 }

func (x *reader) readInstance() error {
	object, err := x.readID()
	if err == nil {
		err = x.skip(4)
	}
	if err != nil {
		return err
	}
	class, err := x.readID()
	if err != nil {
		return err
	}
	n, err := x.readUint(4)
	if err != nil {
		return err
	}
	c := x.ensureCount(class)
	c.objects++
	c.bytes += objectSize(int64(n))
	x.objects++
	if x.graph == nil {
		return x.skip(int64(n))
	}
	l, ok := x.graph.layoutOf(class, x.ids)
	if !ok || int64(l.size) > int64(n) || !x.graph.addObject(object, class, objectSize(int64(n))) {
		x.graph = nil
		return x.skip(int64(n))
	}
	if len(l.at) == 0 {
		return x.skip(int64(n))
	}
	at := int32(0)
	for _, to := range l.at {
		if err := x.skip(int64(to - at)); err != nil {
			return err
		}
		id, err := x.readID()
		if err != nil {
			return err
		}
		at = to + int32(x.ids)
		x.addReference(id, false, 0)
	}
	return x.skip(int64(n) - int64(at))
}

func (x *reader) readObjectArray() error {
	object, err := x.readID()
	if err == nil {
		err = x.skip(4)
	}
	if err != nil {
		return err
	}
	n, err := x.readUint(4)
	if err != nil {
		return err
	}
	class, err := x.readID()
	if err != nil {
		return err
	}
	c := x.ensureCount(class)
	c.objects++
	c.bytes += objectSize(int64(n) * 4) // references take 4 bytes below 32 GB
	x.objects++
	if x.graph != nil && !x.graph.addObject(object, class, objectSize(int64(n)*4)) {
		x.graph = nil
	}
	if x.graph == nil {
		return x.skip(int64(n) * int64(x.ids))
	}
	for i := range n {
		id, err := x.readID()
		if err != nil {
			return err
		}
		if x.addReference(id, false, 0); x.graph == nil {
			return x.skip(int64(n-i-1) * int64(x.ids))
		}
	}
	return nil
}

func (x *reader) readPrimitiveArray() error {
	object, err := x.readID()
	if err == nil {
		err = x.skip(4)
	}
	if err != nil {
		return err
	}
	n, err := x.readUint(4)
	if err != nil {
		return err
	}
	kind, err := x.readUint(1)
	if err != nil {
		return err
	}
	p, ok := primitives[byte(kind)]
	if !ok {
		return errOdd
	}
	c := x.arrays[byte(kind)]
	if c == nil {
		c = &count{}
		x.arrays[byte(kind)] = c
	}
	c.objects++
	c.bytes += objectSize(int64(n) * p.size)
	x.objects++
	if x.graph != nil && !x.graph.addObject(object, kind, objectSize(int64(n)*p.size)) {
		x.graph = nil
	}
	return x.skip(int64(n) * p.size)
}

// histogramLines returns the output of jmap -histo for the same heap.
func (x *reader) histogramLines(at int64) (lines []format.Line) {
	type class struct {
		name string
		*count
	}
	var all []class
	for id, c := range x.counts {
		name := strings.ReplaceAll(x.names[x.classes[id]], "/", ".")
		if name == "" || strings.ContainsAny(name, " \t\r\n") {
			name = "unknown"
		}
		all = append(all, class{name, c})
	}
	for kind, c := range x.arrays {
		all = append(all, class{primitives[kind].name, c})
	}
	sort.Slice(all, func(i, j int) bool {
		return all[i].bytes > all[j].bytes || all[i].bytes == all[j].bytes && all[i].name < all[j].name
	})
	add := func(text string, args ...any) {
		lines = append(lines, format.Line{Text: []byte(fmt.Sprintf(text, args...)), Number: 1})
	}
	if t := time.UnixMilli(at).UTC(); t.Year() > 1995 && t.Year() < 2200 {
		add("%s", t.Format("2006-01-02 15:04:05"))
	}
	add(" num     #instances         #bytes  class name")
	add("----------------------------------------------")
	var objects, total int64
	for i, c := range all {
		objects, total = objects+c.objects, total+c.bytes
		if i < maxShown {
			add("%4d: %13d %14d  %s", i+1, c.objects, c.bytes, c.name)
		}
	}
	add("Total %13d %14d", objects, total)
	return lines
}
