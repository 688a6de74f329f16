package eventpipetest

import "encoding/binary"

// Event is an event as in a header. Ticks of events in a block must not fall, except
// in headers that are not compressed.
type Event struct {
	Type      uint32 // its number in the stream
	Sequence  uint32
	Thread    uint64 // OS thread ID, from version 6 on an index
	Capture   uint64 // 0: Thread
	Processor uint32
	Stack     uint32
	Ticks     uint64
	Activity  [16]byte // before version 6
	Related   [16]byte
	Labels    uint32 // version 6
	Sorted    bool
	Payload   []byte
}

// Events writes a block of events, and omits unchanged parts of headers.
func (w *Writer) Events(events ...Event) { w.Block("EventBlock", w.encodeEvents(events)) }

func (w *Writer) encodeEvents(events []Event) []byte {
	flags := uint16(1)
	if w.s.Plain {
		flags = 0
	}
	least, most := ^uint64(0), uint64(0)
	for _, e := range events {
		least, most = min(least, e.Ticks), max(most, e.Ticks)
	}
	b := Payload(uint16(20), flags, least, most)
	var last Event
	size := 0
	for _, e := range events {
		if e.Capture == 0 {
			e.Capture = e.Thread
		}
		if w.s.Plain {
			b = w.appendPlain(b, e)
		} else {
			b = w.appendCompressed(b, e, last, size)
		}
		last, size = e, len(e.Payload)
	}
	return b
}

func (w *Writer) appendCompressed(b []byte, e, last Event, size int) []byte {
	var flags byte
	at := len(b)
	b = append(b, 0)
	number := func(flag byte, numbers ...uint64) {
		flags |= flag
		for _, v := range numbers {
			b = binary.AppendUvarint(b, v)
		}
	}
	if e.Type != last.Type {
		number(1, uint64(e.Type))
	}
	if e.Type != 0 && (e.Sequence != last.Sequence+1 || e.Capture != last.Capture || e.Processor != last.Processor) {
		number(2, uint64(e.Sequence-last.Sequence-1), e.Capture, uint64(e.Processor))
	}
	if e.Thread != last.Thread {
		number(4, e.Thread)
	}
	if e.Stack != last.Stack {
		number(8, uint64(e.Stack))
	}
	number(0, e.Ticks-last.Ticks)
	if w.s.Major < 6 {
		if e.Activity != last.Activity {
			flags |= 16
			b = append(b, e.Activity[:]...)
		}
		if e.Related != last.Related {
			flags |= 32
			b = append(b, e.Related[:]...)
		}
	} else if e.Labels != last.Labels {
		number(16, uint64(e.Labels))
	}
	if e.Sorted {
		flags |= 64
	}
	if len(e.Payload) != size {
		number(128, uint64(len(e.Payload)))
	}
	b[at] = flags
	return append(b, e.Payload...)
}

func (w *Writer) appendPlain(b []byte, e Event) []byte {
	number := e.Type
	if !e.Sorted {
		number |= 1 << 31
	}
	row := Payload(number, e.Sequence, e.Thread, e.Capture, e.Processor, e.Stack, e.Ticks)
	if w.s.Major < 6 {
		row = append(row, Payload(e.Activity[:], e.Related[:])...)
	} else {
		row = append(row, Payload(e.Labels)...)
	}
	row = append(append(row, Payload(uint32(len(e.Payload)))...), e.Payload...)
	for w.s.Major < 6 && len(row)%4 != 0 {
		row = append(row, 0)
	}
	return append(append(b, Payload(uint32(len(row)))...), row...)
}
