package curltimings

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "curl.txt", Match: map[string]format.Confidence{
	"time_namelookup: 0.004\ntime_connect: 0.008\n":           format.Sure,
	"time_namelookup: %{time_namelookup}\ntime_connect: 12\n": format.No,
	"the time_total: of it\n":                                 format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("time_namelookup: 0.004\ntime_connect: 0.008\ntime_total: 0.1\n", 5_000)))
}
