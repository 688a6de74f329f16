package contentionz

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const head = "--- contentionz 1 ---\ncycles/second = 2600000000\nsampling period = 100\nms since reset = 4120300\ndiscarded samples = 0\n"

var suite = formattest.Suite{Format: Format, Name: "contention.txt", Match: map[string]format.Confidence{
	head:                          format.Sure,
	"from the server:\n\n" + head: format.Sure,
	"--- heapz 1 ---\n":           format.No,
	"--- contention:\ncycles/second=2600000000\n": format.No, // Go's
	"the page contentionz of a server\n":          format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(head+strings.Repeat("  19490304       27 @ 0xbccc97 0xc61202 0x42ed5f\n", 10_000)))
}
