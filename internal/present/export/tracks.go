package export

import (
	"bufio"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// trackWriter writes TracePackets with TrackEvents
// (https://github.com/google/perfetto/tree/main/protos/perfetto/trace), one at a time.
// Names that repeat are written once and then by number, up to a bound; so memory is
// bounded by it and by the number of tracks.
//
// The viewer puts packets in order of time itself; only those of one track and one
// moment have to be in order.
type trackWriter struct {
	w      *bufio.Writer
	err    error
	tracks uint64
	names  map[interned]uint64
	fresh  []byte // InternedData of the packet being made
	notes  []byte // DebugAnnotations of the slice about to be opened
	begun  bool
	event  []byte
	packet []byte
}

// interned is a string in one of the tables of InternedData.
type interned struct {
	table protowire.Number
	text  string
}

// maxInterned is how many strings are remembered.
const maxInterned = 1 << 18

// Field numbers of Perfetto's messages.
const (
	tracePacket = 1 // Trace

	packetClockSnapshot = 6 // TracePacket
	packetTimestamp     = 8
	packetSequence      = 10
	packetTrackEvent    = 11
	packetInterned      = 12
	packetFlags         = 13
	packetTrack         = 60

	clockClocks = 1 // ClockSnapshot
	clockID     = 1 // its Clock
	clockTime   = 2

	trackUUID     = 1 // TrackDescriptor
	trackName     = 2
	trackProcess  = 3
	trackParent   = 5
	trackCounter  = 8
	trackOrdering = 11
	trackRank     = 12

	processPID  = 1 // ProcessDescriptor
	processName = 6

	counterUnit     = 3 // CounterDescriptor
	counterUnitName = 6

	eventNotes   = 4 // TrackEvent
	eventType    = 9
	eventNameID  = 10
	eventTrack   = 11
	eventName    = 23
	eventCounter = 44

	noteNameID = 1 // DebugAnnotation
	noteInt    = 4
	noteDouble = 5
	noteText   = 6
	noteName   = 10
	noteTextID = 17

	internedNames     = 2 // InternedData
	internedNoteNames = 3
	internedTexts     = 29
	internedID        = 1
	internedText      = 2
)

// Values of Perfetto's enumerations.
const (
	stateCleared = 1 // TracePacket.SequenceFlags
	stateNeeded  = 2

	sliceBegin = 1 // TrackEvent.Type
	sliceEnd   = 2
	countEvent = 4

	ordersExplicitly = 3 // TrackDescriptor.ChildTracksOrdering

	realtime = 1 // BuiltinClock
	boottime = 6 // what timestamps are in unless they say otherwise
)

func newTrackWriter(w io.Writer) *trackWriter {
	return &trackWriter{w: bufio.NewWriterSize(w, 1<<16), names: make(map[interned]uint64)}
}

func (t *trackWriter) flushAll() error {
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}

// writeClocks writes that timestamps are times of day. For 0 it writes nothing: timestamps are
// since some beginning.
func (t *trackWriter) writeClocks(from int64) {
	if from == 0 {
		return
	}
	var snapshot, clock []byte
	for _, id := range []uint64{realtime, boottime} {
		clock = appendVarint(clock[:0], clockID, id)
		clock = appendVarint(clock, clockTime, uint64(from))
		snapshot = appendMessage(snapshot, clockClocks, clock)
	}
	t.packet = appendVarint(t.packet[:0], packetTimestamp, uint64(from))
	t.packet = appendMessage(t.packet, packetClockSnapshot, snapshot)
	t.writePacket()
}

// addProcess adds a process, whose tracks are drawn in order of their rank, and returns its id.
func (t *trackWriter) addProcess(pid int, name string) uint64 {
	if pid <= 0 {
		return t.addTrack(track{name: name, ordered: true})
	}
	t.tracks++
	var about []byte
	about = appendVarint(about, processPID, uint64(pid))
	about = appendText(about, processName, name)
	d := appendVarint(t.event[:0], trackUUID, t.tracks)
	d = appendMessage(d, trackProcess, about)
	d = appendVarint(d, trackOrdering, ordersExplicitly)
	t.writeDescriptor(d)
	return t.tracks
}

// track is where slices or a counter are drawn.
type track struct {
	parent  uint64
	name    string
	rank    int
	ordered bool // its children are in order of their rank
	counter bool
	unit    string
}

func (t *trackWriter) addTrack(x track) uint64 {
	t.tracks++
	d := appendVarint(t.event[:0], trackUUID, t.tracks)
	if x.parent != 0 {
		d = appendVarint(d, trackParent, x.parent)
		d = appendVarint(d, trackRank, uint64(x.rank))
	}
	d = appendText(d, trackName, x.name)
	if x.ordered {
		d = appendVarint(d, trackOrdering, ordersExplicitly)
	}
	if x.counter {
		var c []byte
		if unit := counterUnits[x.unit]; unit != 0 {
			c = appendVarint(c, counterUnit, unit)
		} else if x.unit != "1" {
			c = appendText(c, counterUnitName, x.unit)
		}
		d = appendMessage(d, trackCounter, c)
	}
	t.writeDescriptor(d)
	return t.tracks
}

// counterUnits are the units that Perfetto knows.
var counterUnits = map[string]uint64{"ns": 1, "count": 2, "bytes": 3}

func (t *trackWriter) writeDescriptor(d []byte) {
	t.event = d
	t.packet = appendMessage(t.packet[:0], packetTrack, d)
	t.writePacket()
}

// noteString adds a note to the slice that is opened next.
func (t *trackWriter) noteString(name, value string) {
	n := t.appendNoteName(nil, name)
	if id, ok := t.internString(internedTexts, value); ok {
		n = appendVarint(n, noteTextID, id)
	} else {
		n = appendText(n, noteText, value)
	}
	t.notes = appendMessage(t.notes, eventNotes, n)
}

// noteOnce adds a note whose text rarely repeats and is not interned.
func (t *trackWriter) noteOnce(name, value string) {
	t.notes = appendMessage(t.notes, eventNotes, appendText(t.appendNoteName(nil, name), noteText, value))
}

func (t *trackWriter) noteNumber(name string, v int64) {
	t.notes = appendMessage(t.notes, eventNotes, appendVarint(t.appendNoteName(nil, name), noteInt, uint64(v)))
}

func (t *trackWriter) noteFigure(name string, v float64) {
	t.notes = appendMessage(t.notes, eventNotes, appendDouble(t.appendNoteName(nil, name), noteDouble, v))
}

func (t *trackWriter) appendNoteName(n []byte, name string) []byte {
	if id, ok := t.internString(internedNoteNames, name); ok {
		return appendVarint(n, noteNameID, id)
	}
	return appendText(n, noteName, name)
}

// beginSlice begins a slice, inside those of the track that are open.
func (t *trackWriter) beginSlice(on uint64, at int64, name string) {
	e := appendVarint(t.event[:0], eventType, sliceBegin)
	e = appendVarint(e, eventTrack, on)
	if id, ok := t.internString(internedNames, name); ok {
		e = appendVarint(e, eventNameID, id)
	} else {
		e = appendText(e, eventName, name)
	}
	t.event = append(e, t.notes...)
	t.notes = t.notes[:0]
	t.writeEvent(at)
}

// endSlice ends the slice that was opened last.
func (t *trackWriter) endSlice(on uint64, at int64) {
	e := appendVarint(t.event[:0], eventType, sliceEnd)
	t.event = appendVarint(e, eventTrack, on)
	t.writeEvent(at)
}

// writeCount writes a counter's value from a moment on; a value that is not known is left out.
func (t *trackWriter) writeCount(on uint64, at int64, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	e := appendVarint(t.event[:0], eventType, countEvent)
	e = appendVarint(e, eventTrack, on)
	t.event = appendDouble(e, eventCounter, v)
	t.writeEvent(at)
}

// writeEvent writes the event made last, at a time (ns).
func (t *trackWriter) writeEvent(at int64) {
	t.packet = appendVarint(t.packet[:0], packetTimestamp, uint64(max(0, at)))
	t.packet = appendMessage(t.packet, packetTrackEvent, t.event)
	if len(t.fresh) > 0 {
		t.packet = appendMessage(t.packet, packetInterned, t.fresh)
		t.fresh = t.fresh[:0]
	}
	flags := uint64(stateNeeded)
	if !t.begun {
		t.begun, flags = true, stateCleared|stateNeeded
	}
	t.packet = appendVarint(t.packet, packetFlags, flags)
	t.writePacket()
}

// writePacket writes the packet made last.
func (t *trackWriter) writePacket() {
	const sequence = 1
	t.packet = appendVarint(t.packet, packetSequence, sequence)
	head := protowire.AppendTag(t.w.AvailableBuffer(), tracePacket, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(t.packet)))
	for _, part := range [][]byte{head, t.packet} {
		if _, err := t.w.Write(part); err != nil && t.err == nil {
			t.err = err
		}
	}
}

// internString returns the number of a string in a table; false if the table is full and the
// string must be written out.
func (t *trackWriter) internString(table protowire.Number, s string) (uint64, bool) {
	k := interned{table, s}
	if id, ok := t.names[k]; ok {
		return id, true
	}
	if len(t.names) >= maxInterned {
		return 0, false
	}
	id := uint64(len(t.names) + 1)
	t.names[interned{table, strings.Clone(s)}] = id
	entry := appendVarint(nil, internedID, id)
	entry = appendText(entry, internedText, s)
	t.fresh = appendMessage(t.fresh, table, entry)
	return id, true
}

func appendVarint(to []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
}

func appendDouble(to []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(to, field, protowire.Fixed64Type), math.Float64bits(v))
}

func appendMessage(to []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), m)
}

// appendText appends a string field; protobuf strings are UTF-8.
func appendText(to []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, field, protowire.BytesType), strings.ToValidUTF8(s, "\uFFFD"))
}
