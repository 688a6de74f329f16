package eventpipetest

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
	"unicode/utf16"
)

// Type is a type of events.
type Type struct {
	Number   uint32 // by which events name it
	Provider string
	ID       int32
	Name     string
	Keywords int64
	Version  int32
	Level    int32
	Opcode   byte // version 5 and 6
	Fields   []Field
	Tagged   bool   // version 5: Fields in a tag, as those with arrays must be
	Extra    []byte // behind everything else
}

// Field is one field of a type, by the code of its type.
type Field struct {
	Name   string
	Code   byte
	Count  uint16  // of a fixed array (22)
	Elem   *Field  // of arrays
	Fields []Field // of an object (1)
}

// Metadata writes a block of types.
func (w *Writer) Metadata(types ...Type) {
	if w.s.Major >= 6 {
		b := Payload(uint16(0))
		for _, t := range types {
			row := w.encodeType6(t)
			b = append(append(b, Payload(uint16(len(row)))...), row...)
		}
		w.Block("MetadataBlock", b)
		return
	}
	var rows []Event
	for _, t := range types {
		rows = append(rows, Event{Payload: w.encodeType4(t), Sorted: true})
	}
	w.Block("MetadataBlock", w.encodeEvents(rows))
}

func (w *Writer) encodeType4(t Type) []byte {
	b := Payload(t.Number, t.Provider, t.ID, t.Name, t.Keywords, t.Version, t.Level)
	if t.Tagged {
		b = append(b, Payload(uint32(0))...)
	} else {
		b = append(b, encodeFields4(t.Fields)...)
	}
	if t.Opcode != 0 {
		b = append(b, Payload(uint32(1), []byte{1, t.Opcode})...)
	}
	if t.Tagged {
		fields := encodeFields5(t.Fields)
		b = append(append(b, Payload(uint32(len(fields)), []byte{2})...), fields...)
	}
	return append(b, t.Extra...)
}

func encodeFields4(fields []Field) []byte {
	b := Payload(uint32(len(fields)))
	for _, f := range fields {
		b = append(b, Payload(uint32(f.Code))...)
		if f.Code == 1 {
			b = append(b, encodeFields4(f.Fields)...)
		}
		b = append(b, Payload(f.Name)...)
	}
	return b
}

func encodeFields5(fields []Field) []byte {
	b := Payload(uint32(len(fields)))
	for _, f := range fields {
		row := Payload(f.Name)
		for e := &f; e != nil; e = e.Elem {
			row = append(row, Payload(uint32(e.Code))...)
			if e.Code == 1 {
				row = append(row, encodeFields5(e.Fields)...)
			}
		}
		b = append(append(b, Payload(uint32(4+len(row)))...), row...)
	}
	return b
}

func (w *Writer) encodeType6(t Type) []byte {
	b := binary.AppendUvarint(nil, uint64(t.Number))
	b = appendCounted(b, t.Provider)
	b = binary.AppendUvarint(b, uint64(t.ID))
	b = append(appendCounted(b, t.Name), encodeFields6(t.Fields)...)
	optional := Payload([]byte{3}, t.Keywords, []byte{8, byte(t.Level), 9, byte(t.Version)})
	if t.Opcode != 0 {
		optional = append(optional, 1, t.Opcode)
	}
	optional = append(optional, t.Extra...)
	return append(append(b, Payload(uint16(len(optional)))...), optional...)
}

func encodeFields6(fields []Field) []byte {
	b := Payload(uint16(len(fields)))
	for _, f := range fields {
		row := append(appendCounted(nil, f.Name), encodeFieldType6(f)...)
		b = append(append(b, Payload(uint16(len(row)))...), row...)
	}
	return b
}

func encodeFieldType6(f Field) []byte {
	b := []byte{f.Code}
	switch {
	case f.Code == 1:
		b = append(b, encodeFields6(f.Fields)...)
	case f.Elem != nil:
		b = append(b, encodeFieldType6(*f.Elem)...)
		if f.Code == 22 {
			b = append(b, Payload(f.Count)...)
		}
	}
	return b
}

// Payload puts values one after the other as .NET writes them: numbers by their width,
// a bool in 4 bytes, a string in UTF-16 with a zero, bytes as they are.
func Payload(values ...any) (b []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case bool:
			n := uint32(0)
			if v {
				n = 1
			}
			b = binary.LittleEndian.AppendUint32(b, n)
		case string:
			for _, u := range utf16.Encode([]rune(v)) {
				b = binary.LittleEndian.AppendUint16(b, u)
			}
			b = append(b, 0, 0)
		case []byte:
			b = append(b, v...)
		case byte:
			b = append(b, v)
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, v)
		case int32:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, v)
		case int64:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, v)
		case float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		default:
			panic(fmt.Sprintf("eventpipetest: a %T in a payload", v))
		}
	}
	return b
}

// appendCounted appends a string as version 6 writes it.
func appendCounted(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func systemTime(t time.Time) []byte {
	return Payload(uint16(t.Year()), uint16(t.Month()), uint16(t.Weekday()), uint16(t.Day()),
		uint16(t.Hour()), uint16(t.Minute()), uint16(t.Second()), uint16(t.Nanosecond()/1e6))
}
