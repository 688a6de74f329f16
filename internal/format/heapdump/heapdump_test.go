package heapdump

import (
	"encoding/binary"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "heap.hprof", Input: func(_ testing.TB, f txtar.File) []byte { return made() },
	Match: map[string]format.Confidence{"JAVA PROFILE 1.0.2\x00": format.Sure, "JAVA": format.No}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, made()) }

// made is a dump with 50 sessions, arrays of them and of bytes, and a class with a static field.
func made() []byte {
	u := func(n int, v uint64) []byte {
		b := make([]byte, 8)
		binary.BigEndian.PutUint64(b, v)
		return b[8-n:]
	}
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	record := func(tag byte, body []byte) []byte { return join([]byte{tag}, u(4, 0), u(4, uint64(len(body))), body) }
	out := join([]byte("JAVA PROFILE 1.0.2\x00"), u(4, 8), u(8, 1700000000000),
		record(tagString, join(u(8, 100), []byte("com/acme/Session"))), record(tagString, join(u(8, 101), []byte("[Lcom/acme/Session;"))),
		record(tagClass, join(u(4, 1), u(8, 201), u(4, 0), u(8, 100))), record(tagClass, join(u(4, 2), u(8, 202), u(4, 0), u(8, 101))))
	class := join([]byte{subClass}, u(8, 201), u(4, 0), make([]byte, 48), u(4, 8), u(2, 0), u(2, 1), u(8, 103), []byte{10}, u(4, 7), u(2, 1), u(8, 104), []byte{11})
	dump := join([]byte{0xff}, u(8, 1000), class)
	for i := range uint64(50) {
		dump = join(dump, []byte{subInstance}, u(8, 1000+i), u(4, 0), u(8, 201), u(4, 8), u(8, i))
	}
	dump = join(dump, []byte{subObjects}, u(8, 3000), u(4, 0), u(4, 2), u(8, 202), u(8, 1000), u(8, 1001), []byte{subPrimitive}, u(8, 4000), u(4, 0), u(4, 1024), []byte{8}, make([]byte, 1024))
	return join(out, record(tagSegment, dump), record(0x2c, nil))
}
