package safepointtimeout

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "out.log", Match: map[string]format.Confidence{
	"# SafepointSynchronize::begin: Threads which did not reach the safepoint:\n": format.Sure,
	"# SafepointSynchronize::begin: Timeout detected:\n":                          format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("# SafepointSynchronize::begin: Threads which did not reach the safepoint:\n# \"a\" #41 tid=0x0 nid=0x1\n# SafepointSynchronize::begin: (End of list)\n", 10_000)))
}
