// Package eventpipetest writes nettrace streams of versions 4, 5 and 6 for tests,
// block by block, including ones that no runtime would write. It follows the
// same documents as the reader (see package eventpipe), but writes bytes in the runtime's
// order: for versions 4 and 5 that of
// src/native/eventpipe/ep-block.c in https://github.com/dotnet/runtime.
package eventpipetest

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"time"
)

// Stream is a stream's header. Zero fields mean: version 4, 8-byte pointers, PID 42, 2
// processors, a clock of ns that was 0 at the beginning of 2026.
type Stream struct {
	Major, PointerBytes, PID, Processors int
	SyncTime                             time.Time
	SyncTicks, Frequency                 int64
	Values                               [][2]string // version 6, beside the three that are known
	Plain                                bool        // headers of events are not compressed
}

// Began is the default SyncTime of a Stream.
var Began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Writer writes one stream.
type Writer struct {
	s   Stream
	buf bytes.Buffer
}

// New begins a stream.
func New(s Stream) *Writer {
	if s.Major == 0 {
		s.Major = 4
	}
	if s.PointerBytes == 0 {
		s.PointerBytes = 8
	}
	if s.PID == 0 {
		s.PID = 42
	}
	if s.Processors == 0 {
		s.Processors = 2
	}
	if s.SyncTime.IsZero() {
		s.SyncTime = Began
	}
	if s.Frequency == 0 {
		s.Frequency = 1e9
	}
	w := &Writer{s: s}
	w.buf.WriteString("Nettrace")
	trace := Payload(systemTime(s.SyncTime), s.SyncTicks, s.Frequency, int32(s.PointerBytes))
	if s.Major < 6 {
		trace = append(trace, Payload(int32(s.PID), int32(s.Processors), int32(0))...)
		w.buf.Write(Payload(int32(20), []byte("!FastSerialization.1")))
		w.beginObject("Trace", s.Major, 4)
		w.buf.Write(trace)
		w.buf.WriteByte(6)
		return w
	}
	w.buf.Write(Payload(int32(0), int32(s.Major), int32(0)))
	values := append([][2]string{
		{"HardwareThreadCount", strconv.Itoa(s.Processors)}, {"ProcessId", strconv.Itoa(s.PID)}, {"ExpectedCPUSamplingRate", "0"},
	}, s.Values...)
	trace = append(trace, Payload(int32(len(values)))...)
	for _, v := range values {
		trace = appendCounted(appendCounted(trace, v[0]), v[1])
	}
	w.Block("Trace", trace)
	return w
}

// Bytes returns the bytes written so far.
func (w *Writer) Bytes() []byte { return w.buf.Bytes() }

// End ends the stream and returns it.
func (w *Writer) End() []byte {
	if w.s.Major < 6 {
		w.buf.WriteByte(1)
	} else {
		w.Block("EndOfStream", nil)
	}
	return w.buf.Bytes()
}

var kinds = []string{"EndOfStream", "Trace", "EventBlock", "MetadataBlock", "SPBlock", "StackBlock", "ThreadBlock", "RemoveThreadBlock", "LabelListBlock"}

// Block writes any block by its name. One that version 6 does not know is of kind 99.
func (w *Writer) Block(name string, content []byte) {
	if w.s.Major >= 6 {
		kind := slices.Index(kinds, name)
		if kind < 0 {
			kind = 99
		}
		w.buf.Write(Payload(uint32(len(content)) | uint32(kind)<<24))
		w.buf.Write(content)
		return
	}
	w.beginObject(name, 2, 2)
	w.buf.Write(Payload(uint32(len(content))))
	for w.buf.Len()%4 != 0 {
		w.buf.WriteByte(0)
	}
	w.buf.Write(content)
	w.buf.WriteByte(6)
}

// beginObject begins an object before version 6.
func (w *Writer) beginObject(name string, version, least int) {
	w.buf.Write(Payload([]byte{5, 5, 1}, int32(version), int32(least), int32(len(name)), []byte(name), []byte{6}))
}

// Stacks numbers stacks from first on.
func (w *Writer) Stacks(first uint32, stacks ...[]uint64) {
	b := Payload(first, uint32(len(stacks)))
	for _, s := range stacks {
		b = append(b, Payload(uint32(len(s)*w.s.PointerBytes))...)
		for _, address := range s {
			if w.s.PointerBytes == 4 {
				b = append(b, Payload(uint32(address))...)
			} else {
				b = append(b, Payload(address)...)
			}
		}
	}
	w.Block("StackBlock", b)
}

// What a sequence point of version 6 also flushes.
const (
	FlushThreads  = 1
	FlushMetadata = 2
)

// Reached is the last sequence number of a thread.
type Reached struct {
	Thread   uint64
	Sequence uint32
}

// SequencePoint writes one. flags are of version 6.
func (w *Writer) SequencePoint(ticks uint64, flags uint32, reached ...Reached) {
	b := Payload(ticks)
	if w.s.Major >= 6 {
		b = append(b, Payload(flags)...)
	}
	b = append(b, Payload(uint32(len(reached)))...)
	for _, t := range reached {
		if w.s.Major >= 6 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, t.Thread), uint64(t.Sequence))
		} else {
			b = append(b, Payload(t.Thread, t.Sequence)...)
		}
	}
	w.Block("SPBlock", b)
}

// Thread is a thread of version 6.
type Thread struct {
	Index, ID, PID uint64
	Name           string
}

// Threads declares threads.
func (w *Writer) Threads(threads ...Thread) {
	var b []byte
	for _, t := range threads {
		row := binary.AppendUvarint(nil, t.Index)
		if t.Name != "" {
			row = appendCounted(append(row, 1), t.Name)
		}
		if t.PID != 0 {
			row = binary.AppendUvarint(append(row, 2), t.PID)
		}
		row = binary.AppendUvarint(append(row, 3), t.ID)
		b = append(append(b, Payload(uint16(len(row)))...), row...)
	}
	w.Block("ThreadBlock", b)
}

// RemoveThreads says that no more comes of threads, and how far they got.
func (w *Writer) RemoveThreads(reached ...Reached) {
	var b []byte
	for _, t := range reached {
		b = binary.AppendUvarint(binary.AppendUvarint(b, t.Thread), uint64(t.Sequence))
	}
	w.Block("RemoveThreadBlock", b)
}

// LabelLists numbers label lists from first on. A label is its kind and its content,
// as Payload, Text and Number make them.
func (w *Writer) LabelLists(first uint32, lists ...[]Label) {
	b := Payload(first, uint32(len(lists)))
	for _, list := range lists {
		for i, l := range list {
			kind := l.Kind
			if i == len(list)-1 {
				kind |= 0x80
			}
			b = append(append(b, kind), l.Content...)
		}
	}
	w.Block("LabelListBlock", b)
}

// Label is one of a list.
type Label struct {
	Kind    byte
	Content []byte
}

// TextLabel and NumberLabel are labels with a key.
func TextLabel(key, value string) Label {
	return Label{5, appendCounted(appendCounted(nil, key), value)}
}

// NumberLabel returns a label with a key and a number.
func NumberLabel(key string, value int64) Label {
	return Label{6, binary.AppendVarint(appendCounted(nil, key), value)}
}
