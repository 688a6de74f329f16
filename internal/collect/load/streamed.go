package load

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// streamedHead is a request's header block as HTTP/2 has it (RFC 7541). What no
// request changes goes into the table that both sides of a connection keep, so that
// later requests refer to it; what counters change, and the path, are written out and
// kept out of the table: so it is the same on every connection after the first request.
type streamedHead struct{ parts []blockPart }

type blockPart struct {
	first, later []byte // what is fixed, in a connection's first request and in later ones
	name         []byte // else: a field's name as it is written, and its value
	value        template
}

// streamedHeads are the messages' heads. With a table smaller than is usual nothing goes into it.
func streamedHeads(p *Plan, u *url.URL, messages []message, small bool) ([]streamedHead, error) {
	fields, err := headerFields(p, u)
	if err != nil {
		return nil, err
	}
	var out []streamedHead
	for _, m := range messages {
		all := []headerField{{":method", p.Method}, {":scheme", u.Scheme}, {":authority", fields[0].value}, {":path", m.target}}
		for _, f := range fields[1:] {
			if name := strings.ToLower(f.name); !ofConnection(name) {
				all = append(all, headerField{name, f.value})
			}
		}
		if m.sized && !m.length {
			all = append(all, headerField{"content-length", strconv.Itoa(len(m.body.fixed))})
		}
		h := newStreamedHead(all, small)
		if !small && !h.fitsTable(all) {
			h = newStreamedHead(all, true)
		}
		out = append(out, h)
	}
	return out, nil
}

// ofConnection are headers that HTTP/2 does not have (RFC 9113, 8.2.2).
func ofConnection(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "upgrade", "te", "http2-settings":
		return true
	}
	return false
}

func newStreamedHead(all []headerField, small bool) (h streamedHead) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	if small {
		e.SetMaxDynamicTableSize(0) // said in the first field it writes
	}
	for later := range 2 {
		var n int // of the part at hand
		for _, f := range all {
			value := newTemplate([]byte(f.value))
			if f.name == ":path" || len(value.counters) > 0 {
				if later == 0 {
					h.parts = append(h.parts, blockPart{name: literalName(f.name), value: value})
				}
				n++
				continue
			}
			block.Reset()
			_ = e.WriteField(hpack.HeaderField{Name: f.name, Value: f.value}) // of memory
			if later == 0 {
				h.parts = append(h.parts, blockPart{first: bytes.Clone(block.Bytes())})
			} else {
				h.parts[n].later = bytes.Clone(block.Bytes())
			}
			n++
		}
	}
	h.mergeFixed()
	return h
}

// fitsTable reports whether all fields fit into the table, so that what later requests refer to is
// still there.
func (h *streamedHead) fitsTable(all []headerField) bool {
	var size uint32
	for _, f := range all {
		size += hpack.HeaderField{Name: f.name, Value: f.value}.Size()
	}
	return size <= 4096 // the table's size unless a server says otherwise (RFC 9113, 6.5.2)
}

// mergeFixed merges fixed parts that follow each other into one.
func (h *streamedHead) mergeFixed() {
	var out []blockPart
	for _, p := range h.parts {
		if len(out) > 0 && p.name == nil && out[len(out)-1].name == nil {
			last := &out[len(out)-1]
			last.first, last.later = append(last.first, p.first...), append(last.later, p.later...)
			continue
		}
		out = append(out, p)
	}
	h.parts = out
}

// literalName begins a field that stays out of the table (RFC 7541, 6.2.2).
func literalName(name string) []byte {
	if name == ":path" {
		return []byte{4} // of the static table (appendix A)
	}
	return hpackString([]byte{0}, []byte(name))
}

// hpackString writes a string as it is (RFC 7541, 5.2).
func hpackString(b, s []byte) []byte {
	if len(s) < 0x7f {
		b = append(b, byte(len(s)))
	} else {
		b = append(b, 0x7f)
		n := len(s) - 0x7f
		for ; n >= 0x80; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		b = append(b, byte(n))
	}
	return append(b, s...)
}

// appendTo writes the block of request n.
func (h *streamedHead) appendTo(b []byte, n uint64, first bool) []byte {
	var room [256]byte
	for i := range h.parts {
		p := &h.parts[i]
		switch {
		case p.name != nil:
			b = append(b, p.name...)
			b = hpackString(b, p.value.appendTo(room[:0], n))
		case first:
			b = append(b, p.first...)
		default:
			b = append(b, p.later...)
		}
	}
	return b
}
