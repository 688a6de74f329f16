package kafkagroups

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const heading = "TOPIC PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG CONSUMER-ID HOST CLIENT-ID\n"

var suite = formattest.Suite{Format: Format, Name: "lag.txt", Match: map[string]format.Confidence{
	heading:                             format.Sure,
	"the LOG-END-OFFSET and the LAG of": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(heading+strings.Repeat("events 0 22922 22930 8 consumer-1 /10.42.2.77 consumer-1\n", 10_000)))
}
