package recorded

import (
	"encoding/binary"

	"github.com/unstall/unstall/internal/base/redact"
)

// Events with texts in traces of Go 1.11 to 1.21, and their number of arguments without a length:
// https://go.dev/src/internal/trace/internal/tracev1/parser.go
const (
	evOldString  = 37
	evOldUserLog = 48
	mostInline   = 4
)

// overwriteOldEvent overwrites the secrets in the event at the beginning of b, of a trace before Go 1.22, and returns its length: 0 if the
// event is incomplete, negative if it is not an event.
func overwriteOldEvent(b []byte) int {
	kind, arguments, at := b[0]&0x3f, int(b[0]>>6)+1, 1
	number := func() (v uint64, ok bool) {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			at = n
			return 0, false
		}
		at += n
		return v, true
	}
	text := func() bool {
		length, ok := number()
		switch {
		case !ok:
			return false
		case length > mostBatch:
			at = -1
			return false
		case length > uint64(len(b)-at):
			at = 0
			return false
		}
		redact.OverwriteValue(b[at : at+int(length)])
		at += int(length)
		return true
	}
	if kind == evOldString {
		if _, ok := number(); ok {
			text()
		}
		return at
	}
	if arguments < mostInline {
		for range arguments {
			if _, ok := number(); !ok {
				return at
			}
		}
	} else {
		length, ok := number()
		switch {
		case !ok:
			return at
		case length > mostBatch:
			return -1
		case length > uint64(len(b)-at):
			return 0
		}
		at += int(length)
	}
	if kind == evOldUserLog {
		text()
	}
	return at
}
