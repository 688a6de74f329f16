package safepointstats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const heading = "         vmop                    [threads: total initially_running wait_to_block]    [time: spin block sync cleanup vmop] page_trap_count\n"

var suite = formattest.Suite{Format: Format, Name: "stdout.txt", Match: map[string]format.Confidence{
	heading + "3021.118: RevokeBias             [     412          1              2    ]      [     0  8120  8121     1     0    ]  0\n": format.Sure,
	heading: format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w strings.Builder
	w.WriteString(heading)
	for i := range 10_000 {
		fmt.Fprintf(&w, "%d.118: RevokeBias             [     412          1              2    ]      [     0  8  8     1     0    ]  0\n", i)
	}
	suite.Benchmark(b, []byte(w.String()))
}
