package strace

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "strace.txt", Match: map[string]format.Confidence{
	"% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n 96.08   30.293350       30053      1008         9 futex\n": format.Sure,
	"fsync(3) = 0 <0.003412>\nwrite(3, \"x\", 1) = 1 <0.000021>\nfsync(3)                               = 0 <0.003100>\n":                                                                         format.Sure,
	"fsync(3) = 0\nwrite(3, \"x\", 1) = 1\nfsync(3) = 0\n":                                          format.No,
	"close(3) = 0\npoll([{fd=3, events=POLLIN}], 1, 4983) = 0 (Timeout)\nclose(4) = 0\n":            format.Sure,
	"% time     seconds  usecs/call     calls    errors syscall\n":                                  format.No,
	"a = f(x) = <0.1>\nthe call fsync(3) = 0 <0.1>\nList<Map<String, 1.5>\nList<Map<String, 1.5>\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("[pid    30] 20:35:13.546883 fsync(31) = 0 <0.003412>\n", 20_000)))
}
