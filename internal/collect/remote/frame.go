package remote

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Messages between the two sides have a kind, a length, and that many bytes.
const (
	request = 'q' // to the guest: what to record, JSON
	stop    = 's' // to the guest: end the recording, send the rest
	beat    = 'b' // to the guest: this side is still there

	said  = 'n' // text for people
	named = 'c' // a capture with this name begins
	data  = 'd' // data of the capture: its offset, 8 bytes, and the bytes
	first = 'f' // the first finding can be made
	ended = 'x' // the result as JSON; the last message
)

// maxFrame bounds what one side stores of the other's messages, in bytes.
const maxFrame = 256 << 10

type frame struct {
	kind    byte
	payload []byte
}

func (f frame) write(w io.Writer) error {
	b := make([]byte, 5, 5+len(f.payload))
	b[0] = f.kind
	binary.BigEndian.PutUint32(b[1:], uint32(len(f.payload)))
	_, err := w.Write(append(b, f.payload...))
	return err
}

func readFrame(r io.Reader) (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return frame{}, fmt.Errorf("the other side does not use unstall's protocol: %d bytes in one message", n)
	}
	f := frame{head[0], make([]byte, n)}
	_, err := io.ReadFull(r, f.payload)
	return f, err
}
