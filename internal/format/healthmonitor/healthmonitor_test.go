package healthmonitor

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const one = "21:14:42 INFO HealthMonitor - [10.0.0.91]:5701 [dev] processors=12, heap.memory.used/max=78.26%, minor.gc.count=12686, minor.gc.time=2123961ms, major.gc.count=55, major.gc.time=324389ms, load.systemAverage=0.13\n"

var suite = formattest.Suite{Format: Format, Name: "member.log", Match: map[string]format.Confidence{
	one: format.Sure,
	"processors=12, \n  minor.gc.time=2123961ms, \n  major.gc.time=324389ms\n": format.Sure,
	"processors=12, heap.memory.used=4.2G\n":                                   format.No,
	"minor.gc.time=2123961ms, major.gc.time=324389ms\n":                        format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(one, 10_000))) }
