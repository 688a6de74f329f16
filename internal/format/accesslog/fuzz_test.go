package accesslog

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/format"
)

func BenchmarkText(b *testing.B) { benchmark(b, logOf(100_000)) }
func BenchmarkJSON(b *testing.B) { benchmark(b, jsonOf(100_000)) }
func BenchmarkApache(b *testing.B) {
	benchmark(b, timed(100_000, 2*time.Millisecond, time.Microsecond, true))
}

func benchmark(b *testing.B, log []byte) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if n := suite.MustRead(b, log).Requests.Len(); n != 100_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	head := logOf(2000)[:format.HeadSize]
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		matchHead(head)
	}
}
