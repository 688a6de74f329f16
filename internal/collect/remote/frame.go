package remote

import (
	"encoding/binary"
	"fmt"
	"io"
)

// What the two sides tell each other: a kind, a length, and so many bytes.
const (
	request = 'q' // to the guest: what to record, JSON
	stop    = 's' // to the guest: end the recording, send the rest
	beat    = 'b' // to the guest: somebody is there

	said  = 'n' // text for people
	named = 'c' // a capture begins, of this name
	data  = 'd' // of the capture: where it belongs, 8 bytes, and what
	first = 'f' // a first finding can be made
	ended = 'x' // JSON, and nothing follows
)

// maxFrame bounds what one side keeps of what the other says.
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
