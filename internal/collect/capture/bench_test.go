package capture

import (
	"bytes"
	"fmt"
	"testing"
)

// accessLog returns n bytes or a little more of an access log.
func accessLog(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "203.0.113.%d - - [10/Oct/2026:13:%02d:%02d +0200] \"GET /play/%d?x=%d HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d\n",
			i%250, i/3600%60, i/60%60, i*7919%100_000, i%10, i*31%5000, i*17%1000)
	}
	return b.Bytes()
}

func BenchmarkWrite(b *testing.B) {
	for _, lines := range []bool{false, true} {
		b.Run(fmt.Sprintf("lines=%v", lines), func(b *testing.B) {
			w, _ := begin(b)
			a := create(b, w, Meta{Name: "access.log", Lines: lines})
			log := accessLog(64 << 10)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = a.Write(log)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	w, path := begin(b)
	a := create(b, w, Meta{Name: "a.txt"})
	for range 2000 { // such as 20 artifacts for 200 s
		write(b, a, []byte("x\n"))
		_ = w.Flush()
	}
	for b.Loop() {
		open(b, path)
	}
}
