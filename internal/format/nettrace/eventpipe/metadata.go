package eventpipe

// Bounds of the types of events, far above those of any process: a runtime has
// some hundreds.
const (
	maxTypes  = 1 << 16
	maxFields = 1 << 18 // of all types
	maxDepth  = 16      // of objects within objects
)

// types are the types of events by the stream's numbers, which the stream may reuse. The
// same type is the same Metadata under any number.
type types struct {
	all    []*Metadata // from 1
	index  map[string]uint32
	number map[uint32]uint32 // in all, by the stream's number
	dense  []uint32          // likewise, for low numbers: usually all
	fields int
	under  map[derived]uint32 // in all: types as overridden by labels
}

type derived struct {
	of   uint32
	with override
}

// override is the values of labels that replace a type's.
type override struct {
	opcode, level, version int16 // -1: as the type has it
	keywords               int64
	hasKeywords            bool
}

const denseTypes = 1 << 12

func (ts *types) init() {
	ts.all = make([]*Metadata, 1)
	ts.index = map[string]uint32{}
	ts.number = map[uint32]uint32{}
	ts.under = map[derived]uint32{}
}

// get returns the index of a type in all, 0 if there is none.
func (ts *types) get(number uint32) uint32 {
	if uint64(number) < uint64(len(ts.dense)) {
		return ts.dense[number]
	}
	return ts.number[number]
}

// set gives a type its number.
func (ts *types) set(number, place uint32) {
	if number >= denseTypes {
		if len(ts.number) < maxTypes {
			ts.number[number] = place
		}
		return
	}
	for uint64(number) >= uint64(len(ts.dense)) {
		ts.dense = append(ts.dense, make([]uint32, max(64, len(ts.dense)))...)
	}
	ts.dense[number] = place
}

// add keeps a type that is encoded as row, without its number.
func (ts *types) add(row []byte, m *Metadata) (place uint32, ok bool) {
	if len(ts.all) > maxTypes {
		return 0, false
	}
	place = uint32(len(ts.all))
	ts.all = append(ts.all, m)
	ts.index[string(row)] = place
	return place, true
}

// flush forgets the numbers.
func (ts *types) flush() {
	clear(ts.number)
	clear(ts.dense)
}

// overrideType returns a type with the values of labels, the same Metadata for the same values.
func (ts *types) overrideType(place uint32, o override) uint32 {
	key := derived{place, o}
	if d := ts.under[key]; d != 0 {
		return d
	}
	if len(ts.all) > maxTypes {
		return place
	}
	d := *ts.all[place]
	if o.opcode >= 0 {
		d.Opcode = int(o.opcode)
	}
	if o.level >= 0 {
		d.Level = int(o.level)
	}
	if o.version >= 0 {
		d.Version = int32(o.version)
	}
	if o.hasKeywords {
		d.Keywords = o.keywords
	}
	ts.under[key] = uint32(len(ts.all))
	ts.all = append(ts.all, &d)
	return ts.under[key]
}

// decodeMetadata4 decodes a metadata block of versions 4 and 5: its rows are events.
func (r *Reader) decodeMetadata4(data []byte) bool {
	var d decoder
	if !d.beginBlock(data) {
		return false
	}
	for d.at < len(data) {
		_, n := d.decodeHeader()
		if n == 0 || uint64(d.size) > uint64(len(data)-n) {
			return false
		}
		r.defineType4(data[n : n+int(d.size)])
		d.skipPayload(n)
	}
	return true
}

// Tags of version 5 in a type.
const (
	tagOpcode = 1
	tagFields = 2 // instead of those before it, with arrays
)

func (r *Reader) defineType4(row []byte) {
	c := Cursor{data: row}
	number := c.U32()
	row = c.Rest()
	if place := r.types.index[string(row)]; place != 0 {
		r.types.set(number, place)
		return
	}
	m := &Metadata{Provider: c.UTF16(), ID: c.I32(), Name: c.UTF16(), Keywords: c.I64(), Version: c.I32(), Level: int(c.I32())}
	if !c.OK() {
		r.unknown.Types++
		return
	}
	p := fieldParser{c: &c, left: maxFields - r.types.fields}
	if c.Len() > 0 {
		m.Fields = p.parseFields4(0)
	}
	for c.Len() > 0 && p.ok() {
		size := c.U32()
		kind := c.U8()
		tag := Cursor{data: c.Bytes(int(size))}
		if !c.OK() {
			break
		}
		switch kind {
		case tagOpcode:
			m.Opcode = int(tag.U8())
		case tagFields:
			p.c = &tag
			m.Fields = p.parseFields5(0)
		default:
			r.unknown.Tags++
		}
	}
	if !p.ok() || !c.OK() {
		r.unknown.Types++
		m.Fields = nil
	}
	r.types.fields = maxFields - p.left
	r.defineType(number, row, m)
}

func (r *Reader) defineType(number uint32, row []byte, m *Metadata) {
	place, ok := r.types.add(row, m)
	if !ok {
		r.unknown.Types++
	}
	r.types.set(number, place)
}

// decodeMetadata6 decodes a metadata block of version 6.
func (r *Reader) decodeMetadata6(data []byte) bool {
	c := Cursor{data: data}
	c.Skip(int(c.U16()))
	for c.Len() > 0 {
		row := c.Bytes(int(c.U16()))
		if !c.OK() {
			return false
		}
		r.defineType6(row)
	}
	return c.OK()
}

// Optional parts of a type in version 6.
const (
	optionalOpcode   = 1
	optionalKeywords = 3
	optionalTemplate = 4
	optionalText     = 5
	optionalKeyValue = 6
	optionalProvider = 7
	optionalLevel    = 8
	optionalVersion  = 9
)

func (r *Reader) defineType6(row []byte) {
	c := Cursor{data: row}
	number := uint32(c.Uvarint())
	row = c.Rest()
	if place := r.types.index[string(row)]; place != 0 {
		r.types.set(number, place)
		return
	}
	m := &Metadata{Provider: c.readCounted(), ID: int32(c.Uvarint()), Name: c.readCounted()}
	if !c.OK() {
		r.unknown.Types++
		return
	}
	p := fieldParser{c: &c, left: maxFields - r.types.fields}
	m.Fields = p.parseFields6(0)
	r.types.fields = maxFields - p.left
	if !p.ok() {
		r.unknown.Types++
		m.Fields = nil
	} else if c.Len() > 0 {
		r.decodeOptional(m, Cursor{data: c.Bytes(int(c.U16()))})
	}
	r.defineType(number, row, m)
}

// decodeOptional decodes the optional parts after the fields. A part of unknown kind has an unknown size,
// so the rest after it is not read.
func (r *Reader) decodeOptional(m *Metadata, c Cursor) {
	for c.Len() > 0 && c.OK() {
		switch c.U8() {
		case optionalOpcode:
			m.Opcode = int(c.U8())
		case optionalKeywords:
			m.Keywords = c.I64()
		case optionalTemplate, optionalText:
			c.readCounted()
		case optionalKeyValue:
			c.readCounted()
			c.readCounted()
		case optionalProvider:
			c.Skip(16)
		case optionalLevel:
			m.Level = int(c.U8())
		case optionalVersion:
			m.Version = int32(c.U8())
		default:
			r.unknown.Tags++
			return
		}
	}
}
