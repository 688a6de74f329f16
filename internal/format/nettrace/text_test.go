package nettrace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// The text form of a stream, for tests; a line each:
//
//	stream pid=42 processors=2
//	type NAME PROVIDER ID-or-EVENT VERSION [mean|sum]      mean, sum: with an EventCounter's fields
//	stack NUMBER ADDRESS...                                hexadecimal, innermost first
//	lose THREAD COUNT                                      events that are missing from here
//	MS THREAD NAME [stack=N] [act=PATH] [rel=PATH] VALUE... an event
//	end [cut]                                              cut: the stream breaks off
//
// Values are u8=, u16=, u32=, u64=, i64=, f32=, f64= numbers, "strings", and zero=N bytes.
// A path like /1/300 becomes the activity id that the runtime has for it.
func stream(t testing.TB, text string) []byte {
	s := &script{t: t, types: make(map[string]uint32), sequence: make(map[uint64]uint32), stream: eventpipetest.Stream{PID: 42}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "  // ")
		if words := split(line); len(words) > 0 {
			s.line(words)
		}
	}
	return s.data
}

type script struct {
	t        testing.TB
	stream   eventpipetest.Stream
	w        *eventpipetest.Writer
	types    map[string]uint32
	declared []eventpipetest.Type
	stacks   [][]uint64
	events   []eventpipetest.Event
	sequence map[uint64]uint32
	data     []byte
}

// split takes a line apart at spaces that are not within quotes.
func split(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
}

func (s *script) line(words []string) {
	switch words[0] {
	case "stream":
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			n := int(s.number(value, 10))
			switch key {
			case "pid":
				s.stream.PID = n
			case "processors":
				s.stream.Processors = n
			case "pointer":
				s.stream.PointerBytes = n
			}
		}
	case "type":
		y := eventpipetest.Type{Number: uint32(len(s.declared) + 1), Provider: words[2], Level: 4, Version: int32(s.number(words[4], 10))}
		if id, err := strconv.Atoi(words[3]); err == nil {
			y.ID = int32(id)
		} else {
			y.Name = words[3]
		}
		if len(words) > 5 {
			y.Fields = counterFields(words[5] == "sum")
		}
		s.types[words[1]] = y.Number
		s.declared = append(s.declared, y)
	case "stack":
		var addresses []uint64
		for _, w := range words[2:] {
			addresses = append(addresses, s.number(w, 16))
		}
		s.stacks = append(s.stacks, addresses)
	case "lose":
		s.sequence[s.number(words[1], 10)] += uint32(s.number(words[2], 10))
	case "end":
		s.write()
		s.data = s.w.Bytes()
		if len(words) == 1 {
			s.data = s.w.End()
		}
	default:
		s.event(words)
	}
}

func (s *script) event(words []string) {
	ms, err := strconv.ParseFloat(words[0], 64)
	number, ok := s.types[words[2]]
	if err != nil || !ok {
		s.t.Fatalf("no such line: %v", words)
	}
	e := eventpipetest.Event{Type: number, Ticks: uint64(ms * 1e6), Thread: s.number(words[1], 10), Sorted: true}
	s.sequence[e.Thread]++
	e.Sequence = s.sequence[e.Thread]
	for _, w := range words[3:] {
		key, value, _ := strings.Cut(w, "=")
		switch {
		case w[0] == '"':
			text, err := strconv.Unquote(w)
			if err != nil {
				s.t.Fatal(err)
			}
			e.Payload = append(e.Payload, eventpipetest.Payload(text)...)
		case key == "stack":
			e.Stack = uint32(s.number(value, 10))
		case key == "act":
			e.Activity = pathID(value, uint32(s.stream.PID))
		case key == "rel":
			e.Related = pathID(value, uint32(s.stream.PID))
		case key == "zero":
			e.Payload = append(e.Payload, make([]byte, s.number(value, 10))...)
		default:
			e.Payload = append(e.Payload, eventpipetest.Payload(s.value(key, value))...)
		}
	}
	s.events = append(s.events, e)
}

func (s *script) value(key, text string) any {
	v, err := strconv.ParseFloat(text, 64)
	if n, err2 := strconv.ParseInt(text, 0, 64); err2 == nil {
		switch key {
		case "u8":
			return byte(n)
		case "u16":
			return uint16(n)
		case "u32":
			return uint32(n)
		case "u64":
			return uint64(n)
		case "i64":
			return n
		}
	}
	if err != nil {
		s.t.Fatalf("%s=%s: %v", key, text, err)
	}
	if key == "f32" {
		return float32(v)
	}
	return v
}

func (s *script) number(text string, base int) uint64 {
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *script) write() {
	s.w = eventpipetest.New(s.stream)
	s.w.Metadata(s.declared...)
	s.w.Stacks(1, s.stacks...)
	s.w.Events(s.events...)
	var reached []eventpipetest.Reached
	for thread, n := range s.sequence {
		reached = append(reached, eventpipetest.Reached{Thread: thread, Sequence: n})
	}
	s.w.SequencePoint(s.events[len(s.events)-1].Ticks+1, 0, reached...)
}

// counterFields are an EventCounter's: those of a mean, or of a sum.
func counterFields(sum bool) []eventpipetest.Field {
	text := func(name string) eventpipetest.Field {
		return eventpipetest.Field{Name: name, Code: byte(eventpipe.String)}
	}
	number := func(name string, code eventpipe.TypeCode) eventpipetest.Field {
		return eventpipetest.Field{Name: name, Code: byte(code)}
	}
	fields := []eventpipetest.Field{text("Name"), text("DisplayName"), number("Mean", eventpipe.Double), number("StandardDeviation", eventpipe.Double),
		number("Count", eventpipe.Int32), number("Min", eventpipe.Double), number("Max", eventpipe.Double), number("IntervalSec", eventpipe.Single),
		text("Series"), text("CounterType"), text("Metadata"), text("DisplayUnits")}
	if sum {
		fields = []eventpipetest.Field{text("Name"), text("DisplayName"), text("DisplayRateTimeScale"), number("Increment", eventpipe.Double),
			number("IntervalSec", eventpipe.Single), text("Metadata"), text("Series"), text("CounterType"), text("DisplayUnits")}
	}
	return []eventpipetest.Field{{Name: "", Code: byte(eventpipe.Object), Fields: []eventpipetest.Field{{Name: "Payload", Code: byte(eventpipe.Object), Fields: fields}}}}
}

// pathID writes an activity id as ActivityTracker does: nibbles for numbers up to
// 10, bytes for larger ones.
func pathID(path string, pid uint32) (g [16]byte) {
	at := 0 // nibble
	put := func(v byte) {
		if at%2 == 0 {
			g[at/2] = v << 4
		} else {
			g[at/2] |= v
		}
		at++
	}
	for _, part := range strings.Split(strings.Trim(path, "/"), "/") {
		id, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			panic(fmt.Sprintf("a path %q", path))
		}
		if id > 0 && id <= pathLargest {
			put(byte(id))
			continue
		}
		bytes := 1
		for v := id >> 8; v > 0; v >>= 8 {
			bytes++
		}
		put(pathMultiByte + byte(bytes-1))
		if at%2 == 1 { // the nibble that is left holds the highest bits of a small one
			if id < 4096 {
				g[at/2] = pathMultiByte<<4 | byte(id>>8)
				id &= 0xff
				bytes = 1
			}
			at++
		}
		for range bytes {
			g[at/2] = byte(id)
			id >>= 8
			at += 2
		}
	}
	sum := uint32(pathSum)
	for i := 0; i < pathBytes; i += 4 {
		sum += binary.LittleEndian.Uint32(g[i:])
	}
	binary.LittleEndian.PutUint32(g[pathBytes:], sum^pid)
	return g
}
