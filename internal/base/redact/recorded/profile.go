package recorded

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"

	"github.com/unstall/unstall/internal/base/redact"
)

// zipped cleans gzip-compressed data: a profile of pprof, else a text. It needs all of the data at once.
type zipped struct {
	held []byte
	over bool // too long to scan, so that it is not stored
}

const (
	mostZipped = 256 << 20
	mostPlain  = 1 << 30
)

func (z *zipped) cleanPiece(p []byte) []byte {
	if z.over = z.over || len(z.held)+len(p) > mostZipped; !z.over {
		z.held = append(z.held, p...)
	}
	return nil
}

func (z *zipped) cleanRest() []byte {
	held := z.held
	z.held = nil
	r, err := gzip.NewReader(bytes.NewReader(held))
	if z.over || err != nil {
		return held // is no gzip after all
	}
	plain, _ := io.ReadAll(io.LimitReader(r, mostPlain)) // truncated data gives what there is
	var safe []byte
	if strings, ok := stringsOf(plain); ok {
		safe = rewriteProfile(plain, strings)
	} else {
		safe = All(plain, Hint{})
	}
	if bytes.Equal(plain, safe) {
		return held
	}
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	_, _ = w.Write(safe)
	_ = w.Close()
	return out.Bytes()
}

// use is the use of a profile's string.
type use struct {
	value bool   // of a label, or a comment
	key   uint64 // of the label; 0 none
}

// Fields of profile.proto: https://github.com/google/pprof/blob/main/proto/profile.proto
const (
	profileSample  = 2
	profileString  = 6
	profileComment = 13
	sampleLabel    = 3
	labelKey       = 1
	labelString    = 2
)

// stringsOf finds the use of each string of a profile, and reports whether b is a profile.
func stringsOf(b []byte) (uses map[uint64]use, ok bool) {
	uses = make(map[uint64]use)
	n := uint64(0)
	ok = eachField(b, func(number, wire uint64, v uint64, content []byte) {
		switch {
		case number == profileString && wire == 2:
			n++
		case number == profileComment && wire == 0:
			uses[v] = use{value: true}
		case number == profileComment && wire == 2:
			for len(content) > 0 {
				v, k := binary.Uvarint(content)
				if k <= 0 {
					return
				}
				uses[v], content = use{value: true}, content[k:]
			}
		case number == profileSample && wire == 2:
			eachField(content, func(number, wire uint64, _ uint64, label []byte) {
				if number != sampleLabel || wire != 2 {
					return
				}
				var key, text uint64
				eachField(label, func(number, _ uint64, v uint64, _ []byte) {
					switch number {
					case labelKey:
						key = v
					case labelString:
						text = v
					}
				})
				if text != 0 {
					uses[text] = use{true, key}
				}
			})
		}
	})
	return uses, ok && n > 0
}

// rewriteProfile rewrites a profile's strings that have secrets.
func rewriteProfile(b []byte, uses map[uint64]use) []byte {
	var table [][]byte
	eachField(b, func(number, wire uint64, _ uint64, content []byte) {
		if number == profileString && wire == 2 {
			table = append(table, content)
		}
	})
	out := make([]byte, 0, len(b))
	n := uint64(0)
	rest := b
	for len(rest) > 0 {
		number, wire, _, content, size := decodeField(rest)
		if number != profileString || wire != 2 {
			out = append(out, rest[:size]...)
			rest = rest[size:]
			continue
		}
		var safe []byte
		switch u, ok := uses[n]; {
		case !ok:
			safe = redact.Own(content)
		case u.key > 0 && u.key < uint64(len(table)):
			safe = redact.Named(table[u.key], content)
		default:
			safe = redact.Value(content)
		}
		out = append(out, profileString<<3|2)
		out = binary.AppendUvarint(out, uint64(len(safe)))
		out = append(out, safe...)
		rest, n = rest[size:], n+1
	}
	return out
}

// eachField calls a function for each field of a message, and reports whether it is a message.
func eachField(b []byte, f func(number, wire, v uint64, content []byte)) bool {
	for len(b) > 0 {
		number, wire, v, content, n := decodeField(b)
		if n == 0 {
			return false
		}
		f(number, wire, v, content)
		b = b[n:]
	}
	return true
}

// decodeField decodes one field; n is 0 if there is none. Profiles have only numbers and length-delimited fields.
func decodeField(b []byte) (number, wire, v uint64, content []byte, n int) {
	tag, k := binary.Uvarint(b)
	if k <= 0 || tag>>3 == 0 || tag>>3 > 64 {
		return 0, 0, 0, nil, 0
	}
	v, m := binary.Uvarint(b[k:])
	if m <= 0 {
		return 0, 0, 0, nil, 0
	}
	n = k + m
	switch tag & 7 {
	case 0:
	case 2:
		if v > uint64(len(b)-n) {
			return 0, 0, 0, nil, 0
		}
		content = b[n : n+int(v)]
		n += int(v)
	default:
		return 0, 0, 0, nil, 0
	}
	return tag >> 3, tag & 7, v, content, n
}
