package eventpipe

import (
	"bytes"
	"io"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// TestKeepBlock keeps each thousandth event's block, while this Reader and the next one go on reading.
func TestKeepBlock(t *testing.T) {
	data := eventpipetest.Recording(1 << 20)
	var kept, copies [][]byte
	var delivered [2]int64
	for i := range delivered {
		r, err := NewReader(bytes.NewReader(data))
		for err == nil {
			var e *Event
			if e, err = r.Next(); err != nil || r.Delivered()%1000 != 1 {
				continue
			}
			block, end := e.Block()
			if p := e.Payload(); !bytes.Equal(p, block[end-len(p):end]) {
				t.Fatal("the payload is elsewhere in its block")
			}
			e.KeepBlock()
			kept, copies = append(kept, block), append(copies, bytes.Clone(block))
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Error(err)
		}
		delivered[i] = r.Delivered()
	}
	if delivered[0] != delivered[1] || len(kept) == 0 {
		t.Errorf("%d events, then %d; %d blocks", delivered[0], delivered[1], len(kept))
	}
	for i := range kept {
		if !bytes.Equal(kept[i], copies[i]) {
			t.Fatal("a kept block was written to")
		}
	}
}
