// Package eventpipe decodes the container that .NET writes its events in: nettrace
// streams of version 4 (.NET Core 3.0 to .NET 10), 5 (version 4 with tags in its
// metadata) and 6 (several processes, labels; record-trace and newer runtimes).
//
// Sources: NetTraceFormat_v5.md and NetTraceFormat.md in
// https://github.com/microsoft/perfview/tree/main/src/TraceEvent/EventPipe and, for what
// they omit, the reader beside them and src/native/eventpipe in
// https://github.com/dotnet/runtime. Versions 1 to 3 (netperf) never left previews
// and .NET Core 2; they are refused by name.
//
// Its opinion: it does not interpret events; it only ensures that each is complete, comes
// in order and has its type, its thread and its stack. A writer may write the events of
// one thread after those of another; a Reader sorts them by time, in memory
// that does not grow with the stream (see Reader). Unknown data is
// skipped and counted, and a stream that breaks off gives everything before the break.
package eventpipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Header is the stream's description of itself.
type Header struct {
	Major        int // of the format: 4, 5 or 6
	PointerBytes int // 4 or 8, of the process traced; of the machine in version 6
	PID          int // of the process traced, 0 where version 6 does not say
	Processors   int // as the runtime saw them, 0 where version 6 does not say
	SamplingRate int // ns between two samples of the sample profiler as requested, often 0 or 1000000

	SyncTime  time.Time // UTC, to the millisecond: the moment of SyncTicks
	SyncTicks int64
	Frequency int64 // ticks a second

	Values map[string]string // further values of version 6, by their own keys; else nil
}

// Metadata is one type of event. Pointers are equal for events of the same type,
// until a version 6 stream flushes its types or labels override parts of one.
type Metadata struct {
	Provider string
	ID       int32
	Name     string // "" for events of the runtime itself: their ID and Version tell
	Version  int32
	Level    int // 1 critical … 5 verbose
	Keywords int64
	Opcode   int     // 0 if unspecified; 1 start, 2 stop
	Fields   []Field // of the payload; nil for events of the runtime itself
}

// Field is one field of a payload.
type Field struct {
	Name   string // "" for the element of an array
	Type   TypeCode
	Count  int     // elements of a FixedArray
	Elem   *Field  // of Array, FixedArray, RelLoc and DataLoc
	Fields []Field // of Object
}

// TypeCode is the encoding of a field: .NET's TypeCode and nettrace's additions.
type TypeCode uint8

// The type codes. Integers are little endian. From VarInt on only version 6 has them.
const (
	Object     TypeCode = 1  // its fields one after the other
	Boolean    TypeCode = 3  // 4 bytes
	Char       TypeCode = 4  // a UTF-16 code unit
	SByte      TypeCode = 5  // 1 byte, signed
	Byte       TypeCode = 6  // 1 byte
	Int16      TypeCode = 7  //
	UInt16     TypeCode = 8  //
	Int32      TypeCode = 9  //
	UInt32     TypeCode = 10 //
	Int64      TypeCode = 11 //
	UInt64     TypeCode = 12 //
	Single     TypeCode = 13 // 4 bytes IEEE 754
	Double     TypeCode = 14 // 8 bytes IEEE 754
	Decimal    TypeCode = 15 // 16 bytes
	DateTime   TypeCode = 16 // 8 bytes before version 6: 100 ns since 1601 (FILETIME); in 6, by its specification but not by TraceEvent, 8 shorts (SYSTEMTIME)
	Guid       TypeCode = 17 // 16 bytes
	String     TypeCode = 18 // UTF-16 up to a zero
	Array      TypeCode = 19 // a 2-byte count, then the elements
	VarInt     TypeCode = 20 // zigzag
	VarUInt    TypeCode = 21 //
	FixedArray TypeCode = 22 // as many elements as Field.Count
	UTF8Char   TypeCode = 23 // a UTF-8 code unit
	RelLoc     TypeCode = 24 // size<<16 | offset from the end of this field, in bytes
	DataLoc    TypeCode = 25 // size<<16 | offset from the start of the payload, in bytes
	Boolean8   TypeCode = 26 // 1 byte
)

// GUID has the byte order of the stream.
type GUID [16]byte

func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", binary.LittleEndian.Uint32(g[:]),
		binary.LittleEndian.Uint16(g[4:]), binary.LittleEndian.Uint16(g[6:]), g[8:10], g[10:])
}

// StackID names a stack for as long as its Reader lives, also across sequence
// points, after which a stream reuses its own numbers. 0 is no stack.
type StackID uint32

// Event is one event. It and its payload are valid until the next call of Next;
// Meta and Labels stay.
type Event struct {
	Meta      *Metadata
	Type      uint32 // Meta's number, from 1: an index for slices, where a map by Meta is too slow
	Time      int64  // ns since 1970 UTC
	Thread    int64  // the OS thread that it is about; for a sample: the sampled thread, and not the sampler
	N         int64  // ordinal in the stream, from 1, not in order of time
	PID       int32
	Processor int32 // -1 where not known
	Stack     StackID
	Activity  GUID
	Related   GUID
	Labels    *Labels // version 6; nil: none

	// The position of the payload in a block, which seldom changes: a slice would write a pointer for each
	// event, which took a tenth of the time of decoding during GC marking.
	block      *block
	from, size uint32
}

// Payload returns the event's payload, encoded as Meta.Fields describes.
func (e *Event) Payload() []byte {
	if e.block == nil {
		return nil
	}
	return e.block.data[e.from : e.from+e.size : e.from+e.size]
}

// Block returns the bytes of the block that holds the event, and the offset at which the event's payload ends in them. They are valid until the next event is read,
// and after KeepBlock for good.
func (e *Event) Block() (data []byte, end int) {
	if e.block == nil {
		return nil, 0
	}
	return e.block.data, int(e.from + e.size)
}

// KeepBlock leaves the block that holds the event to the caller: the Reader does not use its memory again.
func (e *Event) KeepBlock() {
	if e.block != nil {
		e.block.kept = true
	}
}

// Labels are version 6's attachments to an event. Activity and Related are in the
// Event too; an opcode, keywords, level or version are in its Meta.
type Labels struct {
	Activity, Related GUID
	TraceID           [16]byte // W3C
	SpanID            uint64
	Text              map[string]string
	Number            map[string]int64

	override *override
}

// ErrNotNettrace says that the input is no stream of .NET events.
var ErrNotNettrace = errors.New("not a nettrace stream: it does not begin with \"Nettrace\"")

// ErrVersion says that the version of a stream of .NET events is not supported.
var ErrVersion = errors.New("only nettrace versions 4 to 6 are read")

// Cut is the error of a stream that ends without an end mark, or from some point on
// is not nettrace. All complete events before that point were delivered.
type Cut struct {
	Offset int64  // bytes of the stream that were read
	Events int64  // delivered
	In     string // the part being read: "EventBlock"
	Err    error  // io.ErrUnexpectedEOF, the error of the reader, or what is wrong
}

func (c *Cut) Error() string {
	return fmt.Sprintf("nettrace stream incomplete in %s at byte %d, after %d events: %v", c.In, c.Offset, c.Events, c.Err)
}

func (c *Cut) Unwrap() error { return c.Err }

// Unknown counts what a Reader skipped, and where it broke its order.
type Unknown struct {
	Blocks     int64 // of unknown kind or size, or incomplete
	Tags       int64 // in metadata, threads and labels
	Types      int64 // event types with fields that are not understood: they have none
	Events     int64 // of a type never declared: not delivered; and references to threads never declared: their events are, with Thread 0
	Stacks     int64 // references to stacks never declared: their events are delivered without
	OutOfOrder int64 // events older than one delivered before (see Reader)
	Sequence   int64 // sequence numbers that decreased: neither lost nor explained
}
