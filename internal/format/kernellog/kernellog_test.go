package kernellog

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "dmesg.txt", Match: map[string]format.Confidence{
	"[ 8120.331203] INFO: task mysqld:4120 blocked for more than 120 seconds.\n":                    format.Sure,
	"Mar  5 10:00:01 app1 kernel: nf_conntrack: nf_conntrack: table full, dropping packet\n":        format.Sure,
	"2024-03-05 10:00:01 ERROR the worker said: Out of memory: Killed process 12 (java) and more\n": format.No,
	"java.lang.OutOfMemoryError: Java heap space\n":                                                 format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("[ 8120.331203] INFO: task mysqld:4120 blocked for more than 120 seconds.\n[ 8120.331213]       Not tainted 5.4.0 #1\n", 10_000)))
}
