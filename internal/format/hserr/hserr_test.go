package hserr

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "hs_err.log", Match: map[string]format.Confidence{
	"#\n# A fatal error has been detected by the Java Runtime Environment:\n": format.Sure,
	"# JRE version: x\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("# A fatal error has been detected by the Java Runtime Environment:\n# JRE version: OpenJDK (8.0_252-b09) (build 1.8.0_252-b09)\njvm_args: -Xmx1g\n", 10_000)))
}
