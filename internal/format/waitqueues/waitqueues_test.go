package waitqueues

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "queues.txt", Match: map[string]format.Confidence{
	"node_name name   active queue rejected\nn1        search      0     0        0\n":                                     format.Sure,
	"Pool Name      Active   Pending      Completed   Blocked  All time blocked\nReadStage    0   0   102  0  0\n":         format.Sure,
	"insert query update delete getmore command qrw arw net_in net_out conn time\n*0 *0 *0 *0 0 2|0 0|0 1|0 159b 64k 18\n": format.Sure,
	"the name of an active queue\n":             format.No,
	"Pool Name of what is Active and Pending\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte("node_name name active queue rejected\n"+strings.Repeat("n1 search 37 769 1013\n", 10_000)))
}
