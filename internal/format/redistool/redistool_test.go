package redistool

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "out.txt", Match: map[string]format.Confidence{
	"min: 0, max: 12, avg: 0.31 (1421 samples)\n": format.Sure,
	"min: 0, max: 12\n":                           format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("min: 0, max: 12, avg: 0.31 (1421 samples) -- 15.01 seconds range\n", 10_000)))
}
