package proctable

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const topHead = "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"

var suite = formattest.Suite{Format: Format, Name: "top.txt", Match: map[string]format.Confidence{
	topHead + "   54 root      20   0       0      0      0 R 100.0   0.0  62:34.21 kswapd0\n": format.Sure,
	topHead: format.No,
	"  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND\n   41     2 root     SW<      0   0%   1  23% [kswapd0]\n": format.Sure,
	"10:00:01 UID PID %usr %system %guest %CPU CPU Command\n10:00:02 0 1 1.0 1.0 0 2.0 1 java\n":                       format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(topHead+strings.Repeat(" 5475 root      20   0 1641820 716881 109208 S  29.1   3.6   5644:41 k3s-server\n", 20_000)))
}
