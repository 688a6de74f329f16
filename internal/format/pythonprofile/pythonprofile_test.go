package pythonprofile

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const heading = "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"

var suite = formattest.Suite{Format: Format, Name: "profile.txt", Match: map[string]format.Confidence{
	heading: format.Sure,
	"       nsamples   sample%   tottime (s)    cumul%   cumtime (s)  filename:lineno(function)\n": format.Sure,
	"ncalls is a column of pstats, and tottime another one\n":                                      format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte("         9 function calls in 6.007 seconds\n\n"+heading+strings.Repeat("        3    6.007    2.002    6.007    2.002 {built-in method time.sleep}\n", 10_000)))
}
