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

func (t *trackWriter) end() error {
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}

// clocks says that timestamps are times of day. From 0 nothing is said: they are
// since some beginning.
func (t *trackWriter) clocks(from int64) {
	if from == 0 {
		return
	}
	var snapshot, clock []byte
	for _, id := range []uint64{realtime, boottime} {
		clock = number64(clock[:0], clockID, id)
		clock = number64(clock, clockTime, uint64(from))
		snapshot = message(snapshot, clockClocks, clock)
	}
	t.packet = number64(t.packet[:0], packetTimestamp, uint64(from))
	t.packet = message(t.packet, packetClockSnapshot, snapshot)
	t.flush()
}

// process begins a process, whose tracks are drawn in order of their rank.
func (t *trackWriter) process(pid int, name string) uint64 {
	if pid <= 0 {
		return t.track(track{name: name, ordered: true})
	}
	t.tracks++
	var about []byte
	about = number64(about, processPID, uint64(pid))
	about = text(about, processName, name)
	d := number64(t.event[:0], trackUUID, t.tracks)
	d = message(d, trackProcess, about)
	d = number64(d, trackOrdering, ordersExplicitly)
	t.descriptor(d)
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

func (t *trackWriter) track(x track) uint64 {
	t.tracks++
	d := number64(t.event[:0], trackUUID, t.tracks)
	if x.parent != 0 {
		d = number64(d, trackParent, x.parent)
		d = number64(d, trackRank, uint64(x.rank))
	}
	d = text(d, trackName, x.name)
	if x.ordered {
		d = number64(d, trackOrdering, ordersExplicitly)
	}
	if x.counter {
		var c []byte
		if unit := counterUnits[x.unit]; unit != 0 {
			c = number64(c, counterUnit, unit)
		} else if x.unit != "1" {
			c = text(c, counterUnitName, x.unit)
		}
		d = message(d, trackCounter, c)
	}
	t.descriptor(d)
	return t.tracks
}

// counterUnits are the units that Perfetto knows.
var counterUnits = map[string]uint64{"ns": 1, "count": 2, "bytes": 3}

func (t *trackWriter) descriptor(d []byte) {
	t.event = d
	t.packet = message(t.packet[:0], packetTrack, d)
	t.flush()
}

// note says something of the slice that is opened next.
func (t *trackWriter) note(name, value string) {
	n := t.named(nil, name)
	if id, ok := t.intern(internedTexts, value); ok {
		n = number64(n, noteTextID, id)
	} else {
		n = text(n, noteText, value)
	}
	t.notes = message(t.notes, eventNotes, n)
}

// noteOnce is note for a text that hardly comes again.
func (t *trackWriter) noteOnce(name, value string) {
	t.notes = message(t.notes, eventNotes, text(t.named(nil, name), noteText, value))
}

func (t *trackWriter) noteNumber(name string, v int64) {
	t.notes = message(t.notes, eventNotes, number64(t.named(nil, name), noteInt, uint64(v)))
}

func (t *trackWriter) noteFigure(name string, v float64) {
	t.notes = message(t.notes, eventNotes, double(t.named(nil, name), noteDouble, v))
}

func (t *trackWriter) named(n []byte, name string) []byte {
	if id, ok := t.intern(internedNoteNames, name); ok {
		return number64(n, noteNameID, id)
	}
	return text(n, noteName, name)
}

// open begins a slice, inside those of the track that are open.
func (t *trackWriter) open(on uint64, at int64, name string) {
	e := number64(t.event[:0], eventType, sliceBegin)
	e = number64(e, eventTrack, on)
	if id, ok := t.intern(internedNames, name); ok {
		e = number64(e, eventNameID, id)
	} else {
		e = text(e, eventName, name)
	}
	t.event = append(e, t.notes...)
	t.notes = t.notes[:0]
	t.at(at)
}

// close ends the slice that was opened last.
func (t *trackWriter) close(on uint64, at int64) {
	e := number64(t.event[:0], eventType, sliceEnd)
	t.event = number64(e, eventTrack, on)
	t.at(at)
}

// count gives a counter's value from a moment on; what is not known is left out.
func (t *trackWriter) count(on uint64, at int64, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	e := number64(t.event[:0], eventType, countEvent)
	e = number64(e, eventTrack, on)
	t.event = double(e, eventCounter, v)
	t.at(at)
}

// at writes the event made last.
func (t *trackWriter) at(at int64) {
	t.packet = number64(t.packet[:0], packetTimestamp, uint64(max(0, at)))
	t.packet = message(t.packet, packetTrackEvent, t.event)
	if len(t.fresh) > 0 {
		t.packet = message(t.packet, packetInterned, t.fresh)
		t.fresh = t.fresh[:0]
	}
	flags := uint64(stateNeeded)
	if !t.begun {
		t.begun, flags = true, stateCleared|stateNeeded
	}
	t.packet = number64(t.packet, packetFlags, flags)
	t.flush()
}

// flush writes the packet made last.
func (t *trackWriter) flush() {
	const sequence = 1
	t.packet = number64(t.packet, packetSequence, sequence)
	head := protowire.AppendTag(t.w.AvailableBuffer(), tracePacket, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(t.packet)))
	for _, part := range [][]byte{head, t.packet} {
		if _, err := t.w.Write(part); err != nil && t.err == nil {
			t.err = err
		}
	}
}

// intern returns the number of a string in a table; false if it is to be written
// out.
func (t *trackWriter) intern(table protowire.Number, s string) (uint64, bool) {
	k := interned{table, s}
	if id, ok := t.names[k]; ok {
		return id, true
	}
	if len(t.names) >= maxInterned {
		return 0, false
	}
	id := uint64(len(t.names) + 1)
	t.names[interned{table, strings.Clone(s)}] = id
	entry := number64(nil, internedID, id)
	entry = text(entry, internedText, s)
	t.fresh = message(t.fresh, table, entry)
	return id, true
}

func number64(to []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
}

func double(to []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(to, field, protowire.Fixed64Type), math.Float64bits(v))
}

func message(to []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), m)
}

// text adds a string; protobuf strings are UTF-8.
func text(to []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, field, protowire.BytesType), strings.ToValidUTF8(s, "\uFFFD"))
}
