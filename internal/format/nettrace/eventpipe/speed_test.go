package eventpipe

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// BenchmarkNext decodes and sorts. How long an event takes is ns/event; streams differ
// in how many there are to a MB.
func BenchmarkNext(b *testing.B) {
	streams := map[string][]byte{"written": eventpipetest.Recording(64 << 20)}
	names := []string{"written"}
	if _, err := os.Stat(corpusDir); err == nil {
		files, _ := filepath.Glob(corpusDir + "/*.nettrace.gz")
		for _, f := range files {
			name := filepath.Base(f)
			names = append(names, name)
			streams[name] = corpus(b, name)
		}
	}
	for _, name := range names {
		data := streams[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			n := int64(0)
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(data))
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				n = r.Delivered()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
			b.ReportMetric(float64(n)/float64(len(data))*1e6, "events/MB")
		})
	}
}
