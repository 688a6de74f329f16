package tickprofile

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const first = "Statistical profiling result from isolate-0x1-v8.log, (451 ticks, 7 unaccounted, 0 excluded).\n"

var suite = formattest.Suite{Format: Format, Name: "prof.txt", Match: map[string]format.Confidence{
	first: format.Sure,
	"Statistical profiling result from what I saw\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(first+"\n [JavaScript]:\n   ticks  total  nonlib   name\n"+strings.Repeat("     44    9.8%    9.9%  Function: *parse /srv/app/parse.js:12:10\n", 10_000)))
}
