package jfrtext

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "jfr.txt", Match: map[string]format.Confidence{
	"jdk.ZAllocationStall {\n  startTime = 01:25:30.989\n": format.Sure,
	"jdk.JavaMonitorEnter {\n  startTime = 01:25:30.989\n": format.Sure,
	"$ jfr print --events jdk.ZAllocationStall x.jfr\n":    format.No,
	"jdk.CPULoad {\n  startTime = 01:25:30.989\n}":         format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("jdk.ZAllocationStall {\n  startTime = 01:25:30.989 (2024-03-11)\n  duration = 503 ms\n  type = \"Small\"\n  eventThread = \"Thread-278\" (javaThreadId = 318)\n}\n\n", 5_000)))
}
