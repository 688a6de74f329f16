package recorded

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	rtrace "runtime/trace"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/redact/redacttest"
)

// planted is a kind of recording with a text in it.
type planted struct {
	name string
	hint Hint
	of   func(text string) []byte
}

var kinds = []planted{
	{"log", Hint{Lines: true}, func(s string) []byte { return []byte("before\n2026-10-10T13:55:36Z INFO " + s + "\nafter\n") }},
	{"log of JSON", Hint{Lines: true}, func(s string) []byte {
		return []byte(`{"level":"info","msg":"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + "\"}\n")
	}},
	{"threads", Hint{Lines: true, Threads: true}, func(s string) []byte {
		return []byte(`"` + strings.ReplaceAll(s, `"`, `'`) + "\" #12 prio=5 os_prio=0 cpu=1.00ms\n   java.lang.Thread.State: RUNNABLE\n")
	}},
	{"labels", Hint{}, labelled},
	{"utf-16", Hint{}, func(s string) []byte {
		b := []byte("Nettrace\x14\x00\x00\x00!FastSerialization.1\x01\x02")
		for _, c := range utf16.Encode([]rune(s)) {
			b = binary.LittleEndian.AppendUint16(b, c)
		}
		return append(b, 0, 0, 1, 2, 3)
	}},
	{"data", Hint{}, func(s string) []byte { return []byte("\x7fELF\x01\x02\x03\x00..............\x01\x00" + s + "\x00\x01") }},
	{"flight", Hint{}, flightOf},
}

// labelled is a profile with a text as the value of a label.
func labelled(s string) []byte {
	field := func(n int, content []byte) []byte {
		return append(binary.AppendUvarint([]byte{byte(n<<3 | 2)}, uint64(len(content))), content...)
	}
	var b []byte
	b = append(b, field(profileSample, append([]byte{0x10, 1}, field(sampleLabel, []byte{0x08, 1, 0x10, 2})...))...)
	for _, t := range []string{"", "request", s, "main.main"} {
		b = append(b, field(profileString, []byte(t))...)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// flightOf is a flight recording with a text in an event and one among its constants.
func flightOf(s string) []byte {
	text := func(s string) []byte {
		return append(binary.AppendUvarint([]byte{utf8Bytes}, uint64(len(s))), s...)
	}
	sized := func(b []byte) []byte { // with its own size before it
		n := len(b) + 4
		return append([]byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n>>14) | 0x80, byte(n >> 21)}, b...)
	}
	return assemble(sized, text, s)
}

func assemble(sized func([]byte) []byte, text func(string) []byte, s string) []byte {
	index := map[string]byte{}
	var table []string
	word := func(w string) byte {
		i, ok := index[w]
		if !ok {
			i = byte(len(table))
			index[w] = i
			table = append(table, w)
		}
		return i
	}
	element := func(kind string, children [][]byte, attributes ...string) []byte {
		b := []byte{word(kind), byte(len(attributes) / 2)}
		for _, a := range attributes {
			b = append(b, word(a))
		}
		b = append(b, byte(len(children)))
		for _, c := range children {
			b = append(b, c...)
		}
		return b
	}
	tree := element("root", [][]byte{element("metadata", [][]byte{
		element("class", nil, "name", "java.lang.String", "id", "30"),
		element("class", nil, "name", "long", "id", "31"),
		element("class", [][]byte{element("field", nil, "name", "startTime", "class", "31"), element("field", nil, "name", "message", "class", "30")}, "name", "jdk.ExceptionThrown", "id", "40"),
	})})
	meta := []byte{0, 1, 1, 1, byte(len(table))}
	for _, w := range table {
		meta = append(meta, text(w)...)
	}
	meta = append(meta, tree...)
	events := sized(append([]byte{40, 5}, text(s)...))
	events = append(events, sized(append([]byte{1, 1, 1, 1, 0, 1, 30, 1, 7}, text(s)...))...)
	b := make([]byte, flightHeader)
	copy(b, flightMagic)
	b[5], b[67] = 2, 1
	binary.BigEndian.PutUint64(b[24:], uint64(flightHeader+len(events)))
	b = append(append(b, events...), sized(meta)...)
	binary.BigEndian.PutUint64(b[8:], uint64(len(b)))
	return b
}

// plain is what a recording holds once it is unpacked.
func plain(t testing.TB, b []byte) []byte {
	if r, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
		out, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	return b
}

// holds says whether b has a text in one byte a character or in two.
func holds(b []byte, s string) bool {
	var wide []byte
	for _, c := range utf16.Encode([]rune(s)) {
		wide = binary.LittleEndian.AppendUint16(wide, c)
	}
	return bytes.Contains(b, []byte(s)) || bytes.Contains(b, wide)
}

func TestSecrets(t *testing.T) {
	all := redacttest.Secrets()
	if len(all) < 150 {
		t.Errorf("only %d secrets", len(all))
	}
	for _, s := range all {
		if s.Args {
			if got := redact.Words(s.Text); strings.Contains(got, s.Hide) {
				t.Errorf("%s: command line %s", s.Kind, got)
			}
			b := []byte(s.Text)
			if redact.OverwriteWords(b); strings.Contains(string(b), s.Hide) {
				t.Errorf("%s: overwritten to %s", s.Kind, b)
			}
			continue
		}
		for _, k := range kinds {
			in := k.of(s.Text)
			if k.name != "threads" && !holds(plain(t, in), s.Hide) && !strings.Contains(s.Text, `"`) {
				t.Fatalf("%s: %s is not in it", k.name, s.Kind)
			}
			for _, size := range []int{len(in), 7} {
				f := Filter{Hint: k.hint}
				var out []byte
				for rest := in; len(rest) > 0; rest = rest[min(size, len(rest)):] {
					out = append(out, f.Next(rest[:min(size, len(rest))])...)
				}
				out = append(out, f.End()...)
				if holds(plain(t, out), s.Hide) {
					t.Errorf("%s of %s in pieces of %d: %q", k.name, s.Kind, size, plain(t, out))
				}
			}
		}
	}
}

func TestHarmless(t *testing.T) {
	if len(redacttest.Harmless) < 60 {
		t.Error("only", len(redacttest.Harmless))
	}
	for _, s := range redacttest.Harmless {
		if got := string(redact.Line([]byte(s))); got != s {
			t.Errorf("line %s became %s", s, got)
		}
		if got := string(redact.Own([]byte(s))); got != s {
			t.Errorf("own %s became %s", s, got)
		}
		if strings.Contains(s, "9fceb02") || strings.Contains(s, "e3b0c44") || strings.Contains(s, "0f343b") {
			continue // what nobody would give a thread as its name
		}
		if got := string(redact.Value([]byte(s))); got != s {
			t.Errorf("value %s became %s", s, got)
		}
	}
}

// TestLiveTrace plants into the logs and tasks of an execution trace, and into the labels of
// the goroutines in it.
func TestLiveTrace(t *testing.T) {
	if rtrace.IsEnabled() {
		t.Skip("a trace is being taken")
	}
	const secret = "Bearer hZ4abcdefgh12345678q9"
	var b bytes.Buffer
	if err := rtrace.Start(&b); err != nil {
		t.Skip(err)
	}
	ctx, task := rtrace.NewTask(t.Context(), "mail to planted@example.com")
	pprof.Do(ctx, pprof.Labels("auth", secret), func(ctx context.Context) {
		rtrace.Log(ctx, "note", "password=plantedsecret")
		rtrace.WithRegion(ctx, secret, func() { time.Sleep(time.Millisecond) })
	})
	task.End()
	rtrace.Stop()
	for _, s := range []string{"hZ4abcdefgh", "planted@example", "plantedsecret"} {
		if !bytes.Contains(b.Bytes(), []byte(s)) {
			t.Errorf("%s is not in the trace", s)
		}
	}
	var f Filter
	var out []byte
	for rest := b.Bytes(); len(rest) > 0; rest = rest[min(1000, len(rest)):] {
		out = append(out, f.Next(rest[:min(1000, len(rest))])...)
	}
	out = append(out, f.End()...)
	for _, s := range []string{"hZ4abcdefgh", "planted@example", "plantedsecret"} {
		if bytes.Contains(out, []byte(s)) {
			t.Errorf("%s is left", s)
		}
	}
	if len(out) != b.Len() || !bytes.Contains(out, []byte("runtime/trace.WithRegion")) && !bytes.Contains(out, []byte("TestLiveTrace")) {
		t.Errorf("%d of %d bytes, or the names are gone", len(out), b.Len())
	}
}

// TestFixturesStay passes what was recorded of services without secrets.
func TestFixturesStay(t *testing.T) {
	dirs, _ := filepath.Glob("../../../diagnose/check/testdata/*/*")
	if len(dirs) < 20 {
		t.Fatal("no fixtures")
	}
	n := 0
	for i, dir := range dirs {
		if i%4 > 0 { // all of them take half a minute
			continue
		}
		files, _ := filepath.Glob(dir + "/*")
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, "truth.json") || strings.HasSuffix(file, ".unstall") { // a capture is many, each of which went through this
				continue
			}
			name := filepath.Base(file)
			if rest, ok := strings.CutSuffix(name, ".zst"); ok {
				z, _ := zstd.NewReader(nil)
				b, err = z.DecodeAll(b, nil)
				z.Close()
				name = rest
			} else if rest, ok := strings.CutSuffix(name, ".gz"); ok && !strings.HasSuffix(rest, ".pb") {
				b, name = plain(t, b), rest
			}
			if err != nil {
				t.Fatal(file, err)
			}
			n++
			hint := Hint{Threads: strings.HasPrefix(name, "threads-"), Lines: strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "threads-")}
			got := plain(t, All(b, hint))
			if b = plain(t, b); bytes.Equal(got, b) {
				continue
			}
			was, is := bytes.Split(b, []byte("\n")), bytes.Split(got, []byte("\n"))
			for i := range was {
				if i >= len(is) || !bytes.Equal(was[i], is[i]) && !bytes.Contains(was[i], []byte("?")) { // values of queries go
					t.Errorf("%s: %s", file, difference(was[i], is[min(i, len(is)-1)]))
					break
				}
			}
		}
	}
	t.Log(n, "recordings")
}

// difference shows where two texts part.
func difference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-60)
	return string(a[from:min(len(a), i+80)]) + "\n became \n" + string(b[from:min(len(b), i+80)])
}

// FuzzAll gives what begins like each kind of recording, in pieces: nothing panics, and
// what has lengths in it keeps its own.
func FuzzAll(f *testing.F) {
	for _, k := range kinds {
		f.Add(k.of("password=hunter2 bob@example.com"), 7)
	}
	f.Add([]byte("go 1.26 trace\x00\x00\x00\x01\x01\x02\x03\x09\x04\x05\x01\x06a@b.cd"), 3)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(1, size)
		var x Filter
		var out []byte
		for rest := in; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			out = append(out, x.Next(rest[:min(size, len(rest))])...)
		}
		out = append(out, x.End()...)
		switch x.to.(type) {
		case *flight, *trace, *data:
			if len(out) != len(in) {
				t.Errorf("%d bytes became %d", len(in), len(out))
			}
		}
	})
}
