package expvar

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "vars.json", Match: map[string]format.Confidence{
	"{\"cmdline\":[\"/a\"],\"memstats\": {\"Alloc\":1": format.Sure,
	"{\"memstats\":7,\"Alloc\":1}":                     format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("{\"cmdline\":[\"a\"],\"memstats\":{\"Alloc\":1,\"NumGC\":1}}\n", 10_000)))
}
