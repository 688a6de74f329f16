package schedlatency

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const line = "  gateway:(38)          |  18211.402 ms |    41127 | avg:  21.402 ms | max: 412.811 ms | max start: 81220.112031 s | max end: 81220.524842 s\n"

var suite = formattest.Suite{Format: Format, Name: "sched.txt", Match: map[string]format.Confidence{
	line:                                   format.Sure,
	"load avg: 1 | 2 | 3 | avg: 4 | max 5": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(line, 10_000))) }
