package recording_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format/jfr/jfrtext"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// text holds every kind of value that there is.
const text = `
class jdk.types.Symbol string:java.lang.String
class java.lang.Class name:jdk.types.Symbol* package:jdk.types.Symbol
class jdk.types.Space start:long size:long
class jdk.types.Kind name:java.lang.String
event test.All startTime:long@TICKS duration:long@TICKS a:boolean b:byte c:char d:short e:int f:long g:float h:double i:java.lang.String class:java.lang.Class* space:jdk.types.Space spaces:jdk.types.Space[] names:jdk.types.Symbol*[] kind:jdk.types.Kind* ms:long@MILLISECONDS ints:int[]
event test.Text startTime:long@TICKS s:java.lang.String pooled:java.lang.String*
test.All 1500 250 1 -3 65535 -300 -70000 -5000000000 1.5 -2.25 "text" 4 (7 9) [(1 2) (3 4)] [5 6] 3 20 [1 2 3]
test.Text 1600 "käse ☃" 8
test.Text 1700 c"käse ☃ 𝄞" 8
test.Text 1800 l"käse" 9
test.Text 1900 #8 9
test.Text 2000 - 9
test.Text 2100 "" 9
constant jdk.types.Symbol 5 "five"
constant jdk.types.Symbol 6 "six"
checkpoint
constant java.lang.Class 4 (5 "inline")
constant jdk.types.Kind 3 "a kind"
constant java.lang.String 8 "eight"
test.Text 2200 #8 8
`

func read(t testing.TB, data []byte) (lines []string, chunks []recording.Chunk, err error) {
	r := recording.NewReader(bytes.NewReader(data))
	for {
		var c *recording.Chunk
		if c, err = r.Next(); c == nil {
			if err == io.EOF {
				err = nil
			}
			return lines, chunks, err
		}
		c.Each(func(*recording.Class) bool { return true }, func(e *recording.Record) {
			lines = append(lines, render(e))
		})
		chunks = append(chunks, *c)
		if err != nil {
			return lines, chunks, err
		}
	}
}

func render(e *recording.Record) string {
	s := fmt.Sprintf("%s %d+%d", e.Class.Name, e.Start(), e.Duration())
	if e.Class.Name == "test.Text" {
		return s + fmt.Sprintf(" %q %q", e.Text("s"), e.Text("pooled"))
	}
	class, _ := e.Constant("class")
	space, _ := e.Struct("space")
	s += fmt.Sprintf(" %v %d %d %d %d %d %g %g %q %s/%s %d %d", e.Bool("a"), e.Int("b"), e.Int("c"), e.Int("d"), e.Int("e"), e.Int("f"), e.Float("g"), e.Float("h"), e.Text("i"),
		class.Text("name"), class.Text("package"), space.Int("start"), space.Int("size"))
	e.Elements("spaces", func(x *recording.Record) bool { s += fmt.Sprintf(" %d-%d", x.Int("start"), x.Int("size")); return true })
	e.Elements("names", func(x *recording.Record) bool { s += " " + x.Text("string"); return true })
	return s + fmt.Sprintf(" %q %d", e.Text("kind"), e.Int("ms"))
}

var want = []string{
	`test.All 1000000500+250 true -3 65535 -300 -70000 -5000000000 1.5 -2.25 "text" five/inline 7 9 1-2 3-4 five six "a kind" 20000000`,
	`test.Text 1000000600+0 "käse ☃" "eight"`,
	`test.Text 1000000700+0 "käse ☃ 𝄞" "eight"`,
	`test.Text 1000000800+0 "käse" ""`,
	`test.Text 1000000900+0 "eight" ""`,
	`test.Text 1000001000+0 "" ""`,
	`test.Text 1000001100+0 "" ""`,
	`test.Text 1000001200+0 "eight" "eight"`,
}

func compile(t testing.TB, options string) []byte {
	data, err := jfrtext.Compile("chunk start=1970-01-01T00:00:01Z " + options + text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Values are read alike, whether numbers are compressed or not, and of a chunk that was never finished.
func TestValues(t *testing.T) {
	for options, wantErr := range map[string]error{"": nil, "wide": nil, "open": recording.ErrOpen, "open wide": recording.ErrOpen} {
		lines, chunks, err := read(t, compile(t, options))
		if !errors.Is(err, wantErr) || len(chunks) != 1 || chunks[0].Unread+chunks[0].Damaged != 0 {
			t.Errorf("%s: %+v, %v", options, chunks, err)
		}
		if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("%q:\n%s", options, got)
		}
	}
}

// Several chunks follow each other, an unfinished one among them, and metadata may come first.
func TestChunks(t *testing.T) {
	data := append(append(compile(t, ""), compile(t, "open")...), compile(t, "wide")...)
	lines, chunks, err := read(t, data)
	if err != nil || len(chunks) != 3 || len(lines) != 3*len(want) {
		t.Errorf("%d chunks, %d events, %v", len(chunks), len(lines), err)
	}
	if _, _, err := read(t, append(compile(t, ""), "something"...)); !errors.Is(err, recording.ErrChunk) {
		t.Errorf("something behind it: %v", err)
	}
}

// Ticks that are differences follow the last that are not.
func TestDeltas(t *testing.T) {
	data, err := jfrtext.Compile(`chunk start=1970-01-01T00:00:01Z deltas
event test.Text startTime:long@TICKS s:java.lang.String pooled:java.lang.String*
test.Text 5000 "a" 0
test.Text 10 "b" 0
test.Text 7000 "c" 0
test.Text 20 "d" 0`)
	if err != nil {
		t.Fatal(err)
	}
	lines, _, err := read(t, data)
	for i, at := range []string{"1000004000", "1000004010", "1000006000", "1000006020"} {
		if err != nil || !strings.Contains(lines[i], at) {
			t.Errorf("%v, %v: want %s", lines[i], err, at)
		}
	}
}

// A chunk that is cut anywhere gives events as they are, or none: never others, and never silently.
func TestCut(t *testing.T) {
	first, err := jfrtext.Compile("chunk start=1970-01-01T00:00:01Z" + strings.Replace(text, "test.All 1500", "metadata\ntest.All 1500", 1))
	if err != nil {
		t.Fatal(err)
	}
	for n := range first {
		lines, chunks, err := read(t, first[:n])
		if err == nil {
			t.Fatalf("%d bytes: no error", n)
		}
		if n < 68 {
			continue
		}
		if len(chunks) != 1 || len(lines) > len(want) {
			t.Fatalf("%d bytes: %d chunks, %d events", n, len(chunks), len(lines))
		}
		for i, l := range lines { // constants may be behind the cut
			if a, b := strings.Fields(l), strings.Fields(want[i]); a[0] != b[0] || a[1] != b[1] {
				t.Fatalf("%d bytes: %s", n, l)
			}
		}
	}
}

// A bit that flips gives no panic; whole passes over all of it are bounded by the test's time.
func TestFlips(t *testing.T) {
	data := compile(t, "")
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			_, _, _ = read(t, data)
			data[i] ^= 1 << bit
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, options := range []string{"", "wide", "open"} {
		f.Add(compile(f, options))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, chunks, _ := read(t, data)
		for _, c := range chunks {
			if c.Damaged < 0 || c.Events < 0 || c.Unread < 0 {
				t.Errorf("%+v", c)
			}
		}
	})
}
