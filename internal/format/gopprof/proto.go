package gopprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/unstall/unstall/internal/format"
)

// Field numbers of profile.proto's Profile.
const (
	fieldSampleType  = 1
	fieldSample      = 2
	fieldMapping     = 3
	fieldLocation    = 4
	fieldFunction    = 5
	fieldString      = 6
	fieldTimeNanos   = 9
	fieldPeriodType  = 11
	fieldComment     = 13
	lastProfileField = 15 // doc_url
)

const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

var (
	errBreaksOff = errors.New("is truncated")
	errNotProto  = errors.New("is not protobuf")
)

// outline is what a walk over the protobuf finds without decoding it.
type outline struct {
	fields  int // complete ones of Profile
	types   int // sample and period types
	samples int
	parts   int  // everything that becomes an object when decoded
	ids     int  // locations and values of samples
	strange int  // fields of unknown number, or of another shape
	table   bool // the string table has begun
}

// walkProfile walks over a serialized Profile and stops at data that cannot be one. It allocates
// nothing; its counts bound the allocations of decoding.
func walkProfile(data []byte) (outline, int, error) {
	var o outline
	at := 0
	for at < len(data) {
		f, n, err := nextField(data[at:])
		if err != nil {
			return o, at, err
		}
		o.profileField(f)
		o.fields++
		o.parts++
		at += n
	}
	return o, at, nil
}

func (o *outline) profileField(f field) {
	switch f.number {
	case fieldSampleType, fieldPeriodType:
		if len(f.bytes) > 24 || !o.walkMessage(f, func(g field) bool { return g.wire == wireVarint && g.number <= 2 }) {
			o.strange++
			return
		}
		o.types++
	case fieldSample:
		if !o.walkMessage(f, func(g field) bool {
			if g.number <= 2 {
				o.ids += countVarints(g.bytes)
			}
			return g.number <= 2 && (g.wire == wireVarint || g.wire == wireBytes) || g.number == 3 && g.wire == wireBytes
		}) {
			o.strange++
			return
		}
		o.samples++
	case fieldMapping:
		o.checkField(o.walkMessage(f, func(g field) bool { return g.wire == wireVarint && g.number <= 10 }))
	case fieldLocation:
		o.checkField(o.walkMessage(f, func(g field) bool {
			return g.wire == wireVarint && g.number <= 5 || g.wire == wireBytes && g.number == 4
		}))
	case fieldFunction:
		o.checkField(o.walkMessage(f, func(g field) bool { return g.wire == wireVarint && g.number <= 5 }))
	case fieldString:
		o.checkField(f.wire == wireBytes)
		if !o.table { // the first string of the table is always ""
			o.table = true
			o.checkField(len(f.bytes) == 0)
		}
	case fieldComment:
		o.checkField(f.wire == wireVarint || f.wire == wireBytes)
	default:
		o.checkField(f.number <= lastProfileField && f.wire == wireVarint)
	}
}

func (o *outline) checkField(ok bool) {
	if !ok {
		o.strange++
	}
}

// walkMessage walks the fields of a nested message.
func (o *outline) walkMessage(f field, ok func(field) bool) bool {
	if f.wire != wireBytes {
		return false
	}
	for rest := f.bytes; len(rest) > 0; {
		g, n, err := nextField(rest)
		if err != nil || !ok(g) {
			return false
		}
		o.parts++
		rest = rest[n:]
	}
	return true
}

// countVarints counts the numbers of a packed field.
func countVarints(packed []byte) (n int) {
	for _, c := range packed {
		if c < 0x80 {
			n++
		}
	}
	return n
}

type field struct {
	number uint64
	wire   int
	bytes  []byte // of wireBytes
}

func nextField(data []byte) (field, int, error) {
	key, n := binary.Uvarint(data)
	if n == 0 {
		return field{}, 0, errBreaksOff
	}
	f := field{number: key >> 3, wire: int(key & 7)}
	if n < 0 || f.number == 0 {
		return f, 0, errNotProto
	}
	size := uint64(0)
	switch f.wire {
	case wireVarint:
		_, m := binary.Uvarint(data[n:])
		if m < 0 {
			return f, 0, errNotProto
		}
		if m == 0 {
			return f, 0, errBreaksOff
		}
		return f, n + m, nil
	case wireFixed8:
		size = 8
	case wireFixed4:
		size = 4
	case wireBytes:
		var m int
		size, m = binary.Uvarint(data[n:])
		if m < 0 {
			return f, 0, errNotProto
		}
		if m == 0 {
			return f, 0, errBreaksOff
		}
		n += m
	default:
		return f, 0, errNotProto
	}
	if size > uint64(len(data)-n) {
		return f, 0, errBreaksOff
	}
	f.bytes = data[n : n+int(size)]
	return f, n + int(size), nil
}

// matchProto judges a head that may be cut anywhere.
func matchProto(head []byte) format.Confidence {
	o, _, err := walkProfile(head)
	if err != nil && err != errBreaksOff || o.strange > 0 || o.types+o.samples == 0 {
		return format.No
	}
	if o.fields < 3 {
		return format.Maybe
	}
	return format.Sure
}

// bounds of a profile: the pprof library builds all of it in memory.
type bounds struct {
	bytes int64 // decompressed
	parts int
	ids   int
}

var limits = bounds{bytes: 256 << 20, parts: 8 << 20, ids: 64 << 20}

// readProfile returns the serialized profile if it is complete and not too large.
func (most bounds) readProfile(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most.bytes+1))
	if int64(len(data)) > most.bytes {
		return nil, fmt.Errorf("go profile: it is larger than %d MiB: record a shorter one", most.bytes>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("go profile: %w after %d bytes (%w): a profile's names come last, so nothing of it can be used: record it again", format.ErrCut, len(data), err)
	}
	o, at, err := walkProfile(data)
	switch {
	case errors.Is(err, errBreaksOff):
		return nil, fmt.Errorf("go profile: %w after %d bytes: a profile's names come last, so nothing of it can be used: record it again", format.ErrCut, len(data))
	case err != nil:
		return nil, fmt.Errorf("go profile: byte %d %w: the file is damaged: record it again", at, err)
	case o.parts > most.parts || o.ids > most.ids:
		return nil, fmt.Errorf("go profile: its %d parts and %d stack entries exceed the limits (%d, %d): record a shorter one", o.parts, o.ids, most.parts, most.ids)
	}
	return data, nil
}
