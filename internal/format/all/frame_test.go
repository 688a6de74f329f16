package all_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// BenchmarkFrame reads the same files with the frame of pastes and without it: artifacts of a series are never pastes. Files larger than a head are none
// either way, so that the two must not differ. FRAME_MB sets their size.
func BenchmarkFrame(b *testing.B) {
	mb := 16
	if n, err := strconv.Atoi(os.Getenv("FRAME_MB")); err == nil {
		mb = n
	}
	for _, k := range []struct {
		name  string
		bytes int
		line  func(i int) string
	}{
		{"access", mb << 20, accessLine}, {"gc", mb << 20, gcLine}, {"small-gc", 64 << 10, gcLine},
	} {
		path := filepath.Join(b.TempDir(), k.name+".log")
		writeLines(b, path, k.bytes, k.line)
		for _, series := range []string{"", "a series"} {
			name := k.name + "/frame"
			if series != "" {
				name = k.name + "/none"
			}
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(k.bytes))
				b.ReportAllocs()
				var most uint64
				for range b.N {
					bundle := evidence.NewBundle()
					a := format.File(path)
					a.Series = series
					if err := format.Read(context.Background(), all.Formats, a, bundle); err != nil {
						b.Fatal(err)
					}
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapInuse)
				}
				b.ReportMetric(float64(most)/(1<<20), "MiB-heap")
			})
		}
	}
}

func writeLines(b *testing.B, path string, size int, line func(i int) string) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for i, n := 0, 0; n < size; i++ {
		s := line(i)
		n += len(s)
		if _, err := w.WriteString(s); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

func accessLine(i int) string {
	return fmt.Sprintf("192.0.2.%d - - [21/Nov/2026:%02d:%02d:%02d +0000] \"GET /items/%d HTTP/1.1\" 200 %d \"-\" \"curl/8.5.0\" 0.%03d\n", i%250, i/36000%24, i/600%60, i/10%60, i%997, 300+i%5000, 1+i*7%400)
}

func gcLine(i int) string {
	return fmt.Sprintf("[2026-11-21T%02d:%02d:%02d.%03d+0000][%d.%03ds][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) %dM->%dM(4096M) %d.%03dms\n",
		i/36000%24, i/600%60, i/10%60, i%10*100, 10+i/10, i%10*100, i, 2000+i%900, 400+i%90, 3+i%9, i%1000)
}
