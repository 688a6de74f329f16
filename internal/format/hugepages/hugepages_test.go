package hugepages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "hugepages.txt",
	Match: map[string]format.Confidence{
		"# huge pages of pid 4711\npage 4096 2097152\n":             format.Sure,
		"# system calls of pid 4711 on amd64\n@ 1763689985000000\n": format.No,
		"look 1763689985000000000 0 0 0\n":                          format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		for i := range b.Series {
			for _, v := range b.Series[i].V {
				if v < 0 || b.Series[i].Name == evidence.SeriesProcessHugeLooked && v == 0 {
					t.Errorf("%s is %g", b.Series[i].Name, v)
				}
			}
		}
		if err == nil && len(b.Coverage) != 1 {
			t.Errorf("covered %v", b.Coverage)
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

func large() []byte {
	var w strings.Builder
	w.WriteString("# huge pages of pid 4711\npage 4096 2097152\n")
	for i := range 100_000 {
		fmt.Fprintf(&w, "look %d %d 16 %d\n", 1763689985000000000+int64(i)*1e9, i<<21, i%8192)
	}
	return []byte(w.String())
}
