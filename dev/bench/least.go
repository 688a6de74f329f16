//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// cacheLine is how many bytes of a payload are looked at by looking at one.
const cacheLine = 64

// readLeast does what any reader of a stream of .NET's events (version 4 or 5) must do: it reads the blocks, decodes the header of each
// event and looks at each cache line of its payload. It keeps, sorts, resolves and interprets nothing, so that its time is the floor of
// reading. It returns the number of events, and what it saw of the payloads.
func readLeast(data []byte) (events int64, seen byte, err error) {
	const header, trace = 32, 48 // "Nettrace", a size and a name; the content of the first object
	in := bufio.NewReaderSize(bytes.NewReader(data), 16<<10)
	if _, err := in.Discard(header); err != nil {
		return 0, 0, err
	}
	var block []byte
	for at := header; ; {
		object, err := in.Peek(1)
		if err != nil {
			return 0, 0, err
		}
		if object[0] == 1 { // instead of an object: the end
			return events, seen, nil
		}
		const fixed = 15 // three tags, two versions, the size of the name
		if object, err = in.Peek(fixed); err != nil {
			return 0, 0, err
		}
		size := int(binary.LittleEndian.Uint32(object[fixed-4:]))
		if object, err = in.Peek(fixed + size + 1); err != nil {
			return 0, 0, err
		}
		name := string(object[fixed : fixed+size])
		n, _ := in.Discard(len(object))
		at += n
		if name == "Trace" {
			n, err = in.Discard(trace + 1)
			at += n
			if err != nil {
				return 0, 0, err
			}
			continue
		}
		if object, err = in.Peek(4); err != nil {
			return 0, 0, err
		}
		size = int(binary.LittleEndian.Uint32(object))
		n, _ = in.Discard(4 + -at&3)
		at += n + size + 1
		if cap(block) < size+1 {
			block = make([]byte, 2*size+1)
		}
		if _, err := io.ReadFull(in, block[:size+1]); err != nil {
			return 0, 0, err
		}
		if name != "EventBlock" {
			continue
		}
		n, saw, err := touchEvents(block[:size])
		if err != nil {
			return 0, 0, err
		}
		events, seen = events+int64(n), seen^saw
	}
}

// touchEvents decodes the headers of a block's events, and looks at their payloads.
func touchEvents(b []byte) (events int, seen byte, err error) {
	if len(b) < 4 || b[2]&1 == 0 {
		return 0, 0, errors.New("a block whose headers are not compressed")
	}
	var size uint64
	for at := int(binary.LittleEndian.Uint16(b)); at < len(b); events++ {
		flags := b[at]
		at++
		if flags&1 != 0 {
			at += skipNumber(b[at:]) // the type
		}
		if flags&2 != 0 {
			at += skipNumber(b[at:]) // the number, the thread and the processor that captured it
			at += skipNumber(b[at:])
			at += skipNumber(b[at:])
		}
		if flags&4 != 0 {
			at += skipNumber(b[at:]) // the thread
		}
		if flags&8 != 0 {
			at += skipNumber(b[at:]) // the stack
		}
		at += skipNumber(b[at:])               // the time
		at += int(flags&16) + int(flags&32)>>1 // activities
		if flags&128 != 0 {
			n := 0
			if size, n = binary.Uvarint(b[at:]); n <= 0 {
				return 0, 0, io.ErrUnexpectedEOF
			}
			at += n
		}
		end := at + int(size)
		if at > end || end > len(b) {
			return 0, 0, fmt.Errorf("an event that ends at %d of %d bytes: %w", end, len(b), io.ErrUnexpectedEOF)
		}
		for ; at < end; at += cacheLine {
			seen ^= b[at]
		}
		at = end
	}
	return events, seen, nil
}

// skipNumber returns how many bytes a number has.
func skipNumber(b []byte) int {
	for i, c := range b {
		if c < 0x80 {
			return i + 1
		}
	}
	return len(b)
}
