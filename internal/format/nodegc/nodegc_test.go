package nodegc

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "node.log", Match: map[string]format.Confidence{
	"[5129:0x37c4790]     3107 ms: Mark-sweep 1.8 (3.2) -> 1.8 (3.2) MB, 52.9 / 0.1 ms  (average mu = 0.239, current mu = 0.263) x\n": format.Sure,
	"[13973]    44023 ms: Scavenge 23.5 (36.0) -> 21.9 (37.0) MB, 0.6 / 0 ms [allocation failure].\n":                                 format.Sure,
	"[9:0x55d0]  812 ms: Mark-Compact (reduce) 40.2 (57.8) -> 39.9 (58.0) MB, pooled: 0 MB, 33.40 / 0.00 ms  (average mu = 0.9) x\n":  format.Sure,
	"[9:0x55d0]  812 ms: Mark-Compact took long\n": format.No,
	"[12] took 3 ms: Scavenge -> x\n":              format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("[5129:0x37c4790]     3107 ms: Mark-sweep 1.8 (3.2) -> 1.8 (3.2) MB, 52.9 / 0.1 ms  (average mu = 0.239, current mu = 0.263) x\n", 20_000)))
}
