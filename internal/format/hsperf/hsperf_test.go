package hsperf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "hsperfdata.txt", Render: render,
	More: func(testing.TB) [][]byte { return [][]byte{file()} }}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

// render writes everything that was parsed; times are since the first point.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	var zero int64
	if len(b.Series) > 0 {
		zero = b.Series[0].T[0]
	}
	for _, a := range b.Artifacts {
		fmt.Fprintf(&w, "artifact %v cut %v\n", a.Formats, a.Tail)
	}
	for _, c := range b.Clocks {
		fmt.Fprintf(&w, "clock %q ± %v\n", c.Name, time.Duration(c.Error))
	}
	for _, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %s pid %d %s\n", s.Runtime, s.PID, s.Version)
	}
	for _, s := range b.Series {
		fmt.Fprintf(&w, "%s %s @%d:", s.Name, s.Unit, s.Origin.Position())
		for i := range s.T {
			fmt.Fprintf(&w, " %.6g@%v", s.V[i], time.Duration(s.T[i]-zero))
		}
		w.WriteString("\n")
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %v..%v\n", c.Kind, time.Duration(c.From-zero), time.Duration(c.Until-zero))
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact %s %s %g\n", f.Key, f.Value, f.Number)
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s: %s\n", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.Join(r, " | "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning %s (%d) @%d\n", x.Text, x.Count, x.Origin.Position())
	}
	return w.String()
}

// file returns a JVM's file with two counters.
func file() []byte {
	b := []byte{0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1}
	le := binary.LittleEndian
	b = append(b, make([]byte, 16)...)
	b = le.AppendUint32(b, 32)
	b = le.AppendUint32(b, 2)
	entry := func(name string, kind byte, unit byte, vector int, data []byte) {
		padded := append([]byte(name), make([]byte, 8-(20+len(name))%8)...)
		b = le.AppendUint32(b, uint32(20+len(padded)+len(data)))
		b = le.AppendUint32(b, 20)
		b = le.AppendUint32(b, uint32(vector))
		b = append(b, kind, 0, unit, 3)
		b = le.AppendUint32(b, uint32(20+len(padded)))
		b = append(append(b, padded...), data...)
	}
	entry("sun.gc.policy.name", 'B', 5, 16, []byte("GarbageFirst\x00\x00\x00\x00"))
	entry("java.threads.live", 'J', 4, 0, le.AppendUint64(nil, 12))
	return b
}

func TestFile(t *testing.T) {
	want := `artifact [hsperf] cut false
clock "undated" ± 2562047h47m16.854775807s
subject jvm pid 0 
threads/live count @0: 12@0s
fact collector G1 NaN
`
	if d := cmp.Diff(want, render(suite.Read(file()))); d != "" {
		t.Error(d)
	}
	b, err := suite.Read(file()[:len(file())-20])
	if err != nil || !b.Artifacts[0].Tail || len(b.Facts) != 1 {
		t.Errorf("cut: %s", render(b, err))
	}
}

func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "== %d hsperfdata of 4711 ==\nsun.os.hrt.frequency=1000000000\nsun.gc.collector.0.name=\"Copy\"\nsun.gc.collector.0.invocations=%d\nsun.gc.collector.0.time=%d\n", int64(1e18)+int64(i)*1e9, i, i*1000)
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := suite.Read(data); err != nil {
			b.Fatal(err)
		}
	}
}
