// Package eventpipe decodes the container that .NET writes its events in: nettrace
// streams of version 4 (.NET Core 3.0 to .NET 10), 5 (version 4 with tags in its
// metadata) and 6 (several processes, labels; record-trace and newer runtimes).
//
// Sources: NetTraceFormat_v5.md and NetTraceFormat.md in
// https://github.com/microsoft/perfview/tree/main/src/TraceEvent/EventPipe and, where
// they are silent, the reader beside them and src/native/eventpipe in
// https://github.com/dotnet/runtime. Versions 1 to 3 (netperf) never left previews
// and .NET Core 2; they are refused by name.
//
// Its opinion: what events mean is not its business, only that each is whole, comes
// in its turn and names its type, its thread and its stack. A writer may put events of
// threads down one thread after the other; a Reader sorts them by time, in memory
// that does not grow with the stream (see Reader). What is not understood is
// skipped and counted, and a stream that breaks off has given all it held.
package eventpipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Header is what a stream says of itself, once.
type Header struct {
	Major        int // of the format: 4, 5 or 6
	PointerBytes int // 4 or 8, of the process traced; of the machine in version 6
	PID          int // of the process traced, 0 where version 6 does not say
	Processors   int // as the runtime saw them, 0 where version 6 does not say
	SamplingRate int // ns between two samples of the sample profiler as asked, often 0 or 1000000

	SyncTime  time.Time // UTC, to the millisecond: the moment of SyncTicks
	SyncTicks int64
	Frequency int64 // ticks a second

	Values map[string]string // what version 6 adds, by its own keys; else nil
}

// Metadata is one type of event: pointers are equal for events of the same type,
// until a version 6 stream flushes its types or labels override some of it.
type Metadata struct {
	Provider string
	ID       int32
	Name     string // "" for events of the runtime itself: their ID and Version tell
	Version  int32
	Level    int // 1 critical … 5 verbose
	Keywords int64
	Opcode   int     // 0 where not said; 1 start, 2 stop
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

// TypeCode is how a field is written: .NET's TypeCode and what nettrace adds.
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

// GUID is in the order of bytes it is written in.
type GUID [16]byte

func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", binary.LittleEndian.Uint32(g[:]),
		binary.LittleEndian.Uint16(g[4:]), binary.LittleEndian.Uint16(g[6:]), g[8:10], g[10:])
}

// StackID names a stack for as long as its Reader lives, also across the sequence
// points at which a stream gives its own numbers anew. 0 is no stack.
type StackID uint32

// Event is one event. It and its payload are valid until the next call of Next;
// Meta and Labels stay.
type Event struct {
	Meta      *Metadata
	Type      uint32 // Meta's number, from 1: for a slice by type, where a map by Meta is too slow
	Time      int64  // ns since 1970 UTC
	Thread    int64  // the OS thread it is about; of a sample: the one sampled, not the sampler
	N         int64  // ordinal in the stream, from 1, not in order of time
	PID       int32
	Processor int32 // -1 where not known
	Stack     StackID
	Activity  GUID
	Related   GUID
	Labels    *Labels // version 6; nil: none

	// Where the payload is in a block, which seldom changes: a slice is a pointer written for each
	// event, which took a tenth of the time of decoding where the collector marked meanwhile.
	block      *block
	from, size uint32
}

// Payload is what the event's writer told, as Meta.Fields say.
func (e *Event) Payload() []byte {
	if e.block == nil {
		return nil
	}
	return e.block.data[e.from : e.from+e.size : e.from+e.size]
}

// Labels are what version 6 can attach to an event. Activity and Related are in the
// Event too; an opcode, keywords, level or version are in its Meta.
type Labels struct {
	Activity, Related GUID
	TraceID           [16]byte // W3C
	SpanID            uint64
	Text              map[string]string
	Number            map[string]int64

	override *override
}

// ErrNotNettrace: what was read is no stream of .NET events.
var ErrNotNettrace = errors.New("not a nettrace stream: it does not begin with \"Nettrace\"")

// ErrVersion: a stream of .NET events, of a version that is not read.
var ErrVersion = errors.New("only nettrace versions 4 to 6 are read")

// Cut is the error of a stream that ends before it says so, or from some point on
// is not nettrace. All whole events before that point were delivered.
type Cut struct {
	Offset int64  // bytes of the stream that were read
	Events int64  // delivered
	In     string // what was being read: "EventBlock"
	Err    error  // io.ErrUnexpectedEOF, the error of the reader, or what is wrong
}

func (c *Cut) Error() string {
	return fmt.Sprintf("nettrace stream incomplete in %s at byte %d, after %d events: %v", c.In, c.Offset, c.Events, c.Err)
}

func (c *Cut) Unwrap() error { return c.Err }

// Unknown counts what a Reader skipped or could not keep its promise for.
type Unknown struct {
	Blocks     int64 // of a kind or size that is not known, or not whole within
	Tags       int64 // in metadata, threads and labels
	Types      int64 // event types whose fields are not understood: they have none
	Events     int64 // of a type never declared: not delivered; and references to threads never declared: their events are, with Thread 0
	Stacks     int64 // references to stacks never declared: their events are delivered without
	OutOfOrder int64 // events older than one delivered before (see Reader)
	Sequence   int64 // sequence numbers that went back: neither lost nor explained
}
