// Package hsperf reads the counters that a HotSpot JVM publishes in <tmp>/hsperfdata_USER/PID, a file that it maps into memory: jstat and
// jcmd PerfCounter.print show the same.
//
// Its layout is that of perfMemory.hpp and perfData.hpp, 2.0 of JDK 1.5 to 25:
// https://github.com/openjdk/jdk/blob/master/src/hotspot/share/runtime/perfMemory.hpp
//
//	header  u4 cafec0c0 (big-endian)  u1 order (1 little)  u1 major  u1 minor  u1 accessible
//	        u4 used  u4 overflow  i8 modified  u4 offset of the first entry  u4 entries
//	entry   u4 length  u4 name offset  u4 vector length  u1 type  u1 flags  u1 unit
//	        u1 variability  u4 data offset; then the name, zero-terminated, and the data
//
// The JVM writes each counter separately, aligned, while the file is read: a value is never torn, but two may be some microseconds apart.
// Reading costs the JVM nothing. The counters depend on its version and collector; only those of java.* are guaranteed to stay.
package hsperf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Unit is the unit of a counter.
type Unit byte

// Units, by their numbers in perfData.hpp.
const (
	None   Unit = 1
	Bytes  Unit = 2
	Ticks  Unit = 3 // of the clock whose frequency is the counter sun.os.hrt.frequency
	Events Unit = 4
	String Unit = 5
	Hertz  Unit = 6
)

// Variability is how a counter changes.
type Variability byte

// Variabilities, by their numbers in perfData.hpp.
const (
	Constant  Variability = 1
	Monotonic Variability = 2 // never falls
	Variable  Variability = 3
)

// Counter is one counter of a file.
type Counter struct {
	Name        string
	Unit        Unit
	Variability Variability
	Value       int64  // 0 for a text
	Text        string // for a counter with the unit String
}

// Data is the content of a file.
type Data struct {
	Counters []Counter // in the order of the file
	Unknown  int       // entries of an unknown type: neither long nor text
	Overflow int64     // bytes that did not fit: counters are missing (-XX:PerfDataMemorySize)

	index map[string]int
}

var (
	// ErrNotReady means that the JVM has not filled in its counters yet.
	ErrNotReady = errors.New("hsperfdata: the JVM is still starting: try again")
	errCut      = errors.New("hsperfdata: it is cut off")
)

const (
	magic      = 0xcafec0c0
	headerSize = 32
	entrySize  = 20
	limit      = 4 << 20 // -XX:PerfDataMemorySize is 32 KiB by default
)

// Parse reads a file. With an error it also returns what it read before the error.
func Parse(r io.Reader) (*Data, error) {
	d := &Data{index: make(map[string]int)}
	data, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return d, fmt.Errorf("hsperfdata: %w", err)
	}
	if len(data) < 8 || binary.BigEndian.Uint32(data) != magic {
		return d, errors.New("hsperfdata: it does not begin with cafec0c0")
	}
	if data[5] != 2 {
		return d, fmt.Errorf("hsperfdata: layout %d.%d is not known", data[5], data[6])
	}
	if len(data) < headerSize {
		return d, errCut
	}
	if data[7] == 0 {
		return d, ErrNotReady
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[4] == 1 {
		order = binary.LittleEndian
	}
	d.Overflow = int64(order.Uint32(data[12:]))
	at := uint64(order.Uint32(data[24:]))
	for range order.Uint32(data[28:]) {
		if at+entrySize > uint64(len(data)) {
			return d, errCut
		}
		length := uint64(order.Uint32(data[at:]))
		if length < entrySize || at+length > uint64(len(data)) {
			return d, fmt.Errorf("hsperfdata: the entry at byte %d does not fit", at)
		}
		d.addEntry(data[at:at+length], order)
		at += length
	}
	return d, nil
}

func (d *Data) addEntry(entry []byte, order binary.ByteOrder) {
	c := Counter{Name: stringAt(entry, order.Uint32(entry[4:])), Unit: Unit(entry[14]), Variability: Variability(entry[15])}
	vector, at := order.Uint32(entry[8:]), uint64(order.Uint32(entry[16:]))
	switch kind := entry[12]; { // as in type signatures
	case kind == 'B' && vector > 0 && c.Unit == String:
		c.Text = stringAt(entry, uint32(at))
	case kind == 'J' && vector == 0 && at+8 <= uint64(len(entry)):
		c.Value = int64(order.Uint64(entry[at:]))
	default:
		d.Unknown++
		return
	}
	d.index[c.Name] = len(d.Counters)
	d.Counters = append(d.Counters, c)
}

// stringAt returns the string at an offset of an entry, up to its zero.
func stringAt(entry []byte, offset uint32) string {
	if uint64(offset) >= uint64(len(entry)) {
		return ""
	}
	s, _, _ := bytes.Cut(entry[offset:], []byte{0})
	return string(s)
}

// Value returns a counter's number; false if there is no such counter.
func (d *Data) Value(name string) (int64, bool) {
	i, ok := d.index[name]
	if !ok || d.Counters[i].Unit == String {
		return 0, false
	}
	return d.Counters[i].Value, true
}

// Text returns a counter's text, "" if there is no such counter.
func (d *Data) Text(name string) string {
	if i, ok := d.index[name]; ok {
		return d.Counters[i].Text
	}
	return ""
}

// Seconds returns a counter of ticks in seconds; false if there is no such counter or its clock is unknown.
func (d *Data) Seconds(name string) (float64, bool) {
	v, ok := d.Value(name)
	hz, known := d.Value("sun.os.hrt.frequency")
	if !ok || !known || hz <= 0 {
		return 0, false
	}
	return float64(v) / float64(hz), true
}
