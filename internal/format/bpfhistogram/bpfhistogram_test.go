package bpfhistogram

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const heading = "     usecs               : count     distribution\n"

var suite = formattest.Suite{Format: Format, Name: "latency.txt", Match: map[string]format.Confidence{
	heading:                                format.Sure,
	"the distribution of count : of usecs": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat(heading+"       256 -> 511        : 7373     |***********************                 |\n", 5_000)))
}
