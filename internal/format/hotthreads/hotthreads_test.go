package hotthreads

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const line = "   101.1% (505.5ms out of 500ms) cpu usage by thread 'elasticsearch[n][search][T#5]'\n"

var suite = formattest.Suite{Format: Format, Name: "hot.txt", Match: map[string]format.Confidence{
	line: format.Sure,
	"   Hot threads at 2016-08-03T17:26:31.788Z, interval=500ms, busiestThreads=3, ignoreIdleThreads=true:\n": format.Sure,
	"much usage by thread 'x'": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat(line+"     10/10 snapshots sharing following 2 elements\n       a.B.c(B.java:7)\n       java.lang.Thread.run(Thread.java:745)\n", 5_000)))
}
