package containerstats

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const head = "CONTAINER ID   NAME   CPU %     MEM USAGE / LIMIT     MEM %     NET I/O      BLOCK I/O         PIDS\n"

var suite = formattest.Suite{Format: Format, Name: "stats.txt", Match: map[string]format.Confidence{
	head + "22030b705436   db   0.00%   47.43MiB / 15.58GiB   0.30%   1.2kB / 0B   31.3MB / 42.1MB   7\n": format.Sure,
	"NAME   CPU(cores)   MEMORY(bytes)\napp-1   1999m   512Mi\n":                                          format.Sure,
	head: format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(head+strings.Repeat("22030b705436   db   0.00%   47.43MiB / 15.58GiB   0.30%   1.2kB / 0B   31.3MB / 42.1MB   7\n", 10_000)))
}
