package gopprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// Archives hold text profiles and dumps, or "cpu": a CPU profile in the notation of
// parseNotation.
var suite = formattest.Suite{Format: Format, Name: "in", Render: render,
	Input: func(t testing.TB, f txtar.File) []byte {
		if f.Name == "cpu" {
			return uncompressed(t, parseNotation(t, string(f.Data)))
		}
		return f.Data
	},
	More: func(t testing.TB) [][]byte { return [][]byte{encode(t, parseNotation(t, small))} },
	Part: func(t testing.TB, data []byte, n int, part *evidence.Bundle, err error, whole *evidence.Bundle) {
		zipped, protobuf := bytes.HasPrefix(data, []byte{0x1f, 0x8b}), bytes.HasPrefix(data, []byte{0x0a})
		if zipped && err == nil || protobuf && err == nil && !slices.Equal(part.Samples.Value, whole.Samples.Value) {
			t.Error("a part of a protobuf was read as if whole")
		}
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, s := range b.Samples.Stack {
			if len(b.Stacks.Frames(s)) > maxFrames {
				t.Error("too many frames")
			}
		}
	}}

const small = "samples/count cpu/nanoseconds\nat 2026-11-20T22:49:06Z\nfor 1s\n1 10000000 main.work main.main\n2 20000000 runtime.mallocgc main.main"

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func number(t testing.TB, b *evidence.Bundle, key string) float64 {
	t.Helper()
	f, ok := b.Fact(-1, key)
	if !ok {
		t.Fatalf("no fact %s", key)
	}
	return f.Number
}

// parseNotation reads a profile: the first line "type/unit …", then "at TIME",
// "for DURATION", "period N", "binary FILE", and stacks, innermost first,
// behind their values.
func parseNotation(t testing.TB, text string) *profile.Profile {
	t.Helper()
	p := &profile.Profile{}
	functions := make(map[string]*profile.Location)
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		switch {
		case i == 0:
			for _, s := range f {
				typ, unit, _ := strings.Cut(s, "/")
				p.SampleType = append(p.SampleType, &profile.ValueType{Type: typ, Unit: unit})
			}
			p.PeriodType = p.SampleType[len(p.SampleType)-1]
		case f[0] == "at":
			at, err := time.Parse(time.RFC3339, f[1])
			if err != nil {
				t.Fatal(err)
			}
			p.TimeNanos = at.UnixNano()
		case f[0] == "for":
			d, err := time.ParseDuration(f[1])
			if err != nil {
				t.Fatal(err)
			}
			p.DurationNanos = int64(d)
		case f[0] == "period":
			p.Period, _ = strconv.ParseInt(f[1], 10, 64)
		case f[0] == "binary":
			p.Mapping = []*profile.Mapping{{ID: 1, File: f[1], BuildID: "abc", HasFunctions: true}}
		default:
			s := &profile.Sample{}
			for _, v := range f[:len(p.SampleType)] {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				s.Value = append(s.Value, n)
			}
			for _, name := range f[len(p.SampleType):] {
				l := functions[name]
				if l == nil {
					id := uint64(len(p.Function) + 1)
					name, file, _ := strings.Cut(name, "@")
					fn := &profile.Function{ID: id, Name: name, Filename: cmp.Or(file, "/src/x.go")}
					l = &profile.Location{ID: id, Line: []profile.Line{{Function: fn, Line: int64(id)}}}
					p.Function, p.Location = append(p.Function, fn), append(p.Location, l)
					functions[name] = l
				}
				s.Location = append(s.Location, l)
			}
			p.Sample = append(p.Sample, s)
		}
	}
	return p
}

func encode(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := p.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// uncompressed writes profiles as other programs than Go's do.
func uncompressed(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := p.WriteUncompressed(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// render prints a bundle as text.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %s %s\n", s.Runtime, s.Name)
	}
	for _, c := range b.Clocks {
		fmt.Fprintf(&w, "clock %s anchored=%v\n", c.Name, c.Anchored())
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "coverage %s %d %d\n", c.Kind, c.From, c.Until)
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact %s = %s", f.Key, f.Value)
		if !math.IsNaN(f.Number) && strconv.FormatFloat(f.Number, 'f', -1, 64) != f.Value {
			fmt.Fprintf(&w, " (%g)", f.Number)
		}
		w.WriteByte('\n')
	}
	for i := range b.Samples.Len() {
		s := &b.Samples
		fmt.Fprintf(&w, "sample %d %s %s", s.Value[i], b.Names.Text(s.Type[i]), b.Names.Text(s.Unit[i]))
		if s.Lane[i] != 0 {
			fmt.Fprintf(&w, " lane %d", s.Lane[i])
		}
		if c := b.Names.Text(s.Class[i]); c != "" {
			fmt.Fprintf(&w, " <%s>", c)
		}
		fmt.Fprintf(&w, " %s:", b.OriginText(s.Origin[i]))
		for _, f := range b.Stacks.Frames(s.Stack[i]) {
			fmt.Fprintf(&w, " %s@%s:%d", b.Names.Text(f.Func), filepath.Base(b.Names.Text(f.File)), f.Line)
		}
		w.WriteByte('\n')
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "\n%s\n  %s\n", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.Join(r, " | "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning %d× %s: %s\n", x.Count, b.OriginText(x.Origin), x.Text)
	}
	for _, a := range b.Artifacts {
		if a.Tail {
			w.WriteString("cut\n")
		}
	}
	return w.String()
}

func TestMatch(t *testing.T) {
	plain := uncompressed(t, parseNotation(t, small))
	for _, c := range []struct {
		name, head string
		want       format.Confidence
	}{
		{"protobuf", string(plain), format.Sure},
		{"protobuf, cut", string(plain[:len(plain)/2]), format.Sure},
		{"goroutine text", "goroutine profile: total 3\n3 @ 0x1 0x2\n", format.Sure},
		{"heap text", "heap profile: 3: 1234 [5: 6789] @ heap/1048576\n", format.Sure},
		{"mutex text", "--- mutex:\ncycles/second=1000000000\n", format.Sure},
		{"block text", "--- contention:\ncycles/second=1000000000\n", format.Sure},
		{"threadcreate text", "threadcreate profile: total 8\n", format.Sure},
		{"custom text", "connections profile: total 8\n", format.Sure},
		{"dump", "goroutine 1 [running]:\nmain.main()\n", format.Sure},
		{"panic in a log", "starting\npanic: x\n\ngoroutine 12 [select, 5 minutes]:\nmain.f()\n", format.Sure},
		{"crash", "goroutine 1 gp=0xc000002380 m=0 mp=0x5a [running]:\n", format.Sure},

		{"nothing", "", format.No},
		{"trace", "go 1.26 trace\x00\x00\x00", format.No},
		{"old trace", "go 1.11 trace\x00\x00\x00", format.No},
		{"gctrace", "gc 1 @0.012s 2%: 0.018+1.3+0.076 ms clock\n", format.No},
		{"access log", "10.0.0.1 - - [20/Nov/2026:22:49:44 +0000] \"GET / HTTP/1.1\" 200 12\n", format.No},
		{"log with a date", "2026/11/20 22:49:44 goroutine profile: total 3\n", format.No},
		{"nettrace", "Nettrace\x14\x00\x00\x00!FastSerialization.1", format.No},
		{"jfr", "FLR\x00\x00\x02\x00\x01", format.No},
		{"hprof", "JAVA PROFILE 1.0.2\x00", format.No},
		{"json", "{\"resourceSpans\":[]}", format.No},
		{"thread dump", "\"main\" #1 prio=5 os_prio=0 tid=0x1 nid=0x2 runnable\n", format.No},
		{"another protobuf", "\x0a\x7f" + strings.Repeat("\x0a\x02ab", 40), format.No},
		{"zeros", strings.Repeat("\x00", 100), format.No},
		{"newlines", "\n\n\n\n\n\n\n\n\n\n\n\n\n\n", format.No},
	} {
		if got := Format.Match([]byte(c.head)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOtherRuntimes(t *testing.T) {
	for _, c := range []struct{ notation, want string }{
		{"samples/count cpu/nanoseconds\n1 10000000 handle@/app/web.py <module>@/app/web.py", "Python"},
		{"samples/count cpu/nanoseconds\n1 10000000 java.lang.Thread.run@Thread.java", "JVM"},
		{"cpu/nanoseconds\n10000000 System.Threading.Thread.StartCallback@x", ".NET"},
		{"samples/count cpu/nanoseconds\n1 10000000 std::rt::lang_start@rt.rs", "Rust"},
		{"sample/count wall/microseconds\n1 10000 listener@server.js", "JavaScript"},
		{"samples/count cpu/nanoseconds\n1 10000000 malloc@malloc.c", "C or C++"},
		{"samples/count cpu/nanoseconds\n1 10000000 " + strings.Join(unknown(fewPlaces+1), " "), "none of its functions"},
	} {
		_, err := suite.Read(encode(t, parseNotation(t, c.notation)))
		if err == nil || !strings.Contains(err.Error(), "profile of another runtime ("+c.want) || !strings.Contains(err.Error(), "unstall reads Go profiles") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	if _, err := suite.Read([]byte("heap profile:      1:    1 [     1:    1] @ heap_v2/524288\n")); err == nil || !strings.Contains(err.Error(), "tcmalloc") {
		t.Errorf("tcmalloc: %v", err)
	}
	if _, err := suite.Read([]byte("--- growthz 1 ---\nheap profile: 0: 0 [0: 0] @ growthz\n 19490304 27 @ 0xbccc97 0xc61202\n")); err == nil || !strings.Contains(err.Error(), "gperftools") {
		t.Errorf("growthz: %v", err)
	}
	for name, c := range map[string]struct {
		order binary.ByteOrder
		size  int
	}{"64 bits": {binary.LittleEndian, 8}, "32 bits": {binary.LittleEndian, 4}, "32 bits, the other end": {binary.BigEndian, 4}} {
		var in []byte
		for _, word := range []uint32{0, 3, 0, 10000, 0, 1, 2, 0x42ef04, 0x52619f, 0, 1, 0} {
			at := make([]byte, c.size)
			if c.size == 8 {
				c.order.PutUint64(at, uint64(word))
			} else {
				c.order.PutUint32(at, word)
			}
			in = append(in, at...)
		}
		if _, err := suite.Read(in); err == nil || !strings.Contains(err.Error(), "go tool pprof -proto PROGRAM FILE") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// These are Go, though little shows it.
	for i, n := range []string{
		"samples/count cpu/nanoseconds\n1 10000000 " + strings.Join(unknown(3), " "), // all in C, or the race detector
		"samples/count cpu/nanoseconds\nperiod 10000000",
		"samples/count cpu/nanoseconds\n1 10000000 runtime.futex@x",
		"goroutine/count\n1 main.main@x",
		"goroutine/count\nperiod 1",
		"contentions/count delay/nanoseconds",
		"connections/count\nperiod 1",
		"alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes",
		"samples/count cpu/nanoseconds\n1 10000000 crypto_md5_block@md5.c main.(*T).hash@x",
	} {
		b, err := suite.Read(encode(t, parseNotation(t, n)))
		if err != nil {
			t.Errorf("%q: %v", n, err)
		}
		if doubt := strings.Contains(render(b, nil), "clearly a Go function"); doubt != (i == 0) {
			t.Errorf("%q: doubt is %v", n, doubt)
		}
	}
}

// unknown returns n functions that could be of any language.
func unknown(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("unknown%d@nowhere", i))
	}
	return names
}

func TestTooLarge(t *testing.T) {
	p := parseNotation(t, "samples/count cpu/nanoseconds\n1 10000000 main.work main.f main.main\n2 20000000 runtime.mallocgc main.f main.main")
	data := uncompressed(t, p)
	for _, c := range []struct {
		most bounds
		want string
	}{
		{bounds{1 << 20, 1000, 1000}, ""},
		{bounds{50, 1000, 1000}, "larger than"},
		{bounds{1 << 20, 10, 1000}, "parts"},
		{bounds{1 << 20, 1000, 5}, "stack entries"},
	} {
		_, err := c.most.readProfile(bytes.NewReader(data))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.most, err)
		}
	}
}

func TestDeepStack(t *testing.T) {
	b := suite.MustRead(t, encode(t, parseNotation(t, "cpu/nanoseconds\n1 "+strings.Repeat("main.f ", 2000)+"runtime.main")))
	if n := len(b.Stacks.Frames(b.Samples.Stack[0])); n != maxFrames {
		t.Errorf("%d frames kept, want %d", n, maxFrames)
	}
}

func BenchmarkParseCPU(b *testing.B) {
	data, err := os.ReadFile("../../../../shared/corpus/go/s-tight.cpu.pb.gz")
	if err != nil {
		b.Skip("no corpus")
	}
	suite.Benchmark(b, data)
}

func BenchmarkParseDump(b *testing.B) {
	var buf bytes.Buffer
	for i := range 10000 {
		fmt.Fprintf(&buf, "goroutine %d [select, %d minutes]:\nmain.worker(0xc000012345)\n\t/src/main.go:%d +0x1d\nmain.run()\n\t/src/main.go:7 +0x2a\ncreated by main.main in goroutine 1\n\t/src/main.go:3 +0x1\n\n", i+1, i%60, 10+i%20)
	}
	suite.Benchmark(b, buf.Bytes())
}
