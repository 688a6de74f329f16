package openj9gc

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "gc.xml", Match: map[string]format.Confidence{
	"<exclusive-end id=\"13\" timestamp=": format.Sure,
	"<html><body>":                        format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("<exclusive-start id=\"2\" timestamp=\"2021-04-07T10:12:01.200\" intervalms=\"5012.100\">\n<gc-end id=\"8\" type=\"scavenge\" contextid=\"4\" durationms=\"22.310\" timestamp=\"2021-04-07T10:12:01.222\">\n<exclusive-end id=\"13\" timestamp=\"2021-04-07T10:12:01.223\" durationms=\"22.800\" />\n", 10_000)))
}
