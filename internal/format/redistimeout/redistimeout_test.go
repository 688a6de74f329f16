package redistimeout

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "app.log", Match: map[string]format.Confidence{
	"x, IOCP: (Busy=0,Free=1000,Min=8,Max=1000), WORKER: (Busy=51,Free=32716,Min=8,Max=32767)": format.Sure,
	"WORKER: (Busy=51": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("Timeout performing GET k, inst: 1, queue: 3, qu: 0, qs: 3, in: 8192, ar: 0, IOCP: (Busy=0,Free=1000,Min=8,Max=1000), WORKER: (Busy=51,Free=32716,Min=8,Max=32767)\n", 10_000)))
}
