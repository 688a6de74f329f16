package gcstats

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const columns = "Gen\tCount\tMax Pause\tMax Peak MB\tMax Alloc MB/sec\tTotal Pause\tTotal Alloc MB\tAlloc MB/MSec GC\tSurvived MB/MSec GC\tMean Pause\tInduced\n"

var suite = formattest.Suite{Format: Format, Name: "gcstats.txt", Match: map[string]format.Confidence{
	columns + "2\t20\t2120.3\t4120.1\t812.0\t37797.1\t187.7\t0.0\t0.1\t1889.9\t0\n": format.Sure,
	columns:                          format.No,
	"Rollup By Generation of what\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(columns+strings.Repeat("2\t20\t2120.3\t4120.1\t812.0\t37797.1\t187.7\t0.0\t0.1\t1889.9\t0\n", 10_000)))
}
