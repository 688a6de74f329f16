package exchanges

import (
	"strings"

	"golang.org/x/net/http2/hpack"
)

// headerName is one of the headers of HTTP/2 that are kept of a block; of others nothing is.
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

// headers are the fields of a block that are kept, "" unknown.
type headers struct {
	of [grpcHeader + 1]string
	// unnamed stands for those that were named before anything is known of the table: the same for the same ones, 0 for none.
	unnamed uint64
}

// field is a field of a block, or of a table; value is "" unless it is kept.
type field struct {
	name  headerName
	value string
}

// staticFields are those of the table that both ends know (RFC 7541, appendix A) which are kept.
var staticFields = map[int]field{
	2: {methodHeader, "GET"}, 3: {methodHeader, "POST"}, 4: {pathHeader, "/"}, 5: {pathHeader, "/index.html"},
	8: {statusHeader, "200"}, 9: {statusHeader, "204"}, 10: {statusHeader, "206"}, 11: {statusHeader, "304"}, 12: {statusHeader, "400"},
	13: {statusHeader, "404"}, 14: {statusHeader, "500"}, 31: {contentHeader, ""},
}

// table is what one end has told the other to remember, the latest last: all of it, or since a block that was not kept in full. A place is
// counted from the latest, so that those of before need not be known.
type table struct {
	fields []field
	added  int // since then
	parts  int // how often something lacked
}

const (
	staticLast = 61
	mostFields = 1 << 10 // that are remembered
	mostValue  = 1 << 9  // bytes of a path
)

func (t *table) at(place int) field {
	if place <= staticLast {
		return staticFields[place]
	}
	if i := len(t.fields) - (place - staticLast); i >= 0 && i < len(t.fields) {
		return t.fields[i]
	}
	return field{}
}

func (t *table) add(f field) {
	if len(t.fields) >= mostFields {
		t.fields = t.fields[:copy(t.fields, t.fields[len(t.fields)-mostFields/2:])]
	}
	t.fields = append(t.fields, f)
	t.added++
}

// before says which field a place has that was named before, counted from the first that is known; 0 it is known.
func (t *table) before(place int) int {
	if n := place - staticLast - t.added; n > 0 {
		return n
	}
	return 0
}

// forget is for what the table lacks since.
func (t *table) forget() {
	t.fields, t.added = t.fields[:0], 0
	t.parts++
}

// decode reads a block of headers (RFC 7541, section 6), of which the end may lack: whole says that it does not.
func (t *table) decode(block []byte, whole bool) (h headers) {
	b := cursor{rest: block}
	for len(b.rest) > 0 && !b.cut {
		var f field
		switch first := b.rest[0]; {
		case first&0x80 != 0:
			place := b.number(7)
			if n := t.before(place); n > 0 && !b.cut {
				h.unnamed = (h.unnamed ^ uint64(n)<<16 ^ uint64(t.parts) + 1) * 0x100000001b3 // FNV-1a
			}
			f = t.at(place)
		case first&0xe0 == 0x20: // the size of the table changes
			b.number(5)
			continue
		default:
			bits := uint(4)
			if first&0x40 != 0 {
				bits = 6
			}
			if place := b.number(bits); place > 0 {
				f.name = t.at(place).name
			} else {
				f.name = headerNames[b.text(true)]
			}
			f.value = b.text(f.name != otherHeader)
			if first&0x40 != 0 && !b.cut {
				t.add(f)
			}
		}
		if f.name != otherHeader && !b.cut {
			h.of[f.name] = f.value
		}
	}
	if b.cut || !whole {
		t.forget()
	}
	return h
}

// cursor reads a block; cut says that it ended within something.
type cursor struct {
	rest []byte
	cut  bool
}

// number reads an integer whose first byte has so many bits of it (section 5.1).
func (c *cursor) number(bits uint) int {
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

// text reads a string (section 5.2), "" where it is not wanted or too long to be kept.
func (c *cursor) text(wanted bool) string {
	coded := len(c.rest) > 0 && c.rest[0]&0x80 != 0
	n := c.number(7)
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

// isGRPC says whether a request or its answer is one of gRPC.
func (h *headers) isGRPC() bool { return strings.HasPrefix(h.of[contentHeader], "application/grpc") }
