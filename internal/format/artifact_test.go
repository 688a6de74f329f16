package format

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// text returns an artifact held in memory.
func text(s string) *Artifact {
	return &Artifact{Name: "test", Size: int64(len(s)), Modified: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC).UnixNano(),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
}

func gz(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zst(t testing.TB, s string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}

// numbered returns n lines that compress badly.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the log, %x\n", i+1, uint32(i)*2654435761)
	}
	return b.String()
}

func TestCompression(t *testing.T) {
	plain := numbered(2000)
	cri := "2026-11-20T22:49:44Z stdout F a\n"
	for _, c := range []struct {
		name, in, layers string
		lines            int
	}{
		{"none", plain, "", 2000},
		{"gzip", gz(t, plain), "gzip", 2000},
		{"zstd", zst(t, plain), "zstd", 2000},
		{"gzip in gzip", gz(t, gz(t, plain)), "gzip gzip", 2000},
		{"zstd in gzip", gz(t, zst(t, plain)), "gzip zstd", 2000},
		{"gzip of an envelope", gz(t, strings.Repeat(cri, 3)), "gzip cri", 3},
		{"gzip members one after the other", gz(t, plain) + gz(t, plain) + gz(t, "last"), "gzip", 4001},
		{"zstd frames one after the other", zst(t, plain) + zst(t, plain), "zstd", 4000},
		{"an empty member between", gz(t, plain) + gz(t, "") + gz(t, plain), "gzip", 4000},
		{"four times over", gz(t, gz(t, gz(t, gz(t, "a\n")))), "gzip gzip gzip gzip", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := text(c.in)
			lines := 0
			if err := a.Lines(func(Line) bool { lines++; return true }); err != nil {
				t.Fatal(err)
			}
			if lines != c.lines {
				t.Errorf("%d lines, want %d", lines, c.lines)
			}
			if got := strings.Join(a.Envelopes(), " "); got != c.layers {
				t.Errorf("envelopes %q, want %q", got, c.layers)
			}
		})
	}
	bomb := "a\n"
	for range maxNesting + 1 {
		bomb = gz(t, bomb)
	}
	if err := text(bomb).Lines(func(Line) bool { return true }); err == nil {
		t.Error("nested too deeply, and read all the same")
	}
}

func TestCut(t *testing.T) {
	plain := numbered(50000)
	for name, whole := range map[string]string{"gzip": gz(t, plain), "zstd": zst(t, plain), "second member": gz(t, plain[:200]) + gz(t, plain[200:])} {
		t.Run(name, func(t *testing.T) {
			for _, keep := range []float64{.02, .5, .9, .999} {
				a := text(whole[:int(keep*float64(len(whole)))])
				read := 0
				err := a.Lines(func(l Line) bool {
					// The last one may be cut short; the rest must be right.
					if !strings.HasPrefix(plain[read:], string(l.Text)) {
						t.Fatalf("line %d is %q", l.Number, l.Text)
					}
					read += len(l.Text) + 1
					return true
				})
				if !errors.Is(err, ErrCut) || strings.Contains(err.Error(), "\n") {
					t.Errorf("cut at %g: error %q, want one line wrapping ErrCut", keep, err)
				}
				if keep >= .5 && read == 0 {
					t.Errorf("cut at %g: nothing was read", keep)
				}
			}
		})
	}
	damaged := []byte(gz(t, plain))
	for i := range 64 {
		damaged[len(damaged)/2+i] ^= 0x55
	}
	if err := text(string(damaged)).Lines(func(Line) bool { return true }); !errors.Is(err, ErrCut) {
		t.Errorf("damaged in the middle: error %v, want ErrCut", err)
	}
}

func TestLongLines(t *testing.T) {
	for _, n := range []int{1, 256<<10 - 1, 256 << 10, 256<<10 + 1, MaxLine - 1, MaxLine, MaxLine + 1, 3 * MaxLine} {
		for _, end := range []string{"\n", "\r\n", ""} {
			in := "before\n" + strings.Repeat("x", n) + end
			if end != "" {
				in += "after\n"
			}
			var got []Line
			if err := text(in).Lines(func(l Line) bool {
				l.Text = bytes.Clone(l.Text)
				got = append(got, l)
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if want := 3; end != "" && (len(got) != want || string(got[2].Text) != "after") {
				t.Fatalf("%d bytes and %q: %d lines", n, end, len(got))
			}
			l := got[1]
			if kept := min(n, MaxLine); len(l.Text) != kept {
				t.Errorf("%d bytes and %q: kept %d, want %d", n, end, len(l.Text), kept)
			}
			if l.Long != (n > MaxLine) {
				t.Errorf("%d bytes and %q: long is %v", n, end, l.Long)
			}
		}
	}
}

// A line that its collector cut into pieces is bounded like any other.
func TestLongPieces(t *testing.T) {
	const piece = 16 << 10
	var in strings.Builder
	for range 2 * MaxLine / piece {
		in.WriteString("2026-11-20T22:49:44Z stdout P " + strings.Repeat("x", piece) + "\n")
	}
	in.WriteString("2026-11-20T22:49:44Z stdout F end\n2026-11-20T22:49:44Z stdout F next\n")
	var got []Line
	if err := text(in.String()).Lines(func(l Line) bool {
		l.Text = bytes.Clone(l.Text)
		got = append(got, l)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0].Text) != MaxLine || !got[0].Long || got[0].Number != 1 || string(got[1].Text) != "next" || got[1].Long {
		t.Fatalf("%d lines; the first has %d bytes, long is %v", len(got), len(got[0].Text), got[0].Long)
	}
}

func TestLinesStop(t *testing.T) {
	n := 0
	if err := text(numbered(10)).Lines(func(Line) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("%d lines and error %v after being told to stop at 3", n, err)
	}
}

// BenchmarkLines measures the frame without a parser: lines of 80 bytes as they are,
// and in envelopes. "split" is the same work by the standard library.
func BenchmarkLines(b *testing.B) {
	const line = `gc 1042 @93.215s 2%: 0.018+1.3+0.003 ms clock, 0.036+0.5/1.2/0+0.007 ms cpu, 81->8`
	for _, c := range []struct{ name, before, after string }{
		{"bare", "", "\n"},
		{"cri", "2026-11-20T22:49:44.123456789Z stderr F ", "\n"},
		{"docker", `{"log":"`, `\n","stream":"stderr","time":"2026-11-20T22:49:44.123456789Z"}` + "\n"},
		{"journald", "Nov 20 22:49:44 host gateway[4711]: ", "\n"},
		{"timestamps", "2026-11-20T22:49:44.123456789Z ", "\n"},
	} {
		in := strings.Repeat(c.before+line+c.after, 100_000)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				a, n := text(in), 0
				if err := a.Lines(func(l Line) bool { n += len(l.Text); return true }); err != nil || n != 100_000*len(line) {
					b.Fatal(n, err)
				}
			}
		})
		if c.before == "" {
			b.Run("split", func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					n := 0
					for l := range strings.Lines(in) {
						n += len(l)
					}
					if n != len(in) {
						b.Fatal(n)
					}
				}
			})
		}
	}
}
