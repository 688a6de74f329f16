package recorded

import (
	"encoding/binary"

	"github.com/unstall/unstall/internal/base/redact"
)

// trace cleans an execution trace. From Go 1.22 on a trace is batches with all texts in string tables; before, it is events, some with
// a text. https://go.dev/src/internal/trace/tracev2/events.go
type trace struct {
	piece func([]byte) int // cleans the piece at the beginning and returns its length, see overwriteBatch
	held  []byte
	begun bool
	rest  cleaner // cleans what follows the last valid piece
	out   []byte
}

const (
	traceHeader     = 16
	evEventBatch    = 1
	evStrings       = 4
	evString        = 5
	evExperimental  = 49
	evGenerationEnd = 52
	mostBatch       = 1 << 20
)

// traceOf returns the cleaner of a trace.
func traceOf(head []byte) cleaner {
	if len(head) > 6 && (head[5] < '2' || head[5] == '2' && head[6] < '2') {
		return &trace{piece: overwriteOldEvent}
	}
	return &trace{piece: overwriteBatch}
}

func (t *trace) cleanPiece(p []byte) []byte {
	if t.rest != nil {
		return t.rest.cleanPiece(p)
	}
	t.held = append(t.held, p...)
	at := 0
	if !t.begun && len(t.held) >= traceHeader {
		t.begun, at = true, traceHeader
	}
	for t.begun && at < len(t.held) {
		n := t.piece(t.held[at:])
		if n < 0 {
			t.rest = &data{values: true}
			break
		}
		if n == 0 {
			break
		}
		at += n
	}
	t.out = append(t.out[:0], t.held[:at]...)
	t.held = append(t.held[:0], t.held[at:]...)
	if t.rest != nil {
		t.out = append(t.out, t.rest.cleanPiece(t.held)...)
		t.held = nil
	}
	return t.out
}

func (t *trace) cleanRest() []byte {
	if t.rest == nil { // cut off within a piece
		t.rest = &data{values: true}
	}
	t.out = append(t.out[:0], t.rest.cleanPiece(t.held)...)
	t.held = nil
	return append(t.out, t.rest.cleanRest()...)
}

// overwriteBatch overwrites the secrets in the batch at the beginning of b, and returns its length: 0 if it is incomplete, negative if it
// is not a batch.
func overwriteBatch(b []byte) int {
	at := 1
	switch b[0] {
	case evGenerationEnd:
		return 1
	case evExperimental:
		at = 2
	case evEventBatch:
	default:
		return -1
	}
	var size uint64
	for range 4 { // generation, thread, time, size
		v, n := binary.Uvarint(b[min(at, len(b)):])
		if n <= 0 {
			return n
		}
		size, at = v, at+n
	}
	if size > mostBatch {
		return -1
	}
	end := at + int(size)
	if end > len(b) {
		return 0
	}
	if content := b[at:end]; b[0] == evExperimental {
		(&data{values: true}).overwriteTexts(content)
	} else if len(content) > 0 && content[0] == evStrings {
		overwriteStrings(content[1:])
	}
	return end
}

// overwriteStrings overwrites the secrets in a table of strings.
func overwriteStrings(b []byte) {
	for len(b) > 0 && b[0] == evString {
		b = b[1:]
		_, n := binary.Uvarint(b)
		if n <= 0 {
			return
		}
		b = b[n:]
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return
		}
		redact.OverwriteValue(b[n : n+int(length)])
		b = b[n+int(length):]
	}
}
