package eventpipe

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkNext decodes and sorts; what each file is like is told by events/MB.
func BenchmarkNext(b *testing.B) {
	for _, name := range corpusFiles(b) {
		data := corpus(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var n int64
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(data))
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				n = r.Delivered()
			}
			b.ReportMetric(float64(n)/float64(len(data))*1e6, "events/MB")
		})
	}
}
