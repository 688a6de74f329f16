package recorded

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/redact/redacttest"
)

// stream is like what a .NET runtime sends: texts of two bytes a character within events,
// whose numbers may end in bytes that are letters, too.
type stream struct{ bytes.Buffer }

func newStream() *stream {
	s := &stream{}
	s.WriteString("Nettrace\x14\x00\x00\x00!FastSerialization.1\x01\x02")
	return s
}

// event is one whose texts follow what is before them at once.
func (s *stream) event(before string, texts ...string) {
	s.WriteString("\x00\x90\x00\x00" + before)
	for _, t := range texts {
		for _, c := range utf16.Encode([]rune(t)) {
			_ = binary.Write(s, binary.LittleEndian, c)
		}
		s.WriteString("\x00\x00")
	}
}

// inPieces filters a recording given so many bytes at a time.
func inPieces(in []byte, size int, seen *redact.Seen) (out []byte) {
	f := Filter{Seen: seen}
	for rest := bytes.Clone(in); len(rest) > 0; rest = rest[min(size, len(rest)):] {
		out = append(out, f.Next(rest[:min(size, len(rest))])...)
	}
	return append(out, f.End()...)
}

// reading is how much the recorder of .NET reads at a time.
const reading = 64 << 10

// TestHiddenInStreams plants secrets where they are easily passed over: behind bytes that are
// letters by chance, between texts that were seen before, in texts as long as an event may be,
// and across the borders of what is read at a time.
func TestHiddenInStreams(t *testing.T) {
	seen := redact.NewSeen() // of all of them, as in a capture
	names := []string{"System.Threading.Tasks", "Task", "instance void  (class System.Action)"}
	for _, s := range redacttest.Secrets() {
		if s.Args {
			continue
		}
		text := strings.ReplaceAll(s.Text, "\x00", " ")
		for kind, of := range map[string]func(*stream){
			"behind a letter":       func(b *stream) { b.event("\x01A", text) },
			"behind letters":        func(b *stream) { b.event("\x01ABCDEFGH", text) },
			"behind an odd letter":  func(b *stream) { b.event("\x01\x02\x03B", names[0], text) },
			"behind a wide control": func(b *stream) { b.event("\x09\x00", text) },
			"again and again":       func(b *stream) { b.event("", names...); b.event("", text); b.event("", text, names[1]) },
			"in a long text": func(b *stream) {
				b.event("", strings.Repeat("SELECT name FROM things; ", 10<<10/25)+text+strings.Repeat(" and then", 10<<10/9))
			},
			"in lines": func(b *stream) { b.event("", "at Shop.Pay()\r\n   "+text+"\r\n   at Shop.Run()") },
		} {
			b := newStream()
			of(b)
			for _, size := range []int{b.Len(), max(61, b.Len()/10)} {
				if out := inPieces(b.Bytes(), size, seen); holds(out, s.Hide) || len(out) != b.Len() {
					t.Errorf("%s %s in pieces of %d: %d bytes became %d", s.Kind, kind, size, b.Len(), len(out))
				}
			}
		}
	}
}

// TestAcrossReadings puts a secret at every place around the end of what is read at a time.
func TestAcrossReadings(t *testing.T) {
	seen := redact.NewSeen()
	for _, s := range []struct{ text, hide string }{
		{"Server=db;User Id=sa;Password=hZ4planted9q;Encrypt=true", "hZ4planted9q"},
		{"sent Bearer hZ4abcdefgh12345678q9 now", "hZ4abcdefgh12345678q9"},
		{"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\nggSjAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyji\n-----END PRIVATE KEY-----", "ggSjAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyji"},
		{"password=Grüße1пароль9x done", "пароль9x"},
	} {
		for shift := range 2*len(s.text) + 8 {
			b := newStream()
			for b.Len() < reading-2*len(s.text)-200 {
				b.event("\x05", "System.Collections.Generic", "Dictionary`2", "instance bool  (!0,!1)")
			}
			b.Write(bytes.Repeat([]byte{0x80}, reading-b.Len()-shift))
			b.event("A", s.text)
			if out := inPieces(b.Bytes(), reading, seen); holds(out, s.hide) || len(out) != b.Len() {
				t.Errorf("%q begins %d bytes before the border", s.text, shift)
			}
		}
	}
}

// TestSeen says the same of everything, whether texts are remembered or not.
func TestSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	secrets := redacttest.Secrets()
	seen := redact.NewSeen()
	for range 50 {
		b := newStream()
		for range 40 {
			texts := []string{redacttest.Harmless[r.IntN(len(redacttest.Harmless))], secrets[r.IntN(len(secrets))].Text}
			b.event(string(rune('A'+r.IntN(26))), texts[r.IntN(2)], texts[r.IntN(2)])
		}
		want := inPieces(b.Bytes(), b.Len(), nil)
		for _, size := range []int{b.Len(), 1 + r.IntN(300)} {
			if got := inPieces(b.Bytes(), size, seen); !bytes.Equal(got, want) {
				t.Fatalf("in pieces of %d: %s", size, difference(want, got))
			}
		}
	}
}

// BenchmarkRundown filters what a .NET service tells at the end of a session, mostly the names
// of its methods: for the first time, and again.
func BenchmarkRundown(b *testing.B) {
	files, _ := filepath.Glob("../../../diagnose/check/testdata/dotnet.*/*/threads-*.nettrace.zst")
	if len(files) == 0 {
		b.Skip("no recordings")
	}
	packed, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	z, _ := zstd.NewReader(nil)
	defer z.Close()
	in, err := z.DecodeAll(packed, nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, seen := range map[string]func() *redact.Seen{
		"nothing seen": func() *redact.Seen { return nil },
		"first":        redact.NewSeen,
		"again":        func(s *redact.Seen) func() *redact.Seen { return func() *redact.Seen { return s } }(redact.NewSeen()),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				f := Filter{Seen: seen()}
				for rest := in; len(rest) > 0; rest = rest[min(reading, len(rest)):] {
					f.Next(rest[:min(reading, len(rest))])
				}
				f.End()
			}
		})
	}
}
