package hsperf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// file writes counters as a JVM does.
func file(order binary.AppendByteOrder, counters ...Counter) []byte {
	b := []byte{0xca, 0xfe, 0xc0, 0xc0, 0, 2, 0, 1}
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b[4] = 1
	}
	b = order.AppendUint32(b, 0) // used
	b = order.AppendUint32(b, 7) // overflow
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(b, headerSize)
	b = order.AppendUint32(b, uint32(len(counters)))
	for _, c := range counters {
		name := append([]byte(c.Name), 0)
		for (entrySize+len(name))%8 != 0 { // longs are aligned
			name = append(name, 0)
		}
		data, kind, vector := order.AppendUint64(nil, uint64(c.Value)), byte('J'), 0
		if c.Unit == String {
			data, kind = append([]byte(c.Text), 0, 0, 0), 'B'
			vector = len(data)
		}
		b = order.AppendUint32(b, uint32(entrySize+len(name)+len(data)))
		b = order.AppendUint32(b, entrySize)
		b = order.AppendUint32(b, uint32(vector))
		b = append(b, kind, 0, byte(c.Unit), byte(c.Variability))
		b = order.AppendUint32(b, uint32(entrySize+len(name)))
		b = append(append(b, name...), data...)
	}
	return b
}

var counters = []Counter{
	{Name: "java.property.java.version", Unit: String, Variability: Constant, Text: "17.0.15"},
	{Name: "sun.os.hrt.frequency", Unit: Hertz, Variability: Constant, Value: 1e9},
	{Name: "sun.gc.collector.0.time", Unit: Ticks, Variability: Monotonic, Value: 37_175_608},
	{Name: "java.threads.live", Unit: Events, Variability: Variable, Value: 6},
	{Name: "sun.gc.generation.0.space.0.used", Unit: Bytes, Variability: Variable, Value: 7_340_032},
}

func TestParse(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		d, err := Parse(bytes.NewReader(file(order, counters...)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(counters, d.Counters); diff != "" {
			t.Errorf("%v: %s", order, diff)
		}
		if v, ok := d.Value("java.threads.live"); v != 6 || !ok {
			t.Errorf("threads: %d, %v", v, ok)
		}
		if v, ok := d.Seconds("sun.gc.collector.0.time"); v != .037175608 || !ok {
			t.Errorf("time: %g, %v", v, ok)
		}
		if _, ok := d.Value("java.property.java.version"); ok {
			t.Error("a text has a value")
		}
		if d.Text("java.property.java.version") != "17.0.15" || d.Text("nothing") != "" || d.Overflow != 7 {
			t.Errorf("%q, overflow %d", d.Text("java.property.java.version"), d.Overflow)
		}
	}
}

// What is cut off anywhere gives the counters before that, and an error.
func TestCut(t *testing.T) {
	whole := file(binary.LittleEndian, counters...)
	for n := range whole {
		d, err := Parse(bytes.NewReader(whole[:n]))
		if err == nil || len(d.Counters) >= len(counters) {
			t.Fatalf("cut at %d: %d counters, %v", n, len(d.Counters), err)
		}
	}
}

func TestRefused(t *testing.T) {
	whole := file(binary.LittleEndian, counters...)
	with := func(at int, b byte) []byte {
		out := bytes.Clone(whole)
		out[at] = b
		return out
	}
	if _, err := Parse(bytes.NewReader(with(7, 0))); !errors.Is(err, ErrNotReady) {
		t.Errorf("not accessible: %v", err)
	}
	for name, data := range map[string][]byte{"magic": with(0, 0), "layout 1": with(5, 1), "an entry of length 0": with(headerSize, 0)} {
		if _, err := Parse(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	odd := bytes.Clone(whole)
	odd[headerSize+12] = 'D'
	if d, err := Parse(bytes.NewReader(odd)); err != nil || d.Unknown != 1 || len(d.Counters) != len(counters)-1 {
		t.Errorf("an unknown type: %+v, %v", d, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(binary.LittleEndian, counters...))
	f.Add(file(binary.BigEndian, counters...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, _ := Parse(bytes.NewReader(data)); d == nil {
			t.Error("no data")
		}
	})
}
