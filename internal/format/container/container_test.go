package container

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "container.txt",
	Match: map[string]format.Confidence{
		"# container of pid 4711\nname shop\n":               format.Sure,
		"# huge pages of pid 4711\npage 4096 2097152\n":      format.No,
		"container of pid 4711\n":                            format.No,
		"127.0.0.1 - - # container of pid 4711 \"GET / \"\n": format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, f := range b.Facts {
			if f.Key == evidence.FactContainerLabel {
				t.Errorf("a label without a name: %q", f.Value)
			}
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

func large() []byte {
	return []byte("# container of pid 4711\n" + strings.Repeat("label app.example/part=shop\n", 100_000))
}
