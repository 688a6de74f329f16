package exchanges

import (
	"strings"

	"golang.org/x/net/http2/hpack"
)

// headerName is an HTTP/2 header that is kept from a block; others are dropped.
type headerName uint8

const (
	otherHeader headerName = iota
	methodHeader
	pathHeader
	statusHeader
	contentHeader
	grpcHeader
)

var headerNames = map[string]headerName{":method": methodHeader, ":path": pathHeader, ":status": statusHeader, "content-type": contentHeader, "grpc-status": grpcHeader}

// headers are the kept fields of a block, "" unknown.
type headers struct {
	of [grpcHeader + 1]string
	// unnamed stands for fields that were named in the unknown part of the table: equal for the same fields, 0 for none.
	unnamed uint64
}

// field is a field of a block, or of a table; value is "" unless it is kept.
type field struct {
	name  headerName
	value string
}

// staticFields are the kept fields of the table that both ends know (RFC 7541, appendix A).
var staticFields = map[int]field{
	2: {methodHeader, "GET"}, 3: {methodHeader, "POST"}, 4: {pathHeader, "/"}, 5: {pathHeader, "/index.html"},
	8: {statusHeader, "200"}, 9: {statusHeader, "204"}, 10: {statusHeader, "206"}, 11: {statusHeader, "304"}, 12: {statusHeader, "400"},
	13: {statusHeader, "404"}, 14: {statusHeader, "500"}, 31: {contentHeader, ""},
}

// table holds the fields that one end has told the other to remember, the latest last. It holds all of them, or those since a block that was not
// kept in full. Places count from the latest field, so that earlier fields need not be known.
type table struct {
	fields []field
	added  int // number of fields added since then
	parts  int // number of times that something was missing
}

const (
	staticLast = 61
	mostFields = 1 << 10 // most remembered fields
	mostValue  = 1 << 9  // longest kept path, bytes
)

func (t *table) fieldAt(place int) field {
	if place <= staticLast {
		return staticFields[place]
	}
	if i := len(t.fields) - (place - staticLast); i >= 0 && i < len(t.fields) {
		return t.fields[i]
	}
	return field{}
}

func (t *table) addField(f field) {
	if len(t.fields) >= mostFields {
		t.fields = t.fields[:copy(t.fields, t.fields[len(t.fields)-mostFields/2:])]
	}
	t.fields = append(t.fields, f)
	t.added++
}

// placeBeforeKnown returns how far before the first known field a field was named; 0 if the field is known.
func (t *table) placeBeforeKnown(place int) int {
	if n := place - staticLast - t.added; n > 0 {
		return n
	}
	return 0
}

// forgetFields forgets all fields, after a missed block that changed the table.
func (t *table) forgetFields() {
	t.fields, t.added = t.fields[:0], 0
	t.parts++
}

// decodeBlock decodes a header block (RFC 7541, section 6). whole says that its end is there.
func (t *table) decodeBlock(block []byte, whole bool) (h headers) {
	b := cursor{rest: block}
	for len(b.rest) > 0 && !b.cut {
		var f field
		switch first := b.rest[0]; {
		case first&0x80 != 0:
			place := b.readInteger(7)
			if n := t.placeBeforeKnown(place); n > 0 && !b.cut {
				h.unnamed = (h.unnamed ^ uint64(n)<<16 ^ uint64(t.parts) + 1) * 0x100000001b3 // FNV-1a
			}
			f = t.fieldAt(place)
		case first&0xe0 == 0x20: // the size of the table changes
			b.readInteger(5)
			continue
		default:
			bits := uint(4)
			if first&0x40 != 0 {
				bits = 6
			}
			if place := b.readInteger(bits); place > 0 {
				f.name = t.fieldAt(place).name
			} else {
				f.name = headerNames[b.readString(true)]
			}
			f.value = b.readString(f.name != otherHeader)
			if first&0x40 != 0 && !b.cut {
				t.addField(f)
			}
		}
		if f.name != otherHeader && !b.cut {
			h.of[f.name] = f.value
		}
	}
	if b.cut || !whole {
		t.forgetFields()
	}
	return h
}

// cursor reads a block. cut says that the block ended within a value.
type cursor struct {
	rest []byte
	cut  bool
}

// readInteger decodes an integer that begins in a number of bits of its first byte (section 5.1).
func (c *cursor) readInteger(bits uint) int {
	if len(c.rest) == 0 {
		c.cut = true
		return 0
	}
	most := 1<<bits - 1
	n := int(c.rest[0]) & most
	c.rest = c.rest[1:]
	if n < most {
		return n
	}
	for shift := uint(0); shift <= 21; shift += 7 {
		if len(c.rest) == 0 {
			break
		}
		b := c.rest[0]
		c.rest = c.rest[1:]
		n += int(b&0x7f) << shift
		if b&0x80 == 0 {
			return n
		}
	}
	c.cut = true
	return 0
}

// readString decodes a string (section 5.2); "" if the string is not wanted or too long to be kept.
func (c *cursor) readString(wanted bool) string {
	coded := len(c.rest) > 0 && c.rest[0]&0x80 != 0
	n := c.readInteger(7)
	if c.cut || n > len(c.rest) {
		c.cut = true
		return ""
	}
	raw := c.rest[:n]
	c.rest = c.rest[n:]
	switch {
	case !wanted || n > mostValue:
		return ""
	case coded:
		s, err := hpack.HuffmanDecodeToString(raw)
		if err != nil || len(s) > 2*mostValue {
			return ""
		}
		return s
	}
	return string(raw)
}

// isGRPC says whether a request or its answer is of gRPC.
func (h *headers) isGRPC() bool { return strings.HasPrefix(h.of[contentHeader], "application/grpc") }
