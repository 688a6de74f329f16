package fio

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const line = "    sync (usec): min=534, max=15766, avg=1273.08, stdev=1084.70\n"

var suite = formattest.Suite{Format: Format, Name: "fio.txt", Match: map[string]format.Confidence{
	line:                            format.Sure,
	"the sync (of the disk) waits:": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(line, 10_000))) }
